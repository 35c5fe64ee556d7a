"""Tells in which schemas the effect of a change cannot be judged where it is made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from registry.exporters.schemas import LISTS, MAPS, SINGLE

if TYPE_CHECKING:
    from collections.abc import Iterator

#: References whose target is compared in its own place, as something that more fits when it grows.
_PLAIN = re.compile(r"#(/(\$defs|definitions)/[^/~%]+)?")
#: What depends on which branches fit, or on names that the base address changes.
_DELICATE = (
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "unevaluatedItems",
    "unevaluatedProperties",
)
#: Where a schema that more fits can make the whole fit less, so that a reference has no plain effect.
_TURNING = frozenset({"contains", "if", "not", "oneOf"})
#: Drafts whose keywords mean what the rules take them for; older ones lack some.
_DRAFTS = ("2020-12", "2019-09", "draft-07", "draft-06")


def is_fragile(schema: Any) -> bool:
    """Tell whether a change in one part of a schema may have its effect in another."""
    dialect = schema.get("$schema") if isinstance(schema, dict) else None
    if dialect is not None and not any(draft in str(dialect) for draft in _DRAFTS):
        return True
    return any(
        any(key in part for key in _DELICATE)
        or (nested and "$id" in part)
        or ("$ref" in part and (turned or not _is_plain(part["$ref"])))
        for part, turned, nested in _parts(schema)
    )


def _is_plain(reference: Any) -> bool:
    return isinstance(reference, str) and _PLAIN.fullmatch(reference) is not None


def _parts(schema: Any) -> Iterator[tuple[dict[str, Any], bool, bool]]:
    """Yield each object in a schema, whether its growth may shrink the whole, and whether it is nested.

    What a keyword that is not known holds is taken for a schema in such a place.
    """
    waiting: list[tuple[Any, bool, bool]] = [(schema, False, False)]
    while waiting:
        part, turned, nested = waiting.pop()
        if isinstance(part, (list, tuple)):
            waiting += [(item, turned, True) for item in part]
        if not isinstance(part, dict):
            continue
        yield part, turned, nested
        for key, value in part.items():
            if key in MAPS and isinstance(value, dict):
                waiting += [(item, turned, True) for item in value.values()]
            elif key not in {"const", "default", "enum", "examples"}:
                known = (key in SINGLE or key in LISTS) and key not in _TURNING
                waiting.append((value, turned or not known, True))
