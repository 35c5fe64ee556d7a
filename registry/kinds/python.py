"""The ``python`` kind: runs the code that a message holds and answers with its output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs

from registry.frozen import freeze
from registry.kinds.declared import Declared
from registry.messages import Outcome, fence
from registry.specs import ExampleMessage, PythonOptions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from registry.execution.interface import ExecBackend, ExecResult
    from registry.frozen import FrozenDict
    from registry.messages import Call
    from registry.recipient import Message
    from registry.specs import RecipientSpec

_API_DOCS = """\
Send Python source code to recipient `python`. It is run as a whole in a sandbox, without network and without
access to files outside its own folder. The answer is what the code prints, then the value of its last
expression, then, if it failed, the traceback."""


@attrs.define(slots=False, eq=False)
class PythonRecipient(Declared):
    """Runs Python code. Works as it is, without a declaration, or as the kind ``python`` of a file.

    With ``stateful = true`` variables live on inside ``async with``; otherwise every message starts anew.
    """

    KEEPS_LIMITS: ClassVar[bool] = True
    RECIPIENT_NAME: ClassVar[str] = "python"
    DESCRIPTION: ClassVar[str] = "Run Python code in a sandbox and return what it prints."
    API_DOCS: ClassVar[str] = _API_DOCS
    REQUIRED_ARGS: ClassVar[tuple[str, ...]] = ("code",)
    EXAMPLE_MESSAGES: ClassVar[tuple[Any, ...]] = (
        ExampleMessage(text="print(6 * 7)", replies=("```output\n42\n```",)),
    )
    INPUT_SCHEMA: ClassVar[FrozenDict | Mapping[str, Any] | None] = freeze(
        {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "Python source code to run."}},
            "required": ["code"],
            "additionalProperties": False,
        }
    )
    SPEC: ClassVar[RecipientSpec | None] = None  # type: ignore[assignment]

    #: The open backend between ``__aenter__`` and ``__aexit__``.
    _backend: ExecBackend | None = attrs.field(default=None, init=False, repr=False)

    def process(self, message: Message, **kwargs: Any) -> Message:
        """Raise NotImplementedError, as the original did: code is run by ``await aprocess(message)``."""
        raise NotImplementedError(
            "a python recipient is asynchronous: use `await recipient.aprocess(message)`"
        )

    def arguments_of(self, call: Call) -> dict[str, Any]:
        """Return the code: a text message is code, arguments are checked against the input schema."""
        return {"code": call.text} if call.text is not None else self.bind_arguments(call.arguments)

    async def acall(self, arguments: dict[str, Any]) -> Outcome:
        """Run the code and tell its output.

        Raises:
            BackendUnavailable: No way to run code works here; the text says the ways out.
        """
        from registry.execution.cleaning import clean

        code = clean(code_of(arguments))
        if self._backend is not None:
            return outcome_of(await self._backend.run(code))
        async with await self._new_backend() as backend:
            return outcome_of(await backend.run(code))

    async def reset(self) -> None:
        """Forget all variables of the open session."""
        if self._backend is not None:
            await self._backend.reset()

    async def __aenter__(self) -> Self:
        if self._backend is not None:
            raise RuntimeError("this recipient is open already")
        backend = await self._new_backend()
        self._backend = await backend.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        backend, self._backend = self._backend, None
        if backend is not None:
            await backend.__aexit__(kind, error, traceback)

    async def _new_backend(self) -> ExecBackend:
        import asyncio

        from registry.execution.choose import get_backend

        spec = self.SPEC
        if spec is None:
            return await asyncio.to_thread(get_backend, PythonOptions())
        assert isinstance(spec.options, PythonOptions)  # noqa: S101 - the kind decides the options
        return await asyncio.to_thread(get_backend, spec.options, spec.timeout, spec.max_output)


def code_of(arguments: dict[str, Any]) -> str:
    """Return the argument ``code``; where a declaration has other names, its first text.

    Raises:
        RecipientFailed: There is none.
    """
    from registry.exceptions import RecipientFailed

    texts = [value for value in (arguments.get("code"), *arguments.values()) if isinstance(value, str)]
    if not texts:
        raise RecipientFailed('the arguments hold no code; declare an argument "code" of type string')
    return texts[0]


def outcome_of(result: ExecResult) -> Outcome:
    """Make the reply of a result: stdout, value, stderr, traceback, and a last line on how it ended."""
    error = result.error
    said = [result.stdout, result.result, result.stderr]
    if error is not None:
        said.append(error.traceback or f"{error.type}: {error.message}")
    said += _last_lines(result)
    text = "".join(part if part.endswith("\n") else f"{part}\n" for part in said if part)
    metadata = {
        "backend": result.backend,
        "exit_code": result.exit_code,
        "signal": result.signal,
        "result": result.result,
        "stdout_bytes": result.stdout_bytes,
        "stderr_bytes": result.stderr_bytes,
        "truncated": result.truncated,
        "session_lost": result.session_lost,
        "duration": result.duration,
    }
    if error is not None:
        metadata |= {
            "error_type": error.type,
            "error_message": error.message,
            "error_line": error.line,
        }
    parts = tuple(
        {"type": "image" if shown.mime_type.startswith("image/") else "file", **attrs.asdict(shown)}
        for shown in result.attachments
    )
    return Outcome(fence(text.removesuffix("\n")), result.status, metadata, parts)


def _last_lines(result: ExecResult) -> list[str]:
    notes = [result.note] if result.note else []
    if result.truncated:
        notes.append(f"output cut: it had {result.stdout_bytes + result.stderr_bytes} bytes")
    if result.session_lost:
        notes.append("the session was restarted: earlier variables are gone")
    return [f"[{'; '.join(notes)}]"] if notes else []
