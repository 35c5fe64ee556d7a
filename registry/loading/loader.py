"""The whole line, in order. Read this first.

::

    read ─▶ validate ─▶ lint ─▶ (errors? InvalidRegistry) ─▶ structure ─▶ build ─▶ snapshot
"""

from __future__ import annotations

import contextlib
import gc
from typing import TYPE_CHECKING

from registry.diagnostics import Report, Severity
from registry.exceptions import InvalidRegistry
from registry.loading.lint import lint
from registry.loading.read import read, read_bytes
from registry.loading.validate import validate
from registry.suggest import bounded

if TYPE_CHECKING:
    import os
    import pathlib
    from collections.abc import Iterable, Iterator

    from registry.diagnostics import Fault
    from registry.documents import Sources
    from registry.manager import RecipientSnapshot


def load(path: str | os.PathLike[str]) -> RecipientSnapshot:
    """Load a registry from its root file and everything that includes.

    Raises:
        UnreadableFile: the root file cannot be read.
        InvalidRegistry: it has errors; ``report`` holds all of them.
    """
    with _collector_paused():
        return _finish(*read(path))


def loads(
    text: str | bytes, *, name: str = "<text>", folder: pathlib.Path | None = None
) -> RecipientSnapshot:
    """Load a registry from text. Only with a folder can it include files.

    Raises:
        InvalidRegistry: it has errors; ``report`` holds all of them.
    """
    with _collector_paused():
        return _finish(*read_bytes(_encoded(text), name, folder))


def check(*paths: str | os.PathLike[str]) -> Report:
    """Check registries, each from its root file, and report everything found in any of them.

    Nothing that the files name is imported, run or connected to.

    Raises:
        UnreadableFile: a root file cannot be read.
    """
    with _collector_paused():
        return Report.combine([report_on(*read(path)) for path in paths])


def checks(text: str | bytes, *, name: str = "<text>", folder: pathlib.Path | None = None) -> Report:
    """Check a registry given as text, as `check` does."""
    with _collector_paused():
        return report_on(*read_bytes(_encoded(text), name, folder))


def report_on(sources: Sources, faults: Iterable[Fault]) -> Report:
    """Validate and lint documents that were read, and report all that was found."""
    return _report(sources, _examine(sources, tuple(faults)))


def _examine(sources: Sources, faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """Validate and lint; what reading found wrong with a value is not reported a second time."""
    known = [(fault.document.name, fault.path) for fault in faults]
    with bounded():
        for document in sources.documents:
            if document.data is not None:
                skip = frozenset(path for name, path in known if name == document.name)
                faults += validate(document, skip)
        return faults + lint(sources, faults)


def _report(sources: Sources, found: tuple[Fault, ...]) -> Report:
    """Turn faults into a report: positions are computed here, and only if there is something to report."""
    documents = sources.documents
    report = Report(
        files=len(documents),
        recipients=sum(_count(doc.data, "recipients") for doc in documents),
        prompts=sum(_count(doc.data, "prompts") for doc in documents),
    )
    if not found and not any("recipients:" in doc.text for doc in documents):
        return report
    import attrs

    from registry.loading.locate import locate
    from registry.suppressions import apply

    every = [*documents, *(template for doc in documents for template in doc.templates.values())]
    return attrs.evolve(
        report,
        diagnostics=apply(locate(found), every),
        sources={document.name: document.text for document in every},
    )


def _finish(sources: Sources, faults: tuple[Fault, ...]) -> RecipientSnapshot:
    found = _examine(sources, faults)
    if any(fault.severity is Severity.ERROR for fault in found):
        report = _report(sources, found)
        if not report.ok:
            raise InvalidRegistry(report)
    from registry.loading.build import build
    from registry.loading.structure import structure

    return build(structure(sources), sources.folder)


def _count(data: object, section: str) -> int:
    tables = data.get(section) if isinstance(data, dict) else None
    return len(tables) if isinstance(tables, dict) else 0


def _encoded(text: str | bytes) -> bytes:
    # A lone surrogate cannot be encoded; passed on as it is, it is reported as not UTF-8 with its place.
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the cyclic collector from walking a growing tree again and again: a large load is 2.8 x faster."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
