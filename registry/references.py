"""Where references inside a JSON Schema lead to."""

from __future__ import annotations

import functools
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]


def resolver(root: Schema) -> Callable[[str], Schema | bool | None]:
    """Return a function that tells what a reference inside the root schema points at; None where it cannot.

    That is a JSON Pointer or an anchor there. Inside a schema with an address of its own it would start
    there, so that with such a schema inside no reference is sure.
    """

    @functools.cache
    def names() -> dict[str, Schema] | None:
        nodes = list(objects_in(root))
        if any(map(_has_address, nodes[1:])):
            return None
        return {
            name: node
            for node in reversed(nodes)
            for key in ("$anchor", "$dynamicAnchor", "$id", "id")
            if isinstance(name := node.get(key), str)
        }

    @functools.cache
    def resolve(reference: str) -> Schema | bool | None:
        known = names() if reference.startswith("#") else None
        if known is None:
            return None
        fragment = urllib.parse.unquote(reference[1:])
        if fragment and not fragment.startswith("/"):
            return known.get(fragment, known.get(reference))
        return _pointed(root, fragment)

    return resolve


def _pointed(root: Schema, pointer: str) -> Schema | bool | None:
    found: Any = root
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, (list, tuple)) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found if isinstance(found, (Mapping, bool)) else None


def objects_in(value: Any) -> Iterator[Schema]:
    """Yield every object inside a schema, itself first."""
    if isinstance(value, Mapping):
        yield value
        for item in value.values():
            yield from objects_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from objects_in(item)


def _has_address(node: Schema) -> bool:
    """Tell whether a schema has an address; data with a key ``id`` has none, if it is no draft 4 schema."""
    address = node.get("$id", node.get("id") if "$schema" in node else None)
    return isinstance(address, str) and not address.startswith("#")
