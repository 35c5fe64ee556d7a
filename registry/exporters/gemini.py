"""Gemini: function declarations, whose parameters are a subset of OpenAPI 3.0 schemas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from registry.exporters.exporter import Exporter, Tool
from registry.exporters.gemini_schema import translate

if TYPE_CHECKING:
    from registry.diagnostics import Path
    from registry.exporters.problems import Problems
    from registry.exporters.schemas import Schema

_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def _dialect(schema: Schema, problems: Problems) -> Schema:
    done = translate(schema, problems)
    for name, pointer in _parameters(done).items():
        if not _PARAMETER.fullmatch(name):
            problems.add(
                "name-not-portable",
                f"Gemini takes no parameter called {name!r}",
                pointer,
                "use 1 to 64 ASCII letters, digits and underscores, not a digit first",
            )
    return done


def _parameters(schema: Schema) -> dict[str, Path]:
    """Return the parameters of a translated schema, those of its alternatives too, with their places."""
    found: dict[str, Path] = {}
    for index, branch in enumerate(schema.get("anyOf", ())):
        found |= {name: ("anyOf", index, "properties", name) for name in branch.get("properties", {})}
    return found | {name: ("properties", name) for name in schema.get("properties", {})}


def _tool(tool: Tool) -> dict[str, Any]:
    shape = {"name": tool.name, "description": tool.description}
    # An object without properties is refused there: no parameters are said by leaving them out.
    return {**shape, "parameters": tool.schema} if _parameters(tool.schema) else shape


EXPORTER = Exporter(
    _tool,
    _dialect,
    lambda tools: {"functionDeclarations": list(tools.values())},
    names=re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}"),
    most=512,
)
