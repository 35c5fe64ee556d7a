"""What the rules look at: the tables of all documents of a registry, and what is already known to be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from registry.diagnostics import Fault, Path, Place, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from registry.documents import Document, Sources


class Entry(NamedTuple):
    """One table of a section: a recipient, a prompt or a server."""

    document: Document
    section: str
    name: str
    table: dict[str, Any]

    @property
    def path(self) -> Path:
        """Where the table is in its document."""
        return (self.section, self.name)

    def fault(self, code: str, message: str, *path: str | int, **details: Any) -> Fault:
        """Report something at a path inside the table."""
        return Fault(code, message, self.document, (*self.path, *path), **details)


@attrs.define
class Scene:
    """Everything there is to lint. Data that failed validation is in it too: rules skip what is misshapen."""

    documents: tuple[Document, ...]
    recipients: list[Entry]
    prompts: list[Entry]
    servers: list[Entry]
    #: For each document, by name: the paths that have an error already, and what kind of place each is.
    wrong: dict[str, set[tuple[Path, Place]]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, sources: Sources, faults: Iterable[Fault] = ()) -> Scene:
        """Gather the tables of the documents."""
        documents = sources.documents
        scene = cls(
            documents,
            *(list(_entries(documents, section)) for section in ("recipients", "prompts", "servers")),
        )
        scene.note(faults)
        return scene

    def note(self, faults: Iterable[Fault]) -> None:
        """Remember where there are errors."""
        for fault in faults:
            if fault.severity is Severity.ERROR:
                self.wrong.setdefault(fault.document.name, set()).add((fault.path, fault.place))

    def is_wrong(self, entry: Entry, *path: str | int) -> bool:
        """Say whether something at the path inside the table, below it or above it has an error already.

        A missing or unknown key is an error of the table that should have it, not of what is inside.
        """
        known = self.wrong.get(entry.document.name)
        if not known:
            return False
        whole = (*entry.path, *path)
        return any(
            bad[: len(whole)] == whole or (place is Place.VALUE and whole[: len(bad)] == bad)
            for bad, place in known
            if bad
        )

    def lacks(self, entry: Entry, *keys: str) -> bool:
        """Say whether a table has none of the keys although one may be meant: another key is misspelt."""
        return entry.table.keys().isdisjoint(keys) and self.lacks_in(entry)

    def lacks_in(self, entry: Entry, *path: str | int) -> bool:
        """Say whether a table has an unknown key, which may be a misspelt one."""
        known = self.wrong.get(entry.document.name, ())
        whole = (*entry.path, *path)
        return any(place is Place.KEY and bad[:-1] == whole and bad for bad, place in known)

    def is_complete(self, section: str) -> bool:
        """Say whether all tables of a section are known: no file and no table could not be read."""
        for document in self.documents:
            if not isinstance(document.data, dict):
                return False
            for bad, place in self.wrong.get(document.name, ()):
                if bad[:1] == ("include",) or (len(bad) == 1 and (place is Place.KEY or bad == (section,))):
                    return False
        return True

    def mentions(self, *words: str) -> bool:
        """Say whether a word may be a key or value of any document: a cheap question before a long walk."""
        return any(
            word in document.text
            or "\\u" in document.text
            or "\\x" in document.text
            or "\\U" in document.text
            for document in self.documents
            for word in words
        )


def _entries(documents: Iterable[Document], section: str) -> Iterator[Entry]:
    for document in documents:
        data = document.data
        tables = data.get(section) if isinstance(data, dict) else None
        if isinstance(tables, dict):
            for name, table in tables.items():
                if isinstance(table, dict):
                    yield Entry(document, section, name, table)


def table_of(value: Any, key: str) -> dict[str, Any]:
    """Return a table inside a table; empty when there is none or it is misshapen."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def list_of(value: Any, key: str) -> list[Any]:
    """Return an array inside a table; empty when there is none or it is misshapen."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []
