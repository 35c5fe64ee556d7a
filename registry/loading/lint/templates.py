"""The texts of prompts: faults inside templates, and the inputs they use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from registry.diagnostics import Fault, Path, Place
from registry.loading.lint.scene import Entry, list_of, table_of
from registry.suggest import nearest
from registry.template import scan
from registry.template.format_spec import can_print
from registry.template.parts import nfc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents import Document
    from registry.loading.lint.scene import Scene
    from registry.template.parts import Placeholder


#: Keys of a message.
_KEYS = frozenset({"as", "each", "file", "image", "role", "slot", "template", "template_file", "when"})


class Piece(NamedTuple):
    """One text of a prompt, and the message that it belongs to."""

    document: Document
    path: Path
    text: str
    message: dict[str, Any]
    #: Where the message is inside the prompt.
    place: Path

    def fault(self, code: str, message: str, start: int, end: int, **details: Any) -> Fault:
        """Report something inside the text."""
        return Fault(code, message, self.document, self.path, within=(start, end), **details)


def messages_of(entry: Entry) -> list[tuple[Path, dict[str, Any]]]:
    """Return the messages of a prompt, each with its path inside it; a short prompt is one itself."""
    if "messages" not in entry.table:
        return [((), entry.table)]
    found = enumerate(list_of(entry.table, "messages"))
    return [(("messages", i), message) for i, message in found if isinstance(message, dict)]


def text_of(entry: Entry, message: dict[str, Any]) -> str | None:
    """Return the text of a message; None when it has none or the file could not be read."""
    text = message.get("template")
    if isinstance(text, str):
        return text
    name = message.get("template_file")
    document = entry.document.templates.get(name) if isinstance(name, str) else None
    return None if document is None else document.text


def pieces_of(entry: Entry) -> Iterator[Piece]:
    """Yield the texts of a prompt that could be read."""
    for place, message in messages_of(entry):
        text = text_of(entry, message)
        if text is not None:
            if isinstance(message.get("template"), str):
                yield Piece(entry.document, (*entry.path, *place, "template"), text, message, place)
            else:
                document = entry.document.templates[message["template_file"]]
                yield Piece(document, (), text, message, place)
        for key in ("image", "file"):
            if place and isinstance(message.get(key), str):
                yield Piece(entry.document, (*entry.path, *place, key), message[key], message, place)


def _is_whole(entry: Entry) -> bool:
    """Say whether every text that a prompt should have is there."""
    return isinstance(entry.table.get("messages", []), list) and all(
        "slot" in message or text_of(entry, message) is not None for _, message in messages_of(entry)
    )


def _means(message: dict[str, Any], key: str) -> bool:
    """Say whether a message has a key only misspelt; that is reported by itself."""
    return key not in message and any(nearest(other, _KEYS) == key for other in message.keys() - _KEYS)


def _may_use_more(entry: Entry) -> bool:
    """Say whether a message lacks a key, misspelt or left out, that may name an input."""
    return any(
        ("as" in message and "each" not in message)
        or any(_means(message, key) for key in ("each", "when", "image", "file"))
        for place, message in messages_of(entry)
        if place
    )


@attrs.define
class _Uses:
    """What is known of a prompt's inputs while its texts are read."""

    #: NFC name -> name as declared.
    names: dict[str, str]
    inputs: dict[str, Any]
    used: set[str] = attrs.field(factory=set)
    #: Declared names that undeclared ones are likely to mean.
    meant: set[str] = attrs.field(factory=set)

    def schema(self, name: str) -> dict[str, Any]:
        """Return the schema of an input; empty when it is misshapen or not declared."""
        return table_of(self.inputs, self.names.get(name, ""))


def check(scene: Scene, entry: Entry) -> Iterator[Fault]:
    """Check the texts of one prompt, and the inputs that they use."""
    inputs = entry.table.get("inputs", {})
    known = isinstance(inputs, dict) and not scene.lacks(entry, "inputs")
    uses = _Uses({nfc(name): name for name in inputs}, inputs) if known else None
    raw = entry.table.get("raw") is True
    for piece in pieces_of(entry):
        if not raw or piece.path[-1:] in {("image",), ("file",)}:
            yield from _piece(piece, uses)
    if uses is not None:
        for place, message in messages_of(entry):
            yield from _message_keys(entry, place, message, uses)
        if _is_whole(entry) and not scene.lacks_in(entry) and not _may_use_more(entry):
            yield from _unused(scene, entry, uses)


def _piece(piece: Piece, uses: _Uses | None) -> Iterator[Fault]:
    found = scan(piece.text)
    for problem in found.problems:
        yield piece.fault(
            problem.code,
            problem.message,
            problem.start,
            problem.end,
            hint=problem.hint,
            severity=problem.severity,
        )
    if uses is None:
        return
    own = _item_of_message(piece.message, uses)
    guard = piece.message.get("when")
    is_text = piece.path[-1:] not in {("image",), ("file",)}
    for use in found.placeholders:
        if use.name in own or use.role == "item":
            if is_text:
                yield from _fitting(piece, use, _schema_of_item(use, own, uses))
        elif use.name in uses.names:
            uses.used.add(use.name)
            if is_text:
                yield from _fitting(piece, use, uses.schema(use.name))
                yield from _present(piece, use, uses.schema(use.name), guard)
        elif use.role == "faulty":
            uses.meant.update(_guess(use.name, uses))
        elif (
            piece.place
            and "as" not in piece.message
            and ("each" in piece.message or _means(piece.message, "each"))
        ):
            continue  # it may be the item, whose name is missing
        else:
            yield _undeclared(piece, use, uses)


def _guess(name: str, uses: _Uses) -> tuple[str, ...]:
    guess = nearest(name, uses.names)
    return (guess,) if guess else ()


def _undeclared(piece: Piece, use: Placeholder, uses: _Uses) -> Fault:
    guesses = _guess(use.name, uses)
    uses.meant.update(guesses)
    hint = (
        f"did you mean {{{guesses[0]}}}?"
        if guesses
        else f"declare it under `inputs`; for the text itself write {{{{{use.name}}}}}"
    )
    message = f"`{use.name}` is no input of this prompt"
    return piece.fault("undeclared-input", message, use.start, use.end, hint=hint)


def types_of(schema: dict[str, Any]) -> frozenset[str]:
    """Return the types that a schema names."""
    named = schema.get("type", ())
    listed = named if isinstance(named, (list, tuple)) else [named]
    return frozenset(name for name in listed if isinstance(name, str))


def _item_of_message(message: dict[str, Any], uses: _Uses) -> dict[str, dict[str, Any]]:
    """Return the name that a message gives to an item of the list it is sent for, with the item's schema."""
    name, source = message.get("as"), message.get("each")
    if not isinstance(name, str):
        return {}
    listed = uses.schema(nfc(source)) if isinstance(source, str) else {}
    return {nfc(name): table_of(listed, "items")}


def _schema_of_item(use: Placeholder, own: dict[str, dict[str, Any]], uses: _Uses) -> dict[str, Any]:
    """Return the schema of a loop's item, where it is used: another loop may give its name to other items."""
    known = dict(own)
    for item, source in zip(use.loops, use.lists, strict=True):
        known[item] = table_of(known[source] if source in known else uses.schema(source), "items")
    return known[use.name]


def _fitting(piece: Piece, use: Placeholder, schema: dict[str, Any]) -> Iterator[Fault]:
    """Check that a value of this schema can be used in the way it is."""
    types = types_of(schema)
    shown = f"`{use.name}`"
    if use.form == "value" and not use.json and not types.isdisjoint({"array", "object"}):
        hint = f"write {{{use.name}!json}}"
        if "array" in types:
            item = "item" if use.name != "item" else "part"
            hint += f", or {{#each {use.name} as {item}}}{{{item}}}{{/each}}"
        message = (
            f"{shown} may be {' or '.join(sorted(types & {'array', 'object'}))}, which has no plain text"
        )
        yield piece.fault("needs-json", message, use.start, use.end, hint=hint)
    elif use.spec and types and not can_print(use.spec, types):
        kinds = " or ".join(sorted(types))
        message = f"{shown} is of type {kinds}, which the format `{use.spec}` cannot print"
        hint = "take the format away, or change the type of the input"
        yield piece.fault("wrong-type", message, use.start, use.end, hint=hint)
    if use.form == "each" and types and "array" not in types:
        message = f"{shown} is no array, so there is nothing to walk through"
        yield piece.fault("wrong-type", message, use.start, use.end, hint="use {#if} to ask for its presence")


def _present(piece: Piece, use: Placeholder, schema: dict[str, Any], guard: Any) -> Iterator[Fault]:
    """Check that an input is used only where it is certainly present."""
    optional = schema.get("optional") is True and schema.keys().isdisjoint({"default", "provided", "prompt"})
    guards = (*use.guards, nfc(guard)) if isinstance(guard, str) else use.guards
    guarded = use.name in guards or (piece.place and _means(piece.message, "when"))
    if optional and use.role in {"value", "each"} and not guarded:
        hint = f"put it between {{#if {use.name}}} and {{/if}}, or give it a `default`"
        message = f"`{use.name}` is optional and may be absent here"
        yield piece.fault("optional-outside-section", message, use.start, use.end, hint=hint)


def _message_keys(entry: Entry, place: Path, message: dict[str, Any], uses: _Uses) -> Iterator[Fault]:
    """Check the inputs that a message names outside its text."""
    for key in ("when", "each"):
        name = message.get(key)
        if not isinstance(name, str) or not place:
            continue
        name = nfc(name)
        if name in uses.names:
            uses.used.add(name)
            types = types_of(uses.schema(name))
            if key == "each" and types and "array" not in types:
                text = f"`{name}` is no array, so there is nothing to walk through"
                yield entry.fault("wrong-type", text, *place, key)
        else:
            guesses = _guess(name, uses)
            uses.meant.update(guesses)
            hint = f"did you mean `{guesses[0]}`?" if guesses else "declare it under `inputs`"
            text = f"`{name}` is no input of this prompt"
            yield entry.fault("undeclared-input", text, *place, key, hint=hint)


#: A name in the marks that other template languages have for it; only the double braces mean something here.
_FOREIGN = re.compile(r"\{\{ *(\w+) *\}\}|\$(\w+)|<(\w+)>|\[(\w+)\]|%(\w+)%|｛(\w+)｝")  # noqa: RUF001


def _foreign_marks(entry: Entry) -> dict[str, str]:
    """Return the names that stand in a prompt's texts in foreign marks, each with the first of them."""
    found: dict[str, str] = {}
    for piece in pieces_of(entry):
        for match in _FOREIGN.finditer(piece.text):
            found.setdefault(nfc(match[match.lastindex or 0]), match[0])
    return found


def _unused(scene: Scene, entry: Entry, uses: _Uses) -> Iterator[Fault]:
    unused = {
        name: declared
        for name, declared in uses.names.items()
        if name not in uses.used and name not in uses.meant and not scene.is_wrong(entry, "inputs", declared)
    }
    foreign = _foreign_marks(entry) if unused else {}
    for name, declared in unused.items():
        hint = f"use it as {{{declared}}}, or remove it"
        if name in foreign:
            hint = f"{foreign[name]} is text: write {{{declared}}}"
        message = f"no template of this prompt uses `{declared}`"
        yield entry.fault("unused-input", message, "inputs", declared, place=Place.KEY, hint=hint)
