"""``recipients explain``."""

from __future__ import annotations

import sys

import click

from registry.cli.output import colour_wanted, show_table
from registry.codes import CODES
from registry.resources import rules_folder
from registry.suggest import close


@click.command("explain")
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Explain a diagnostic code: what it means, why it matters, a bad and a good example.

    Without a code, list all of them.
    """
    if code is None:
        rows = [(name, str(entry.severity), entry.summary) for name, entry in sorted(CODES.items())]
        show_table("codes", ("code", "severity", "meaning"), rows)
        return
    if code not in CODES:
        near = close(code, CODES)
        hint = f" Did you mean {near[0]!r}?" if near else " `recipients explain` lists all codes."
        raise click.UsageError(f"there is no code {code!r}.{hint}")
    page = (rules_folder() / f"{code}.md").read_text("utf-8")
    if sys.stdout.isatty() and colour_wanted():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page))
    else:
        click.echo(page, nl=False)
