"""Anthropic: the tools of the Messages API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from registry.exporters.exporter import Exporter, Tool
from registry.exporters.schemas import walk

if TYPE_CHECKING:
    from registry.exporters.problems import Problems
    from registry.exporters.schemas import Schema

_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def _dialect(schema: Schema, problems: Problems) -> Schema:
    problems.refuse_at_root(schema, "Anthropic")
    for path, part in walk(schema):
        if not isinstance(part, dict):
            continue
        if isinstance(part.get("items"), list):
            problems.unsupported(
                "Anthropic takes no list of items, as older dialects have it",
                (*path, "items"),
                "write prefixItems",
            )
        names = part.get("properties", {})
        for name in names:
            if not _PROPERTY.fullmatch(name):
                problems.add(
                    "name-not-portable",
                    f"Anthropic takes no property called {name!r}",
                    (*path, "properties", name),
                    "use 1 to 64 ASCII letters, digits, dots, dashes and underscores",
                )
    return schema


def _tool(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}


EXPORTER = Exporter(_tool, _dialect)
