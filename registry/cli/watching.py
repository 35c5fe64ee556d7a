"""``recipients check --watch``: check again whenever something changes."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def watch_check(files: tuple[str, ...], check: Callable[[], int]) -> int:
    """Check now and after every change below the files' folders, until interrupted."""
    try:
        from watchfiles import watch
    except ImportError:
        raise click.UsageError("--watch needs the extra `watch`: pip install 'recipients[watch]'") from None
    return check_on(watch(*_folders(files), raise_interrupt=False), check)


def check_on(changes: Iterable[Any], check: Callable[[], int]) -> int:
    """Check once, then once for each change; return the exit code of the last check."""
    code = check()
    for _ in changes:
        click.echo("--- changed: checking again")
        code = check()
    return code


def _folders(files: tuple[str, ...]) -> list[pathlib.Path]:
    found = {
        pathlib.Path(file) if pathlib.Path(file).is_dir() else pathlib.Path(file).parent for file in files
    }
    return sorted(folder for folder in found if folder.is_dir())
