"""The format for people: what is wrong, the line where it is, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.reporters.frames import frame
from registry.reporters.visible import paragraphs, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.diagnostics import Diagnostic, Related, Report

_STYLES = {"error": "1;31", "warning": "1;33", "quiet": "1;34", "help": "1;36", "strong": "1"}


def text(report: Report, *, colour: bool = False) -> str:
    """Show a report for reading; with colour, for a terminal that understands ANSI escapes."""
    writer = _Writer(report, colour=colour)
    blocks = ["\n".join(writer.block(diagnostic)) for diagnostic in report.diagnostics]
    return "\n\n".join([*blocks, writer.summary()]) + "\n"


class _Writer:
    def __init__(self, report: Report, *, colour: bool) -> None:
        self.report = report
        self.colour = colour
        self.lines: dict[str, list[str]] = {}

    def paint(self, style: str, words: str) -> str:
        return f"\x1b[{_STYLES[style]}m{words}\x1b[0m" if self.colour else words

    def block(self, found: Diagnostic) -> Iterator[str]:
        """Yield the lines about one diagnostic."""
        margin = " " * len(str(max([found.line, *(related.line for related in found.related)])))
        first, *more = paragraphs(found.message)
        severity = self.paint(found.severity.value, f"{found.severity}[{found.code}]")
        yield f"{severity}: {self.paint('strong', first)}"
        yield from (f"{margin}   {line}" for line in more)
        path = f" in {visible(found.path)}" if found.path else ""
        yield from self.place(found, margin, "^", found.severity.value, path)
        for related in found.related:
            yield from self.note(margin, "note", related.message)
            yield from self.place(related, margin, "-", "quiet")
        if found.hint:
            yield from self.note(margin, "help", found.hint)

    def note(self, margin: str, label: str, message: str) -> Iterator[str]:
        first, *more = paragraphs(message)
        yield f"{margin} {self.paint('quiet', '=')} {self.paint('help', label)}: {first}"
        yield from (f"{margin}         {line}" for line in more)

    def place(
        self, place: Diagnostic | Related, margin: str, mark: str, style: str, path: str = ""
    ) -> Iterator[str]:
        """Yield a place and, when the file's text is known, its line with marks."""
        arrow, bar = self.paint("quiet", "-->"), self.paint("quiet", "|")
        yield f"{margin}{arrow} {visible(place.file)}:{place.line}:{place.column}{path}"
        line = self.line(place)
        if line is None:
            return
        end = place.end_column - 1 if place.end_line == place.line else len(line)
        shown, marks = frame(line, place.column - 1, end, mark)
        yield f"{margin} {bar}"
        yield f"{self.paint('quiet', str(place.line).rjust(len(margin)))} {bar} {shown}".rstrip()
        yield f"{margin} {bar} {marks.replace(marks.lstrip(), self.paint(style, marks.lstrip()))}"

    def line(self, place: Diagnostic | Related) -> str | None:
        if place.file not in self.report.sources:
            return None
        if place.file not in self.lines:
            self.lines[place.file] = self.report.sources[place.file].split("\n")
        lines = self.lines[place.file]
        return lines[place.line - 1] if place.line <= len(lines) else None

    def summary(self) -> str:
        report = self.report
        errors, warnings = len(report.errors), len(report.warnings)
        found = [self.paint("error", _count(errors, "error"))] if errors else []
        found += [self.paint("warning", _count(warnings, "warning"))] if warnings else []
        looked_at = f"{_count(report.recipients, 'recipient')}, {_count(report.prompts, 'prompt')}"
        return f"{', '.join(found) or 'no problems'} in {_count(report.files, 'file')} ({looked_at})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
