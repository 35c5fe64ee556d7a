"""Plain JSON Schema: each recipient's name and the schema of its arguments."""

from __future__ import annotations

import re
from typing import Any

from registry.exporters.exporter import Exporter, Tool

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _tool(tool: Tool) -> dict[str, Any]:
    named = {"$schema": DIALECT, "title": tool.name, "description": tool.description}
    return {**{key: text for key, text in named.items() if text}, **tool.schema}


EXPORTER = Exporter(_tool, whole=dict, names=re.compile(r".+", re.DOTALL))
