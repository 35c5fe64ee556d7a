"""OpenAI: function tools of Chat Completions (loose and strict) and of the Responses API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from registry.exporters.exporter import Exporter, Tool
from registry.exporters.openai_strict import strict
from registry.exporters.schemas import LISTS, MAPS, SINGLE, types_of, walk

if TYPE_CHECKING:
    from registry.exporters.problems import Problems
    from registry.exporters.schemas import Schema

MOST = 128


def _loose(schema: Schema, problems: Problems) -> Schema:
    """Say ``items: {}`` where an array says nothing of its items: the same meaning, and required here."""
    parts = [(path, part) for path, part in walk(schema) if isinstance(part, dict)]
    if any("unevaluatedItems" in part for _, part in parts):
        for path, part in parts:
            if _lacks_items(part):
                problems.unsupported(
                    "OpenAI needs the items of every array, and any would count as evaluated here",
                    path,
                    "write items where unevaluatedItems stands",
                )
    found: Schema = _with_items({"properties": {}, **schema})
    return found


def _with_items(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    filled = dict(schema)
    for key in SINGLE:
        if isinstance(schema.get(key), dict):
            filled[key] = _with_items(schema[key])
    for key in LISTS:
        if isinstance(schema.get(key), list):
            filled[key] = [_with_items(item) for item in schema[key]]
    for key in MAPS:
        if isinstance(schema.get(key), dict):
            filled[key] = {name: _with_items(item) for name, item in schema[key].items()}
    if _lacks_items(schema):
        filled["items"] = {}
    return filled


def _lacks_items(schema: Schema) -> bool:
    return "array" in types_of(schema) and "$ref" not in schema and "items" not in schema


def _function(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.schema}


CHAT = Exporter(lambda tool: {"type": "function", "function": _function(tool)}, _loose, most=MOST)
#: The Responses API is strict unless told otherwise.
RESPONSES = Exporter(lambda tool: {"type": "function", **_function(tool), "strict": False}, _loose, most=MOST)
STRICT = Exporter(
    lambda tool: {"type": "function", "function": {**_function(tool), "strict": True}}, strict, most=MOST
)
