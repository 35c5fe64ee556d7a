"""A Python interpreter of its own, without any access to the operating system (extra ``monty``).

It knows a part of the language and of the standard library. Code runs in a worker process that the package
keeps; nothing of this machine can be reached from it.
"""
# ruff: noqa: ASYNC109 - the limit is the backend's to keep: it has to kill what runs

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import re
import time
from typing import TYPE_CHECKING, Any, Literal, Self

from registry.exceptions import BackendUnavailable
from registry.execution.capture import HeadTail, cut_text
from registry.execution.child.tracebacks import MESSAGE_LIMIT, TRACEBACK_LIMIT
from registry.execution.interface import OUTPUT_LIMIT, Capabilities, ExecError, ExecResult, Limits

if TYPE_CHECKING:
    from types import TracebackType

    import pydantic_monty

    from registry.execution.interface import Status
    from registry.specs import PythonOptions

#: Seconds after the limit until a worker that does not stop by itself is killed.
GRACE = 0.5

_EOF = "EOF when reading a line"
_FILE_NAME = re.compile(r"<python-input-\d+>")
#: What the parser says of constructs it does not know. Subclassing stays an error, as missing modules and
#: attributes are: together they are what code looks for that searches a way out.
_UNKNOWN_CONSTRUCT = re.compile(r"does not yet support (?!class inheritance)")


class MontyBackend:
    """Runs code in the monty interpreter.

    Args:
        limits: What a run may take; sleeping counts as running.
        stateful: Whether variables live on between runs, inside ``async with``.
    """

    name = "monty"

    def __init__(self, limits: Limits = Limits(), *, stateful: bool = False) -> None:  # noqa: B008 - frozen
        self.capabilities = Capabilities(sandboxed=True, stateful=stateful, third_party=False)
        self._limits = limits
        self._stateful = stateful
        self._pool: pydantic_monty.AsyncMonty | None = None
        self._session: pydantic_monty.AsyncMontySession | None = None
        self._lost = False
        self._lock = asyncio.Lock()

    @classmethod
    def of(cls, options: PythonOptions, limits: Limits) -> Self:
        """Return the backend that a declaration asks for."""
        return cls(limits, stateful=options.stateful)

    @classmethod
    def probe(cls) -> tuple[bool, str]:
        """Run one expression in a worker. Cached."""
        return _probe()

    async def __aenter__(self) -> Self:
        usable, reason = await asyncio.to_thread(_probe)
        if not usable:
            raise BackendUnavailable(f"monty does not work here: {reason}")
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lost = False
        await self._close()

    async def reset(self) -> None:
        """Forget all variables."""
        self._lost = False
        await self._leave_session()

    async def run(self, code: str, *, stdin: str = "", timeout: float | None = None) -> ExecResult:
        """Run code in a session of its own or, if stateful, in the session of all runs."""
        if self._pool is None:
            raise RuntimeError("the backend is not open: use it inside `async with`")
        async with self._lock:
            run = _Run(self._limits, stdin, self._limits.timeout if timeout is None else timeout)
            lost, self._lost = self._lost, self._stateful
            try:
                session = self._session or await self._new_session(run.timeout)
                await run.feed(session, code)
            except BaseException:
                await self._restart()
                raise
            await self._end_run(broken=run.broken)
            self._lost = self._stateful and run.broken
            return run.result(session_lost=self._stateful and (lost or run.broken))

    async def _end_run(self, *, broken: bool) -> None:
        if broken:
            await self._restart()
        elif not self._stateful:
            await self._leave_session()

    async def _open(self) -> None:
        import pydantic_monty

        pool = pydantic_monty.AsyncMonty(
            min_processes=1, max_processes=1, feed_duration_limit_grace=GRACE, turn_duration_limit_grace=GRACE
        )
        self._pool = await pool.__aenter__()

    async def _close(self) -> None:
        await self._leave_session()
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.__aexit__(None, None, None)

    async def _restart(self) -> None:
        """Replace the worker: after a time limit its heap is not to be trusted."""
        await self._close()
        await self._open()

    async def _new_session(self, timeout: float) -> pydantic_monty.AsyncMontySession:
        assert self._pool is not None  # noqa: S101 - `run` has looked
        session = self._pool.checkout(
            script_name="<code>",
            limits={
                "max_feed_duration_secs": timeout,
                "max_memory": self._limits.memory,
                "max_total_sleep_secs": timeout,
                "max_suspensions": 1_000_000,
            },
            # A sleep is never cut short in silence: it ends at the limit, as a timeout.
            os_policy={"sleep_system_max": float("inf")},
            # What was printed before a kill is kept, line by line.
            print_flush_interval=0,
        )
        self._session = await session.__aenter__()
        return self._session

    async def _leave_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(_errors()):  # a dead worker is what was wanted
                await session.__aexit__(None, None, None)


class _Run:
    """One run: its output, and what it came to."""

    def __init__(self, limits: Limits, stdin: str, timeout: float) -> None:
        self.timeout = timeout
        #: Whether the worker must not be used again.
        self.broken = False
        self._limits = limits
        self._begun = time.monotonic()
        self._streams = {"stdout": HeadTail(limits.max_output), "stderr": HeadTail(limits.max_output)}
        self._stdin = io.StringIO(stdin)
        self._at_end = False
        self._status: Status = "ok"
        self._error: ExecError | None = None
        self._note = ""
        self._value: str | None = None
        self._cut = False

    async def feed(self, session: pydantic_monty.AsyncMontySession, code: str) -> None:
        """Run code and take in how it ended."""
        try:
            async with asyncio.timeout(self.timeout + 2 * GRACE):
                value = await session.feed_run(
                    code, print_callback=self._print, external_lookup={"input": self._input}
                )
        except TimeoutError:
            self._timed_out()
        except _errors() as exc:
            self._failed(exc)
        else:
            if value is not None:
                self._show(value)

    def result(self, *, session_lost: bool) -> ExecResult:
        """Return what the run came to."""
        stdout, stderr = self._streams["stdout"], self._streams["stderr"]
        return ExecResult(
            status=self._status,
            backend=MontyBackend.name,
            stdout=stdout.text(),
            stderr=stderr.text(),
            stdout_bytes=stdout.total,
            stderr_bytes=stderr.total,
            result=self._value,
            error=self._error,
            duration=time.monotonic() - self._begun,
            truncated=stdout.truncated or stderr.truncated or self._cut,
            session_lost=session_lost,
            note=self._note,
        )

    def _print(self, stream: Literal["stdout", "stderr"], text: str) -> None:
        kept = self._streams[stream]
        kept.feed(text.encode("utf-8", "replace"))
        if kept.total > OUTPUT_LIMIT:
            self.broken = True
            raise MemoryError("it printed more than 64 MiB")

    def _input(self, prompt: Any = "") -> str:
        self._print("stdout", str(prompt))
        line = self._stdin.readline()
        if not line:
            self._at_end = True
            raise EOFError(_EOF)
        return line.removesuffix("\n")

    def _show(self, value: Any) -> None:
        try:
            self._value, self._cut = cut_text(repr(value), self._limits.max_output)
        except (ValueError, RecursionError) as exc:  # an integer of many digits, or lists nested too deeply
            kind = type(exc).__name__
            self._status = "error"
            self._error = ExecError(kind, str(exc), traceback=f"{kind}: {exc}\n")

    def _timed_out(self) -> None:
        self.broken = True
        self._status, self._note = "timeout", f"timed out after {self.timeout:g} s"

    def _failed(self, exc: Any) -> None:
        import pydantic_monty

        if isinstance(exc, pydantic_monty.MontyCrashedError):
            self.broken = True
            if exc.timed_out:
                self._timed_out()
            else:
                self._status, self._note = "crashed", "the interpreter ended"
            return
        cause = exc.exception()
        if isinstance(cause, TimeoutError) and str(cause).startswith(("feed time limit", "sleep limit")):
            self._timed_out()
            return
        unknown = isinstance(cause, NotImplementedError) and _UNKNOWN_CONSTRUCT.search(str(cause))
        self._status = "unsupported" if unknown else "error"
        self._error = self._described(exc, cause)

    def _described(self, exc: Any, cause: BaseException) -> ExecError:
        kind, text = type(cause).__name__, exc.display()
        if self._at_end and str(cause) == _EOF:
            # This interpreter has no EOFError; other exceptions from outside arrive as Exception.
            kind, text = "EOFError", text.replace(f"Exception: {_EOF}", f"EOFError: {_EOF}")
        frames = exc.traceback()
        traceback, cut = cut_text(_FILE_NAME.sub("<code>", text), TRACEBACK_LIMIT)
        message, _ = cut_text(str(cause), MESSAGE_LIMIT)
        self._cut = self._cut or cut
        line = frames[-1].line if frames else None
        return ExecError(type=kind, message=message, line=line, traceback=f"{traceback}\n")


def _errors() -> type[Exception]:
    import pydantic_monty

    return pydantic_monty.MontyError


@functools.cache
def _probe() -> tuple[bool, str]:
    try:
        import pydantic_monty
    except ImportError:
        return False, "it is not installed: pip install 'recipients[monty]'"
    try:
        with pydantic_monty.Monty(min_processes=1, max_processes=1) as pool, pool.checkout() as session:
            session.feed_run("1 + 1")
    except (OSError, RuntimeError, pydantic_monty.MontyError) as exc:
        return False, f"its program does not run: {exc}"
    return True, f"pydantic-monty {pydantic_monty.__version__}: a part of Python, no access to the system"
