"""``recipients test``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from registry.cli.options import file_option
from registry.cli.output import colour_wanted, show_json
from registry.examples import run_examples, select

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.examples import Result


@click.command("test")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@file_option
@click.option(
    "--format", "format_name", type=click.Choice(["text", "json", "junit"]), default="text", show_default=True
)
@click.option(
    "--jobs", "-j", type=click.IntRange(min=1), default=4, show_default=True, help="Calls at a time."
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds each call may take.")
def command(names: tuple[str, ...], file: str, format_name: str, jobs: int, timeout: float | None) -> int:
    """Run every example of the recipients and prompts (or of those named) and compare.

    An example message whose declaration has no replies passes when the recipient answers without an error.

    Exit code: 0 all passed, 1 some failed, 2 nothing could be run.
    """
    from registry.loading.loader import load

    examples = select(load(file), names)
    if not examples:
        raise click.UsageError("there are no examples to run")
    results = _with_progress(run_examples(examples, jobs=jobs, timeout=timeout), len(examples))
    if format_name == "json":
        show_json([result.as_json() for result in results])
    elif format_name == "junit":
        from registry.examples import junit

        click.echo(junit(file, results), nl=False)
    else:
        _show(results)
    return 0 if all(result.passed for result in results) else 1


def _with_progress(results: Iterator[Result], total: int) -> list[Result]:
    if not sys.stderr.isatty():
        return list(results)
    from rich.console import Console
    from rich.progress import track

    bar = track(results, "running examples", total=total, console=Console(stderr=True), transient=True)
    return list(bar)


def _show(results: list[Result]) -> None:
    colour = colour_wanted()
    for result in results:
        mark = "ok" if result.passed else "FAILED"
        shade = "green" if result.passed else "red"
        click.echo(f"{click.style(mark, fg=shade) if colour else mark} {result.title}")
        for line in result.difference():
            click.echo(f"    {_shaded(line) if colour else line}")
    failed = sum(not result.passed for result in results)
    click.echo(f"{len(results)} examples, {failed} failed")


def _shaded(line: str) -> str:
    shades = {"+": "green", "-": "red", "@": "cyan"}
    return click.style(line, fg=shades[line[0]]) if line[:1] in shades else line
