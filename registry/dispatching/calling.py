"""Calls one recipient: what it is given, and what its answer means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from registry.exceptions import InvalidArguments, RecipientFailed
from registry.messages import Outcome, json_type

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from registry.dispatching.slots import Slot
    from registry.messages import Call
    from registry.recipient import Recipient


def bound(slot: Slot, call: Call) -> dict[str, Any] | None:
    """Check the arguments of a call; None where it is a text for a recipient that reads messages itself.

    Such a recipient may be sent any text when it has no input schema, and any arguments that include its
    `REQUIRED_ARGS`.

    Raises:
        InvalidArguments: they do not fit.
    """
    if slot.bind is None:
        slot.learn()
    if slot.bind is not None:
        return slot.bind(call.raw)
    recipient = slot.instance
    if slot.declared:
        found: dict[str, Any] = recipient.arguments_of(call)  # type: ignore[attr-defined] # ``declared``
        return found
    checked_as = recipient.checked_as()
    if call.text is not None and checked_as.INPUT_SCHEMA is None:
        return None
    arguments = recipient.bind_arguments(call.raw)
    missing = [name for name in checked_as.REQUIRED_ARGS if name not in arguments]
    if missing:
        raise InvalidArguments("invalid-arguments", [f"{name}: is required" for name in missing])
    return arguments


def work(
    slot: Slot,
    recipient: Recipient,
    call: Call,
    message: Mapping[str, Any],
    arguments: dict[str, Any] | None,
) -> Coroutine[Any, Any, Outcome]:
    """Return the coroutine that calls a recipient."""
    if slot.declared:
        found: Coroutine[Any, Any, Outcome] = recipient.acall(arguments)  # type: ignore[attr-defined] # ``declared``
        return found
    return _processed(recipient, call, message, arguments)


async def _processed(
    recipient: Recipient, call: Call, message: Mapping[str, Any], arguments: dict[str, Any] | None
) -> Outcome:
    """Send a recipient the message, with its text under ``message`` whatever form it came in."""
    sent = {**message, "message": call.body}
    if arguments is not None:
        sent["arguments"] = arguments
    return outcome_of_reply(await recipient.aprocess(sent))


def outcome_of_reply(answer: Any) -> Outcome:
    """Read what a recipient answered: a reply message or just a text.

    Raises:
        RecipientFailed: it is neither.
    """
    if isinstance(answer, str):
        return Outcome(answer)
    content = answer.get("content") if isinstance(answer, Mapping) else None
    parts = content.get("parts") if isinstance(content, Mapping) else None
    if not isinstance(parts, (list, tuple)):
        what = json_type(answer)
        raise RecipientFailed(f"the recipient answered with {what} that is no message: no content.parts")
    metadata = dict(answer.get("metadata") or {})
    return Outcome(
        "\n".join(part for part in parts if isinstance(part, str)),
        str(metadata.pop("status", "ok")),
        metadata,
        tuple(part for part in parts if isinstance(part, Mapping)),
    )
