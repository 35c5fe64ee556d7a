"""Names: given twice, looking alike, and missing descriptions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from registry.diagnostics import Fault, Mention, Place, Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from registry.diagnostics import Path
    from registry.documents import Document
    from registry.loading.lint.scene import Entry, Scene

#: Letters that look like another letter, with the one they look like.
_ALIKE = str.maketrans(
    # digits and Latin letters that many fonts draw alike
    "01I|"
    # Cyrillic
    "аесорхуіјѕһԁԛԝґкмтвнАВЕКМНОРСТХУІЈЅԌԚԜ"
    # Greek
    "αοριυνκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
    # Armenian, Latin extensions, others
    "օսհոıɑɡℓⅼ",  # noqa: RUF001 - the letters that this table is about
    "OlllaecopxyijshdqwrkmtbhABEKMHOPCTXYlJSGQWaopiuvkABEZHlKMNOPTYXoshniagll",
)

#: Two different names that look alike have at least one of 0, 1, I, O and |, or of what is not ASCII. (Said
#: by what they have not: Python takes milliseconds to compile a range up to the last character.)
_DOUBTFUL = re.compile(r"[^\x00-/2-HJ-NP-{}-\x7f]")


def duplicates(scene: Scene) -> Iterator[Fault]:
    """Refuse a name that two files declare: which one counts would be a silent choice."""
    if len(scene.documents) < 2:
        return
    for entries, what in (
        (scene.recipients, "recipient"),
        (scene.prompts, "prompt"),
        (scene.servers, "server"),
    ):
        seen: dict[str, Entry] = {}
        # What a file includes stands before it: `include` is written above the rest.
        for entry in sorted(entries, key=lambda entry: entry.document is scene.documents[0]):
            first = seen.setdefault(entry.name, entry)
            if first is not entry:
                yield entry.fault(
                    f"duplicate-{what}",
                    f"the {what} `{entry.name}` is declared in {first.document.name} already",
                    place=Place.KEY,
                    hint="rename one of them",
                    mentions=(Mention("declared here first", first.document, first.path),),
                )


def confusables(scene: Scene) -> Iterator[Fault]:
    """Warn of a name that a reader takes for another one."""
    for entries in (scene.recipients, scene.prompts, scene.servers):
        if not _differ([entry.name for entry in entries]):
            yield from _alike([(entry.document, entry.path) for entry in entries])
    for entries, key in ((scene.recipients, "parameters"), (scene.prompts, "inputs")):
        found = [(entry, names) for entry in entries if isinstance(names := entry.table.get(key), dict)]
        if not _DOUBTFUL.search("".join("".join(names) for _, names in found)):
            continue
        for entry, names in found:
            if not _differ(names):
                yield from _alike([(entry.document, (*entry.path, key, name)) for name in names])


def _differ(names: Collection[str]) -> bool:
    """Say quickly whether names certainly look different: ASCII names of which none has a doubtful letter."""
    joined = "\n".join(names)
    if not _DOUBTFUL.search(joined):
        return True
    seen = joined.translate(_ALIKE).split("\n") if joined.isascii() else ()
    return len(set(seen)) == len(seen) == len(names)


def skeleton(name: str) -> str:
    """Return what a name looks like; names with the same skeleton are easily taken for each other."""
    import unicodedata

    return unicodedata.normalize("NFKC", name).translate(_ALIKE)


def _alike(places: Iterable[tuple[Document, Path]]) -> Iterator[Fault]:
    seen: dict[str, tuple[Document, Path]] = {}
    # Whichever comes first in the file, the one with foreign letters is the one to look at.
    for document, path in sorted(places, key=lambda place: not str(place[1][-1]).isascii()):
        name = str(path[-1])
        look = skeleton(name)
        first, first_path = seen.setdefault(look, (document, path))
        if first_path[-1] != name:
            yield Fault(
                "confusable-name",
                f"`{name}` looks like `{first_path[-1]}`",
                document,
                path,
                Place.KEY,
                hint="rename one of them",
                severity=Severity.WARNING,
                mentions=(Mention("the other name", first, first_path),),
            )
        elif look != name and look.isascii() and not name.isascii() and any(map(str.isascii, name)):
            yield Fault(
                "confusable-name",
                f"`{name}` mixes letters of different scripts; it looks like `{look}`",
                document,
                path,
                Place.KEY,
                hint=f"write `{look}` in letters of one script",
                severity=Severity.WARNING,
            )


def identifiers(scene: Scene) -> Iterator[Fault]:
    """Refuse an input whose name no placeholder can have; a schema knows only the ASCII part of that."""
    for entry in scene.prompts:
        names = entry.table.get("inputs")
        for name in names if isinstance(names, dict) else ():
            if name.isascii() or name.isidentifier() or scene.is_wrong(entry, "inputs", name):
                continue
            message = f"`{name}` is no name here: it must be an identifier: letters, digits and `_`"
            yield entry.fault("bad-name", message, "inputs", name, place=Place.KEY, hint="rename it")


def descriptions(scene: Scene) -> Iterator[Fault]:
    """Warn of what a model or a reader is told nothing about."""
    for entries, what in ((scene.recipients, "recipient"), (scene.prompts, "prompt")):
        for entry in entries:
            if "description" not in entry.table and not scene.lacks(entry, "description"):
                yield entry.fault(
                    "missing-description",
                    f"the {what} `{entry.name}` has no description",
                    place=Place.TABLE,
                    hint="say in a sentence what it is for"
                    + (": a model chooses by it" if what == "recipient" else ""),
                    severity=Severity.WARNING,
                )
