"""What all declared kinds share: address the message, bind the arguments, call, build the reply."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, ClassVar

from registry.messages import address, reply
from registry.recipient import Message, Recipient

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Mapping

    from registry.messages import Call, Outcome
    from registry.specs import RecipientSpec, ServerSpec


class Declared(Recipient):
    """Base of the kinds whose behaviour comes from their declaration."""

    #: Folder of the root file: commands run there and functions may stand in modules there.
    FOLDER: ClassVar[pathlib.Path | None] = None
    #: The MCP servers declared beside it.
    SERVERS: ClassVar[Mapping[str, ServerSpec]] = {}
    #: Whether the kind keeps ``timeout`` and ``max_output`` itself, and so can tell what came until then.
    KEEPS_LIMITS: ClassVar[bool] = False
    SPEC: ClassVar[RecipientSpec]  # pyright: ignore[reportIncompatibleVariableOverride] # always declared

    @abc.abstractmethod
    async def acall(self, arguments: dict[str, Any]) -> Outcome:
        """Do the work with arguments that fit the input schema.

        Raises:
            RecipientFailed: the work could not be done; the text is safe to show to a model.
        """

    def arguments_of(self, call: Call) -> dict[str, Any]:
        """Return the checked arguments that a call carries, as an object or as JSON text."""
        return self.bind_arguments(call.raw)

    async def aprocess(self, message: Message, **_kwargs: Any) -> Message:
        """Answer a message with a reply message.

        Raises:
            InvalidArguments: the arguments do not fit the input schema.
            RecipientFailed: the work could not be done.
        """
        arguments = self.arguments_of(address(message))
        return reply(self.RECIPIENT_NAME, await self.acall(arguments))
