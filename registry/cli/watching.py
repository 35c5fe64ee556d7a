"""``recipients check --watch``: check again whenever something changes."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

import click

from registry.cli.check_ import check_all
from registry.cli.output import show_report

if TYPE_CHECKING:
    from collections.abc import Iterable


def watch_check(files: tuple[str, ...], *, strict: bool = False) -> int:
    """Check now and after every change below the files' folders, until interrupted."""
    try:
        from watchfiles import watch
    except ImportError:
        raise click.UsageError("--watch needs the extra `watch`: pip install 'recipients[watch]'") from None
    return check_on(watch(*_folders(files), raise_interrupt=False), files, strict=strict)


def check_on(changes: Iterable[Any], files: tuple[str, ...], *, strict: bool = False) -> int:
    """Check once, then once for each change; return the exit code of the last check."""
    code = _check(files, strict=strict)
    for _ in changes:
        click.echo("--- changed: checking again")
        code = _check(files, strict=strict)
    return code


def _folders(files: tuple[str, ...]) -> list[pathlib.Path]:
    found = {
        pathlib.Path(file) if pathlib.Path(file).is_dir() else pathlib.Path(file).parent for file in files
    }
    return sorted(folder for folder in found if folder.is_dir())


def _check(files: tuple[str, ...], *, strict: bool) -> int:
    report, unreadable = check_all(files)
    show_report(report.strict() if strict else report)
    for error in unreadable:
        click.echo(f"error: {error}", err=True)
    if unreadable:
        return 2
    return 0 if (report.strict() if strict else report).ok else 1
