"""What a syntax error means to whoever wrote the file: the parser's words made plain, and what to do.

Runs only when there is an error. The parser says where it gave up and why in its own terms; what stands
there tells the mistake: a quote that a word processor has curled, a text without quotes, a key given twice.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from registry.loading import spans
from registry.loading.wording import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

_CURLED = "“”„‟‘’‚‛«»‹›「」『』`´"  # noqa: RUF001 - the quotes that this is about
_QUOTE = re.compile(f"[{_CURLED}]")
_NAMES = "a name without quotes is made of the letters A to Z, digits, `_` and `-`"
_SEVERAL = "for a text of several lines put ''' before and after it"

#: Words for values that other languages write in another way.
_WORDS = {
    **dict.fromkeys(("true", "yes", "on"), "write `true`; a text needs quotes"),
    **dict.fromkeys(("false", "no", "off"), "write `false`; a text needs quotes"),
    **dict.fromkeys(("none", "null", "nil"), "TOML has no null: leave the key out; a text needs quotes"),
}

#: Strings and comments, which may hold anything; the beginning of a text that is never closed, a long one or
#: one on a line.
_TOKENS = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r"|(?P<open>\"\"\"|''')"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|(?P<short>['\"][^\n]*)",
    re.DOTALL,
)


class Meaning(NamedTuple):
    """A syntax error in plain words. Without a span it is where the parser stopped."""

    message: str
    hint: str = ""
    span: tuple[int, int] | None = None


class _Stop(NamedTuple):
    """Where the parser gave up: its words, and the line before and after that place."""

    text: str
    at: int
    message: str
    before: str
    rest: str


def meaning(text: str, at: int, message: str) -> Meaning:
    """Say what a syntax error at an offset means, and what to do about it."""
    message = message[:1].lower() + message[1:]
    end = text.find("\n", at)
    before, rest = text[text.rfind("\n", 0, at) + 1 : at], text[at : len(text) if end < 0 else end]
    stop = _Stop(text, at, message, before, rest)
    return _odd_letter(stop) or next(
        (found for beginning, rule in _RULES if message.startswith(beginning) and (found := rule(stop))),
        Meaning(message),
    )


def _odd_letter(stop: _Stop) -> Meaning | None:
    """Recognise a letter that looks like one of TOML's own, or like nothing at all."""
    letter = stop.rest[:1]
    if letter in "\0\r" and letter:
        return Meaning(stop.message, "save the file as plain text in UTF-8, with line ends LF or CRLF")
    if curled := _QUOTE.match(letter):
        return Meaning("a text stands in straight quotes", f'write " instead of {curled[0]}')
    if letter.isascii():
        return None
    if letter.isspace() or unicodedata.category(letter) == "Cf":
        return Meaning(
            f"the invisible character U+{ord(letter):04X} stands here", "delete it, or write a plain space"
        )
    plain = unicodedata.normalize("NFKC", letter)
    return Meaning(stop.message, f"write {plain} instead of {letter}") if plain in set('="[]{},.:#') else None


def _value(stop: _Stop) -> Meaning | None:
    if stop.before.rstrip().endswith("=") and not stop.rest.partition("#")[0].strip():
        return Meaning("a value is missing", 'write one after `=`; a text stands in quotes: "..."')
    if re.match(r"[\w.-]+[ \t]*[=:]", stop.rest):
        return Meaning(stop.message, 'a table on one line stands in braces: { type = "string" }')
    if word := re.match(r"[^\W\d][\w-]*", stop.rest):
        advice = _WORDS.get(word[0].lower(), 'put a text in quotes: "..."')
        return Meaning("a word without quotes is no value", advice)  # the word itself may be a secret
    return None


def _text_on_a_line(stop: _Stop) -> Meaning:
    return _broken_text(stop.before)


def _broken_text(line: str, end: int | None = None) -> Meaning:
    curled = _QUOTE.search(line)
    advice = f'write " instead of {curled[0]}' if curled else "close it with the quote that it begins with"
    span = None if end is None else (end, end)
    return Meaning("a text does not end on its line", f"{advice}; {_SEVERAL}", span)


def _text_to_the_end(stop: _Stop) -> Meaning | None:
    """Say where a text began, for the parser has looked for its end as far as the file goes."""
    for token in _TOKENS.finditer(stop.text):
        if token["short"]:
            return _broken_text(token["short"], token.end())
        if token["open"]:
            return Meaning("this text is never closed", f"write {token['open']} where it ends", token.span())
    return None


def _equals(stop: _Stop) -> Meaning:
    if stop.rest.lstrip().startswith(":"):
        return Meaning(stop.message, "write `=` instead of `:`")
    if stop.rest[:1].isalpha():
        return Meaning(stop.message, f"write key = value; {_NAMES}")
    return Meaning(stop.message, "write key = value")


def _statement(stop: _Stop) -> Meaning:
    if re.match(r"//|/\*|--|;|%|<!--", stop.rest):
        return Meaning(stop.message, "a comment begins with `#`")
    if stop.rest.startswith(("{", "(")):
        return Meaning(stop.message, "a table begins with its name in brackets, such as [prompts.greet]")
    if stop.rest.startswith("="):
        return Meaning(stop.message, "write the key before `=`")
    return Meaning(stop.message, f"write key = value, or the name of a table in brackets; {_NAMES}")


def _header(stop: _Stop) -> Meaning:
    close = "]]" if "']]'" in stop.message else "]"
    if close in stop.rest:
        return Meaning(stop.message, f"{_NAMES}; names inside each other are parted by dots")
    return Meaning(stop.message, f"close it with {close}")


def _after_statement(stop: _Stop) -> Meaning:
    if re.match(r",[0-9]", stop.rest) and stop.before[-1:].isdigit():
        return Meaning(stop.message, "write a number with a point: 1.5")
    if stop.rest.startswith(","):
        return Meaning(stop.message, "no comma stands after a statement: delete it")
    if quoted := re.search(r"('''|\"\"\"|['\"])[ \t]*\Z", stop.before):
        others = " or ".join(quote for quote in ("'", '"', "'''", '"""') if quote[0] != quoted[1][0])
        advice = f"{quoted[1]} inside a text ends it: put that text between {others}"
        return Meaning("something follows the end of a text", advice)
    return Meaning(stop.message, "write one statement on a line; a text stands in quotes")


def _unclosed(stop: _Stop) -> Meaning:
    close = "]" if stop.message == "unclosed array" else "}"
    return Meaning(stop.message, f"put commas between its entries, and close it with {close}")


def _backslash(_: _Stop) -> Meaning:
    advice = "double it, or put the text between single quotes: '...'; in the path of a file write / instead"
    return Meaning("a backslash between double quotes begins an escape, and this one is none", advice)


def _taken(stop: _Stop) -> Meaning:
    """A name that is declared twice, or as two things: a key before its value, or the header of a table."""
    advice = "a name is declared once: join the two, or rename one"
    span = _key_before(stop.text[: stop.at])
    if span is None and (header := re.fullmatch(r"[ \t]*\[\[?[ \t]*(.*?)[ \t]*", stop.before)):
        line = stop.at - len(stop.before)
        span = line + header.start(1), line + header.end(1)
    if span is None:
        return Meaning(f"{stop.message}: a name is given twice", advice)
    name = stop.text[slice(*span)]
    return Meaning(f"{quoted(name)} is declared already, or a part of its name is", advice, span)


def _key_before(text: str) -> tuple[int, int] | None:
    """Find the key of the value that a text ends with, which may have many lines."""
    found = (span for span in spans.index(text).values() if span.value_end == len(text))
    return next((span[:2] for span in found if not span.has_header), None)


#: How the parser's message begins -> what it means.
_RULES: tuple[tuple[str, Callable[[_Stop], Meaning | None]], ...] = (
    ("invalid value", _value),
    ("illegal character '\\n'", _text_on_a_line),
    ("found invalid character '\\n'", _text_on_a_line),
    ("unterminated string", _text_to_the_end),
    ("expected \"'", _text_to_the_end),
    ("expected '=' after a key", _equals),
    ("invalid statement", _statement),
    ("invalid initial character", _statement),
    ("expected ']' at the end", _header),
    ("expected ']]' at the end", _header),
    ("expected newline or end", _after_statement),
    ("unclosed ", _unclosed),
    ("unescaped '\\'", _backslash),
    ("invalid hex value", _backslash),
    ("escaped character", _backslash),
    ("cannot ", _taken),
    ("duplicate inline table key", _taken),
    ("invalid date", lambda stop: Meaning(stop.message, "put it in quotes")),
)
