"""A registry as it was at a revision in git: ``REV:path``, as ``git show`` takes it.

The files of the root file's folder are laid out in a temporary folder, and those that the registry really
reads are filled in, so that includes and template files come from the same revision. Nothing is checked out.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import posixpath
import tempfile
from typing import TYPE_CHECKING

import attrs

from registry.exceptions import InvalidRegistry, UnreadableFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from registry.diagnostics import Fault
    from registry.documents import Sources
    from registry.specs import RegistrySpec

#: Modes of files and of symbolic links; submodules and folders have others.
_FILES, _LINK = frozenset({"100644", "100755"}), "120000"


def spec_of(name: str) -> RegistrySpec:
    """Read and check a registry, and return what it declares: from a file, or from ``REV:path``.

    A path is relative to the top of the repository, or to the current folder when it starts with ``./``.

    Raises:
        UnreadableFile: there is no such file or revision.
        InvalidRegistry: it has errors; ``report`` holds all of them.
    """
    from registry.loading.read import read

    revision, colon, path = name.partition(":")
    if not colon or pathlib.Path(name).exists():
        return _finished(read(name))
    if not revision or revision.startswith("-") or not path:
        raise UnreadableFile(name, "a file of a revision is written REV:path, as in HEAD:recipients.toml")
    with tempfile.TemporaryDirectory() as folder:
        return _finished(_Past(name, pathlib.Path(folder).resolve()).read(revision, path))


def _finished(found: tuple[Sources, tuple[Fault, ...]]) -> RegistrySpec:
    from registry.loading.loader import report_on
    from registry.loading.structure import structure

    sources, faults = found
    report = report_on(sources, faults)
    if not report.ok:
        raise InvalidRegistry(report)
    return structure(sources)


@attrs.frozen
class _Past:
    """One registry of one revision, laid out in a folder."""

    #: As the user named it.
    name: str
    folder: pathlib.Path
    #: Object of each file that is laid out and still empty.
    waiting: dict[pathlib.Path, str] = attrs.field(factory=dict)

    def read(self, revision: str, path: str) -> tuple[Sources, tuple[Fault, ...]]:
        """Return the documents of the registry, as `registry.loading.read` does."""
        from registry.loading.read import read_bytes

        if path.startswith(("./", "../")):
            path = self._git("rev-parse", "--show-prefix").decode().rstrip("\n") + path
        path = posixpath.normpath(path)
        tree = self._git(
            "rev-parse", "--verify", "--quiet", f"{revision}^{{tree}}", what=f"no revision {revision!r}"
        )
        self._lay_out(tree.decode().strip(), posixpath.dirname(path))
        root = self.folder / path
        if root.resolve() not in self.waiting:
            raise UnreadableFile(self.name, "the revision has no such file")
        self._fill([root.resolve()])
        while True:
            sources, faults = read_bytes(root.read_bytes(), self.name, root.parent, root)
            missing = [file for file in _files_of(sources) if file in self.waiting]
            if not missing:
                return sources, faults
            self._fill(missing)

    def _lay_out(self, tree: str, folder: str) -> None:
        """Put an empty file where the revision has one, so that patterns find the files they did then.

        Links come last: no file is put where one leads.
        """
        wanted = [f"{folder}/"] if folder else []
        listing = self._git("--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", tree, "--", *wanted)
        links: dict[pathlib.Path, str] = {}
        for entry in listing.split(b"\0")[:-1]:
            about, _tab, name = entry.partition(b"\t")
            mode, _kind, digest = about.decode().split()
            path = self.folder / os.fsdecode(name)
            if mode == _LINK:
                links[path] = digest
            elif mode in _FILES:
                with contextlib.suppress(OSError):  # a name that only another system can have is not there
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.touch()
                    self.waiting[path] = digest
        for path, target in zip(links, self._blobs(links.values()), strict=True):
            with contextlib.suppress(OSError, ValueError):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.symlink_to(os.fsdecode(target))

    def _fill(self, paths: Iterable[pathlib.Path]) -> None:
        digests = {path: self.waiting.pop(path) for path in paths}
        for path, content in zip(digests, self._blobs(digests.values()), strict=True):
            path.write_bytes(content)

    def _blobs(self, digests: Iterable[str]) -> list[bytes]:
        wanted = list(digests)
        answer = self._git("cat-file", "--batch", given="".join(f"{digest}\n" for digest in wanted).encode())
        return list(_contents(answer))

    def _git(self, *arguments: str, given: bytes = b"", what: str = "") -> bytes:
        """Run git, never through a shell, and return what it prints."""
        import subprocess

        try:
            done = subprocess.run(["git", *arguments], input=given, capture_output=True, check=False)  # noqa: S603,S607 - git, from the user's path
        except OSError as error:
            raise UnreadableFile(self.name, f"git cannot be started: {error.strerror}") from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
            raise UnreadableFile(self.name, said or what)
        return done.stdout


def _contents(answer: bytes) -> Iterator[bytes]:
    """Yield the objects that ``git cat-file --batch`` prints: a line ending in the size, then the bytes."""
    start = 0
    while start < len(answer):
        head = answer.index(b"\n", start)
        size = int(answer[start:head].rsplit(b" ", 1)[1])
        yield answer[head + 1 : head + 1 + size]
        start = head + size + 2


def _files_of(sources: Sources) -> Iterator[pathlib.Path]:
    for document in sources.documents:
        for part in (document, *document.templates.values()):
            assert part.path is not None  # noqa: S101 - all of them were read from files
            yield part.path.resolve()
