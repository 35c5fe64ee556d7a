"""SARIF 2.1.0: the format of code-scanning services and editors.

Columns are UTF-16 units, the unit that every consumer understands, and the log says so.
"""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
import urllib.parse
from typing import TYPE_CHECKING, Any

from registry.codes import CODES
from registry.diagnostics import Severity
from registry.reporters.visible import paragraphs
from registry.resources import rules_folder

if TYPE_CHECKING:
    from registry.diagnostics import Diagnostic, Related, Report

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"


def sarif(report: Report) -> str:
    """Show a report as a SARIF log with one run."""
    codes = sorted({found.code for found in report.diagnostics})
    texts = _Texts(report)
    run = {
        "tool": {
            "driver": {
                "name": "recipients",
                "version": _version(),
                "rules": [_rule(code) for code in codes],
            }
        },
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder that the check was run in."}}},
        "results": [_result(found, codes.index(found.code), texts) for found in report.diagnostics],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _version() -> str:
    try:
        return importlib.metadata.version("recipients")
    except importlib.metadata.PackageNotFoundError:
        return "0"


def _rule(code: str) -> dict[str, Any]:
    known = CODES.get(code)
    summary = known.summary if known else code
    page = rules_folder() / f"{code}.md"
    text = page.read_text("utf-8") if known and page.is_file() else summary
    return {
        "id": code,
        "shortDescription": {"text": summary},
        "fullDescription": {"text": summary},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": known.severity if known else Severity.ERROR},
    }


class _Texts:
    """The lines of the files, to count columns in UTF-16 units."""

    def __init__(self, report: Report) -> None:
        self._lines = {name: text.split("\n") for name, text in report.sources.items()}

    def region(self, place: Diagnostic | Related) -> dict[str, int]:
        """Return a place as SARIF wants it; without the file's text only its lines are known."""
        region = {"startLine": place.line, "endLine": place.end_line}
        start = self._column(place.file, place.line, place.column)
        end = self._column(place.file, place.end_line, place.end_column)
        return region if start is None or end is None else region | {"startColumn": start, "endColumn": end}

    def _column(self, file: str, line: int, column: int) -> int | None:
        lines = self._lines.get(file, ())
        if line > len(lines):
            return None
        before = lines[line - 1][: column - 1]
        return len(before.encode("utf-16-le", "surrogatepass")) // 2 + 1


def _result(found: Diagnostic, rule: int, texts: _Texts) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": _physical(found, texts)}
    if found.path:
        location["logicalLocations"] = [{"fullyQualifiedName": found.path}]
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": rule,
        "level": found.severity,
        "message": {"text": _sentence(found)},
        "locations": [location],
    }
    if found.related:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": _physical(place, texts), "message": {"text": place.message}}
            for number, place in enumerate(found.related, 1)
        ]
    return result


def _sentence(found: Diagnostic) -> str:
    return "\n".join(paragraphs(f"{found.message}\n{found.hint}" if found.hint else found.message))


def _physical(place: Diagnostic | Related, texts: _Texts) -> dict[str, Any]:
    return {"artifactLocation": _artifact(place.file), "region": texts.region(place)}


def _artifact(file: str) -> dict[str, str]:
    path = pathlib.Path(file)
    uri = urllib.parse.quote(path.as_posix(), errors="surrogatepass")
    return {"uri": f"file://{uri}"} if path.is_absolute() else {"uri": uri, "uriBaseId": _ROOT}
