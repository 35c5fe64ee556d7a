"""What the rules look at: the tables of all documents, and what is already known to be wrong."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from registry.diagnostics import Fault, Path, Place, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from registry.documents import Document, Sources


#: Keywords of a schema in which nothing can hide: no schema inside, no reference, no pattern.
PLAIN = frozenset(
    {
        "const", "default", "deprecated", "description", "enum", "examples", "maxLength", "maximum",
        "minLength", "minimum", "title", "type",
    }
)  # fmt: skip
#: Keys of an input beside the keywords of JSON Schema.
INPUT_KEYS = frozenset({"optional", "prompt", "provided"})


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

    @property
    def kind(self) -> str:
        """The kind of a recipient; empty when it has none or a misshapen one."""
        kind = self.table.get("kind")
        return kind if isinstance(kind, str) else ""

    def fault(self, code: str, message: str, *path: str | int, **details: Any) -> Fault:
        """Report something at a path inside the table."""
        return Fault(code, message, self.document, (*self.path, *path), **details)


class Root(NamedTuple):
    """A declared schema: where it is, and the whole schema that references in it start from."""

    entry: Entry
    path: Path
    schema: dict[str, Any]
    whole: dict[str, Any]


class Wrong:
    """The paths in one document that have an error already, so kept that a question takes no search."""

    def __init__(self) -> None:
        self.places: set[tuple[Path, Place]] = set()
        #: Values in error, with all that is inside.
        self.values: set[Path] = set()
        #: What is in error, and what is around it.
        self.around: set[Path] = set()
        #: Tables with a key in error.
        self.tables: set[Path] = set()

    def add(self, path: Path, place: Place) -> None:
        """Remember an error."""
        self.places.add((path, place))
        if not path:
            return
        self.around.update(path[:end] for end in range(len(path) + 1))
        if place is Place.VALUE:
            self.values.add(path)
        elif place is Place.KEY:
            self.tables.add(path[:-1])


@attrs.define(slots=False, eq=False, repr=False)
class Scene:
    """Everything there is to lint. Data that failed validation is in it too: rules skip what is misshapen."""

    documents: tuple[Document, ...]
    recipients: list[Entry]
    prompts: list[Entry]
    servers: list[Entry]
    #: For each document, by name: where there are errors already.
    wrong: dict[str, Wrong] = attrs.field(factory=dict)

    @classmethod
    def of(cls, sources: Sources, faults: Iterable[Fault] = ()) -> Scene:
        """Gather the tables of the documents."""
        documents = sources.documents
        scene = cls(
            documents,
            list(_entries(documents, "recipients")),
            list(_entries(documents, "prompts")),
            list(_entries(documents, "servers")),
        )
        scene.note(faults)
        return scene

    def note(self, faults: Iterable[Fault]) -> None:
        """Remember where there are errors."""
        for fault in faults:
            if fault.severity is Severity.ERROR:
                self.wrong.setdefault(fault.document.name, Wrong()).add(fault.path, fault.place)

    def is_wrong(self, entry: Entry, *path: str | int) -> bool:
        """Say whether something at the path inside the table, below it or above it has an error already.

        A missing or unknown key is an error of the table that should have it, not of what is inside.
        """
        known = self.wrong.get(entry.document.name)
        if not known:
            return False
        whole = (*entry.path, *path)
        return whole in known.around or any(whole[:end] in known.values for end in range(1, len(whole)))

    def is_wrong_outside(self, entry: Entry, key: str) -> bool:
        """Say whether a table has an error already that is not inside the value of the key."""
        known = self.wrong.get(entry.document.name)
        return known is not None and (
            any((entry.path, place) in known.places for place in Place)
            or any(self.is_wrong(entry, other) for other in entry.table if other != key)
        )

    def lacks(self, entry: Entry, *keys: str) -> bool:
        """Say whether a table has none of the keys although one may be meant: another key is misspelt."""
        return entry.table.keys().isdisjoint(keys) and self.lacks_in(entry)

    def lacks_in(self, entry: Entry, *path: str | int) -> bool:
        """Say whether a table has an unknown key, which may be a misspelt one."""
        known = self.wrong.get(entry.document.name)
        return known is not None and (*entry.path, *path) in known.tables

    def is_complete(self, section: str) -> bool:
        """Say whether all tables of a section are known: no file and no table could not be read."""
        for document in self.documents:
            if not isinstance(document.data, dict):
                return False
            known = self.wrong.get(document.name)
            for bad, place in known.places if known else ():
                if bad[:1] == ("include",) or (len(bad) == 1 and (place is Place.KEY or bad == (section,))):
                    return False
        return True

    @functools.cached_property
    def prompt_tables(self) -> dict[str, list[dict[str, Any]]]:
        """The tables of the prompts, by name; more than one where two files declare the same."""
        found: dict[str, list[dict[str, Any]]] = {}
        for entry in self.prompts:
            found.setdefault(entry.name, []).append(entry.table)
        return found

    @functools.cached_property
    def roots(self) -> list[Root]:
        """The schemas that hold more than a type, limits and texts; few files have many of them."""
        return list(_roots(self))


def _entries(documents: Iterable[Document], section: str) -> Iterator[Entry]:
    for document in documents:
        data = document.data
        tables = data.get(section) if isinstance(data, dict) else None
        if isinstance(tables, dict):
            for name, table in tables.items():
                if isinstance(table, dict):
                    yield Entry(document, section, name, table)


def _roots(scene: Scene) -> Iterator[Root]:
    for entry in scene.recipients:
        parameters = entry.table.get("parameters")
        if isinstance(parameters, dict):
            whole = {"type": "object", "properties": parameters}
            for name, schema in parameters.items():
                if isinstance(schema, dict) and not PLAIN.issuperset(schema):
                    yield Root(entry, ("parameters", name), schema, whole)
        schema = entry.table.get("input_schema")
        if isinstance(schema, dict):
            yield Root(entry, ("input_schema",), schema, schema)
    known = PLAIN | INPUT_KEYS
    for entry in scene.prompts:
        for name, schema in table_of(entry.table, "inputs").items():
            if isinstance(schema, dict) and not known.issuperset(schema):
                yield Root(entry, ("inputs", name), schema, schema)


def table_of(value: Any, key: str) -> dict[str, Any]:
    """Return a table inside a table; empty when there is none or it is misshapen."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def list_of(value: Any, key: str) -> list[Any]:
    """Return an array inside a table; empty when there is none or it is misshapen."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []
