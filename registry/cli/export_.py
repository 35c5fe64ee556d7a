"""``recipients export``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from registry.cli.options import DEFAULT_FILE
from registry.cli.output import show_json, show_report
from registry.diagnostics import Report
from registry.exporters import EXPORTERS, export_with_problems
from registry.loading.loader import load
from registry.suggest import close

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.exporters.problems import Problem


@click.command("export", epilog=f"Targets: {', '.join(EXPORTERS)}.")
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
    tools, problems = export_with_problems(load(file), target)
    if problems:
        show_report(_report(file, problems), err=True)
        return 1
    show_json(tools)
    return 0


def _report(file: str, problems: Iterable[Problem]) -> Report:
    """Give each problem its place in the file that declares the recipient."""
    from registry.loading.locate import locate
    from registry.loading.read import read

    sources, _ = read(file)
    homes = {name: document for document in sources.documents for name in document.data.get("recipients", {})}
    found = [problem.fault(homes.get(problem.recipient, sources.root)) for problem in problems]
    return Report(
        locate(found),
        files=len(sources.documents),
        recipients=len(homes),
        sources={document.name: document.text for document in sources.documents},
    )
