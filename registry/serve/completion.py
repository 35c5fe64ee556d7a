"""Completion of prompt arguments: the values that an input's schema lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from registry.serve.protocol import INVALID_PARAMS, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Most values one answer may have, as the protocol says.
MOST = 100


def candidates(schema: Mapping[str, Any]) -> list[str]:
    """Return the texts that a schema lists as values: of its enum, constant, booleans or examples."""
    if "enum" in schema:
        values = list(schema["enum"])
    elif "const" in schema:
        values = [schema["const"]]
    elif schema.get("type") == "boolean":
        values = [True, False]
    else:
        values = list(schema.get("examples", ()))
    return list(dict.fromkeys(map(_text, values)))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def complete(schemas: Mapping[str, Mapping[str, Any]], argument: Any) -> dict[str, Any]:
    """Answer ``completion/complete`` for one argument among inputs with these schemas.

    Raises:
        ProtocolError: the argument is not named as it should be.
    """
    if not isinstance(argument, dict) or not isinstance(argument.get("name"), str):
        raise ProtocolError(INVALID_PARAMS, '"argument" needs "name" and "value"')
    typed = str(argument.get("value", "")).casefold()
    listed = candidates(schemas.get(argument["name"], {}))
    found = [value for value in listed if value.casefold().startswith(typed)]
    return {"completion": {"values": found[:MOST], "total": len(found), "hasMore": len(found) > MOST}}
