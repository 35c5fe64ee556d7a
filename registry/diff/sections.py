"""Compares the named declarations of one section: what went, what came, what may have been renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import attrs

from registry.diff.changes import Effect, Found
from registry.digests import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from registry.specs import PromptSpec, RecipientSpec

S = TypeVar("S", "RecipientSpec", "PromptSpec")


def section_changes(
    section: str, old: Mapping[str, S], new: Mapping[str, S], compare: Callable[[S, S], Iterable[Found]]
) -> Iterator[Found]:
    """Yield the changes of one section, with ``compare`` for what both sides have."""
    renamed = _renamed(old, new)
    for name in old.keys() | new.keys():
        place = (section, name)
        if name not in new:
            hint = f"; it is called {renamed[name]} now" if name in renamed else ""
            yield Found(Effect.BREAKING, place, f"removed{hint}")
        elif name not in old:
            yield Found(Effect.COMPATIBLE, place, "added")
        else:
            yield from (change.below(*place) for change in compare(old[name], new[name]))


def _renamed(old: Mapping[str, S], new: Mapping[str, S]) -> dict[str, str]:
    """Return the old names whose declaration is there unchanged under a new one."""
    came = {_content(spec): name for name, spec in new.items() if name not in old}
    gone = {name: _content(spec) for name, spec in old.items() if name not in new}
    return {name: came[content] for name, content in gone.items() if content in came}


def _content(spec: S) -> str:
    return digest_of(attrs.evolve(spec, name=""))
