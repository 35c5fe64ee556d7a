"""What is pinned in a file of a server's tool, so that a change of it is noticed.

TOML has no null, so a schema is pinned without it: where a null means nothing it is left out, where it means
the JSON value it is said in another way. What a schema accepts stays the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from registry.mcp_client import Tool

#: Keywords that say nothing about what is accepted, and may therefore go when they are null.
_NOTES = ("default", "title", "description", "examples", "example", "$comment", "deprecated", "readOnly")
_SCHEMA_MAPS = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")


class NotPortableError(ValueError):
    """A schema has a null that TOML cannot say in any way; ``path`` leads to it."""

    def __init__(self, path: tuple[str | int, ...]) -> None:
        super().__init__(f"the schema has null at {'.'.join(map(str, path))}, which TOML cannot hold")
        self.path = path


def pinned_description(tool: Tool, server: str) -> str:
    """Return the description that is pinned: the tool's own or, where it has none, a made one."""
    return tool.description if tool.description.strip() else f"Tool {tool.name} of MCP server {server}."


def pinned_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema that is pinned: the same without nulls.

    Raises:
        NotPortableError: there is a null that cannot be said in another way.
    """
    found: dict[str, Any] = _schema(schema, ())
    return found


def _schema(value: Any, path: tuple[str | int, ...]) -> Any:
    if isinstance(value, list):
        return [_schema(item, (*path, index)) for index, item in enumerate(value)]
    if value is None:
        raise NotPortableError(path)
    if not isinstance(value, dict):
        return value
    done: dict[str, Any] = {}
    also: list[dict[str, Any]] = []
    for key, item in value.items():
        here = (*path, key)
        if key in _NOTES and item is None:
            continue
        if key == "enum" and isinstance(item, list) and None in item:
            also.append(_enum(item, here))
        elif key == "const" and item is None:
            also.append({"type": "null"})
        elif key == "examples" and isinstance(item, list):
            done[key] = [_data(one, (*here, index)) for index, one in enumerate(item) if one is not None]
        elif key in ("default", "enum", "const"):
            done[key] = _data(item, here)
        elif key in _SCHEMA_MAPS and isinstance(item, dict):
            done[key] = {name: _schema(one, (*here, name)) for name, one in item.items()}
        else:
            done[key] = _schema(item, here)
    if also:
        done["allOf"] = [*done.get("allOf", ()), *also]
    return done


def _enum(values: list[Any], path: tuple[str | int, ...]) -> dict[str, Any]:
    rest = [_data(value, path) for value in values if value is not None]
    return {"anyOf": [{"enum": rest}, {"type": "null"}]} if rest else {"type": "null"}


def _data(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return data as it is; a null inside it cannot be said."""
    if value is None:
        raise NotPortableError(path)
    if isinstance(value, dict):
        return {key: _data(item, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_data(item, (*path, index)) for index, item in enumerate(value)]
    return value
