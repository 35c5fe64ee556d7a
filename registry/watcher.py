"""Hot reload: a manager whose content follows a file.

::

    with registry.watch("recipients.toml") as watched:
        dispatcher = registry.Dispatcher(watched.manager)

A good edit becomes one whole new snapshot. A bad one changes nothing: the snapshot before stays in place and
``watched.report`` says what is wrong. Calls in flight finish on the snapshot they began with.
"""

from __future__ import annotations

import pathlib
import threading
from typing import TYPE_CHECKING, Any, Self

from registry.diagnostics import Diagnostic, Report, Severity
from registry.exceptions import BackendUnavailable, ExportRefused, InvalidRegistry, UnreadableFile
from registry.loading.loader import load
from registry.loading.read import read
from registry.manager import RecipientManager

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from types import TracebackType

    from registry.manager import RecipientSnapshot

#: Milliseconds: changes nearer to each other than the first are one edit; none waits longer than the second.
_STEP, _LONGEST = 20, 200
#: Milliseconds after which the files are looked at even without an event: a file system may send none.
_LOOK = 500

#: What tells one state of a file from another.
_State = tuple[int, int, int] | None


def watch(
    path: str | os.PathLike[str],
    *,
    on_change: Callable[[RecipientSnapshot], object] | None = None,
    on_failure: Callable[[Report], object] | None = None,
) -> Watch:
    """Load a registry and follow its file from now on.

    Args:
        path: The root file; its includes and template files are followed too.
        on_change: Called with each new snapshot once it is in place, in the thread that watches.
        on_failure: Called with the report on each edit that was refused, in the same thread.

    Returns:
        What holds the manager; close it, or use it in a ``with`` statement.

    Raises:
        BackendUnavailable: watchfiles is not installed.
        InvalidRegistry: the file has errors now.
        UnreadableFile: it cannot be read now.
    """
    manager = RecipientManager()

    def put(snapshot: RecipientSnapshot) -> None:
        manager.replace(snapshot)
        if on_change is not None:
            on_change(snapshot)

    _watchfiles()
    watched = Watch(path, manager, put=put, on_failure=on_failure)
    manager.replace(watched.load())
    return watched.start()


class Watch:
    """Follows a file in a thread of its own, from entering to leaving the ``with`` statement."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        manager: RecipientManager,
        *,
        put: Callable[[RecipientSnapshot], object],
        on_failure: Callable[[Report], object] | None = None,
    ) -> None:
        self.manager = manager
        #: What is wrong with the last edit; None while the manager has what the file says.
        self.report: Report | None = None
        self._path = path
        self._put = put
        self._on_failure = on_failure or (lambda _report: None)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._files: tuple[pathlib.Path, ...] = (pathlib.Path(path),)
        self._seen: list[_State] = []

    def load(self) -> RecipientSnapshot:
        """Load the file and take note of the files that belong to it.

        Raises:
            InvalidRegistry: it has errors.
            UnreadableFile: it cannot be read.
        """
        # Before reading: a change that comes while the file is read is seen as one afterwards.
        self._seen = self._states()
        documents = read(self._path)[0].documents
        every = [*documents, *(template for doc in documents for template in doc.templates.values())]
        files = tuple(doc.path for doc in every if doc.path is not None)
        if files != self._files:
            self._files = files
            self._seen = self._states()
        return load(self._path)

    def start(self) -> Self:
        """Begin to follow the file."""
        self._thread = threading.Thread(target=self._follow, daemon=True, name=f"watch {self._path}")
        self._thread.start()
        return self

    def close(self) -> None:
        """Follow it no longer; the manager keeps what it has."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def __enter__(self) -> Self:
        if self._thread is not None:
            return self
        self._seen = self._states()
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _states(self) -> list[_State]:
        return [_state_of(file) for file in self._files]

    def _belongs(self, _change: Any, path: str) -> bool:
        # After a bad edit anything may be what it lacks, such as a template file that is not there yet.
        if path.endswith(".toml") or self.report is not None:
            return True
        return pathlib.Path(path) in {file.resolve() for file in self._files}

    def _follow(self) -> None:
        rounds = _watchfiles().watch(
            pathlib.Path(self._path).resolve().parent,
            watch_filter=self._belongs,
            debounce=_LONGEST,
            step=_STEP,
            stop_event=self._stop,
            rust_timeout=_LOOK,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        )
        # Whatever changed before the first round, new files included, no event has told of.
        look = True
        for changes in rounds:
            if look or changes or self._states() != self._seen:
                self._reload()
            look = False

    def _reload(self) -> None:
        try:
            snapshot = self.load()
            if snapshot != self.manager.snapshot():
                self._put(snapshot)
            self.report = None
        except (InvalidRegistry, ExportRefused) as error:
            self._refuse(error.report)
        except UnreadableFile as error:
            place = Diagnostic("missing-file", Severity.ERROR, str(error), error.path, 1, 1, 1, 1)
            self._refuse(Report([place]))

    def _refuse(self, report: Report) -> None:
        if report != self.report:
            self.report = report
            self._on_failure(report)


def _state_of(file: pathlib.Path) -> _State:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _watchfiles() -> Any:
    try:
        import watchfiles
    except ImportError as error:
        raise BackendUnavailable(
            'following a file needs watchfiles: pip install "recipients[watch]"'
        ) from error
    return watchfiles
