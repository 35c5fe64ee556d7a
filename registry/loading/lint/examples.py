"""Prompts as they will be: which include which, and what their examples render to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from registry.exceptions import RenderError
from registry.loading.lint.scene import INPUT_KEYS, list_of, table_of
from registry.loading.lint.templates import messages_of, text_of
from registry.prompts.includes import include_problems
from registry.specs import InputSpec, MessageSpec, PromptSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry.diagnostics import Fault
    from registry.loading.lint.scene import Entry, Scene
    from registry.prompts.prompt import Prompt

_TEXT_KEYS = frozenset({"as", "each", "file", "image", "role", "slot", "when"})


def bad_includes(scene: Scene) -> Iterator[Fault]:
    """Yield the inputs whose prompt does not exist, includes this one, or cannot be included."""
    entries = {entry.name: entry for entry in scene.prompts}
    if any(map(_included, scene.prompts)):
        for problem in include_problems([spec_of(entry) for entry in entries.values()]):
            entry, path = entries[problem.prompt], ("inputs", problem.input, "prompt")
            yield entry.fault(problem.code, problem.message, *path, hint=problem.hint)


def mismatches(scene: Scene) -> Iterator[Fault]:
    """Yield the texts of examples that are not what the prompt renders to."""
    sound = {entry.name: entry for entry in scene.prompts if _is_sound(scene, entry)}
    built: dict[str, Prompt] = {}
    for entry in scene.prompts:
        if sound.get(entry.name) is entry and "examples" in entry.table:
            prompt = _prompt(entry.name, sound, built)
            if prompt is not None:
                for i, example in enumerate(list_of(entry.table, "examples")):
                    if not scene.is_wrong(entry, "examples", i):
                        yield from _mismatch(entry, prompt, i, example)


def spec_of(entry: Entry) -> PromptSpec:
    """Return what a prompt's table declares; what is misshapen in it is left out."""
    return PromptSpec(
        name=entry.name,
        messages=tuple(_message(entry, message) for _, message in messages_of(entry)),
        inputs=tuple(
            _input(name, schema)
            for name, schema in table_of(entry.table, "inputs").items()
            if isinstance(schema, dict)
        ),
        raw=entry.table.get("raw") is True,
        trim=entry.table.get("trim") is True,
    )


def _message(entry: Entry, table: dict[str, Any]) -> MessageSpec:
    texts = {key: text for key, text in table.items() if key in _TEXT_KEYS and isinstance(text, str)}
    if "as" in texts:
        texts["as_"] = texts.pop("as")
    return MessageSpec(template=text_of(entry, table) or "", **texts)


def _input(name: str, table: Mapping[str, Any]) -> InputSpec:
    sources = {key: table[key] for key in ("prompt", "provided") if isinstance(table.get(key), str)}
    schema: Any = {key: value for key, value in table.items() if key not in INPUT_KEYS}
    default, optional = table.get("default", attrs.NOTHING), table.get("optional") is True
    return InputSpec(name, schema, default, optional, **sources)


def _included(entry: Entry) -> list[str]:
    """Return the names of the prompts whose text a prompt takes in."""
    inputs = table_of(entry.table, "inputs").values()
    named = [schema.get("prompt") for schema in inputs if isinstance(schema, dict)]
    return [name for name in named if isinstance(name, str)]


def _is_sound(scene: Scene, entry: Entry) -> bool:
    files = (str(message.get("template_file")) for _, message in messages_of(entry))
    templates = (entry.document.templates.get(name) for name in files)
    return not scene.is_wrong_outside(entry, "examples") and not any(
        file and file.name in scene.wrong for file in templates
    )


def _prompt(name: str, sound: Mapping[str, Entry], built: dict[str, Prompt]) -> Prompt | None:
    """Build a prompt and those it includes; None when one of them is in error."""
    from registry.prompts.prompt import Prompt

    if name not in built and name in sound:
        others = {other: _prompt(other, sound, built) for other in _included(sound[name])}
        included = {other: prompt for other, prompt in others.items() if prompt is not None}
        if len(included) == len(others):
            built[name] = Prompt(spec_of(sound[name]), included)
    return built.get(name)


def _mismatch(entry: Entry, prompt: Prompt, number: int, example: dict[str, Any]) -> Iterator[Fault]:
    renders = example.get("renders")
    if renders is None:
        return
    path = ("examples", number, "renders")
    expected = [renders] if isinstance(renders, str) else renders
    try:
        actual = prompt.render(example.get("inputs", {})).texts
    except RenderError as error:
        if not _is_provided(prompt):
            message = f"the example cannot be rendered: {error.message}"
            yield entry.fault("example-mismatch", message, *path)
        return
    if len(actual) != len(expected):
        message = f"the prompt renders to {len(actual)} messages, the example says {len(expected)}"
        yield entry.fault("example-mismatch", message, *path, hint="give one text for each message")
        return
    for i, (wanted, found) in enumerate(zip(expected, actual, strict=True)):
        if wanted != found:
            where = path if isinstance(renders, str) else (*path, i)
            only_ends = wanted.rstrip("\n") == found.rstrip("\n")
            hint = "only line breaks at the end differ: before a closing ''' they count" if only_ends else ""
            yield entry.fault("example-mismatch", _difference(wanted, found), *where, hint=hint)


def _is_provided(prompt: Prompt) -> bool:
    """Say whether a value comes from the registry only when the prompt is really used."""
    return any(item.provided for item in prompt.inputs)


def _difference(wanted: str, found: str) -> str:
    """Say where two texts part."""
    pairs = enumerate(zip(wanted, found, strict=False))
    at = next((i for i, (one, other) in pairs if one != other), min(len(wanted), len(found)))
    line = found.count("\n", 0, at) + 1
    return (
        f"the template renders to another text from character {at + 1} on (line {line}): {_around(found, at)}"
    )


def _around(text: str, at: int) -> str:
    start = max(0, at - 10)
    return repr(("…" if start else "") + text[start : at + 20] + ("…" if len(text) > at + 20 else ""))
