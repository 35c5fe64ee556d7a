"""The first stage: a path becomes the documents of a registry.

The only stage that opens files. Includes and template files must be regular files inside the root file's
folder, also after symbolic links are followed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pathlib
from typing import TYPE_CHECKING, Any

import attrs

from registry.diagnostics import Fault, Mention, Path, Place
from registry.documents import Document, Sources
from registry.exceptions import UnreadableFile
from registry.loading.parse import MAX_BYTES, decode, parse
from registry.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

_WILDCARDS = frozenset("*?[")
#: For so many missing files another name is looked for, among so many: it is a help, and must not take long.
_SUGGESTIONS = 10
_NAMES = 200


def read(path: str | os.PathLike[str]) -> tuple[Sources, tuple[Fault, ...]]:
    """Read a root file and everything it includes.

    Raises:
        UnreadableFile: the root file itself cannot be read.
    """
    name = os.fspath(path)
    root = pathlib.Path(name)
    try:
        raw = _bytes_of(root)
        folder = _resolved(root.parent)
    except (OSError, ValueError) as error:
        raise UnreadableFile(name, _reason(error)) from error
    return read_bytes(raw, name, folder, root)


def read_bytes(
    raw: bytes, name: str, folder: pathlib.Path | None = None, path: pathlib.Path | None = None
) -> tuple[Sources, tuple[Fault, ...]]:
    """Read a root file from its bytes; without a folder it can include nothing."""
    reader = _Reader(folder)
    reader.add(raw, name, path, ())
    return Sources(tuple(reader.documents), folder), tuple(reader.faults)


def _resolved(path: pathlib.Path) -> pathlib.Path:
    """Follow every symbolic link; unlike Path.resolve(), a loop of links is no error."""
    return pathlib.Path(os.path.realpath(path))


def _bytes_of(path: pathlib.Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


@attrs.define(eq=False, repr=False)
class _Reader:
    """Walks the includes; each file is read once, however many ways lead to it."""

    folder: pathlib.Path | None
    documents: list[Document] = attrs.field(factory=list)
    faults: list[Fault] = attrs.field(factory=list)
    seen: set[pathlib.Path] = attrs.field(factory=set)
    #: The include of the root that is being followed.
    entry: Path = ()

    def add(self, raw: bytes, name: str, path: pathlib.Path | None, chain: tuple[pathlib.Path, ...]) -> None:
        document, faults = parse(raw, name, path)
        templates: dict[str, Document] = {}
        for place, wanted in _template_files(document.data):
            self._add_template(document, templates, place, wanted)
        if templates:
            document = attrs.evolve(document, templates=templates)
        self.documents.append(document)
        self.faults += [attrs.evolve(fault, document=document) for fault in faults]
        if path is not None:
            resolved = _resolved(path)
            self.seen.add(resolved)
            chain = (*chain, resolved)
        for place, pattern in _includes(document.data):
            if document is self.documents[0]:
                self.entry = place
            self._include(document, place, pattern, chain)

    def _include(
        self, document: Document, place: Path, pattern: str, chain: tuple[pathlib.Path, ...]
    ) -> None:
        base = self._base(document, place, pattern)
        if base is None:
            return
        wild = not _WILDCARDS.isdisjoint(pattern)
        found = sorted(_glob(base, pattern)) if wild else [base / pattern]
        if not found:
            message = f"no file matches {pattern!r}"
            hint = "write / between folders" if "\\" in pattern else "correct the pattern"
            self.faults.append(Fault("empty-include", message, document, place, hint=hint))
        for path in found:
            self._include_one(document, place, path, chain, wild=wild)

    def _include_one(
        self,
        document: Document,
        place: Path,
        path: pathlib.Path,
        chain: tuple[pathlib.Path, ...],
        *,
        wild: bool,
    ) -> None:
        resolved = _resolved(path)
        if wild and chain[-1:] == (resolved,):
            return  # a pattern such as *.toml also matches the file it stands in
        if resolved in chain:
            self._cycle(document, place, _shown(document, path))
        elif resolved not in self.seen and (raw := self._read(document, place, path)) is not None:
            self.add(raw, _shown(document, path), path, chain)

    def _cycle(self, document: Document, place: Path, again: str) -> None:
        """Report a cycle where the root leads into it, and mention the include that closes it."""
        root = self.documents[0]
        message = f"includes that lead in a circle: {again} is included again by {document.name}"
        closing = Mention("the circle closes here", document, place, Place.VALUE)
        start = place if document is root else self.entry
        mentions = () if document is root else (closing,)
        hint = "remove one include of the circle"
        self.faults.append(Fault("include-cycle", message, root, start, hint=hint, mentions=mentions))

    def _add_template(
        self, document: Document, templates: dict[str, Document], place: Path, wanted: str
    ) -> None:
        base = self._base(document, place, wanted)
        raw = None if base is None else self._read(document, place, base / wanted)
        if raw is not None:
            path = document.path.parent / wanted if document.path else pathlib.Path(wanted)
            found, faults = decode(raw, _shown(document, path), path)
            if found.text or not faults:
                # Without its text nothing can be said of what a template uses.
                templates[wanted] = attrs.evolve(found, data=found.text)
            self.faults += faults

    def _base(self, document: Document, place: Path, wanted: str) -> pathlib.Path | None:
        """Return the folder that a relative name is looked up in; None after reporting why there is none."""
        if self.folder is None:
            message = f"{wanted!r} cannot be found: this text was not read from a file"
            self.faults.append(Fault("missing-file", message, document, place, hint="load it from a file"))
            return None
        if pathlib.PurePath(wanted).is_absolute() or "\0" in wanted:
            self._refuse(document, place, wanted)
            return None
        return document.path.parent if document.path else self.folder

    def _read(self, document: Document, place: Path, path: pathlib.Path) -> bytes | None:
        assert self.folder is not None  # noqa: S101 - _base has seen to it
        try:
            resolved = _resolved(path)
            if not resolved.is_relative_to(self.folder):
                self._refuse(document, place, os.fspath(path))
                return None
            if resolved.exists() and not resolved.is_file():
                reason, hint = "it is no regular file", "check the name"
            else:
                return _bytes_of(resolved)
        except OSError as error:
            reason, hint = _reason(error), self._meant(path)
        message = f"{_shown(document, path)} cannot be read: {reason}"
        self.faults.append(Fault("missing-file", message, document, place, hint=hint))
        return None

    def _meant(self, path: pathlib.Path) -> str:
        """Suggest another name for a file that is not there; among few names, and for few faults."""
        if "\\" in path.name:
            return "write the path from this file's folder, with / between folders"
        names: list[str] = []
        if len(self.faults) < _SUGGESTIONS:
            with contextlib.suppress(OSError):
                names = sorted(entry.name for entry in itertools.islice(path.parent.iterdir(), _NAMES))
        near = nearest(path.name, (name for name in names if name != path.name))
        return f"did you mean {near!r}?" if near else "check the name"

    def _refuse(self, document: Document, place: Path, wanted: str) -> None:
        message = f"{wanted!r} is outside the folder of the root file"
        hint = "names are relative, inside that folder"
        self.faults.append(Fault("include-outside-root", message, document, place, Place.VALUE, hint=hint))


def _glob(base: pathlib.Path, pattern: str) -> Iterator[pathlib.Path]:
    try:
        yield from (path for path in base.glob(pattern) if not path.is_dir())
    except (ValueError, NotImplementedError, OSError, IndexError):
        return  # not a pattern: it matches nothing


def _shown(document: Document, path: pathlib.Path) -> str:
    """Name a file as the document that leads to it is named."""
    start = document.path.parent if document.path else path.parent
    return os.path.normpath(
        os.path.join(os.path.dirname(document.name), os.path.relpath(path, start))  # noqa: PTH118,PTH120 - texts
    )


def _includes(data: Any) -> Iterator[tuple[Path, str]]:
    found = data.get("include") if isinstance(data, dict) else None
    if isinstance(found, list):
        yield from ((("include", i), item) for i, item in enumerate(found) if isinstance(item, str))


def _template_files(data: Any) -> Iterator[tuple[Path, str]]:
    """Yield every template file that a document names, whatever else is wrong with it."""
    prompts = data.get("prompts") if isinstance(data, dict) else None
    for name, prompt in prompts.items() if isinstance(prompts, dict) else ():
        if not isinstance(prompt, dict):
            continue
        messages = prompt.get("messages")
        places: list[tuple[Path, Any]] = [(("prompts", name), prompt)]
        for i, message in enumerate(messages if isinstance(messages, list) else ()):
            places.append((("prompts", name, "messages", i), message))
        for path, table in places:
            wanted = table.get("template_file") if isinstance(table, dict) else None
            if isinstance(wanted, str):
                yield (*path, "template_file"), wanted
