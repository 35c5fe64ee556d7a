"""How to walk a JSON Schema by position, so that an argument named like a keyword is never taken for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry.diagnostics import Path

Schema = dict[str, Any]

#: Keywords whose value is one schema.
SINGLE = (
    "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
#: Keywords whose value is a list of schemas (``items`` too, in old drafts).
LISTS = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
#: Keywords whose value maps names to schemas.
MAPS = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")

#: Containers inside each other that a schema may have here; more is refused rather than a stack overflow.
MAX_DEPTH = 100

#: What a value of each type looks like in Python; bool is no integer.
_TYPES: dict[type, str] = {
    str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null", list: "array",
    dict: "object",
}  # fmt: skip


def children(schema: Any) -> Iterator[tuple[Path, Any]]:
    """Yield each direct subschema with its path inside the schema."""
    if not isinstance(schema, dict):
        return
    for key in SINGLE:
        if isinstance(schema.get(key), (dict, bool)):
            yield (key,), schema[key]
    for key in LISTS:
        if isinstance(schema.get(key), (list, tuple)):
            yield from (((key, index), item) for index, item in enumerate(schema[key]))
    for key in MAPS:
        if isinstance(schema.get(key), dict):
            yield from (((key, name), item) for name, item in schema[key].items())


def walk(schema: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the schema and all its subschemas with their paths."""
    waiting = [(path, schema)]
    while waiting:
        path, schema = waiting.pop()
        yield path, schema
        waiting += [((*path, *step), item) for step, item in children(schema)]


def too_deep(value: Any) -> bool:
    """Say whether data has more than `MAX_DEPTH` containers inside each other."""
    layer = [value]
    for _ in range(MAX_DEPTH):
        layer = [child for item in layer for child in _contents(item)]
        if not layer:
            return False
    return True


def _contents(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else []


def anchors_of(root: Schema) -> dict[str, tuple[Path, Any]]:
    """Return the schemas that have a name of their own to be referred to by, with their paths."""
    found: dict[str, tuple[Path, Any]] = {}
    for path, schema in walk(root):
        if isinstance(schema, dict) and isinstance(schema.get("$anchor"), str):
            found.setdefault(schema["$anchor"], (path, schema))
    return found


def resolve(root: Schema, reference: str, anchors: Mapping[str, tuple[Path, Any]]) -> tuple[Path, Any] | None:
    """Find what a local reference names: its path and the schema there; None when there is none."""
    if reference == "#":
        return (), root
    if not reference.startswith("#"):
        return None
    name = unquote(reference[1:])
    if not name.startswith("/"):
        return anchors.get(name)
    found: Any = root
    path: list[str | int] = []
    for part in name[1:].split("/"):
        key = _step(found, part.replace("~1", "/").replace("~0", "~"))
        if key is None:
            return None
        found = found[key]
        path.append(key)
    return (tuple(path), found) if isinstance(found, (dict, bool)) else None


def _step(container: Any, part: str) -> str | int | None:
    if isinstance(container, dict):
        return part if part in container else None
    if isinstance(container, (list, tuple)) and part.isdecimal():
        return int(part) if int(part) < len(container) else None
    return None


def reference_to(definition: str) -> str:
    """Return the reference to a schema under ``$defs``."""
    return "#/$defs/" + quote(definition.replace("~", "~0").replace("/", "~1"), safe="~!$&'()*+,;=:@")


def types_of(schema: Schema) -> list[str]:
    """Return the types a schema speaks of: those it asks for, else those its other keywords imply."""
    asked = asked_types(schema)
    if asked or "properties" in schema:
        return asked or ["object"]
    return ["array"] if "items" in schema or "prefixItems" in schema else []


def asked_types(schema: Schema) -> list[str]:
    """Return the types that a schema names, or else those of the values that it lists."""
    named = schema.get("type")
    if isinstance(named, str):
        return [named]
    if isinstance(named, (list, tuple)):
        return list(named)
    if "const" in schema or "enum" in schema:
        values = [schema["const"]] if "const" in schema else schema["enum"]
        found = dict.fromkeys(type_of(value) for value in values)
        return [kind for kind in found if kind != "integer" or "number" not in found]
    return []


def type_of(value: Any) -> str:
    """Return the JSON type of a value."""
    return next(name for kind, name in _TYPES.items() if isinstance(value, kind))


def disjoint(branches: list[Any]) -> bool:
    """Say whether it is plain that no value fits two of the schemas, so that oneOf is the same as anyOf."""
    if not all(isinstance(branch, dict) for branch in branches):
        return False
    if _list_other_scalars(branches):
        return True
    pairs = [(a, b) for index, a in enumerate(branches) for b in branches[:index]]
    return all(_apart(a, b) for a, b in pairs)


def _list_other_scalars(branches: list[Schema]) -> bool:
    """Say whether the schemas list plain values, each another's: known at once for long lists too."""
    found: set[tuple[bool, Any]] = set()
    for branch in branches:
        values = _values(branch)
        if values is None or any(isinstance(value, (list, tuple, dict)) for value in values):
            return False
        own = {(isinstance(value, bool), value) for value in values}  # true is not 1
        if not found.isdisjoint(own):
            return False
        found |= own
    return True


def _apart(a: Schema, b: Schema) -> bool:
    kinds = [{"number" if kind == "integer" else kind for kind in types_of(schema)} for schema in (a, b)]
    if all(kinds) and not kinds[0] & kinds[1]:
        return True
    if _values(a) is not None and _values(b) is not None:
        return not any(value in (_values(b) or ()) for value in _values(a) or ())
    shared = set(a.get("required", ())) & set(b.get("required", ()))
    tags = [(_tag(a, name), _tag(b, name)) for name in shared]
    # A required tag tells only objects apart, so both must be nothing else.
    return kinds[0] == kinds[1] == {"object"} and any(
        one is not None and two is not None and not any(value in two for value in one) for one, two in tags
    )


def _tag(schema: Schema, name: str) -> list[Any] | None:
    return _values(schema.get("properties", {}).get(name))


def _values(schema: Any) -> list[Any] | None:
    """Return the listed values a schema allows, if it lists them."""
    if not isinstance(schema, dict):
        return None
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if "enum" in schema else None
