"""What a target is made of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from registry.exporters.problems import Problems
    from registry.exporters.schemas import Schema


@attrs.frozen
class Tool:
    """A recipient as an exporter sees it: its schema is already in the target's dialect."""

    name: str
    description: str
    schema: Schema
    idempotent: bool = False


def unchanged(schema: Schema, _problems: Problems) -> Schema:
    """Take a schema as it is: for targets that speak JSON Schema."""
    return schema


@attrs.frozen
class Exporter:
    """One target: pure functions and limits."""

    #: The provider's shape of one tool.
    tool: Callable[[Tool], Any]
    #: The schema in the target's dialect; what it cannot say goes to the problems.
    dialect: Callable[[Schema, Problems], Schema] = unchanged
    #: The whole, from each tool's name and shape.
    whole: Callable[[Mapping[str, Any]], Any] = attrs.field(default=lambda tools: list(tools.values()))
    #: What a tool may be called.
    names: re.Pattern[str] = re.compile(r"[A-Za-z0-9_-]{1,64}")
    #: How many tools a request may have.
    most: int | None = None
