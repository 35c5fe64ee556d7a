"""What a change of a recipient's declaration does to those who call it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from registry.diff.changes import Effect, Found, change_of, effect_of, same
from registry.diff.schema import compare_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.diagnostics import Path
    from registry.specs import RecipientSpec

_ANYTHING = {"type": "object"}
_TEXTS = ("api_docs", "description", "example_messages")
#: Limits on what a call may take: less is worse, None is no limit.
_LIMITS = ("max_output", "timeout")
#: Options that say how a recipient does its work; what a call may say and what comes back is the same.
_BEHIND = frozenset(
    {"argv", "body", "call", "class_", "connect_timeout", "env", "follow_redirects", "headers", "method"}
    | {"on_change", "query", "read_timeout", "retries", "server", "stdin", "tool", "url"}
)
#: Options whose values may hold a credential: they are never shown.
_HIDDEN = frozenset({"argv", "body", "env", "headers", "query", "stdin", "tio", "url"})
#: Where the parts of an input schema stand in a file, mostly.
_PLACES = {"properties": "parameters", "required": "required_args"}


def recipient_changes(old: RecipientSpec, new: RecipientSpec) -> Iterator[Found]:
    """Yield the changes of one recipient; paths start at its table."""
    yield from _schema_changes(old, new)
    for key in _TEXTS:
        if not same(_plain(getattr(old, key)), _plain(getattr(new, key))):
            yield Found(Effect.TEXT, (key,), "changed")
    for key in _LIMITS:
        yield from _limit(getattr(old, key), getattr(new, key), key)
    if old.idempotent is not new.idempotent:
        yield _changed(("idempotent",), old.idempotent, new.idempotent, safe=new.idempotent)
    if old.parallel is not new.parallel:
        yield _changed(("parallel",), old.parallel, new.parallel, safe=True)
    if set(old.tags) != set(new.tags):
        yield _changed(("tags",), sorted(old.tags), sorted(new.tags), safe=set(old.tags) < set(new.tags))
    if old.kind != new.kind:
        yield _changed(("kind",), old.kind, new.kind, safe=False)
    else:
        yield from _option_changes(old.options, new.options)


def _schema_changes(old: RecipientSpec, new: RecipientSpec) -> Iterator[Found]:
    found = compare_inputs(_schema_of(old), _schema_of(new))
    for change in found:
        first, *rest = change.path or ("",)
        if first in _PLACES:
            yield attrs.evolve(change, path=(_PLACES[str(first)], *rest))
        else:
            yield change.below("input_schema")


def _schema_of(spec: RecipientSpec) -> dict[str, Any]:
    return _ANYTHING if spec.input_schema is None else spec.input_schema


def _plain(value: Any) -> Any:
    """Return examples as data, so that what a class of its own makes of them can be compared too."""
    if isinstance(value, tuple):
        return [attrs.asdict(item) if attrs.has(type(item)) else item for item in value]
    return value


def _limit(old: float | None, new: float | None, key: str) -> Iterator[Found]:
    if old != new:
        safe = new is None or (old is not None and new > old)
        yield _changed((key,), old, new, safe=safe)


def _changed(path: Path, old: Any, new: Any, *, safe: bool) -> Found:
    key = str(path[-1])
    before, after = ({} if value is None else {key: value} for value in (old, new))
    return Found(effect_of(safe=safe), path, change_of(key, before, after))


def _option_changes(old: Any, new: Any) -> Iterator[Found]:
    for field in attrs.fields(type(old)):
        before, after = (getattr(options, field.name) for options in (old, new))
        if same(before, after):
            continue
        path = (field.name.rstrip("_"),)
        safe = field.name in _BEHIND or _allows_more(field.name, before, after)
        if field.name in _HIDDEN:
            yield Found(effect_of(safe=safe), path, "changed")
        else:
            yield _changed(path, before, after, safe=safe)


def _allows_more(key: str, old: Any, new: Any) -> bool:
    """Tell whether everything that ran under the old value of a limit runs under the new one."""
    if key == "memory":
        from registry.execution.interface import parse_size

        return parse_size(new) >= parse_size(old)
    return key == "sandbox" and bool(new == "none")
