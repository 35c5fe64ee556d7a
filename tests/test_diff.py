"""The laws of comparing registries."""

import attrs
import pytest
import strategies
from hypothesis import given

import registry
from registry.converter import structure as convert
from registry.diff import Change, Effect, diff
from registry.frozen import freeze
from registry.kinds import KINDS
from registry.manager import RecipientSnapshot
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

B, C, T = Effect

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
OPTIONS = {
    "python": {},
    "function": {"call": "m:f"},
    "class": {"class": "m:C"},
    "http": {"url": "https://a.example/"},
    "command": {"argv": ["a"]},
    "mcp": {"server": "s", "tool": "t"},
}


def recipient(kind="function", options=None, **fields):
    """Return the spec of a recipient called ``tool``."""
    made = convert({**OPTIONS[kind], **(options or {})}, KINDS[kind].options)
    given_fields = {"name": "tool", "kind": kind, "description": "d", "input_schema": freeze(SCHEMA)}
    return RecipientSpec(**{**given_fields, "options": made, **fields})


def prompt(**fields):
    """Return the spec of a prompt called ``ask``."""
    return PromptSpec(**{"name": "ask", "messages": (MessageSpec("user", "Hi {a}"),), **fields})


def prompted(**fields):
    """Return the spec of a prompt's input called ``a``."""
    return prompt(inputs=(InputSpec("a", **{"schema": freeze({"type": "string"}), **fields}),))


def changes(old, new):
    """Compare single declarations and return the changes as (effect, path below the declaration)."""
    prefix = "prompts.ask" if isinstance(old, PromptSpec) else "recipients.tool"
    key = "prompts" if isinstance(old, PromptSpec) else "recipients"
    found = diff(RegistrySpec(**{key: (old,)}), RegistrySpec(**{key: (new,)}))
    return [(change.effect, change.path.removeprefix(prefix).removeprefix(".")) for change in found]


def closed(**parameters):
    return freeze({**SCHEMA, "properties": parameters})


RECIPIENTS = {
    "argument added": ({}, {"input_schema": closed(a={"type": "string"}, b={})}, [(C, "parameters.b")], [B]),
    "argument narrowed": (
        {},
        {"input_schema": closed(a={"const": ""})},
        [(B, "parameters.a.const"), (C, "parameters.a.type")],
        [C] * 2,
    ),
    "argument required": (
        {},
        {"input_schema": freeze({**SCHEMA, "required": ["a"]})},
        [(B, "required_args.a")],
        [C],
    ),
    "schema opened": (
        {},
        {"input_schema": freeze({**SCHEMA, "additionalProperties": True})},
        [(C, "input_schema.additionalProperties")],
        [B],
    ),
    "no schema": ({"input_schema": freeze({"type": "object"})}, {"input_schema": None}, [], []),
    "description": ({}, {"description": "e"}, [(T, "description")], [T]),
    "api docs": ({}, {"api_docs": "e"}, [(T, "api_docs")], [T]),
    "examples": ({}, {"example_messages": (ExampleMessage(text="x"),)}, [(T, "example_messages")], [T]),
    "timeout": ({"timeout": 1}, {"timeout": 2}, [(C, "timeout")], [B]),
    "output": ({"max_output": 1}, {"max_output": None}, [(C, "max_output")], [B]),
    "idempotent": ({}, {"idempotent": True}, [(C, "idempotent")], [B]),
    "parallel": ({}, {"parallel": False}, [(C, "parallel")], [C]),
    "tags": ({"tags": ("a",)}, {"tags": ("b", "a")}, [(C, "tags")], [B]),
    "order of tags": ({"tags": ("a", "b")}, {"tags": ("b", "a")}, [], []),
    "kind": ({}, {"kind": "http"}, [(B, "kind")], [B]),
    "call": ({}, {"options": {"call": "m:g"}}, [(C, "call")], [C]),
    "class": ({"kind": "class"}, {"kind": "class", "options": {"class": "m:D"}}, [(C, "class")], [C]),
    "url": ({"kind": "http"}, {"kind": "http", "options": {"url": "https://b.example"}}, [(C, "url")], [C]),
    "answer": ({"kind": "http"}, {"kind": "http", "options": {"response": "json"}}, [(B, "response")], [B]),
    "memory": ({"kind": "python"}, {"kind": "python", "options": {"memory": "1GB"}}, [(C, "memory")], [B]),
    "sandbox": (
        {"kind": "python"},
        {"kind": "python", "options": {"sandbox": "none"}},
        [(C, "sandbox")],
        [B],
    ),
    "state": ({"kind": "python"}, {"kind": "python", "options": {"stateful": True}}, [(B, "stateful")], [B]),
}


@pytest.mark.parametrize("case", RECIPIENTS.values(), ids=RECIPIENTS)
def test_what_a_recipients_change_does_to_its_callers(case):
    """Each change of a recipient has its effect, there and back."""
    old, new, there, back = case
    assert there == changes(recipient(**old), recipient(**new))
    assert back == [effect for effect, _path in changes(recipient(**new), recipient(**old))]


A = freeze({"type": "string"})
PROMPTS = {
    "template": (prompt(), prompt(messages=(MessageSpec("user", "Ho {a}"),)), [(T, "template")], [T]),
    "one of many templates": (
        prompt(messages=(MessageSpec("system", "a"), MessageSpec("user", "b"))),
        prompt(messages=(MessageSpec("system", "a"), MessageSpec("user", "c"))),
        [(T, "messages.1.template")],
        [T],
    ),
    "role": (prompt(), prompt(messages=(MessageSpec("system", "Hi {a}"),)), [(B, "role")], [B]),
    "messages": (
        prompt(),
        prompt(messages=(MessageSpec("user", "Hi {a}"), MessageSpec(slot="history"))),
        [(B, "messages")],
        [B],
    ),
    "condition": (
        prompt(),
        prompt(messages=(MessageSpec("user", "Hi {a}", when="a"),)),
        [(B, "messages")],
        [B],
    ),
    "description": (prompt(), prompt(description="d"), [(T, "description")], [T]),
    "version": (prompt(), prompt(version="2"), [(T, "version")], [T]),
    "trim": (prompt(), prompt(trim=True), [(T, "trim")], [T]),
    "raw": (prompt(), prompt(raw=True), [(B, "raw")], [B]),
    "examples": (
        prompt(),
        prompt(examples=(PromptExample(freeze({"a": "b"}), ("Hi b",)),)),
        [(T, "examples")],
        [T],
    ),
    "recipients": (prompt(), prompt(recipients=("tool",)), [(C, "recipients.tool")], [B]),
    "input": (prompt(), prompted(), [(B, "inputs.a")], [B]),
    "optional input": (prompt(), prompted(optional=True), [(C, "inputs.a")], [B]),
    "required": (prompted(), prompted(optional=True), [(C, "inputs.a.required")], [B]),
    "type": (prompted(), prompted(schema=freeze({"type": ["string", "null"]})), [(C, "inputs.a.type")], [B]),
    "default": (
        prompted(schema=freeze({"type": "string", "default": "x"}), default="x"),
        prompted(schema=freeze({"type": "string", "default": "y"}), default="y"),
        [(T, "inputs.a.default")],
        [T],
    ),
    "default added": (
        prompted(),
        prompted(default="y"),
        [(C, "inputs.a.required"), (T, "inputs.a.default")],
        [B, T],
    ),
    "provided": (
        prompted(provided="api_docs"),
        prompted(provided="current_date"),
        [(T, "inputs.a.provided")],
        [T],
    ),
    "optional beside a default": (
        prompted(default="y"),
        prompted(default="y", optional=True),
        [(C, "inputs.a.optional")],
        [C],
    ),
}


@pytest.mark.parametrize("case", PROMPTS.values(), ids=PROMPTS)
def test_what_a_prompts_change_does_to_its_users(case):
    """Each change of a prompt has its effect, there and back."""
    old, new, there, back = case
    assert there == changes(old, new)
    assert back == [effect for effect, _path in changes(new, old)]


def test_what_came_and_what_went():
    """What is gone is breaking, what is new is not, and what has only another name is said to."""
    old = RegistrySpec(
        recipients=(recipient(),), prompts=(prompt(),), servers=(ServerSpec("s"), ServerSpec("t"))
    )
    new = RegistrySpec(
        recipients=(recipient(name="other"),),
        servers=(ServerSpec("t", url="https://a.example"), ServerSpec("u")),
    )
    expected = (
        Change(B, "prompts.ask", "removed"),
        Change(B, "recipients.tool", "removed; it is called other now"),
        Change(C, "recipients.other", "added"),
        Change(C, "servers.s", "removed"),
        Change(C, "servers.t.url", "changed"),
        Change(C, "servers.u", "added"),
    )
    assert expected == diff(old, new)


def test_a_change_reads_as_one_line():
    """The text of a change has its effect, its place and what happened, long values cut."""
    old = recipient(input_schema=closed(a={"enum": ["x" * 100]}))
    found = diff(RegistrySpec((old,)), RegistrySpec((recipient(input_schema=closed(a={})),)))
    text = "compatible: recipients.tool.parameters.a.enum: enum removed (was "
    assert str(found[0]).startswith(text)
    assert len(str(found[0])) == len(text) + 62


def test_no_value_that_may_be_secret_is_shown():
    """Of addresses, headers, bodies, environments and command lines only the change is told."""
    secret = "hunter2"
    options = {"url": f"https://u:{secret}@a.example", "headers": {"A": secret}, "query": {"q": secret}}
    found = diff(
        RegistrySpec((recipient("http"),), servers=(ServerSpec("s"),)),
        RegistrySpec((recipient("http", options),), servers=(ServerSpec("s", env={"A": secret}),)),
    )
    assert [change.path.rpartition(".")[2] for change in found] == ["headers", "query", "url", "env"]
    assert secret not in repr(found)


class Own(registry.Recipient):
    DESCRIPTION = "own"
    REQUIRED_ARGS = ("a",)

    def process(self, message, **kwargs):
        raise NotImplementedError


class Schematic(Own):
    REQUIRED_ARGS = ()
    INPUT_SCHEMA = SCHEMA


def test_recipients_without_a_declaration_are_compared_by_their_constants():
    """A class written by hand is compared too; the names it requires are its arguments."""
    own, schematic = RecipientSnapshot({"x": Own}), RecipientSnapshot({"x": Schematic()})
    assert diff(own, own) == ()
    assert [change.path for change in diff(own, RecipientSnapshot({"x": Schematic}))] == [
        "recipients.x.input_schema.additionalProperties",
        "recipients.x.parameters.a.type",
        "recipients.x.class",
        "recipients.x.required_args.a",
    ]
    assert diff(schematic, RecipientSnapshot({"x": Schematic})) == ()


def test_a_snapshot_is_compared_by_the_names_it_gives():
    """A declared recipient under another name in a snapshot is compared under that name."""
    snapshot = registry.loads(DECLARED)
    moved = snapshot.without("tool").with_recipient("moved", snapshot["tool"])
    assert [change.message for change in diff(snapshot, moved)] == [
        "removed; it is called moved now",
        "added",
    ]
    assert diff(snapshot, snapshot) == ()


DECLARED = """
version = 1
[recipients.tool]
kind = "python"
description = "d"
timeout = 3
[recipients.tool.parameters.a]
type = "string"
[prompts.ask]
role = "user"
template = "Hi {a}"
inputs.a = { type = "string" }
"""


def test_layout_is_no_change():
    """Comments, line ends, the order of tables and keys, and inline tables are no change."""
    other = """
    # a comment
    prompts = { ask = { inputs.a.type = "string", template = 'Hi {a}', role = "user" } }
    version = 1
    [recipients]
    tool = { timeout = 3, parameters = { a = { type = "string" } }, kind = "python", description = "d" }
    """
    assert diff(registry.loads(DECLARED), registry.loads(other.replace("\n", "\r\n"))) == ()


@given(strategies.schema_pairs())
def test_swapped_registries_give_the_same_paths(pair):
    """Comparing the other way round finds changes at the same places, and none without a change."""
    old, new = (RegistrySpec((recipient(input_schema=freeze(schema)),)) for schema in pair)
    there, back = diff(old, new), diff(new, old)
    assert {change.path for change in there} == {change.path for change in back}
    assert diff(old, attrs.evolve(old)) == ()
