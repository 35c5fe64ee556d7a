"""The keywords of JSON Schema that are judged by their values alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from registry.diff.changes import equal

if TYPE_CHECKING:
    from collections.abc import Callable

Schema = dict[str, Any]

#: Keywords that only people and models read. ``x-…`` is one too.
ANNOTATIONS = frozenset(
    {"$comment", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
)

_TYPES = frozenset({"array", "boolean", "null", "number", "object", "string"})
_NUMBER = frozenset({"integer", "number"})
#: Keyword -> the types that it says anything about.
_ABOUT: dict[str, frozenset[str]] = {
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"), _NUMBER),
    **dict.fromkeys(("maxLength", "minLength", "pattern"), frozenset({"string"})),
    **dict.fromkeys(("maxItems", "minItems", "uniqueItems"), frozenset({"array"})),
    **dict.fromkeys(("dependentRequired", "maxProperties", "minProperties"), frozenset({"object"})),
}


def _types_named(value: Any) -> frozenset[str]:
    return frozenset([value] if isinstance(value, str) else value)


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    kinds = {int: "integer", float: "number", str: "string", type(None): "null", dict: "object"}
    return next((name for kind, name in kinds.items() if isinstance(value, kind)), "array")


def values_of(schema: Schema) -> list[Any] | None:
    """Return the values that a schema lists; None where it lists none."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return list(listed) if isinstance(listed, (list, tuple)) else None


def _types_of(schema: Schema) -> frozenset[str] | None:
    """Return the types that values of a schema can have; None for all of them."""
    values = values_of(schema)
    if values is not None:
        return frozenset(map(_type_of, values))
    return _types_named(schema["type"]) if "type" in schema else None


def applies(key: str, schema: Schema) -> bool:
    """Tell whether a keyword says anything about the values that fit a schema."""
    kinds = _types_of(schema)
    return kinds is None or key not in _ABOUT or not kinds.isdisjoint(_ABOUT[key])


def _type(old: Schema, new: Schema, _key: str) -> bool:
    if "type" not in new:
        return True
    before, after = _types_of(old), _types_named(new["type"])
    return before is not None and all(
        kind in after or (kind == "integer" and "number" in after) for kind in before
    )


def _values(old: Schema, new: Schema, key: str) -> bool:
    if key not in new:
        return True
    before = values_of(old)
    after = [new[key]] if key == "const" else list(new[key])
    return before is not None and all(any(equal(value, item) for item in after) for value in before)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _bounds(schema: Schema, inclusive: str, exclusive: str) -> list[tuple[Any, bool]]:
    found = ((schema.get(inclusive), False), (schema.get(exclusive), True))
    return [(bound, strict) for bound, strict in found if _is_number(bound)]


def _lower(old: Schema, new: Schema, key: str) -> bool:
    return _is_bound_kept(old, new, key, ("minimum", "exclusiveMinimum"), 1)


def _upper(old: Schema, new: Schema, key: str) -> bool:
    return _is_bound_kept(old, new, key, ("maximum", "exclusiveMaximum"), -1)


def _is_bound_kept(old: Schema, new: Schema, key: str, names: tuple[str, str], sign: int) -> bool:
    """Tell whether some old bound keeps values away from where the new one does."""
    if key not in new:
        return True
    bound, exclusive = new[key], key.startswith("exclusive")
    return _is_number(bound) and any(
        sign * limit > sign * bound or (limit == bound and (strict or not exclusive))
        for limit, strict in _bounds(old, *names)
    )


def _least(old: Schema, new: Schema, key: str) -> bool:
    before, after = old.get(key, 0), new.get(key, 0)
    return _is_number(before) and _is_number(after) and after <= before


def _most(old: Schema, new: Schema, key: str) -> bool:
    if key not in new:
        return True
    before, after = old.get(key), new[key]
    return _is_number(before) and _is_number(after) and after >= before


def _multiple(old: Schema, new: Schema, key: str) -> bool:
    """Only integers divide exactly everywhere; for fractions validators differ."""
    if key not in new:
        return True
    before, after = old.get(key), new[key]
    return type(before) is int and type(after) is int and after > 0 and before % after == 0


def _unique(old: Schema, new: Schema, key: str) -> bool:
    return new.get(key, False) is False or old.get(key) is True


def _relaxed(_old: Schema, new: Schema, key: str) -> bool:
    return key not in new


def _dependent(old: Schema, new: Schema, key: str) -> bool:
    before, after = old.get(key, {}), new.get(key, {})
    return all(set(names) <= set(before.get(name, ())) for name, names in after.items())


#: Keyword -> whether its change leaves everything right that was. What is not listed is not known to be safe.
RULES: dict[str, Callable[[Schema, Schema, str], bool]] = {
    "const": _values,
    "dependentRequired": _dependent,
    "enum": _values,
    "exclusiveMaximum": _upper,
    "exclusiveMinimum": _lower,
    "format": _relaxed,
    "maxItems": _most,
    "maxLength": _most,
    "maxProperties": _most,
    "maximum": _upper,
    "minItems": _least,
    "minLength": _least,
    "minProperties": _least,
    "minimum": _lower,
    "multipleOf": _multiple,
    "pattern": _relaxed,
    "type": _type,
    "uniqueItems": _unique,
}


def apart(branches: Any) -> bool:
    """Tell whether it is plain that no value fits two of the schemas."""
    if not all(isinstance(branch, dict) for branch in branches):
        return False
    pairs = [(one, two) for index, one in enumerate(branches) for two in branches[:index]]
    return all(_are_apart(one, two) for one, two in pairs)


def _are_apart(one: Schema, two: Schema) -> bool:
    kinds = [_wide_types_of(schema) for schema in (one, two)]
    if not kinds[0] & kinds[1]:
        return True
    # A required member tells two objects apart; of what is no object it says nothing.
    return kinds[0] == kinds[1] == {"object"} and any(
        _are_other(_member(one, name), _member(two, name))
        for name in set(one.get("required", ())) & set(two.get("required", ()))
    )


def _wide_types_of(schema: Schema) -> frozenset[str]:
    """Return the types that values of a schema can have; an integer is a number."""
    kinds = _types_of(schema)
    return _TYPES if kinds is None else frozenset("number" if kind == "integer" else kind for kind in kinds)


def _member(schema: Schema, name: str) -> Schema:
    found = schema.get("properties", {}).get(name)
    return found if isinstance(found, dict) else {}


def _are_other(one: Schema, two: Schema) -> bool:
    values = [values_of(schema) for schema in (one, two)]
    if values[0] is None or values[1] is None:
        return False
    return not any(equal(a, b) for a in values[0] for b in values[1])
