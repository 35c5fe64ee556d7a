"""Serving a file's edits as they come."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from registry.diagnostics import Report
    from registry.serve.service import Service

logger = logging.getLogger("registry.serve")


@contextlib.contextmanager
def reloading(service: Service, path: str | os.PathLike[str] | None) -> Iterator[None]:
    """Inside the block, serve every good edit of the file; with no path, nothing is watched.

    A bad edit is reported to the log and to the clients, and what was served goes on being served.
    """
    if path is None:
        yield
        return
    from registry.watcher import Watch

    def failed(report: Report) -> None:
        for diagnostic in report.errors:
            logger.error("%s", diagnostic)
        service.announce_failure(report)

    with Watch(path, service.manager, put=service.replace, on_failure=failed):
        yield
