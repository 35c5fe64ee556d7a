"""What a change of a prompt's declaration does to those who render it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from registry.diff.changes import Effect, Found, effect_of, same, shown
from registry.diff.schema import compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.diagnostics import Path
    from registry.specs import InputSpec, MessageSpec, PromptSpec

#: Where a value comes from when the caller gives none.
_SOURCES = ("default", "provided", "prompt")
#: Fields of a message that say who speaks, how often and with what sent along.
_SHAPE = ("role", "slot", "when", "each", "as_", "image", "file")


def prompt_changes(old: PromptSpec, new: PromptSpec) -> Iterator[Found]:
    """Yield the changes of one prompt; paths start at its table."""
    yield from _input_changes(old, new)
    yield from _message_changes(old.messages, new.messages)
    for key in ("description", "version", "trim"):
        if getattr(old, key) != getattr(new, key):
            yield Found(Effect.TEXT, (key,), "changed")
    if not same(_examples(old), _examples(new)):
        yield Found(Effect.TEXT, ("examples",), "changed")
    if old.raw is not new.raw:
        yield Found(Effect.BREAKING, ("raw",), "placeholders are text now" if new.raw else "no longer raw")
    for name in set(old.recipients) ^ set(new.recipients):
        gone = name in old.recipients
        what = "no longer goes with the prompt" if gone else "goes with the prompt now"
        yield Found(effect_of(safe=not gone), ("recipients", name), what)


def _examples(spec: PromptSpec) -> list[Any]:
    return [[example.inputs, example.renders] for example in spec.examples]


def _input_changes(old: PromptSpec, new: PromptSpec) -> Iterator[Found]:
    before, after = ({item.name: item for item in spec.inputs} for spec in (old, new))
    for name in before.keys() | after.keys():
        place = ("inputs", name)
        if name not in after:
            yield Found(Effect.BREAKING, place, "removed")
        elif name not in before:
            required = after[name].required
            what = "added, and required" if required else "added, optional"
            yield Found(effect_of(safe=not required), place, what)
        else:
            yield from (change.below(*place) for change in _input(before[name], after[name]))


def _input(old: InputSpec, new: InputSpec) -> Iterator[Found]:
    yield from compare(_schema_of(old), _schema_of(new))
    if old.required is not new.required:
        what = "required now" if new.required else "no longer required"
        yield Found(effect_of(safe=old.required), ("required",), what)
    for key in _SOURCES:
        before, after = (getattr(item, key) for item in (old, new))
        if not same(before, after):
            yield Found(Effect.TEXT, (key,), f"changed from {_value(before)} to {_value(after)}")
    if old.optional is not new.optional and old.required is new.required:
        yield Found(Effect.COMPATIBLE, ("optional",), "changed; a value was not needed before either")


def _value(value: Any) -> str:
    return "none" if value is None or value is attrs.NOTHING else shown(value)


def _schema_of(item: InputSpec) -> dict[str, Any]:
    return {key: value for key, value in item.schema.items() if key != "default"}


def _message_changes(old: tuple[MessageSpec, ...], new: tuple[MessageSpec, ...]) -> Iterator[Found]:
    shapes = [[tuple(getattr(message, key) for key in _SHAPE) for message in part] for part in (old, new)]
    single = len(old) == len(new) == 1
    if shapes[0] != shapes[1]:
        place: Path = ("role",) if single and _differ(old[0], new[0]) == ["role"] else ("messages",)
        yield Found(Effect.BREAKING, place, f"were {_roles(old)}, are {_roles(new)}")
        return
    for index, (before, after) in enumerate(zip(old, new, strict=True)):
        if before.template != after.template:
            place = ("template",) if single else ("messages", index, "template")
            yield Found(Effect.TEXT, place, "changed")


def _differ(old: MessageSpec, new: MessageSpec) -> list[str]:
    return [key for key in _SHAPE if getattr(old, key) != getattr(new, key)]


def _roles(messages: tuple[MessageSpec, ...]) -> str:
    return ", ".join(map(_shape, messages))


def _shape(message: MessageSpec) -> str:
    """Say what a message is: its role, and what decides whether and with what it is sent."""
    if message.slot is not None:
        return f"slot {message.slot}"
    more = ((key.rstrip("_"), getattr(message, key)) for key in _SHAPE[2:])
    return message.role + "".join(f" ({key} {value})" for key, value in more if value is not None)
