"""Give faults their places: the last step before a report.

Stages name what is wrong by its path in the data; only when there is something to report is the text scanned,
once for each document.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import attrs

from registry.diagnostics import Diagnostic, Place, Related, Severity
from registry.loading import spans

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.diagnostics import Fault, Mention, Path
    from registry.documents import Document

    Range = tuple[int, int]


def locate(faults: Iterable[Fault]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of the faults, in their order.

    Faults of one code at one place become one diagnostic that keeps what each of them says. A path that is
    not in the text stands where its nearest ancestor does.
    """
    maps: dict[Document, _Map] = {}
    groups: dict[tuple[object, ...], list[Diagnostic]] = {}
    for fault in faults:
        found = _diagnostic(fault, maps)
        groups.setdefault((found.code, found.file, *_place(found)), []).append(found)
    return tuple(group[0] if len(group) == 1 else _merged(group) for group in groups.values())


def dotted(path: Path) -> str:
    """Return a path as text: keys and array indexes joined by dots, as in ``prompts.chat.messages.0.role``.

    A key that would be read wrongly (empty, or with a dot, a quote or an unprintable character in it) is
    quoted.
    """
    return ".".join(_part(part) for part in path)


def _part(part: str | int) -> str:
    if isinstance(part, int):
        return str(part)
    clear = part and part.isprintable() and not any(sign in part for sign in ".\"'")
    return part if clear else json.dumps(part, ensure_ascii=False)


def _place(diagnostic: Diagnostic) -> tuple[int, int, int, int]:
    return diagnostic.line, diagnostic.column, diagnostic.end_line, diagnostic.end_column


def _merged(group: list[Diagnostic]) -> Diagnostic:
    return attrs.evolve(
        group[0],
        severity=min((one.severity for one in group), key=list(Severity).index),
        message="; ".join(dict.fromkeys(one.message for one in group)),
        hint="; ".join(dict.fromkeys(one.hint for one in group if one.hint)),
        related=tuple(dict.fromkeys(place for one in group for place in one.related)),
    )


def _diagnostic(fault: Fault, maps: dict[Document, _Map]) -> Diagnostic:
    document = fault.document
    known = _map(document, maps)
    offsets = fault.span or known.find(fault.path, fault.place, fault.within)
    return Diagnostic(
        fault.code,
        fault.severity,
        fault.message,
        document.name,
        *known.place(offsets),
        path=dotted(fault.path or known.around(offsets)),
        hint=fault.hint,
        related=tuple(_related(mention, maps) for mention in fault.mentions),
    )


def _related(mention: Mention, maps: dict[Document, _Map]) -> Related:
    known = _map(mention.document, maps)
    place = known.place(known.find(mention.path, mention.place, None))
    return Related(mention.message, mention.document.name, *place)


def _map(document: Document, maps: dict[Document, _Map]) -> _Map:
    if document not in maps:
        maps[document] = _Map(document)
    return maps[document]


class _Map:
    """What is known of the places in one document; worked out when first asked for."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        #: The whole file is one text to fill in: a template file.
        self._is_text = isinstance(document.data, str)
        self._is_parsed = isinstance(document.data, dict)
        self._lines = spans.Lines(self._text)
        self._index: dict[Path, spans.Span] | None = None
        self._strings: dict[int, spans.StringOffsets] = {}

    def find(self, path: Path, place: Place, within: Range | None) -> Range:
        """Return the offsets of a part of the pair at the path."""
        if self._is_text:
            return within or (0, 0)
        span, exact = self._nearest(path)
        if place is Place.TABLE or not exact:
            return self._table(span)
        if place is Place.KEY:
            return span[:2]
        if within and self._text[span.value_start : span.value_start + 1] in {'"', "'"}:
            return self._string(span).span(*within)
        return span[2:]

    def around(self, offsets: Range) -> Path:
        """Return the path of the innermost value that holds the offsets; the root's if nothing is known."""
        if not self._is_parsed:
            return ()
        start, end = offsets
        holding = [
            path
            for path, span in self._places().items()
            if span.value_start <= start < end <= span.value_end and not span.has_header
        ]
        return max(holding, key=len, default=())

    def _places(self) -> dict[Path, spans.Span]:
        if self._index is None:
            self._index = spans.index(self._text)
        return self._index

    def _nearest(self, path: Path) -> tuple[spans.Span, bool]:
        places = self._places()
        known = path
        while known not in places:
            known = known[:-1]
        return places[known], known == path

    def _table(self, span: spans.Span) -> Range:
        """Return the header of a table, the key of an inline one, or the brace of one without a key."""
        if span.has_header:
            return span[2:]
        if self._text.startswith("{", span.key_start):
            return span.key_start, span.key_start + 1
        return span[:2]

    def _string(self, span: spans.Span) -> spans.StringOffsets:
        start = span.value_start
        if start not in self._strings:
            self._strings[start] = spans.StringOffsets(self._text, start, span.value_end)
        return self._strings[start]

    def place(self, offsets: Range) -> tuple[int, int, int, int]:
        """Return line, column, end line and end column."""
        # What follows the last line end is no line to people and editors: stay before it.
        last = len(self._text) - self._text.endswith("\n")
        start = min(max(offsets[0], 0), last)
        end = min(max(offsets[1], start), last)
        return *self._lines.locate(start), *self._lines.locate(end)
