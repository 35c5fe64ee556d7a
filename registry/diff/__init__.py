"""What changed between two registries, and what that does to callers of recipients and users of prompts.

Pure: two values in, the changes out. What a recipient does behind its interface is named where its
declaration changed, but not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from registry.diff.changes import Change, Effect, Found, same
from registry.diff.prompts import prompt_changes
from registry.diff.recipients import recipient_changes
from registry.diff.sections import section_changes
from registry.frozen import freeze
from registry.specs import ClassOptions, PromptSpec, RecipientSpec, RegistrySpec, ServerSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.manager import Entry, RecipientSnapshot

__all__ = ["Change", "Effect", "diff"]

_ORDER = tuple(Effect)


def diff(old: RecipientSnapshot | RegistrySpec, new: RecipientSnapshot | RegistrySpec) -> tuple[Change, ...]:
    """Return every change from one registry to another, the breaking ones first.

    Layout, comments and the order of keys are no change. Where no change is breaking, every call and every
    rendering that was right before still is.
    """
    before, after = _sections(old), _sections(new)
    found = [
        *section_changes("recipients", before.recipients, after.recipients, recipient_changes),
        *section_changes("prompts", before.prompts, after.prompts, prompt_changes),
        *_server_changes(before.servers, after.servers),
    ]
    return tuple(sorted({change.placed() for change in found}, key=_rank))


def _rank(change: Change) -> tuple[int, str, str]:
    return _ORDER.index(change.effect), change.path, change.message


@attrs.frozen
class _Sections:
    """A registry as its declarations by name."""

    recipients: dict[str, RecipientSpec]
    prompts: dict[str, PromptSpec]
    servers: dict[str, ServerSpec]


def _sections(registry: RecipientSnapshot | RegistrySpec) -> _Sections:
    if isinstance(registry, RegistrySpec):
        return _Sections(
            {spec.name: spec for spec in registry.recipients},
            {spec.name: spec for spec in registry.prompts},
            {spec.name: spec for spec in registry.servers},
        )
    return _Sections(
        {name: _spec_of(name, entry) for name, entry in registry.items()},
        {name: prompt.spec for name, prompt in registry.prompts.items()},
        registry.servers,
    )


def _spec_of(name: str, entry: Entry) -> RecipientSpec:
    """Return a recipient's declaration, or one made of the constants of a class that has none."""
    if entry.SPEC is not None:
        return attrs.evolve(entry.SPEC, name=name)
    kind = entry if isinstance(entry, type) else type(entry)
    schema: Any = entry.INPUT_SCHEMA
    if schema is None and entry.REQUIRED_ARGS:
        names = list(entry.REQUIRED_ARGS)
        schema = {"type": "object", "properties": {name: {} for name in names}, "required": names}
    return RecipientSpec(
        name=name,
        kind="class",
        description=entry.DESCRIPTION,
        options=ClassOptions(f"{kind.__module__}:{kind.__qualname__}"),
        input_schema=None if schema is None else freeze(dict(schema)),
        api_docs=entry.API_DOCS,
        example_messages=entry.EXAMPLE_MESSAGES,
    )


def _server_changes(old: dict[str, ServerSpec], new: dict[str, ServerSpec]) -> Iterator[Found]:
    """Yield changes of MCP servers: those who call a tool never see where it runs."""
    for name in old.keys() | new.keys():
        if name not in new or name not in old:
            yield Found(Effect.COMPATIBLE, ("servers", name), "removed" if name in old else "added")
            continue
        for field in attrs.fields(ServerSpec):
            if not same(getattr(old[name], field.name), getattr(new[name], field.name)):
                yield Found(Effect.COMPATIBLE, ("servers", name, field.name), "changed")
