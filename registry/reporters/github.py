"""Workflow commands: GitHub Actions shows each diagnostic beside its line in a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.reporters.visible import visible

if TYPE_CHECKING:
    from registry.diagnostics import Diagnostic, Report

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def github(report: Report) -> str:
    """Show a report as one workflow command a line."""
    return "".join(f"{_command(found)}\n" for found in report.diagnostics)


def _command(found: Diagnostic) -> str:
    properties = {"file": found.file, "line": found.line, "col": found.column, "endLine": found.end_line}
    if found.line == found.end_line:
        # An annotation has an end column only when it stays on one line.
        properties["endColumn"] = found.end_column
    properties["title"] = found.code
    listed = ",".join(f"{name}={_escape(str(value), _PROPERTY)}" for name, value in properties.items())
    notes = [found.message, *([f"help: {found.hint}"] if found.hint else [])]
    notes += [f"{place.file}:{place.line}:{place.column}: {place.message}" for place in found.related]
    return f"::{found.severity} {listed}::{_escape(chr(10).join(notes), _DATA)}"


def _escape(value: str, table: dict[int, str]) -> str:
    return visible(value.translate(table))
