"""How a report is shown: one file a format, and the table of them.

A reporter is a function from a `Report` to text: no input or output, the same report gives the same text. The
text ends with a line end unless it is empty. To add a format, write its file and add a line to the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.diagnostics import Report


def _github(report: Report) -> str:
    from registry.reporters.github import github

    return github(report)


def _json(report: Report) -> str:
    from registry.reporters.json_ import json_text

    return json_text(report)


def _junit(report: Report) -> str:
    from registry.reporters.junit import junit

    return junit(report)


def _sarif(report: Report) -> str:
    from registry.reporters.sarif import sarif

    return sarif(report)


def _text(report: Report) -> str:
    from registry.reporters.text import text

    return text(report)


#: The formats of ``recipients check --format``. Each is imported when it is used.
REPORTERS: dict[str, Callable[[Report], str]] = {
    "github": _github,
    "json": _json,
    "junit": _junit,
    "sarif": _sarif,
    "text": _text,
}
