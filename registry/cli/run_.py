"""``recipients run``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs
import click

from registry.cli.options import file_option, json_option
from registry.cli.output import show_json
from registry.cli.values import pair_of, pairs_of, standard_input
from registry.loading.loader import load

if TYPE_CHECKING:
    from registry.manager import Entry, RecipientSnapshot
    from registry.specs import PythonOptions


#: Characters of a text inside a content part that are shown.
_LONGEST = 200


@click.command("run", context_settings={"ignore_unknown_options": False})
@click.argument("name")
@click.argument("words", nargs=-1, metavar="[TEXT | KEY=VALUE... | -]")
@file_option
@json_option
@click.option("--backend", help="Run a python recipient with this backend instead of the declared one.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds the call may take.")
def command(
    name: str, words: tuple[str, ...], file: str, format_name: str, backend: str | None, timeout: float | None
) -> int:
    """Call a recipient and print its answer.

    Arguments are KEY=TEXT or KEY:=JSON (days:=2); a single TEXT is the message itself; '-' reads it from
    standard input.

    Exit code: 0 the recipient answered, 1 it answered with an error, 2 it could not be called.
    """
    from registry.dispatch import Dispatcher

    snapshot = load(file)
    if name in snapshot.prompts and name not in snapshot:
        raise click.UsageError(
            f"{name!r} is a prompt, no recipient: print it with `recipients render {name}`"
        )
    entry = snapshot[name]
    if backend is not None:
        snapshot = with_backend(snapshot, name, backend)
    message = {"recipient": name, **body_of(words, entry)}
    reply = Dispatcher(snapshot, timeout=timeout).dispatch(message)
    if format_name == "json":
        show_json(reply)
    else:
        _show_reply(reply)
    return 0 if reply["metadata"]["status"] == "ok" else 1


def body_of(words: tuple[str, ...], entry: Entry) -> dict[str, Any]:
    """Turn the words of the command line into the part of a message that says what is wanted.

    Raises:
        click.UsageError: the words fit no form.
    """
    if len(words) == 1 and (words[0] == "-" or not _is_pair(words[0], entry)):
        return text_body(standard_input() if words[0] == "-" else words[0], entry)
    return {"arguments": pairs_of(words)}


def _is_pair(word: str, entry: Entry) -> bool:
    """Say whether a word is ``name=value``: code such as ``x=1`` is not, where no argument has that name."""
    if _takes_code(entry):
        name = word.partition("=")[0].rstrip(":")
        return name in (entry.INPUT_SCHEMA or {}).get("properties", {})
    return pair_of(word) is not None


def _takes_code(entry: Entry) -> bool:
    return entry.SPEC is not None and entry.SPEC.kind == "python"


def text_body(text: str, entry: Entry) -> dict[str, Any]:
    """Make the message of one text: code, a JSON object of arguments, or the only argument that is needed."""
    schema = entry.INPUT_SCHEMA
    if _takes_code(entry) or schema is None:
        return {"message": text}
    if text.lstrip().startswith("{"):
        return {"arguments": text}
    names = list(schema.get("required", ())) or list(schema.get("properties", {}))
    if len(names) != 1:
        needed = ", ".join(schema.get("properties", {})) or "none"
        raise click.UsageError(f"give arguments as KEY=VALUE; this recipient takes: {needed}")
    return {"arguments": {names[0]: text}}


def with_backend(snapshot: RecipientSnapshot, name: str, backend: str) -> RecipientSnapshot:
    """Return the snapshot with one python recipient on another backend.

    Raises:
        click.UsageError: it is no python recipient, or there is no such backend.
    """
    from registry.execution import BACKENDS
    from registry.loading.build import recipient_class

    entry = snapshot[name]
    if not _takes_code(entry):
        raise click.UsageError(f"{name!r} is no python recipient: it has no backend")
    if backend not in {"auto", *BACKENDS}:
        raise click.UsageError(
            f"there is no backend {backend!r}; there are: {', '.join(['auto', *BACKENDS])}"
        )
    spec = entry.SPEC
    assert spec is not None  # noqa: S101 - _takes_code has seen it
    options: PythonOptions = spec.options  # type: ignore[assignment] # the kind decides
    changed = attrs.evolve(spec, options=attrs.evolve(options, backend=backend))
    base = (entry if isinstance(entry, type) else type(entry)).__mro__[1]
    return snapshot.without(name).with_recipient(name, recipient_class(changed, base))


def _show_reply(reply: dict[str, Any]) -> None:
    for part in reply["content"]["parts"]:
        if isinstance(part, str):
            click.echo(part, nl=not part.endswith("\n"))
        else:
            click.echo(json.dumps(_shortened(part), ensure_ascii=False))


def _shortened(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part with what nobody reads on a terminal, such as the text of an image, told by its size."""
    return {
        key: f"<{len(item)} characters>" if isinstance(item, str) and len(item) > _LONGEST else item
        for key, item in part.items()
    }
