"""Bytes to a document: decode, parse, and refuse what TOML allows but JSON does not."""

from __future__ import annotations

import math
import re
import sys
from typing import TYPE_CHECKING, Any

import attrs
import tomli

from registry.diagnostics import Fault
from registry.documents import Document

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Container, Iterator

    from registry.diagnostics import Path

#: A larger file is no declaration; the limit bounds the time and memory of a check.
MAX_BYTES = 16 * 1024 * 1024
#: Tables and arrays inside each other. Far below what recursion in any library bears, far above any need.
MAX_DEPTH = 100

_BOM = "\ufeff"
_SCALARS = frozenset({str, int, float, bool})
_CONTAINERS = frozenset({dict, list})
_OTHER_BASES = {"0x": 16, "0o": 8, "0b": 2}
_LONG = r"0[xob][0-9A-Fa-f_]{500}"
#: One part of a key. The patterns here are compiled when something is wrong; `re` keeps them.
_PART = r"""(?:[\w-]+|(?!\"{3})"(?:[^"\\\n]|\\.)*"|(?!'{3})'[^'\n]*')"""
#: Strings and comments, which may hold anything, before the tokens looked for.
_TEXT = (
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
)
_NESTING = rf"(?P<dotted>{_PART}(?:[ \t]*\.[ \t]*{_PART})+)|{_TEXT}|(?P<open>[\[{{])|(?P<close>[\]}}])|[\w-]+"
#: Integers that may have too many digits; a number with a fraction or an exponent is none.
_DIGITS = _TEXT + (
    r"|(?<![\w.+-])(?P<digits>[+-]?[0-9](?:_?[0-9]){600,}|0[xob][0-9A-Fa-f_]{500,})"
    r"(?![\w.])(?P<key>[ \t]*[.=])?|[\w-]+"
)


def decode(raw: bytes, name: str, path: pathlib.Path | None = None) -> tuple[Document, tuple[Fault, ...]]:
    """Turn a file's bytes into a document without data: UTF-8, at most one byte-order mark, LF line ends."""
    if len(raw) > MAX_BYTES:
        document = Document(name, "", None, path)
        message = f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB"
        return document, (Fault("file-too-large", message, document, (), hint="split it with `include`"),)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return _not_utf8(raw, error.start, name, path)
    return Document(name, text.removeprefix(_BOM).replace("\r\n", "\n"), None, path), ()


def _not_utf8(
    raw: bytes, start: int, name: str, path: pathlib.Path | None
) -> tuple[Document, tuple[Fault, ...]]:
    shown = raw.decode("utf-8", "replace").removeprefix(_BOM).replace("\r\n", "\n")
    document = Document(name, shown, None, path)
    before = raw[:start].decode("utf-8").removeprefix(_BOM).replace("\r\n", "\n")
    at = len(before)
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    fault = Fault(
        "not-utf8",
        f"byte 0x{raw[start]:02X} at offset {start} is not UTF-8",
        document,
        (),
        span=(at, min(at + 1, len(shown))),
        hint="save the file as UTF-8; it is UTF-16 now" if wide else "save the file as UTF-8",
    )
    return document, (fault,)


def parse(raw: bytes, name: str, path: pathlib.Path | None = None) -> tuple[Document, tuple[Fault, ...]]:
    """Turn a TOML file's bytes into a document; its data is None when the text could not be parsed."""
    document, faults = decode(raw, name, path)
    if faults:
        return document, faults
    return _parsed(document)


def _parsed(document: Document) -> tuple[Document, tuple[Fault, ...]]:
    text = document.text
    odd_floats: list[str] = []

    def parse_float(digits: str) -> float:
        value = float(digits)
        if not math.isfinite(value):
            odd_floats.append(digits)
        return value

    try:
        data = tomli.loads(text, parse_float=parse_float)
    except tomli.TOMLDecodeError as error:
        return document, (_syntax_fault(document, error),)
    except RecursionError:
        return document, (_depth_fault(document, span=_deep_span(text)),)
    except ValueError:
        # Python refuses to convert integers of thousands of digits; tomli lets that error through.
        return _without_long_numbers(document)
    if any(sign in text for sign in _OTHER_BASES) and re.search(_LONG, text) and _long_numbers(text):
        # Of these bases it converts any number; what cannot be printed cannot be validated or sent either.
        return _without_long_numbers(document)
    found = attrs.evolve(document, data=data)
    deep, foreign = _survey(data)
    if deep:
        return document, (_depth_fault(found, path=_path_at_depth(data)),)
    return found, tuple(_foreign_values(found)) if foreign or odd_floats else ()


def _syntax_fault(document: Document, error: tomli.TOMLDecodeError) -> Fault:
    if document.text.startswith(_BOM):
        message = "a second byte-order mark (U+FEFF) is no TOML; only one may stand at the start of a file"
        return Fault("toml-syntax", message, document, (), span=(0, 1), hint="delete it")
    from registry.loading.syntax import meaning  # most files are in order

    at = min(error.pos, len(document.text))
    message, hint, span = meaning(document.text, at, error.msg)
    return Fault(
        "toml-syntax",
        message,
        document,
        (),
        span=span or (at, min(at + 1, len(document.text))),
        hint=hint,
    )


def _depth_fault(document: Document, path: Path = (), span: tuple[int, int] | None = None) -> Fault:
    message = f"more than {MAX_DEPTH} tables and arrays inside each other"
    return Fault("nesting-too-deep", message, document, path, span=span, hint="flatten the data")


def _survey(data: dict[str, Any]) -> tuple[bool, bool]:
    """Say whether data is nested too deep, and whether it holds values that JSON lacks; one quick walk."""
    level: list[Any] = [data]
    foreign = False
    for _ in range(MAX_DEPTH):
        level = [
            item
            for value in level
            for item in (value.values() if type(value) is dict else value)
            if type(item) not in _SCALARS
        ]
        if not _CONTAINERS.issuperset(map(type, level)):
            foreign = True
            level = [item for item in level if type(item) in _CONTAINERS]
        if not level:
            return False, foreign
    return True, foreign


def _children(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str | int, Any]]:
    return iter(value.items()) if isinstance(value, dict) else enumerate(value)


def _path_at_depth(data: dict[str, Any]) -> Path:
    pending: list[tuple[Path, Any]] = [((), data)]
    while len(pending[-1][0]) < MAX_DEPTH:
        path, value = pending.pop()
        pending += [((*path, key), item) for key, item in _children(value) if isinstance(item, (dict, list))]
    return pending[-1][0]


def _deep_span(text: str) -> tuple[int, int]:
    """Find where the nesting of a text that could not be parsed goes too deep."""
    depth = 0
    for token in re.finditer(_NESTING, text, re.DOTALL):
        if token["open"]:
            depth += 1
            if depth > MAX_DEPTH:
                return token.span()
        elif token["close"]:
            depth -= 1
        elif token["dotted"] and len(re.findall(_PART, token["dotted"])) > MAX_DEPTH:
            return token.span()
    return 0, min(1, len(text))


def _long_numbers(text: str) -> list[tuple[int, int]]:
    """Return the places of the integers with more digits than Python prints; keys of digits are none."""
    limit = sys.get_int_max_str_digits() or math.inf
    return [
        match.span("digits")
        for match in re.finditer(_DIGITS, text, re.DOTALL)
        if (digits := match["digits"]) and not match["key"] and _length(digits) > limit
    ]


def _length(number: str) -> int:
    """Return how many decimal digits an integer has."""
    digits = number.replace("_", "").lstrip("+-")
    base = _OTHER_BASES.get(digits[:2])
    return len(digits) if base is None else int(math.log10(2) * int(digits, base).bit_length()) + 1


def _without_long_numbers(document: Document) -> tuple[Document, tuple[Fault, ...]]:
    """Report every integer that is too long, then go on with a zero in its place so that no fault hides."""
    marks: dict[str, tuple[int, int]] = {}
    pieces: list[str] = []
    done = 0
    for start, end in _long_numbers(document.text):
        # A text of the same length that no file holds: it finds its way to the value's path.
        mark = f"\ue000{len(marks)}".ljust(end - start - 2, "\ue000")
        pieces += (document.text[done:start], f"'{mark}'")
        marks[mark] = (start, end)
        done = end
    pieces.append(document.text[done:])
    found, faults = _parsed(attrs.evolve(document, text="".join(pieces)))
    restored = attrs.evolve(document, data=found.data)
    paths = _zeroed(found.data, marks)
    message = f"an integer of more than {sys.get_int_max_str_digits()} digits"
    hint = "shorten it, or put it in quotes"
    own = [
        Fault("number-too-long", message, restored, paths.get(mark, ()), span=span, hint=hint)
        for mark, span in marks.items()
    ]
    return restored, (*own, *(attrs.evolve(fault, document=restored) for fault in faults))


def _zeroed(data: Any, marks: Container[str]) -> dict[str, Path]:
    """Put a zero in place of every marked text, and return the path of each."""
    found: dict[str, Path] = {}
    pending: list[tuple[Path, Any]] = [((), data)] if data is not None else []
    while pending:
        path, value = pending.pop()
        for key, item in list(_children(value)):
            if isinstance(item, (dict, list)):
                pending.append(((*path, key), item))
            elif isinstance(item, str) and item in marks:
                found[item] = (*path, key)
                value[key] = 0
    return found


def _foreign_values(document: Document) -> Iterator[Fault]:
    """Yield the values that JSON does not have: dates, times, infinities and not-a-number."""
    pending: list[tuple[Path, Any]] = [((), document.data)]
    while pending:
        path, value = pending.pop()
        kind = type(value)
        if kind is dict or kind is list:
            pending += [((*path, key), item) for key, item in _children(value)]
        elif kind is float:
            if not math.isfinite(value):
                message = f"{value} is no JSON number"
                yield Fault("not-finite", message, document, path, hint="give a finite number")
        elif kind is not str and kind is not bool and kind is not int:
            message = f"an unquoted date or time ({value.isoformat()}) is no JSON value"
            yield Fault("date-not-allowed", message, document, path, hint="put it in quotes")
