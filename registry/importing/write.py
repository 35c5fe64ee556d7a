"""Writing declarations: new ones as text at the end of a file, known ones in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.items import InlineTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.specs import ServerSpec

#: Schema keywords whose members get a line each.
_MEMBERS = ("$defs", "definitions", "properties")


def recipient_block(name: str, server: str, tool: str, description: str, schema: Mapping[str, Any]) -> str:
    """Return the text that declares a recipient."""
    table = tomlkit.table()
    table["kind"] = "mcp"
    table["server"] = server
    table["tool"] = text_item(tool)
    table["description"] = text_item(description)
    table["input_schema"] = schema_table(schema)
    return _block("recipients", name, table)


def update_recipient(table: Any, description: str, schema: Mapping[str, Any], *, inline: bool) -> bool:
    """Make a declared recipient say what the server says; return whether it did not before.

    With ``inline`` the schema is written on one line, otherwise so where the recipient itself is.
    """
    plain = table.unwrap()
    changed = False
    if plain.get("description") != description:
        table["description"] = text_item(description)
        changed = True
    if plain.get("input_schema") != schema:
        for key in ("parameters", "required_args"):
            table.pop(key, None)
        one_line = inline or isinstance(table, InlineTable)
        table["input_schema"] = _inline(schema) if one_line else schema_table(schema, spaced=True)
        changed = True
    return changed


def update_server(document: Any, server: ServerSpec) -> list[str]:
    """Make a declared server say how it is reached; return the text to add where it is not declared."""
    wanted: dict[str, Any] = {}
    if server.url is None:
        wanted["command"] = list(server.command)
    else:
        wanted["url"] = server.url
    wanted |= {key: dict(item) for key, item in (("env", server.env), ("headers", server.headers)) if item}
    declared = document.get("servers", {}).get(server.name)
    if declared is None:
        table = tomlkit.table()
        for key, item in wanted.items():
            table[key] = _inline(item)
        return [_block("servers", server.name, table)]
    plain = declared.unwrap()
    for key in {"command", "url"} - wanted.keys():
        declared.pop(key, None)
    for key, item in wanted.items():
        if plain.get(key) != item:
            declared[key] = _inline(item)
    return []


def joined(document: Any, before: str, blocks: list[str]) -> str:
    """Return the document's text with the blocks behind it, in the file's own kind of line ends."""
    text = tomlkit.dumps(document)
    if text.endswith("\n\n") and not before.endswith(("\n\n", "\r\n\r\n")):
        text = text[:-1]
    if blocks and text:
        text += "\n" if text.endswith("\n") else "\n\n"
    text += "\n".join(blocks)
    if "\r\n" in before:
        text = text.replace("\n", "\r\n")
    return f"\ufeff{text}" if before.startswith("\ufeff") else text


def schema_table(schema: Mapping[str, Any], *, spaced: bool = False) -> Any:
    """Return a schema as a table that is easy to read and to compare: one line for each argument.

    With ``spaced`` an empty line follows, for a place where others do.
    """
    table = last = tomlkit.table()
    for key, item in schema.items():
        if not (key in _MEMBERS and isinstance(item, dict) and item):
            table[key] = _inline(item)
    for key in _MEMBERS:
        members = schema.get(key)
        if isinstance(members, dict) and members:
            inner = tomlkit.table()
            for name, item in members.items():
                inner[name] = _inline(item)
            table[key] = last = inner
    if spaced:
        last.add(tomlkit.nl())
    return table


def text_item(text: str) -> Any:
    """Return a text as TOML, in several lines if it has several."""
    lines = "\n" in text and "\r" not in text and not text.startswith("\n")
    return tomlkit.string(text, multiline=lines)


def _inline(value: Any) -> Any:
    """Return a value as TOML on one line."""
    if isinstance(value, dict):
        table = tomlkit.inline_table()
        for key, item in value.items():
            table[key] = _inline(item)
        return table
    if isinstance(value, list):
        array = tomlkit.array()
        for item in value:
            array.append(_inline(item))
        return array
    return tomlkit.string(value) if isinstance(value, str) else tomlkit.item(value)


def _block(section: str, name: str, table: Any) -> str:
    document = tomlkit.document()
    parent = tomlkit.table(is_super_table=True)
    parent[name] = table
    document[section] = parent
    return tomlkit.dumps(document)
