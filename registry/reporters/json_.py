"""The format for programs: every field of every diagnostic, as JSON in ASCII."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from registry.diagnostics import Diagnostic, Related, Report


def json_text(report: Report) -> str:
    """Show a report as ``{"diagnostics": [...], "summary": {...}}``; lines and columns as in `Diagnostic`."""
    document = {
        "diagnostics": [_diagnostic(found) for found in report.diagnostics],
        "summary": {
            "files": report.files,
            "recipients": report.recipients,
            "prompts": report.prompts,
            "errors": len(report.errors),
            "warnings": len(report.warnings),
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _diagnostic(found: Diagnostic) -> dict[str, Any]:
    return {
        "code": found.code,
        "severity": found.severity,
        "message": found.message,
        **_place(found),
        "path": found.path,
        "hint": found.hint,
        "related": [{"message": related.message, **_place(related)} for related in found.related],
    }


def _place(place: Diagnostic | Related) -> dict[str, Any]:
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }
