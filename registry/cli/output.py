"""What all commands share in printing: reports, tables and JSON, plain in a pipe."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.diagnostics import Report
    from registry.exceptions import RegistryError


def colour_wanted(*, err: bool = False) -> bool:
    """Say whether colours are welcome: on a terminal, unless NO_COLOR is set."""
    stream = sys.stderr if err else sys.stdout
    return stream.isatty() and not os.environ.get("NO_COLOR")


def show_report(report: Report, format_name: str = "text", *, err: bool = False) -> None:
    """Print a report in a format of the table of reporters."""
    from registry.reporters import REPORTERS

    if format_name == "text":
        from registry.reporters.text import text

        click.echo(text(report, colour=colour_wanted(err=err)), err=err, nl=False)
    else:
        click.echo(REPORTERS[format_name](report), err=err, nl=False)


def show_error(error: RegistryError) -> None:
    """Print an error with its hints."""
    from registry.cli.options import DEFAULT_FILE
    from registry.exceptions import UnreadableFile

    click.echo(f"error: {error}", err=True)
    for note in getattr(error, "__notes__", ()):
        click.echo(f"hint: {note}", err=True)
    if isinstance(error, UnreadableFile) and error.path == DEFAULT_FILE and not os.path.lexists(DEFAULT_FILE):
        hint = "go to the folder that has it, name another file, or write a first one with `recipients init`"
        click.echo(f"hint: {hint}", err=True)


def show_json(value: Any) -> None:
    """Print a value as JSON, readable and not escaped."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows: a table on a terminal, tab-separated lines in a pipe."""
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(" ".join(cell.split()) for cell in row))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    Console().print(table)
