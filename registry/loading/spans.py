"""Where each key and value stands in a TOML text.

The scanner runs only when there is something to report, on text that the parser has accepted: it checks
nothing and steps over whole strings, so that a header or a comment sign inside one is no header or comment.
On text that the parser refused it stops at the first thing it cannot read and gives what it found so far.
Offsets are code points; a byte-order mark is gone and line ends are LF before it runs.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from registry.diagnostics import Path

    #: Start and end.
    Place = tuple[int, int]

# Each pattern can match a text in one way only, so that none goes back far and time is linear. (Possessive
# quantifiers would say so, but the first releases of Python 3.11 match them wrongly.)
_BLANK = r"[ \t]*"
_BASIC = r'(?!""")"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_LITERAL = r"(?!''')'[^'\n]*'"
_BASIC_LINES = r'"""[^"\\]*(?:(?:\\[\s\S]|"{1,2}(?!"))[^"\\]*)*"{3,5}'
_LITERAL_LINES = r"'''[^']*(?:'{1,2}(?!')[^']*)*'{3,5}"
_STRING = rf"(?:{_BASIC_LINES}|{_LITERAL_LINES}|{_BASIC}|{_LITERAL})"
#: A string, a number, a boolean or a date; a date may have one space before its time.
_SCALAR = rf"(?:{_STRING}|[\w+.:-]+(?:[ ][\w+.:-]+)?)"
_BARE = r"[A-Za-z0-9_-]+"
_PART = rf"(?:{_BARE}|{_BASIC}|{_LITERAL})"
_KEY = rf"{_PART}(?:{_BLANK}\.{_BLANK}{_PART})*"
_COMMENT = r"\#[^\n]*(?![^\n])"
_SKIP = rf"(?:[ \t\n]|{_COMMENT})*"
_SKIP_COMMA = rf"(?:[ \t\n,]|{_COMMENT})*"
#: Groups: 1 a bare key or 2 any other key; 3 a plain value or 4 the opening of an array or inline table.
_PAIR = rf"(?:({_BARE})|({_KEY})){_BLANK}={_BLANK}(?:({_SCALAR})|([\[{{]))"

#: One statement: a pair, or 5 a header with 6 or 7 its key, 7 in double brackets.
_STATEMENT = re.compile(
    rf"{_SKIP}(?:{_PAIR}|(\[{_BLANK}({_KEY}){_BLANK}\]|\[\[{_BLANK}({_KEY}){_BLANK}\]\]))"
)
#: One item of an inline table: a pair, or 5 the closing.
_MEMBER = re.compile(rf"{_SKIP_COMMA}(?:{_PAIR}|(\}}))")
#: One item of an array: 1 a plain value, 2 an opening, 3 the closing.
_ELEMENT = re.compile(rf"{_SKIP_COMMA}(?:({_SCALAR})|([\[{{])|(\]))")
_PARTS = re.compile(_PART)
_TOKENS = re.compile(rf"({_STRING})|({_COMMENT})")
_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([btnfre\"\\])|([ \t]*\n[ \t\n]*))"
)
_SHORT_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b", '"': '"', "\\": "\\"}

#: Deeper nesting the parser refuses; without a limit the paths' lengths add up to the square of the depth.
_DEEPEST = 1_000

_PLAIN_VALUE = 3
_HEADER = 5
_PLAIN_ELEMENT = 1
_LINE_END = 5


class Span(NamedTuple):
    """The offsets of a key and of its value; ends are exclusive.

    What has no key of its own (an element of an array) has its value's place for its key. A table has as
    value its header with the brackets, or the braces of an inline table, or, when only dotted keys make it,
    the part of the first such key that names it.
    """

    key_start: int
    key_end: int
    value_start: int
    value_end: int

    @property
    def has_header(self) -> bool:
        """Whether the value is a table or an array of tables made by a header."""
        return self.value_start < self.key_start


#: Makes a span of its four offsets, without the cost of unpacking them first: there may be tens of thousands.
_span: Callable[[tuple[int, ...]], Span] = functools.partial(tuple.__new__, Span)


def index(text: str) -> dict[Path, Span]:
    """Return the place of every key, table and array element, by its path. The root's path is ``()``."""
    return _Scanner(text).run()


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each comment, from its sign to the end of its line."""
    return (token.span(2) for token in _TOKENS.finditer(text) if token.lastindex == 2)


def long_strings(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each string that stands on more than one line."""
    return (token.span(1) for token in _TOKENS.finditer(text) if token.lastindex == 1 and "\n" in token[1])


class _Open:
    """A container whose closing is not reached yet."""

    __slots__ = ("is_table", "key", "number", "path", "start")

    def __init__(self, path: Path, key: Place | None, start: int, *, is_table: bool) -> None:
        self.path = path
        self.key = key
        self.start = start
        self.is_table = is_table
        #: How many elements of an array were seen.
        self.number = 0


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: dict[Path, Span] = {(): Span(0, 0, 0, 0)}
        #: Arrays of tables made by headers, with the number of their elements so far.
        self.lengths: dict[Path, int] = {}

    def run(self) -> dict[Path, Span]:
        text, spans, statement = self.text, self.spans, _STATEMENT.match
        table: Path = ()
        position = 0
        while found := statement(text, position):
            position = found.end()
            kind = found.lastindex
            if kind == _PLAIN_VALUE:
                if bare := found[1]:
                    spans[*table, bare] = _span(found.span(1) + found.span(3))
                else:
                    path, key = self.key(table, found)
                    spans[path] = _span(key + found.span(3))
            elif kind == _HEADER:
                table = self.header(found)
            else:
                position = self.container(*self.key(table, found), position)
        return spans

    def parts(self, start: int, end: int) -> Iterator[tuple[str, Place]]:
        for part in itertools.islice(_PARTS.finditer(self.text, start, end), _DEEPEST):
            yield _name(part[0]), part.span()

    def header(self, found: re.Match[str]) -> Path:
        """Record the tables that a header names; return the path of the one it opens."""
        spans, lengths = self.spans, self.lengths
        brackets = place = found.span(5)
        path: Path = ()
        for name, place in self.parts(*found.span(6 if found[6] else 7)):
            if path in lengths:
                path = (*path, lengths[path] - 1)
            path = (*path, name)
            if path not in spans:
                spans[path] = _span(place + brackets)
        if found[7]:
            number = lengths.get(path, 0)
            lengths[path] = number + 1
            path = (*path, number)
        # A table that was known only from its sub-tables gets its own header now.
        spans[path] = _span(place + brackets)
        return path

    def key(self, table: Path, found: re.Match[str]) -> tuple[Path, Place]:
        """Record the tables that a key's leading parts make; return its path and its last part's place."""
        if bare := found[1]:
            return (*table, bare), found.span(1)
        (first, place), *more = self.parts(*found.span(2))
        path = (*table, first)
        for name, next_place in more:
            if path not in self.spans:
                self.spans[path] = _span(place + place)
            path, place = (*path, name), next_place
        return path, place

    def container(self, path: Path, key: Place, position: int) -> int:
        """Record an array or inline table, opened just before the position; return the offset behind it."""
        text = self.text
        stack = [_Open(path, key, position - 1, is_table=text[position - 1] == "{")]
        while stack:
            top = stack[-1]
            found = (self.members if top.is_table else self.elements)(top, position)
            if found is None or len(stack) > _DEEPEST:
                return len(text)
            position = found.end()
            bracket = text[position - 1]
            if bracket in "]}":
                stack.pop()
                value = (top.start, position)
                self.spans[top.path] = _span((top.key or value) + value)
            elif top.is_table:
                stack.append(_Open(*self.key(top.path, found), position - 1, is_table=bracket == "{"))
            else:
                stack.append(_Open((*top.path, top.number), None, position - 1, is_table=bracket == "{"))
                top.number += 1
        return position

    def members(self, top: _Open, position: int) -> re.Match[str] | None:
        """Record plain members of an inline table; return what comes then, an opening or the closing."""
        text, spans, path = self.text, self.spans, top.path
        while (found := _MEMBER.match(text, position)) and found.lastindex == _PLAIN_VALUE:
            position = found.end()
            if bare := found[1]:
                spans[*path, bare] = _span(found.span(1) + found.span(3))
            else:
                child, key = self.key(path, found)
                spans[child] = _span(key + found.span(3))
        return found

    def elements(self, top: _Open, position: int) -> re.Match[str] | None:
        """Record plain elements of an array; return what comes then, an opening or the closing."""
        text = self.text
        while (found := _ELEMENT.match(text, position)) and found.lastindex == _PLAIN_ELEMENT:
            position = found.end()
            value = found.span(1)
            self.spans[*top.path, top.number] = _span(value + value)
            top.number += 1
        return found


def _name(part: str) -> str:
    """Return the name that one part of a key stands for."""
    if part[0] == '"':
        return _ESCAPE.sub(_unescape, part[1:-1])
    return part[1:-1] if part[0] == "'" else part


def _unescape(escape: re.Match[str]) -> str:
    """Return the character of an escape in a key; a key has one line, so no escape of a line end."""
    if short := escape[4]:
        return _SHORT_ESCAPES[short]
    code = int(escape[1] or escape[2] or escape[3], 16)
    return chr(code) if code <= sys.maxunicode else "\N{REPLACEMENT CHARACTER}"


class StringOffsets:
    """Where the characters of a string, as the parser gives it, stand in the text.

    The value's place is that of the index: with its quotes. An index counts code points of the decoded
    string; one outside it is taken as the nearest inside.
    """

    def __init__(self, text: str, value_start: int, value_end: int) -> None:
        quote = text[value_start]
        width = 3 if value_end - value_start > 5 and text.startswith(quote * 3, value_start) else 1
        start, self._end = value_start + width, value_end - width
        if width > 1 and text.startswith("\n", start):
            start += 1
        # Runs: plain text and escapes by turns, plain text first and last. A run knows the index of its
        # first decoded character and its own offset.
        self._indexes = [0]
        self._offsets = [start]
        if quote == '"':
            self._add_escapes(text, start)
        self._length = self._indexes[-1] + self._end - self._offsets[-1]

    def _add_escapes(self, text: str, start: int) -> None:
        for escape in _ESCAPE.finditer(text, start, self._end):
            first = self._indexes[-1] + escape.start() - self._offsets[-1]
            self._indexes += (first, first + (escape.lastindex != _LINE_END))
            self._offsets += escape.span()

    def __len__(self) -> int:
        return self._length

    def offset(self, index: int) -> int:
        """Return where the character begins; for the string's length, where the closing quotes begin."""
        index = min(max(index, 0), self._length)
        run = bisect.bisect_right(self._indexes, index) - 1
        return self._offsets[run] + index - self._indexes[run]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets of a part of the string: of its first character and behind its last one."""
        first = self.offset(start)
        if end <= start:
            return first, first
        last = min(max(end - 1, 0), self._length)
        run = bisect.bisect_right(self._indexes, last) - 1
        if run % 2:
            return first, self._offsets[run + 1]
        return first, min(self._offsets[run] + last - self._indexes[run] + 1, max(self._end, first))


class Lines:
    """The lines of a text, to turn offsets into lines and columns."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def locate(self, offset: int) -> tuple[int, int]:
        """Return line and column, 1-based, in code points. An offset outside goes to the nearest end."""
        offset = min(max(offset, 0), self._length)
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
