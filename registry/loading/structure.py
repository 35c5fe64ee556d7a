"""Documents to specs: every table becomes one frozen value, nothing is coerced.

Runs only on documents without errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from registry.converter import structure as convert
from registry.frozen import FrozenDict, freeze
from registry.kinds import KINDS
from registry.specs import (
    ExampleMessage,
    InputSpec,
    MessageSpec,
    PromptExample,
    PromptSpec,
    RecipientSpec,
    RegistrySpec,
    ServerSpec,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.documents import Document, Sources

_SCHEMA_KEYS = frozenset({"parameters", "required_args", "input_schema"})
_COMMON_KEYS = (
    frozenset(field.name for field in attrs.fields(RecipientSpec))
    - {"name", "options", "source"}
    - _SCHEMA_KEYS
)
#: Keys of an input that say where its value comes from; the rest is its JSON Schema.
_INPUT_KEYS = frozenset({"optional", "provided", "prompt"})
_MESSAGE_KEYS = frozenset({"role", "template", "template_file"})


def structure(sources: Sources) -> RegistrySpec:
    """Turn the documents of a registry into its specs, in the order of the documents and of their tables."""
    documents = sources.documents
    return RegistrySpec(
        tuple(
            _recipient(name, table, doc) for doc in documents for name, table in _tables(doc, "recipients")
        ),
        tuple(_prompt(name, table, doc) for doc in documents for name, table in _tables(doc, "prompts")),
        tuple(
            convert({"name": name, **table}, ServerSpec)
            for doc in documents
            for name, table in _tables(doc, "servers")
        ),
    )


def _tables(document: Document, section: str) -> Any:
    return document.data.get(section, {}).items()


def _recipient(name: str, table: Mapping[str, Any], document: Document) -> RecipientSpec:
    kind = table["kind"]
    common: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for key, item in table.items():
        if key in _COMMON_KEYS:
            common[key] = item
        elif key not in _SCHEMA_KEYS:
            options[key] = item
    examples = common.pop("example_messages", ())
    tags = common.pop("tags", ())
    return RecipientSpec(
        name=name,
        description=common.pop("description", ""),
        options=convert(options, KINDS[kind].options),
        input_schema=_input_schema(kind, table),
        example_messages=tuple([convert(example, ExampleMessage) for example in examples]),
        tags=tuple(tags),
        source=document.name,
        **common,
    )


def _input_schema(kind: str, table: Mapping[str, Any]) -> FrozenDict | None:
    if "input_schema" in table:
        declared: FrozenDict = freeze(table["input_schema"])
        return declared
    if "parameters" not in table and KINDS[kind].default_schema is not None:
        return KINDS[kind].default_schema
    if kind == "class" and "parameters" not in table:
        return None
    schema: dict[str, Any] = {"type": "object", "properties": table.get("parameters", {})}
    if table.get("required_args"):
        schema["required"] = table["required_args"]
    schema["additionalProperties"] = False
    made: FrozenDict = freeze(schema)
    return made


def _prompt(name: str, table: Mapping[str, Any], document: Document) -> PromptSpec:
    rest = {key: item for key, item in table.items() if key not in _MESSAGE_KEYS}
    inputs = rest.pop("inputs", {})
    examples = rest.pop("examples", ())
    messages = rest.pop("messages", None)
    if messages is None:
        messages = [{key: table[key] for key in _MESSAGE_KEYS if key in table}]
    return PromptSpec(
        name=name,
        messages=tuple(_message(message, document) for message in messages),
        inputs=tuple(_input(key, item) for key, item in inputs.items()),
        examples=tuple(_example(example) for example in examples),
        recipients=tuple(rest.pop("recipients", ())),
        source=document.name,
        **rest,
    )


def _message(table: Mapping[str, Any], document: Document) -> MessageSpec:
    rest = dict(table)
    if "template_file" in rest:
        rest["template"] = document.templates[rest.pop("template_file")].text
    found: MessageSpec = convert(rest, MessageSpec)
    return found


def _input(name: str, table: Mapping[str, Any]) -> InputSpec:
    schema = freeze({key: item for key, item in table.items() if key not in _INPUT_KEYS})
    sources = {key: item for key, item in table.items() if key in _INPUT_KEYS}
    return InputSpec(name, schema, freeze(table.get("default", attrs.NOTHING)), **sources)


def _example(table: Mapping[str, Any]) -> PromptExample:
    renders = table.get("renders")
    texts = (renders,) if isinstance(renders, str) else renders
    return PromptExample(freeze(table.get("inputs", {})), None if texts is None else tuple(texts))
