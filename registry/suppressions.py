"""Comments in a file that silence diagnostics.

``# recipients: ignore[CODE, CODE]`` silences these codes on its line, or on the next line when it stands
alone; a text on several lines counts as a whole. ``# recipients: ignore-file[CODE]`` silences them in the
file and in the template files that it names.

Warnings can be silenced, and those errors that leave the registry fit to load. A comment that silences
nothing is itself a warning, so that none outlives its reason.
"""

from __future__ import annotations

import collections
import re
from typing import TYPE_CHECKING

import attrs

from registry.codes import CODES
from registry.diagnostics import Diagnostic, Severity
from registry.loading.spans import Lines, comments, long_strings
from registry.suggest import bounded, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from registry.documents import Document

    #: File, code, and the first and last line, None for the whole file.
    _Key = tuple[str, str, tuple[int, int] | None]

#: Errors about what a declaration says of itself; a registry that has them still loads and runs.
SILENCEABLE = frozenset({"example-mismatch", "example-violates-schema", "secret-in-file", "unused-input"})

_MARK = "recipients:"
_COMMENT = re.compile(r"#\s*recipients:\s*(ignore(?:-file)?)\s*\[([^\]\[#]*)\]")
_CODE = re.compile(r"[^\s,]+")


def apply(diagnostics: Iterable[Diagnostic], documents: Sequence[Document]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics that no comment silences, and a warning for each comment without effect.

    Whether a comment has an effect is known only after every check has run: it is not judged while there are
    errors.
    """
    found = tuple(diagnostics)
    orders = [order for document in documents for order in _orders(document)]
    if not orders:
        return found
    cover = _Cover(orders)
    kept = tuple([one for one in found if not cover.silences(one)])
    complete = all(one.severity is Severity.WARNING for one in kept)
    with bounded():
        return kept + tuple(
            order.warning() for order in orders if order.is_wrong or (complete and not cover.used(order))
        )


@attrs.frozen
class _Order:
    """One code in one comment."""

    code: str
    #: Shown names of the files that it speaks of.
    files: frozenset[str]
    #: First and last line that it speaks of; None for the whole files.
    lines: tuple[int, int] | None
    #: The code's own place: line, column, end line, end column.
    place: tuple[int, int, int, int]
    file: str

    @property
    def is_wrong(self) -> bool:
        """Whether the order can never silence anything."""
        return self.code not in CODES or not _may_be_silenced(self.code, CODES[self.code].severity)

    def reach(self) -> Iterator[_Key]:
        """Yield what it silences; comments that say the same have the same keys."""
        return ((file, self.code, self.lines) for file in self.files)

    def warning(self) -> Diagnostic:
        """Return the diagnostic that says why the order has no effect."""
        hint = "delete it from the comment"
        if self.code not in CODES:
            message = f"there is no code {self.code!r} to ignore"
            near = nearest(self.code, CODES)
            hint = f"did you mean {near!r}?" if near else "`recipients explain` lists all codes"
        elif self.is_wrong:
            message = f"{self.code!r} is an error that stops a load and cannot be ignored"
        else:
            where = "in this file" if self.lines is None else "here"
            message = f"there is no {self.code!r} to ignore {where}"
        return Diagnostic("unused-ignore", Severity.WARNING, message, self.file, *self.place, hint=hint)


def _may_be_silenced(code: str, severity: str) -> bool:
    return severity == Severity.WARNING or code in SILENCEABLE


class _Cover:
    """All that comments silence, so kept that a diagnostic takes no search through all of them."""

    def __init__(self, orders: Iterable[_Order]) -> None:
        self._known = {key for order in orders if not order.is_wrong for key in order.reach()}
        self._used: set[_Key] = set()
        #: For each file and line, the ranges of lines around it that comments speak of.
        self._ranges: dict[tuple[str, int], list[tuple[int, int] | None]] = collections.defaultdict(list)
        for file, lines in {(file, lines) for file, _, lines in self._known}:
            for line in range(lines[0], lines[1] + 1) if lines else ():
                self._ranges[file, line].append(lines)

    def silences(self, found: Diagnostic) -> bool:
        """Say whether a comment silences a diagnostic, and remember every one that does."""
        if not _may_be_silenced(found.code, found.severity):
            return False
        ranges = [None, *self._ranges.get((found.file, found.line), ())]
        keys = self._known.intersection((found.file, found.code, lines) for lines in ranges)
        self._used |= keys
        return bool(keys)

    def used(self, order: _Order) -> bool:
        """Say whether an order has silenced something."""
        return not self._used.isdisjoint(order.reach())


def _orders(document: Document) -> Iterator[_Order]:
    """Yield every code of every comment in a TOML file."""
    text = document.text
    if _MARK not in text or isinstance(document.data, str):
        return
    layout = _Layout(text)
    files = frozenset({document.name, *(template.name for template in document.templates.values())})
    for start, end in comments(text):
        for found in _COMMENT.finditer(text, start, end):
            whole = found[1] == "ignore-file"
            covered = None if whole else layout.covered(start)
            for code in _CODE.finditer(text, *found.span(2)):
                place = layout.place(*code.span())
                yield _Order(
                    code[0], files if whole else frozenset({document.name}), covered, place, document.name
                )


class _Layout:
    """Which lines of a file belong together."""

    def __init__(self, text: str) -> None:
        self._places = Lines(text)
        self._lines = text.split("\n")
        strings = [self.place(*span) for span in long_strings(text)]
        self._last_lines = {first: last for first, _, last, _ in strings}
        self._first_lines = {last: first for first, _, last, _ in strings}
        #: For each line that is a comment only, the next one that is none.
        self._below: dict[int, int] = {}
        for line in range(len(self._lines) - 1, 0, -1):
            if self._lines[line - 1].lstrip().startswith("#"):
                self._below[line] = self._below.get(line + 1, line + 1)

    def place(self, start: int, end: int) -> tuple[int, int, int, int]:
        return *self._places.locate(start), *self._places.locate(end)

    def covered(self, start: int) -> tuple[int, int]:
        """Return the first and last line that a comment at an offset speaks of."""
        line, column = self._places.locate(start)
        if self._lines[line - 1][: column - 1].strip():
            return self._first_lines.get(line, line), line
        line = self._below.get(line, line)
        return line, self._last_lines.get(line, line)
