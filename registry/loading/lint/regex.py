"""Reads a regular expression into the little that matters for how it repeats: what may follow what.

The dialects of JSON Schema validators differ in details; what is not understood is read as a character of its
own, so that nothing is ever reported because of it.
"""

from __future__ import annotations

import functools
import operator
import re

import attrs

#: A set of characters: one bit for each ASCII character; all others share 64 bits for letters and digits, 64
#: for white space and 64 for the rest.
Chars = int
_SLOTS = 64
_LETTERS, _SPACES, _REST = (((1 << _SLOTS) - 1) << (128 + _SLOTS * number) for number in range(3))
#: All that is not ASCII; each bit of it stands for more than one character.
_SHARED: Chars = _LETTERS | _SPACES | _REST
ANY: Chars = (1 << 128) - 1 | _SHARED


@attrs.frozen
class Atom:
    """One character out of a set."""

    chars: Chars


@attrs.frozen
class Chain:
    """One part after the other."""

    parts: tuple[Node, ...]


@attrs.frozen
class Choice:
    """One of the parts."""

    parts: tuple[Node, ...]


@attrs.frozen
class Repeat:
    """A part several times; ``most`` is None without a limit."""

    part: Node
    least: int
    most: int | None


Node = Atom | Chain | Choice | Repeat
EMPTY = Chain(())


def _char(sign: str) -> Chars:
    code = ord(sign)
    if code < 128:
        return 1 << code
    block = 0 if sign.isalnum() else 1 if sign.isspace() else 2
    return 1 << (128 + _SLOTS * block + code % _SLOTS)


def _chars(of: str) -> Chars:
    return functools.reduce(operator.or_, map(_char, of), 0)


_DIGITS = _chars("0123456789")
_WORD = _chars("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") | _LETTERS
_SPACE = _chars(" \t\n\r\f\v") | _SPACES
_CLASSES = {
    "d": _DIGITS,
    "D": ANY & ~_DIGITS,
    "w": _WORD,
    "W": ANY & ~_WORD,
    "s": _SPACE,
    "S": ANY & ~_SPACE,
    "p": ANY,
    "P": ANY,
}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0", "a": "\a", "e": "\x1b"}
_QUANTIFIER = re.compile(r"([*+?]|\{([0-9]{1,6})(?:(,)([0-9]{0,6}))?\})([?+]?)")
_GROUP = re.compile(r"\(\?(?:[:>|=!]|<[=!]|P?<[^>]*>|[a-zA-Z-]*:)")
_FLAGS = re.compile(r"\(\?[a-zA-Z-]+\)")
_HEX = re.compile(r"x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})")
_PROPERTY = re.compile(r"[pP](?:\{[^}]*\}|[A-Za-z])")
#: Groups inside each other; no pattern that is meant seriously has more.
_DEEPEST = 50


class NotReadError(Exception):
    """The pattern is no regular expression, or nested too deeply."""


def parse(pattern: str) -> Node:
    """Read a pattern.

    Raises:
        NotReadError: it is none.
    """
    reader = _Reader(pattern)
    node = reader.choice(0)
    if reader.at < len(pattern):
        raise NotReadError
    return node


@attrs.define
class _Reader:
    text: str
    at: int = 0

    def choice(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise NotReadError
        parts = [self._chain(depth)]
        while self.text.startswith("|", self.at):
            self.at += 1
            parts.append(self._chain(depth))
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _chain(self, depth: int) -> Node:
        parts: list[Node] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self._repeated(self._one(depth)))
        return Chain(tuple(parts))

    def _repeated(self, node: Node) -> Node:
        while match := _QUANTIFIER.match(self.text, self.at):
            self.at = match.end()
            sign, least, comma, most, possessive = match.groups()
            if possessive == "+":
                node = EMPTY  # never gives back what it took
            elif least is None:
                node = Repeat(node, int(sign == "+"), 1 if sign == "?" else None)
            else:
                node = Repeat(node, int(least), (int(most) if most else None) if comma else int(least))
        return node

    def _one(self, depth: int) -> Node:
        sign = self.text[self.at]
        if sign == "(":
            return self._group(depth)
        if sign == "[":
            return Atom(self._set())
        self.at += 1
        if sign in "^$":
            return EMPTY
        if sign == ".":
            return Atom(ANY)
        if sign == "\\":
            return self._escaped()
        return Atom(_chars(sign))

    def _group(self, depth: int) -> Node:
        if flags := _FLAGS.match(self.text, self.at):
            self.at = flags.end()
            return EMPTY
        opening = _GROUP.match(self.text, self.at)
        start, self.at = self.at, opening.end() if opening else self.at + 1
        node = self.choice(depth + 1)
        if not self.text.startswith(")", self.at):
            raise NotReadError
        self.at += 1
        # What looks around takes nothing; an atomic group gives nothing back.
        return EMPTY if self.text.startswith(("(?=", "(?!", "(?<=", "(?<!", "(?>"), start) else node

    def _escaped(self) -> Node:
        if self.at >= len(self.text):
            raise NotReadError
        sign = self.text[self.at]
        if sign in "bBAzZG":
            self.at += 1
            return EMPTY
        return Atom(self._escape())

    def _escape(self) -> Chars:
        """Read what follows a backslash."""
        if match := _HEX.match(self.text, self.at):
            self.at = match.end()
            code = int(next(filter(None, match.groups())), 16)
            return _char(chr(code)) if code < 0x110000 else ANY
        if match := _PROPERTY.match(self.text, self.at):
            self.at = match.end()
            return ANY
        sign = self.text[self.at : self.at + 1]
        self.at += 1
        return _CLASSES[sign] if sign in _CLASSES else _chars(_CONTROLS.get(sign, sign))

    def _set(self) -> Chars:
        self.at += 1
        negated = self.text.startswith("^", self.at)
        self.at += negated
        found: Chars = 0
        first = True
        while first or not self.text.startswith("]", self.at):
            if self.at >= len(self.text):
                raise NotReadError
            first = False
            found |= self._range()
        self.at += 1
        return ANY & ~found | found & _SHARED if negated else found

    def _range(self) -> Chars:
        low = self._member()
        if not self.text.startswith("-", self.at) or self.text.startswith("-]", self.at):
            return low
        self.at += 1
        high = self._member()
        if low.bit_count() != 1 or high.bit_count() != 1:
            return low | high | _chars("-")
        if high & _SHARED:
            return low | _SHARED
        return ((high << 1) - 1) & ~(low - 1) if high >= low else low | high

    def _member(self) -> Chars:
        sign = self.text[self.at : self.at + 1]
        self.at += 1
        if sign == "\\":
            return self._escape()
        if sign == "[" and self.text.startswith((":", "."), self.at):
            end = self.text.find("]", self.at)
            self.at = end + 1 or len(self.text)
            return ANY
        return _chars(sign)
