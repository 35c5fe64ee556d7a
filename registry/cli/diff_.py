"""``recipients diff``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import click

from registry.cli.options import json_option
from registry.cli.output import colour_wanted, show_json, show_report
from registry.diff import Effect, diff
from registry.exceptions import InvalidRegistry
from registry.revisions import spec_of

if TYPE_CHECKING:
    from registry.diff import Change

_COLOURS = {Effect.BREAKING: "red", Effect.COMPATIBLE: "green", Effect.TEXT: "blue"}


@click.command("diff")
@click.argument("old")
@click.argument("new")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when a change is breaking.")
@json_option
def command(old: str, new: str, exit_code: bool, format_name: str) -> int:
    """Say what changed from the registry OLD to NEW, and what that breaks.

    Each is a file, or REV:path for a file as it was at a revision in git (HEAD:recipients.toml), with what it
    includes there. A change is 'breaking' when what callers of a recipient or users of a prompt did may fail
    now, 'compatible' when it cannot, and 'text' when only descriptions and template texts changed.

    Exit code: 0 compared, 1 with --exit-code and a breaking change, 2 could not compare.
    """
    try:
        changes = diff(spec_of(old), spec_of(new))
    except InvalidRegistry as error:
        show_report(error.report, err=True)
        return 2
    counts = {effect: sum(change.effect is effect for change in changes) for effect in Effect}
    if format_name == "json":
        show_json({"changes": [attrs.asdict(change) for change in changes], "summary": counts})
    else:
        _show(changes, counts)
    return 1 if exit_code and counts[Effect.BREAKING] else 0


def _show(changes: tuple[Change, ...], counts: dict[Effect, int]) -> None:
    width = max(map(len, Effect))
    for change in changes:
        word = change.effect.ljust(width)
        if colour_wanted():
            word = click.style(word, fg=_COLOURS[change.effect])
        click.echo(f"{word}  {change.path}: {change.message}")
    summary = ", ".join(f"{count} {effect}" for effect, count in counts.items())
    click.echo(summary if changes else "no changes")
