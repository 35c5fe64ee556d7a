"""JUnit XML: one test case a file, which fails if the file has errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.reporters.visible import visible

if TYPE_CHECKING:
    from registry.diagnostics import Diagnostic, Report

_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"})


def junit(report: Report) -> str:
    """Show a report as JUnit XML. Warnings are output of the test case and do not fail it."""
    files = sorted({*report.sources, *(found.file for found in report.diagnostics)})
    failed = len({found.file for found in report.errors})
    counts = f'tests="{len(files)}" failures="{failed}" errors="0"'
    cases = [line for file in files for line in _case(file, report)]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="recipients check" {counts}>',
        f'  <testsuite name="recipients check" {counts} skipped="0">',
        *cases,
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(file: str, report: Report) -> list[str]:
    errors = [found for found in report.errors if found.file == file]
    warnings = [found for found in report.warnings if found.file == file]
    opening = f'    <testcase classname="recipients.check" name="{_escape(file)}" file="{_escape(file)}"'
    if not errors and not warnings:
        return [f"{opening}/>"]
    lines = [f"{opening}>"]
    if errors:
        first = errors[0]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        attributes = f'type="{_escape(first.code)}" message="{_escape(first.message + more)}"'
        lines += [f"      <failure {attributes}>{_listed(errors)}</failure>"]
    if warnings:
        lines += [f"      <system-out>{_listed(warnings)}</system-out>"]
    return [*lines, "    </testcase>"]


def _listed(diagnostics: list[Diagnostic]) -> str:
    return "\n".join(_escape(str(found)) for found in diagnostics)


def _escape(text: str) -> str:
    return visible(text).translate(_MARKUP)
