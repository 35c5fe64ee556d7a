"""What a server offers, as far as a file can declare it: what it cannot declare keeps out nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs

from registry.diagnostics import Diagnostic, Severity
from registry.mcp_client.pins import NotPortableError, pinned_description, pinned_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from registry.mcp_client import Tool

#: What a trial file begins with.
_SERVER = "s"
_HEAD = f'version = 1\n[servers.{_SERVER}]\ncommand = ["{_SERVER}"]'
#: The name of a trial recipient in a diagnostic's path: its number among the tools.
_TRIAL = re.compile(r"recipients\.t(\d+)\b")


@attrs.frozen
class Wanted:
    """What the file should say of one tool."""

    tool: str
    description: str
    schema: dict[str, Any]


@attrs.frozen
class Offer:
    """The tools of a server: those that can be declared, and by name why each of the others cannot."""

    wanted: tuple[Wanted, ...]
    left_out: Mapping[str, Diagnostic]


def offer(tools: Iterable[Tool], server: str, file: str) -> Offer:
    """Sort tools into those that a file can declare without an error and those that it cannot."""
    wanted: list[Wanted] = []
    left_out: dict[str, Diagnostic] = {}
    for tool in tools:
        try:
            schema = pinned_schema(tool.input_schema)
        except NotPortableError as reason:
            left_out[tool.name] = fault("unsupported-schema", f"tool {tool.name!r}: {reason}", file)
        else:
            wanted.append(Wanted(tool.name, pinned_description(tool, server), schema))
    for nth, error in _errors(wanted).items():
        tool_name = wanted[nth].tool
        where = _TRIAL.sub("", error.path).removeprefix(".")
        left_out[tool_name] = fault(error.code, f"tool {tool_name!r}, {where}: {error.message}", file)
    return Offer(tuple(item for item in wanted if item.tool not in left_out), left_out)


def fault(code: str, message: str, file: str, line: int = 1, column: int = 1, hint: str = "") -> Diagnostic:
    """Return an error about a file as a whole, or a place in it."""
    column = max(column, 1)
    return Diagnostic(code, Severity.ERROR, message, file, line, column, line, column, hint=hint)


def _errors(wanted: list[Wanted]) -> dict[int, Diagnostic]:
    """Return the first error of the declaration of each tool that has one, by the tool's number.

    All are declared in a trial file, and it is checked again without those that are wrong until none is: a
    check of very many faults does not tell all of them.
    """
    from registry.importing.write import recipient_block
    from registry.loading.loader import checks

    blocks = {
        nth: recipient_block(f"t{nth}", _SERVER, item.tool, item.description, item.schema)
        for nth, item in enumerate(wanted)
    }
    found: dict[int, Diagnostic] = {}
    while True:
        trial = "\n".join([_HEAD, *(block for nth, block in blocks.items() if nth not in found)])
        errors = [(_TRIAL.match(error.path), error) for error in checks(trial).errors]
        new = {int(place[1]): error for place, error in reversed(errors) if place is not None}
        if not new:
            return found
        found |= new
