"""Backslashes that were meant as text but were read as escapes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from registry.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.diagnostics import Fault, Path
    from registry.loading.lint.scene import Entry, Scene

#: Control characters that only an escape can bring into a text, where a letter follows (\frac, \beta), and
#: a tab or line end before what makes it \text or the like.
_EATEN = (
    r"[\b\f\r\x1b](?=[A-Za-z])"
    r"|\t(?=(?:ext|extbf|extit|frac|heta|herefore|ilde|imes|riangle)\b|(?:an|au)[({_^$=+\\])"
    r"|\n(?=(?:abla|eq|ewline)\b|u[)}_^$=+\\])"
)
#: How such a text is written.
_SOURCE = r"\\(?:[bfre][A-Za-z]|[ux]|t[a-z]{2}|n[aeu])"
_ESCAPE = {"\b": "b", "\f": "f", "\r": "r", "\x1b": "e", "\t": "t", "\n": "n"}


def escapes(scene: Scene) -> Iterator[Fault]:
    """Warn of a text in which a command such as a backslash and frac lost its backslash."""
    suspicious = {document.name for document in scene.documents if _may_have(document.text)}
    for entries in (scene.recipients, scene.prompts) if suspicious else ():
        for entry in entries:
            if entry.document.name in suspicious:
                yield from _eaten(entry)


def _eaten(entry: Entry) -> Iterator[Fault]:
    for path, text in _texts(entry.table):
        for match in re.finditer(_EATEN, text):
            letter = _ESCAPE[match[0]]
            yield entry.fault(
                "backslash-in-basic-string",
                f"the escape \\{letter} became a control character; was a backslash and `{letter}` meant?",
                *path,
                within=match.span(),
                hint="write the text in single quotes, or double the backslash",
                severity=Severity.WARNING,
            )


def _may_have(text: str) -> bool:
    return "\\" in text and re.search(_SOURCE, text) is not None


def _texts(table: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    pending: list[tuple[Path, Any]] = [((), table)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            if not value.isprintable():
                yield path, value
        elif isinstance(value, dict):
            pending += [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            pending += [((*path, i), item) for i, item in enumerate(value)]
