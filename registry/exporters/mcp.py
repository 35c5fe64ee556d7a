"""Model Context Protocol: what ``tools/list`` answers."""

from __future__ import annotations

import re
from typing import Any

from registry.exporters.exporter import Exporter, Tool


def _tool(tool: Tool) -> dict[str, Any]:
    shape = {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}
    return {**shape, "annotations": {"idempotentHint": True}} if tool.idempotent else shape


EXPORTER = Exporter(
    _tool, whole=lambda tools: {"tools": list(tools.values())}, names=re.compile(r"[A-Za-z0-9_.-]{1,128}")
)
