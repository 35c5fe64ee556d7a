"""``recipients show``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from registry.cli.options import file_option, json_option
from registry.cli.output import show_json
from registry.digests import digest_of_recipient
from registry.exceptions import NoSuchRecipient
from registry.loading.loader import load
from registry.suggest import close

if TYPE_CHECKING:
    from registry.manager import Entry, RecipientSnapshot
    from registry.prompts.prompt import Prompt


@click.command("show")
@click.argument("name")
@file_option
@json_option
def command(name: str, file: str, format_name: str) -> None:
    """Show one recipient or prompt: what it takes, its documentation and examples."""
    details = _details(load(file), name)
    if format_name == "json":
        show_json(details)
        return
    for key, value in details.items():
        _show_field(key, value)


def _details(snapshot: RecipientSnapshot, name: str) -> dict[str, Any]:
    if name in snapshot:
        return _recipient(name, snapshot[name])
    if name in snapshot.prompts:
        return _prompt(snapshot.prompts[name])
    raise NoSuchRecipient(name, close(name, [*snapshot, *snapshot.prompts]))


def _recipient(name: str, entry: Entry) -> dict[str, Any]:
    from registry.converter import unstructure

    found = {"recipient": name, "description": entry.DESCRIPTION, "digest": digest_of_recipient(entry)}
    declared = unstructure(entry.SPEC) if entry.SPEC else {}
    options = declared.pop("options", {})
    return {**found, **{key: value for key, value in declared.items() if key != "name"}, **options}


def _prompt(prompt: Prompt) -> dict[str, Any]:
    from registry.converter import unstructure

    declared = unstructure(prompt.spec)
    rest = {key: value for key, value in declared.items() if key != "name"}
    return {"prompt": prompt.name, "description": prompt.description, "digest": prompt.digest, **rest}


def _show_field(key: str, value: Any) -> None:
    if isinstance(value, (dict, list)):
        click.echo(f"{key}:")
        show_json(value)
    elif isinstance(value, str) and "\n" in value:
        click.echo(f"{key}:\n{value.rstrip()}")
    else:
        click.echo(f"{key}: {value}")
