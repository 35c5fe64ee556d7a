"""What a difference between two registries is made of."""

from __future__ import annotations

import enum
import json
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from registry.diagnostics import Path

#: How much of a value a message repeats, in characters.
_MAX_SHOWN = 60


class Effect(enum.StrEnum):
    """What a change does to those who call a recipient or fill a prompt, the worst first."""

    #: What was right before may be wrong now.
    BREAKING = "breaking"
    #: Everything that was right before still is.
    COMPATIBLE = "compatible"
    #: Only what people and models read has changed.
    TEXT = "text"


@attrs.frozen
class Change:
    """One difference. ``path`` leads to it as in a diagnostic: ``recipients.a.parameters.city.type``."""

    effect: Effect
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.effect}: {self.path}: {self.message}"


@attrs.frozen
class Found:
    """A change before its path is complete: the path is relative to what was compared."""

    effect: Effect
    path: Path
    message: str

    def below(self, *base: str | int) -> Found:
        """Return the change as one of something larger."""
        return attrs.evolve(self, path=(*base, *self.path))

    def placed(self) -> Change:
        """Return the finished change: its path leads from the root now."""
        return Change(self.effect, ".".join(map(str, self.path)), self.message)


def effect_of(*, safe: bool) -> Effect:
    """Return the effect of a change that can be seen: compatible when it is safe."""
    return Effect.COMPATIBLE if safe else Effect.BREAKING


def same(a: Any, b: Any) -> bool:
    """Tell whether two JSON values are written the same but for the order of keys: 1 is not 1.0 nor true."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(value, b[key]) for key, value in a.items())
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and bool(a == b)


def equal(a: Any, b: Any) -> bool:
    """Tell whether two JSON values are equal to JSON Schema: 1 is 1.0, but not true."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(value, b[key]) for key, value in a.items())
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    return isinstance(a, bool) is isinstance(b, bool) and bool(a == b)


def shown(value: Any) -> str:
    """Return a value as a short JSON text."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def change_of(key: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    """Say what became of one key: added, removed or changed."""
    if key not in old:
        return f"{key} added: {shown(new[key])}"
    if key not in new:
        return f"{key} removed (was {shown(old[key])})"
    return f"{key} changed from {shown(old[key])} to {shown(new[key])}"
