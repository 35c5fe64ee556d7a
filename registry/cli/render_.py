"""``recipients render``."""

from __future__ import annotations

import pathlib
import sys
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import click

from registry.cli.options import file_option, json_option
from registry.cli.output import show_json
from registry.cli.values import object_from_input, pairs_of
from registry.exceptions import RenderError
from registry.frozen import thaw
from registry.jsontext import parse_json
from registry.loading.loader import load
from registry.template.parts import nfc

if TYPE_CHECKING:
    from registry.prompts.prompt import Prompt
    from registry.specs import InputSpec

#: Wire format -> the method of a rendered prompt that gives it.
TARGETS = {"openai": "to_openai", "anthropic": "to_anthropic", "gemini": "to_gemini", "mcp": "to_mcp"}


@click.command("render")
@click.argument("name")
@click.argument("words", nargs=-1, metavar="[KEY=VALUE... | -]")
@file_option
@json_option
@click.option("--to", "target", type=click.Choice(list(TARGETS)), help="Print a provider's JSON instead.")
def command(name: str, words: tuple[str, ...], file: str, format_name: str, target: str | None) -> int:
    """Render a prompt with values and print its messages.

    Values are KEY=TEXT or KEY:=JSON (age:=30); '-' reads a JSON object from standard input. On a terminal,
    missing values are asked for.
    """
    snapshot = load(file)
    if name in snapshot and name not in snapshot.prompts:
        raise click.UsageError(f"{name!r} is a recipient, no prompt: call it with `recipients run {name}`")
    prompt = snapshot.prompts[name]
    values = object_from_input() if words == ("-",) else typed(prompt, pairs_of(words))
    if sys.stdin.isatty() and words != ("-",):
        values |= _asked(prompt, values)
    try:
        rendered = prompt.render(values)
        shaped = getattr(rendered, TARGETS[target])() if target else _in_json(thaw(rendered))
    except RenderError as error:
        click.echo(f"error: {error}", err=True)
        return 1
    if target or format_name == "json":
        show_json(shaped)
    else:
        _show(rendered)
    return 0


def typed(prompt: Prompt, values: dict[str, Any]) -> dict[str, Any]:
    """Read the text given for an input that takes no text as JSON, so that ``age=30`` is a number.

    The text for an image or a file is a URL, or else the path of a file: who types a command may name files.
    """
    schemas = {nfc(item.name): item.schema for item in prompt.inputs}
    return {
        name: _media(value) if nfc(name) in prompt.media_inputs else _value(value, schemas.get(nfc(name), {}))
        for name, value in values.items()
    }


def _media(value: Any) -> Any:
    is_path = isinstance(value, str) and not value.lower().startswith(("http://", "https://", "data:"))
    return pathlib.Path(value) if is_path else value


def _value(value: Any, schema: dict[str, Any]) -> Any:
    kinds = schema.get("type", "string")
    if not isinstance(value, str) or "string" in ([kinds] if isinstance(kinds, str) else kinds):
        return value
    try:
        return parse_json(value)
    except ValueError:
        return value


def _asked(prompt: Prompt, values: dict[str, Any]) -> dict[str, Any]:
    given = {nfc(name) for name in values}
    missing = [item for item in prompt.inputs if item.required and nfc(item.name) not in given]
    return typed(prompt, {item.name: click.prompt(_question(item), err=True) for item in missing})


def _question(item: InputSpec) -> str:
    description = item.schema.get("description")
    return f"{item.name} ({description})" if description else item.name


def _show(rendered: Any) -> None:
    if len(rendered) == 1:
        click.echo(_text(rendered[0]["content"]))
        return
    for message in rendered:
        click.echo(click.style(f"[{message['role']}]", bold=True))
        click.echo(_text(message["content"]))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(map(_part_text, content))


def _part_text(part: Any) -> str:
    if part["type"] == "text":
        return str(part["text"])
    what = part.get("url") or f"{part['mime_type']}, {len(part['data']):,} bytes"
    return f"[{part['type']}: {what}]"


def _in_json(value: Any) -> Any:
    """Return messages as JSON data: bytes in base64."""
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    if isinstance(value, list):
        return [_in_json(item) for item in value]
    return {key: _in_json(item) for key, item in value.items()} if isinstance(value, dict) else value
