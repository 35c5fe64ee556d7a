"""What is pinned in a file of a server's tool, so that a change of it is noticed.

TOML has no null, so a schema is pinned without it: where a null means nothing it is left out, where it means
the JSON value it is said in another way. What a schema accepts stays the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.mcp_client import Tool

#: Keywords that say nothing about what is accepted, and may therefore go when there is a null in them.
_NOTES = frozenset(
    {"$comment", "default", "deprecated", "description", "example", "examples", "readOnly", "title"}
)
#: Keywords whose value maps names to schemas, and keywords whose value is data.
_MAPS = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
_DATA = frozenset({"const", "default", "enum", "examples"})

_Path = tuple[str | int, ...]


class NotPortableError(ValueError):
    """A schema has a null that TOML cannot say in any way; ``path`` leads to it."""

    def __init__(self, path: tuple[str | int, ...]) -> None:
        super().__init__(f"the schema has null at {'.'.join(map(str, path))}, which TOML cannot hold")
        self.path = path


def pinned_description(tool: Tool, server: str) -> str:
    """Return the description that is pinned: the tool's own or, where it has none, a made one."""
    text = _sound(tool.description)
    return text if text.strip() else f"Tool {tool.name} of MCP server {server}."


def pinned_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema that is pinned: the same without nulls.

    Raises:
        NotPortableError: there is a null that cannot be said in another way.
    """
    found: dict[str, Any] = _schema(schema, ())
    return found


def _sound(text: str) -> str:
    """Return a text without lone surrogates, which no file in UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _schema(value: Any, path: _Path) -> Any:
    if not isinstance(value, dict):
        return _other(value, path, _schema)
    done: dict[str, Any] = {}
    said_otherwise: list[dict[str, Any]] = []
    for key, item in value.items():
        here = (*path, key)
        if key in _NOTES and _has_null(item):
            if key == "examples" and isinstance(item, list):
                done[key] = _data([one for one in item if not _has_null(one)], here)
            continue
        if _allows_null(key, item):
            said_otherwise.append(_without_null(item, here))
        else:
            done[_sound(key)] = _keyword(key, item, here)
    if said_otherwise:
        done["allOf"] = [*done.get("allOf", ()), *said_otherwise]
    return done


def _keyword(key: str, item: Any, path: _Path) -> Any:
    if key in _DATA:
        return _data(item, path)
    if key in _MAPS and isinstance(item, dict):
        return {_sound(name): _schema(one, (*path, name)) for name, one in item.items()}
    return _schema(item, path)


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    return any(map(_has_null, value)) if isinstance(value, list) else value is None


def _allows_null(key: str, item: Any) -> bool:
    return (key == "const" and item is None) or (key == "enum" and isinstance(item, list) and None in item)


def _without_null(item: Any, path: _Path) -> dict[str, Any]:
    """Return a schema that says the same as an enum or a constant with null in it."""
    rest = [_data(value, path) for value in item or () if value is not None]
    return {"anyOf": [{"enum": rest}, {"type": "null"}]} if rest else {"type": "null"}


def _data(value: Any, path: _Path) -> Any:
    """Return data as it is; a null inside it cannot be said."""
    if isinstance(value, dict):
        return {_sound(key): _data(item, (*path, key)) for key, item in value.items()}
    return _other(value, path, _data)


def _other(value: Any, path: _Path, inner: Callable[[Any, _Path], Any]) -> Any:
    if value is None:
        raise NotPortableError(path)
    if isinstance(value, list):
        return [inner(item, (*path, index)) for index, item in enumerate(value)]
    return _sound(value) if isinstance(value, str) else value
