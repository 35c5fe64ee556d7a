"""The ``class`` kind: a `Recipient` written by the user, imported at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs

from registry.exceptions import RecipientFailed
from registry.import_paths import import_object
from registry.recipient import Message, Recipient

if TYPE_CHECKING:
    import pathlib
    from types import TracebackType

    from registry.specs import ClassOptions, RecipientSpec


@attrs.define(slots=False, eq=False)
class ClassRecipient(Recipient):
    """Stands for the user's class until a call needs it, then passes every call on to one instance of it."""

    FOLDER: ClassVar[pathlib.Path | None] = None
    SPEC: ClassVar[RecipientSpec | None] = None

    _own: Recipient | None = attrs.field(default=None, init=False, repr=False)

    @classmethod
    def own_class(cls) -> type[Recipient]:
        """Import the declared class.

        Raises:
            RecipientFailed: it cannot be imported, or is no `Recipient`.
        """
        assert cls.SPEC is not None  # noqa: S101 - only declared classes exist
        options: ClassOptions = cls.SPEC.options  # type: ignore[assignment]
        found = import_object(options.class_, cls.FOLDER)
        if not (isinstance(found, type) and issubclass(found, Recipient)):
            raise RecipientFailed(f"{options.class_} is no subclass of registry.Recipient")
        return found

    @classmethod
    def checked_as(cls) -> type[Recipient]:
        """Return the user's class, except where the declaration has an input schema."""
        return cls.own_class() if cls.INPUT_SCHEMA is None else cls

    @classmethod
    def bind_arguments(cls, raw: Any) -> dict[str, Any]:
        """Check arguments against the declared input schema or, where none is declared, the class's own."""
        if cls.INPUT_SCHEMA is None:
            return cls.own_class().bind_arguments(raw)
        return super().bind_arguments(raw)

    def _instance(self) -> Recipient:
        if self._own is None:
            self._own = self.own_class()()
        return self._own

    def process(self, message: Message, **kwargs: Any) -> Message:
        """Pass the message on to the user's class."""
        return self._instance().process(message, **kwargs)

    async def aprocess(self, message: Message, **kwargs: Any) -> Message:
        """Pass the message on to the user's class."""
        return await self._instance().aprocess(message, **kwargs)

    async def __aenter__(self) -> Self:
        await self._instance().__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._own is not None:
            await self._own.__aexit__(kind, error, traceback)
