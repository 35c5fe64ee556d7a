"""What JSON Schema dialects before 2019-09 say in another way: draft 4, 6 and 7.

In them a reference stands alone, whatever is beside it, and nothing rules out the names that neither a schema
nor those it is composed of know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Schema = Mapping[str, Any]

_OLD = re.compile(r"draft-0[3-7]/")
#: What stays where a schema is a reference: where references lead to, and what is no check.
_BESIDE = frozenset({"$ref", "$schema", "$defs", "default", "definitions"})
#: Keywords by which a schema has others speak about the same value: with one schema, a list, or a table.
_ONE, _LIST, _TABLE = ("if", "then", "else"), ("allOf", "anyOf", "oneOf"), ("dependencies",)


def is_old(root: Schema) -> bool:
    """Tell whether a schema names one of these dialects."""
    dialect = root.get("$schema")
    return isinstance(dialect, str) and _OLD.search(dialect) is not None


def lone_references(value: Any) -> Any:
    """Return a schema of these dialects without what stands beside references, which says nothing."""
    if isinstance(value, (list, tuple)):
        return [lone_references(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    lone = isinstance(value.get("$ref"), str)
    return {key: lone_references(item) for key, item in value.items() if not lone or key in _BESIDE}


def closed(root: Schema, resolve: Callable[[str], Any]) -> dict[str, Any]:
    """Return a schema with the names ruled out that no part of it knows; as it is, if a part takes any."""
    found = dict(root)
    if "$ref" in found:
        found["allOf"] = [*found.get("allOf", ()), {"$ref": found.pop("$ref")}]
    parts = list(_parts(found, resolve, []))
    if any(part.get("additionalProperties", False) is not False for part in parts):
        return dict(root)
    for keyword in ("properties", "patternProperties"):
        known = {name for part in parts for name in part.get(keyword, ())}
        found[keyword] = {**{name: {} for name in sorted(known)}, **found.get(keyword, {})}
    return {**found, "additionalProperties": False}


def _parts(node: Any, resolve: Callable[[str], Any], seen: list[Any]) -> Iterator[Schema]:
    """Yield every schema that may speak about the same value as a schema, itself included."""
    if not isinstance(node, Mapping) or any(node is known for known in seen):
        return
    seen.append(node)
    if isinstance(node.get("$ref"), str):
        yield from _parts(resolve(node["$ref"]), resolve, seen)
        return
    yield node
    nodes = [node.get(key) for key in _ONE]
    nodes += [item for key in _LIST for item in node.get(key, ())]
    nodes += [item for key in _TABLE for item in node.get(key, {}).values()]
    for item in nodes:
        yield from _parts(item, resolve, seen)
