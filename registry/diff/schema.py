"""Compares two JSON Schemas: what a change of one into the other does to the values they take.

Sound, not complete: where no change found is breaking, every value that fits the old schema fits the new
one. Each keyword is judged alone, on the understanding that the others are judged as well; what is not known
to be safe is breaking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from registry.diff.changes import Effect, Found, change_of, effect_of, same
from registry.diff.keywords import ANNOTATIONS, RULES, Schema, apart, applies
from registry.diff.references import is_fragile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from registry.diagnostics import Path

#: Keywords of one schema that narrows what fits; absent, anything does.
_NARROWING = ("additionalProperties", "else", "items", "propertyNames", "then")
#: A root that says nothing about unknown names is closed when arguments are bound, by the first of these, or
#: by the second where it also has one of the keywords that bring in other schemas.
_CLOSING = ("additionalProperties", "unevaluatedProperties")
_COMPOSING = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")


def compare_inputs(old: Schema, new: Schema) -> tuple[Found, ...]:
    """Compare the input schemas of two recipients: as `compare`, and with what binding makes of them."""
    found = (*compare(old, new), *_root_closed(old, new))
    implied = any(_is_open(schema) and any(key in schema for key in _COMPOSING) for schema in (old, new))
    return _doubted(found) if implied else found


def _root_closed(old: Schema, new: Schema) -> Iterator[Found]:
    """Yield what binding adds: one root says what unknown arguments are, the other leaves it open."""
    before, after = (schema.get(_CLOSING[0], False) for schema in (old, new))
    if _is_open(new) and before is not False:
        yield Found(Effect.BREAKING, (_CLOSING[0],), "removed: unknown arguments are refused now")
    if _is_open(old) and after is not False:
        yield Found(Effect.COMPATIBLE, (_CLOSING[0],), "added: unknown arguments were refused before")


def _is_open(schema: Schema) -> bool:
    return not any(key in schema for key in _CLOSING)


def compare(old: Any, new: Any) -> tuple[Found, ...]:
    """Return how the new schema differs from the old one; paths start at the schema."""
    found = tuple(_changes(old, new, ()))
    return _doubted(found) if is_fragile(old) or is_fragile(new) else found


def _doubted(found: tuple[Found, ...]) -> tuple[Found, ...]:
    """Take changes of more than text for breaking: what they do depends on the rest of the schema."""
    return tuple(
        change if change.effect is Effect.TEXT else Found(Effect.BREAKING, change.path, change.message)
        for change in found
    )


def _breaks(old: Any, new: Any) -> bool:
    return any(change.effect is Effect.BREAKING for change in _changes(old, new, ()))


def _changes(old: Any, new: Any, path: Path, *, given: bool = False) -> Iterator[Found]:
    """Yield the changes of one schema; ``given``: the value was always there, so that no default counted."""
    old, new = ({} if schema is True else schema for schema in (old, new))
    if same(old, new):
        return
    if not isinstance(old, dict) or not isinstance(new, dict):
        what = "no value fits any more" if new is False else "values fit now"
        yield Found(effect_of(safe=old is False), path, what)
        return
    for key in sorted(old.keys() | new.keys()):
        if key in old and key in new and same(old[key], new[key]):
            continue
        if key == "default":
            yield Found(effect_of(safe=given), (*path, key), change_of(key, old, new))
        else:
            yield from _keyword(old, new, key, path)


def _keyword(old: Schema, new: Schema, key: str, path: Path) -> Iterator[Found]:
    compound = _COMPOUND.get(key)
    here = (*path, key)
    if compound is not None and _is_compound(old.get(key), new.get(key), key):
        yield from compound(old, new, key, here)
    elif key in ANNOTATIONS or key.startswith("x-"):
        yield Found(Effect.TEXT, here, change_of(key, old, new))
    else:
        rule = RULES.get(key)
        safe = rule is not None and (not applies(key, old) or rule(old, new, key))
        yield Found(effect_of(safe=safe), here, change_of(key, old, new))


def _is_compound(old: Any, new: Any, key: str) -> bool:
    """Tell whether the keyword has the form that its rule knows; older drafts have other forms of some."""
    kinds: tuple[type, ...] = (dict, bool)
    if key in {"allOf", "anyOf", "oneOf", "prefixItems", "required"}:
        kinds = (list, tuple)
    elif key in {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}:
        kinds = (dict,)
    return all(value is None or isinstance(value, kinds) for value in (old, new))


def _narrowing(old: Schema, new: Schema, key: str, here: Path) -> Iterator[Found]:
    yield from _changes(old.get(key, True), new.get(key, True), here)


def _not(old: Schema, new: Schema, key: str, here: Path) -> Iterator[Found]:
    safe = not _breaks(new.get(key, False), old.get(key, False))
    yield Found(effect_of(safe=safe), here, change_of(key, old, new))


def _properties(old: Schema, new: Schema, key: str, here: Path) -> Iterator[Found]:
    before, after = old.get(key, {}), new.get(key, {})
    always, needed = (_names(schema.get("required")) for schema in (old, new))
    for name in sorted(before.keys() | after.keys()):
        place = (*here, name)
        if name not in after:
            yield Found(Effect.BREAKING, place, "removed")
        elif name in before:
            yield from _changes(before[name], after[name], place, given=name in always)
        elif name in needed and name not in always:
            yield Found(Effect.BREAKING, place, "added, and required")
        elif any(_breaks(schema, after[name]) for schema in _undeclared(old)):
            why = "added; any value could be sent under this name before"
            yield Found(Effect.BREAKING, place, why)
        else:
            yield Found(Effect.COMPATIBLE, place, "added, optional")


def _undeclared(schema: Schema) -> list[Any]:
    """Return the schemas of which one at least holds for a name that is no declared property."""
    patterns = schema.get("patternProperties")
    found = list(patterns.values()) if isinstance(patterns, dict) else []
    return [schema.get("additionalProperties", True), *found]


def _names(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else ()


def _required(old: Schema, new: Schema, key: str, here: Path) -> Iterator[Found]:
    before, after = _names(old.get(key)), _names(new.get(key))
    declared = [_members(schema.get("properties")) for schema in (old, new)]
    for name in sorted({*before, *after}, key=str):
        if (name in before) is (name in after) or (name in declared[0]) is not (name in declared[1]):
            continue  # nothing changed, or `_properties` has said it
        what = "no longer required" if name in before else "required now"
        yield Found(effect_of(safe=name in before), (*here, str(name)), what)
    if set(before) == set(after):
        yield Found(Effect.COMPATIBLE, here, "written otherwise")


def _members(value: Any) -> Any:
    return value if isinstance(value, dict) else ()


def _by_name(old: Schema, new: Schema, key: str, here: Path) -> Iterator[Found]:
    """Compare named schemas; one more is a condition more, except where they only wait to be referred to."""
    before, after = old.get(key, {}), new.get(key, {})
    waiting = key in {"$defs", "definitions"}
    for name in sorted(before.keys() | after.keys()):
        place = (*here, name)
        if name in before and name in after:
            yield from _changes(before[name], after[name], place)
        elif name in after:
            yield Found(effect_of(safe=waiting), place, "added")
        else:
            yield Found(effect_of(safe=key != "patternProperties"), place, "removed")


def _listed(old: Schema, new: Schema, key: str, here: Path) -> Iterator[Found]:
    before, after = old.get(key) or (), new.get(key) or ()
    if len(before) == len(after) and not _reordered(before, after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _changes(one, other, (*here, index))
        return
    safe = _covers(before, after, key)
    yield Found(effect_of(safe=safe), here, change_of(key, old, new))


def _one_of(old: Schema, new: Schema, key: str, here: Path) -> Iterator[Found]:
    before, after = old.get(key) or (), new.get(key) or ()
    if len(before) == len(after):
        found = [
            change
            for index, (one, other) in enumerate(zip(before, after, strict=True))
            for change in _changes(one, other, (*here, index))
        ]
        if all(change.effect is Effect.TEXT for change in found):
            yield from found
            return
    # Where no value fits two of the new branches, one of them is as good as any of them.
    safe = _reordered(before, after) or key not in new or (apart(after) and _covers(before, after, "anyOf"))
    yield Found(effect_of(safe=safe), here, change_of(key, old, new))


def _covers(before: Any, after: Any, key: str) -> bool:
    """Tell whether what fits the old branches is sure to fit the new ones."""
    if key == "anyOf":
        found = bool(before) and all(any(not _breaks(old, new) for new in after) for old in before)
        return found or not after
    return key == "allOf" and all(any(not _breaks(old, new) for old in before) for new in after)


def _reordered(before: Any, after: Any) -> bool:
    rest = list(after)
    for schema in before:
        index = next((i for i, other in enumerate(rest) if same(schema, other)), None)
        if index is None:
            return False
        del rest[index]
    return not rest


#: Keywords made of schemas, or that speak of the same names as one that is.
_COMPOUND: dict[str, Callable[[Schema, Schema, str, Path], Iterator[Found]]] = {
    **dict.fromkeys(_NARROWING, _narrowing),
    **dict.fromkeys(("$defs", "definitions", "dependentSchemas", "patternProperties"), _by_name),
    **dict.fromkeys(("allOf", "anyOf", "prefixItems"), _listed),
    "not": _not,
    "oneOf": _one_of,
    "properties": _properties,
    "required": _required,
}
