"""The classes that every recipient is made of."""

from __future__ import annotations

import abc
import uuid
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from types import TracebackType

    from registry.frozen import FrozenDict
    from registry.specs import RecipientSpec

Message = dict[str, Any]


def _constants(spec: RecipientSpec) -> dict[str, Any]:
    return {
        "SPEC": spec,
        "RECIPIENT_NAME": spec.name,
        "DESCRIPTION": spec.description,
        "API_DOCS": spec.api_docs,
        "REQUIRED_ARGS": spec.required_args,
        "EXAMPLE_MESSAGES": spec.example_messages,
        "INPUT_SCHEMA": spec.input_schema,
    }


class RecipientMeta(abc.ABCMeta):
    """Names recipient classes.

    A class whose own namespace has no ``RECIPIENT_NAME`` (or an empty one) is named like the class; names are
    not inherited. With ``spec=`` the class constants are filled from a declaration. Nothing is registered.
    """

    def __new__(
        mcls: type[RecipientMeta],
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        spec: RecipientSpec | None = None,
        **kwargs: Any,
    ) -> RecipientMeta:
        """Create the class with its name and, given a spec, all its constants."""
        filled = namespace if spec is None else {**_constants(spec), **namespace}
        if not filled.get("RECIPIENT_NAME"):
            filled["RECIPIENT_NAME"] = name
        return super().__new__(mcls, name, bases, filled, **kwargs)


@attrs.define(slots=False, eq=False)
class Recipient(metaclass=RecipientMeta):
    """Something a message can be addressed to by name.

    A subclass defines `process` or `aprocess`; it gets the other one derived from it: async from sync in a
    thread, sync from async also where an event loop is already running. A subclass that defines neither
    cannot be instantiated.
    """

    #: Name that messages use; the class name when empty.
    RECIPIENT_NAME: ClassVar[str] = ""
    DESCRIPTION: ClassVar[str] = ""
    #: What a model is told about how to use it.
    API_DOCS: ClassVar[str] = ""
    #: Names of the arguments that every call must have.
    REQUIRED_ARGS: ClassVar[tuple[str, ...]] = ()
    EXAMPLE_MESSAGES: ClassVar[tuple[Any, ...]] = ()
    #: JSON Schema of the arguments; None accepts any object.
    INPUT_SCHEMA: ClassVar[FrozenDict | Mapping[str, Any] | None] = None
    #: The declaration it was built from, if any.
    SPEC: ClassVar[RecipientSpec | None] = None

    _BINDER: ClassVar[Callable[[Any], dict[str, Any]] | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.SPEC is not None:
            return  # built from a declaration: complete, and built by the thousand
        defined = vars(cls)
        sync, later = _is_derivable(cls.process), _is_derivable(cls.aprocess)
        if sync and not later:
            cls.process = _process_from_aprocess  # type: ignore[method-assign]
        elif later and not sync:
            cls.aprocess = _aprocess_from_process  # type: ignore[method-assign]
        for name in ("REQUIRED_ARGS", "EXAMPLE_MESSAGES"):
            if name in defined:
                setattr(cls, name, tuple(defined[name]))

    @abc.abstractmethod
    def process(self, message: Message, **kwargs: Any) -> Message:
        """Answer a message with a reply message."""

    @abc.abstractmethod
    async def aprocess(self, message: Message, **kwargs: Any) -> Message:
        """Answer a message with a reply message, without blocking the event loop."""

    @classmethod
    def bind_arguments(cls, raw: Mapping[str, Any] | str | bytes) -> dict[str, Any]:
        """Check a call's arguments against the input schema and return them with defaults applied.

        Raises:
            InvalidArguments: with code ``invalid-json``, ``not-an-object`` or ``invalid-arguments``.
        """
        binder: Callable[[Any], dict[str, Any]] | None = vars(cls).get("_BINDER")
        if binder is None:
            from registry.arguments import binder as make

            binder = make(cls.INPUT_SCHEMA)
            cls._BINDER = binder
        return binder(raw)

    @classmethod
    def checked_as(cls) -> type[Recipient]:
        """Return the class whose `INPUT_SCHEMA` and `REQUIRED_ARGS` a call has to fit."""
        return cls

    def _uuid(self) -> str:
        """Return a new random identifier for a reply."""
        return str(uuid.uuid4())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None


async def _aprocess_from_process(self: Recipient, message: Message, **kwargs: Any) -> Message:
    from registry.threads import in_thread

    answer: Message = await in_thread(self.process, message, **kwargs)
    return answer


def _process_from_aprocess(self: Recipient, message: Message, **kwargs: Any) -> Message:
    reply: Message = run_coroutine(self.aprocess(message, **kwargs))
    return reply


#: What `__init_subclass__` may replace: never a method that an ancestor really defines.
_DERIVABLE = (
    Recipient.process,
    Recipient.aprocess,
    _process_from_aprocess,
    _aprocess_from_process,
)


def _is_derivable(method: Any) -> bool:
    return method in _DERIVABLE or getattr(method, "__isabstractmethod__", False)


def run_coroutine(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end, in a thread of its own where an event loop is already running."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    import concurrent.futures
    import contextvars

    context = contextvars.copy_context()
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(context.run, asyncio.run, coroutine).result()
