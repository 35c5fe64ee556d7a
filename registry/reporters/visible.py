"""Text from files, made safe to show: nothing in it can move the cursor, break a line or hide."""

from __future__ import annotations

import unicodedata

#: Joiners are format characters, yet emoji and several scripts are written with them.
_JOINERS = "\u200c\u200d"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
#: No character of XML, and no character of Unicode either.
_NONCHARACTERS = "\ufffe\uffff"


def visible(text: str) -> str:
    r"""Return the text with its control characters as escapes, such as ``\x1b`` or ``\u2028``.

    Line ends, tabs, direction marks and lone surrogates are among them.
    """
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(char: str) -> str:
    hidden = unicodedata.category(char) in _HIDDEN and char not in _JOINERS
    return char.encode("unicode_escape").decode("ascii") if hidden or char in _NONCHARACTERS else char


def paragraphs(text: str) -> list[str]:
    """Return the lines of a text, each made visible; only LF ends a line here."""
    return [visible(line) for line in text.split("\n")]


def width(text: str) -> int:
    """Return the terminal cells of a visible text: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def _cells(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me"} or char in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"F", "W"} else 1
