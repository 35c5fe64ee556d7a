"""What a model is told: about calls that failed, and no more of any answer than it should see."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import attrs

from registry.cutting import clean, cut
from registry.dispatching.running import TimeIsUpError
from registry.exceptions import InvalidArguments, InvalidMessage, NoSuchRecipient, RecipientFailed
from registry.messages import STRUCTURED, Outcome
from registry.redaction import hide

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.dispatching.slots import Slot

#: How much of an exception's text is passed on, in characters.
_MAX_TEXT = 4_000
#: How many names a text lists.
_MAX_NAMES = 20


class RefusedError(Exception):
    """The approval hook refused a call; the text says why, if it did."""


def _quoted(names: Iterable[str]) -> str:
    return " or ".join(f'"{name}"' for name in names)


def unknown(error: NoSuchRecipient, names: list[str]) -> Outcome:
    """Say that there is no such recipient, which one may have been meant, and which there are."""
    near = f" Did you mean {_quoted(error.close)}?" if error.close else ""
    more = f" … ({len(names)} in all)" if len(names) > _MAX_NAMES else ""
    known = f" Available: {', '.join(names[:_MAX_NAMES])}{more}." if names else " None is available."
    return Outcome(f'There is no recipient "{error.name[:80]}".{near}{known}', "unknown-recipient")


def outcome_of(error: BaseException, slot: Slot | None) -> Outcome:
    """Turn what ended a call into what a model is told: type and text, never a traceback."""
    name, seconds = ("", None) if slot is None else (slot.name, slot.timeout)
    if isinstance(error, InvalidArguments):
        faults = "".join(f"\n- {text}" for text in error.errors)
        return Outcome(f'Invalid arguments for "{name}":{faults}', "invalid-arguments", {"code": error.code})
    if isinstance(error, InvalidMessage) and slot is None:  # else it is about a message of the recipient's
        return Outcome(f"Invalid message: {error}", "invalid-message")
    if isinstance(error, TimeIsUpError):
        return Outcome(f'"{name}" did not answer within {seconds:g} seconds and was stopped.', "timeout")
    if isinstance(error, RefusedError):
        reason = f": {error}" if str(error) else "."
        return Outcome(f'The call of "{name}" was refused{reason}', "refused")
    variables = frozenset[str]() if slot is None else slot.variables
    return Outcome(_described(error, variables), "error", {"error": type(_innermost(error)).__name__})


def shown(outcome: Outcome, slot: Slot | None, most: int | None) -> Outcome:
    """Return the outcome as a model may see it: valid text, without secrets, cut to its limit in bytes."""
    if slot is not None:
        most = slot.max_output
        if slot.variables:
            outcome = _hidden(outcome, slot.variables)
    text = outcome.text
    if not text.isascii():
        text = clean(text)
    if most is not None and len(text) * 4 > most:
        text, total = cut(text, most)
        if total > most:
            # The structured form of what is cut would be the whole of it.
            kept = {key: value for key, value in outcome.metadata.items() if key != STRUCTURED}
            return attrs.evolve(outcome, text=text, metadata={**kept, "output_bytes": total})
    return outcome if text is outcome.text else attrs.evolve(outcome, text=text)


def _hidden(outcome: Outcome, variables: frozenset[str]) -> Outcome:
    metadata = {
        key: hide(value, variables) if isinstance(value, str) else value
        for key, value in outcome.metadata.items()
    }
    if STRUCTURED in metadata:
        text = json.dumps(metadata[STRUCTURED], ensure_ascii=False, default=str)
        if hide(text, variables) != text:
            del metadata[STRUCTURED]
    parts = tuple(
        {key: hide(value, variables) if isinstance(value, str) else value for key, value in part.items()}
        for part in outcome.parts
    )
    return attrs.evolve(outcome, text=hide(outcome.text, variables), metadata=metadata, parts=parts)


def _innermost(error: BaseException) -> BaseException:
    """Look through groups of one exception, which task groups make."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _described(error: BaseException, variables: frozenset[str]) -> str:
    error = _innermost(error)
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an exception of the user's own may be broken
        text = "(its text cannot be shown)"
    text = hide(text, variables)  # before it is cut, where no secret is cut either
    if len(text) > _MAX_TEXT:
        text = f"{text[:_MAX_TEXT]}… ({len(text)} characters)"
    if isinstance(error, RecipientFailed):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
