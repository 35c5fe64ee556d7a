"""``recipients export``."""

from __future__ import annotations

import click

from registry.cli.options import DEFAULT_FILE
from registry.cli.output import show_json, show_report
from registry.exceptions import ExportRefused
from registry.export import EXPORTERS, export
from registry.loading.loader import load
from registry.suggest import close


@click.command("export")
@click.argument("target", metavar="TARGET")
@click.argument("file", default=DEFAULT_FILE)
@click.option("--format", "format_name", type=click.Choice(["json"]), default="json", help="How to print.")
def command(target: str, file: str, format_name: str) -> int:  # noqa: ARG001 - JSON is the only form there is
    """Print the recipients of a registry as the tools of a provider, in JSON.

    What cannot be expressed for the target without losing something is reported on standard error, and
    nothing is printed.
    """
    if target not in EXPORTERS:
        near = close(target, EXPORTERS)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise click.UsageError(f"there is no target {target!r}; there are: {', '.join(EXPORTERS)}.{hint}")
    snapshot = load(file)
    try:
        tools = export(snapshot, target)
    except ExportRefused as refused:
        show_report(refused.report, err=True)
        return 1
    show_json(tools)
    return 0
