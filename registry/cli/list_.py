"""``recipients list``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from registry.cli.options import file_option, json_option
from registry.cli.output import show_json, show_table
from registry.loading.loader import load

if TYPE_CHECKING:
    from registry.manager import Entry


@click.command("list")
@file_option
@json_option
def command(file: str, format_name: str) -> None:
    """List the recipients and prompts of a registry."""
    snapshot = load(file)
    recipients = [_recipient_row(name, entry) for name, entry in snapshot.items()]
    prompts = [
        {"name": name, "inputs": [item.name for item in prompt.inputs], "description": prompt.description}
        for name, prompt in snapshot.prompts.items()
    ]
    if format_name == "json":
        show_json({"recipients": recipients, "prompts": prompts, "digest": snapshot.digest})
        return
    rows = [("recipient", row["name"], row["kind"], row["description"]) for row in recipients]
    rows += [("prompt", row["name"], ", ".join(row["inputs"]), row["description"]) for row in prompts]
    show_table(file, ("what", "name", "kind or inputs", "description"), rows)


def _recipient_row(name: str, entry: Entry) -> dict[str, Any]:
    kind = entry.SPEC.kind if entry.SPEC else "class"
    tags = list(entry.SPEC.tags) if entry.SPEC else []
    return {"name": name, "kind": kind, "description": entry.DESCRIPTION, "tags": tags}
