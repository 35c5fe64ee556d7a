"""The texts of tools and servers that are filled in at call time: by arguments, and from the environment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from registry.loading.lint.scene import Entry, list_of, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.diagnostics import Path

#: A reference to an environment variable, well-formed or not.
ENVIRONMENT = re.compile(r"\$\{([^{}]*)\}|\$\{")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Text(NamedTuple):
    """A text with placeholders, and the key it stands under."""

    path: Path
    value: str
    key: str


def tool_texts(entry: Entry) -> Iterator[Text]:
    """Yield the texts of an ``http`` or ``command`` recipient that arguments are put into."""
    table = entry.table
    kind = table.get("kind")
    if kind == "http":
        url = table.get("url")
        if isinstance(url, str):
            yield Text(("url",), url, "url")
        for key in ("query", "headers"):
            if key in table:
                yield from _table(table, key, ())
        if "body" in table:
            body = table_of(table, "body")
            yield from _table(body, "form", ("body",))
            yield from _nested(body.get("text"), ("body", "text"), "body")
            yield from _nested(body.get("json"), ("body", "json"), "body")
    else:
        for i, item in enumerate(list_of(table, "argv")):
            if isinstance(item, str):
                yield Text(("argv", i), item, "argv")
        yield from _nested(table.get("stdin"), ("stdin",), "stdin")
        yield from _table(table, "env", ())


def server_texts(entry: Entry) -> Iterator[Text]:
    """Yield the texts of a server that may take values from the environment."""
    for i, item in enumerate(list_of(entry.table, "command")):
        if isinstance(item, str):
            yield Text(("command", i), item, "command")
    yield from _nested(entry.table.get("url"), ("url",), "url")
    yield from _table(entry.table, "env", ())
    yield from _table(entry.table, "headers", ())


def _table(table: Any, key: str, path: Path) -> Iterator[Text]:
    for name, value in table_of(table, key).items():
        if isinstance(value, str):
            yield Text((*path, key, name), value, key)


def _nested(value: Any, path: Path, key: str) -> Iterator[Text]:
    pending: list[tuple[Path, Any]] = [(path, value)]
    while pending:
        where, found = pending.pop()
        if isinstance(found, str):
            yield Text(where, found, key)
        elif isinstance(found, dict):
            pending += [((*where, name), item) for name, item in found.items()]
        elif isinstance(found, list):
            pending += [((*where, i), item) for i, item in enumerate(found)]


def without_environment(text: str) -> str:
    """Return a text of the same length in which references to the environment are no placeholders."""
    return ENVIRONMENT.sub(lambda match: "x" * len(match[0]), text)


def bad_references(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the references to variables that cannot exist: their places and the names."""
    for match in ENVIRONMENT.finditer(text):
        if match[1] is None or not _NAME.match(match[1]):
            yield match.start(), match.end(), match[1] or ""
