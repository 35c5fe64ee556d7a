"""The way through a JSON Schema: only the places that hold schemas, never the data inside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.diagnostics import Path

#: Keywords whose value is a schema, a list of schemas, or a table of schemas.
ONE = frozenset(
    {
        "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames",
        "then", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
NAMED = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
#: Keywords that hold something else.
PLAIN = frozenset(
    {
        "$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema", "$vocabulary",
        "const", "contentEncoding", "contentMediaType", "default", "dependentRequired", "deprecated",
        "description", "enum", "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "maxContains",
        "maxItems", "maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength",
        "minProperties", "minimum", "multipleOf", "pattern", "readOnly", "required", "title", "type",
        "uniqueItems", "writeOnly",
    }
)  # fmt: skip
KEYWORDS = ONE | MANY | NAMED | PLAIN
#: Keywords that lead to schemas inside.
NESTING = ONE | MANY | NAMED


def subschemas(schema: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield a schema and every schema inside it, each with its path; what is misshapen is passed over."""
    pending: list[tuple[Path, Any]] = [(path, schema)]
    while pending:
        path, found = pending.pop()
        if not isinstance(found, dict):
            continue
        yield path, found
        if NESTING.isdisjoint(found):
            continue
        for key, value in found.items():
            if key in ONE:
                pending.append(((*path, key), value))
            elif key in MANY and isinstance(value, list):
                pending += [((*path, key, i), item) for i, item in enumerate(value)]
            elif key in NAMED and isinstance(value, dict):
                pending += [((*path, key, name), item) for name, item in value.items()]
