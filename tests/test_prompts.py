"""Declared prompts: values in, messages out; and the snapshot that holds them."""

from __future__ import annotations

import copy
import pickle

import attrs
import pytest

from registry.exceptions import DuplicatePrompt, NoSuchPrompt, NoSuchRecipient, RenderError, TemplateError
from registry.frozen import freeze
from registry.manager import RecipientSnapshot
from registry.prompts.examples import ExampleResult, examples
from registry.prompts.prompt import Prompt, PromptSnapshot
from registry.prompts.rendered import RenderedPrompt
from registry.recipient import Recipient
from registry.specs import InputSpec, MessageSpec, PromptExample, PromptSpec
from registry.template import MAX_OUTPUT


def prompt(text, inputs=None, **more):
    """Make a prompt from a text or messages and from inputs in the form of the file."""
    messages = text if isinstance(text, tuple) else (MessageSpec("user", text),)
    specs = []
    for name, table in (inputs or {}).items():
        own = {key: table[key] for key in ("default", "optional") if key in table}
        schema = {key: value for key, value in table.items() if key != "optional"}
        specs.append(InputSpec(name, freeze(schema), **own))
    return Prompt(PromptSpec("p", messages, inputs=tuple(specs), **more))


def fault(made, values=None, **more):
    with pytest.raises(RenderError) as caught:
        made.render(values, **more)
    return caught.value


STRING = {"type": "string"}
GREET = prompt(
    "Hello {name}, you are {age} years old",
    {
        "name": {**STRING, "description": "Who is greeted"},
        "age": {"type": "integer", "minimum": 0, "default": 30},
    },
    description="Greets.",
    version="2",
)


def test_values_are_put_in():
    """Defaults fill what is not given; None means "not given"."""
    assert GREET.render({"name": "Ada"}) == [{"role": "user", "content": "Hello Ada, you are 30 years old"}]
    assert GREET.render({"name": "Ada", "age": None}).texts == ("Hello Ada, you are 30 years old",)
    assert GREET.render({"name": "Ada", "age": 0}).texts == ("Hello Ada, you are 0 years old",)


def test_one_error_names_everything():
    """What is missing, unknown and wrong is told at once, with what was meant and what was expected."""
    error = fault(GREET, {"nmae": "Ada", "age": -1})
    assert ("missing-input", ("name",)) == (error.code, error.names)
    assert str(error) == (
        "prompt 'p': no value for 'name' (Who is greeted); 'nmae' is no input, did you mean 'name'?; "
        "'age' must be at least 0 [missing-input]"
    )


def test_defaults_are_checked_too():
    """A default stands for a value: it must fit."""
    assert fault(prompt("{n}", {"n": {"type": "integer", "default": "x"}})).names == ("n",)


@pytest.mark.parametrize(
    ("schema", "value", "code", "text"),
    [
        ({"type": "integer"}, "3", "wrong-type", "'v' must be an integer"),
        ({"type": "integer"}, True, "wrong-type", "'v' must be an integer"),
        ({"type": "array", "items": {"type": "string"}}, ["a", 1], "wrong-type", "'v[1]' must be a string"),
        (
            {"type": "object", "properties": {"k": {"type": "string"}}},
            {"k": 1},
            "wrong-type",
            "'v.k' must be",
        ),
        ({"enum": ["warm", "dry"]}, "wet", "wrong-type", 'must be one of "warm", "dry"'),
        ({"type": "string"}, b"x", "wrong-type", "must be JSON data"),
        ({"type": "string"}, object(), "wrong-type", "must be JSON data"),
        ({}, "a\ud800", "not-utf8", "lone surrogate"),
        ({}, ["a\ud800"], "not-utf8", "'v[0]' has a lone surrogate"),
        ({}, lambda: 10**5000, "number-too-long", "too many digits"),
        ({"type": "integer"}, lambda: -(10**5000), "number-too-long", "too many digits"),
        ({"type": "number"}, float("nan"), "not-finite", "finite"),
        ({"type": "array"}, [float("inf")], "not-finite", "'v[0]' must be a finite number"),
    ],
)
def test_values_are_checked(schema, value, code, text):
    """A value that does not fit its schema, or cannot be sent, is told with its place."""
    error = fault(prompt("{v!json}", {"v": schema}), {"v": value() if callable(value) else value})
    assert (code, ("v",)) == (error.code, error.names)
    assert text in str(error)


def test_deep_and_circular_values_are_refused():
    """A value without end is an error, not a crash."""
    circular = []
    circular.append(circular)
    made = prompt("{v!json}", {"v": {"type": "array"}})
    assert fault(made, {"v": circular}).code == "wrong-type"
    assert fault(made, {"v": [10**5000]}).names == ("v",)


def test_a_whole_float_is_an_integer():
    """3.0 for an integer prints 3."""
    assert prompt("{n}", {"n": {"type": "integer"}}).render({"n": 3.0}).texts == ("3",)
    assert prompt("{n}", {"n": {"type": "number"}}).render({"n": 3.0}).texts == ("3.0",)


def test_tuples_and_frozen_lists_are_lists():
    """A list may be given as any Python list."""
    made = prompt("{xs!json}{#each xs as x}{x}{/each}", {"xs": {"type": "array", "default": [1]}})
    assert made.render().texts == ("[1]1",)
    assert made.render({"xs": (1, 2)}).texts == ("[1,2]12",)


def test_booleans_print_as_in_toml():
    """A boolean prints true or false, everywhere; in a loop too, where null prints null."""
    inputs = {"b": {"type": "boolean"}, "xs": {"type": "array"}}
    made = prompt("{b} {b:>6} {b!json} {#each xs as x}{x},{/each}", inputs)
    assert made.render({"b": False, "xs": [True, 1, None]}).texts == ("false  false false true,1,null,",)


def test_no_python_notation_is_printed():
    """A list or object that reaches a plain slot is an error, also inside lists."""
    assert fault(prompt("{v}", {"v": {}}), {"v": [1]}).names == ("v",)
    assert fault(prompt("{v}", {"v": {}}), {"v": {"a": 1}}).names == ("v",)
    assert fault(prompt("{#each v as x}{x}{/each}", {"v": {}}), {"v": [[1]]}).names == ("v",)


def test_optional_inputs():
    """An optional input may be left out; sections ask for it."""
    made = prompt("Hi{#if note} ({note}){/if}", {"note": {**STRING, "optional": True}})
    assert made.render().texts == ("Hi",)
    assert made.render({"note": ""}).texts == ("Hi ()",)
    assert fault(prompt("{note}", {"note": {"optional": True}})).code == "missing-input"


def test_names_in_other_spellings():
    """Inputs are found under any spelling of one name."""
    made = prompt("{caf\u00e9}", {"cafe\u0301": STRING})
    assert made.render({"caf\u00e9": "x"}) == made.render({"cafe\u0301": "x"})


def test_values_are_a_mapping():
    """Anything but a mapping is the caller's mistake."""
    with pytest.raises(TypeError, match="values are a mapping from input names, not list"):
        GREET.render(["Ada"])
    assert fault(GREET, {1: 2, "name": "x"}).names == ("1",)
    assert fault(GREET, {"nmae": None, "name": "x"}).names == ("nmae",)


def test_raw_and_trim():
    """A raw text is sent as it is; trim drops white space at both ends of what was made."""
    assert prompt(" {x.y} ", raw=True).render().texts == (" {x.y} ",)
    assert prompt("\n {x} \n", {"x": STRING}, trim=True).render({"x": "a \n"}).texts == ("a",)
    assert prompt(" x ", raw=True, trim=True).render().texts == ("x",)


def test_messages_are_chosen_by_presence():
    """A message with when is sent only if that input is there."""
    messages = (MessageSpec("system", "S {n}", when="n"), MessageSpec("user", "U"))
    made = prompt(messages, {"n": {**STRING, "optional": True}})
    assert made.render().texts == ("U",)
    assert made.render({"n": "x"}) == [{"role": "system", "content": "S x"}, {"role": "user", "content": "U"}]


def test_messages_for_each_item():
    """A message with each is sent once an item; its faults name the list."""
    messages = (MessageSpec("user", "{n}. {it:>2}", each="items", as_="it"), MessageSpec("user", "end"))
    inputs = {"items": {"optional": True}, "n": {"default": 1}}
    made = prompt(messages, inputs)
    assert made.render({"items": ["a", "b"]}).texts == ("1.  a", "1.  b", "end")
    assert made.render().texts == ("end",)
    assert fault(made, {"items": [["x"]]}).names == ("items",)
    assert fault(made, {"items": "ab"}).names == ("items",)
    other = prompt((MessageSpec("user", "{n:d}", each="items"),), inputs)
    assert fault(other, {"items": [1], "n": "x"}).names == ("n",)


def test_messages_for_each_item_are_bounded():
    """A list cannot multiply a long text past the bound."""
    made = prompt((MessageSpec("user", "{text}", each="items", as_="it"),), {"items": {}, "text": STRING})
    error = fault(made, {"items": [0] * 9, "text": "x" * (MAX_OUTPUT // 8)})
    assert ("wrong-type", ("items",)) == (error.code, error.names)
    assert "16,777,216 characters" in str(error)


def test_history_goes_into_its_slot():
    """The caller's messages stand where the slot is; without any it is empty."""
    messages = (MessageSpec("system", "S"), MessageSpec(slot="history"), MessageSpec("user", "U"))
    made = prompt((*messages, MessageSpec(slot="more")))
    said = [
        {"role": "user", "content": "{x}"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": [{"type": "text", "text": "t"}], "tool_call_id": "1"},
    ]
    assert made.slots == ("history", "more")
    assert made.render().texts == ("S", "U")
    assert made.render(history=said)[1:4] == said
    (called,) = made.render(history=[{"role": "assistant", "tool_calls": []}])[1:2]
    assert called == {"role": "assistant", "content": None, "tool_calls": []}
    assert made.render(slots={"more": said[:1]}).texts == ("S", "U", "{x}")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("x", "must be a message, not str"),
        ({"content": "x"}, "has no known role: use one of"),
        ({"role": "asistant", "content": "x"}, "has no known role: did you mean 'assistant'?"),
        ({"role": "user"}, "must have a content"),
        ({"role": "user", "content": None}, "must have a content"),
        ({"role": "user", "content": ["x"]}, "must have a content"),
        ({"role": "user", "content": [{"text": 1}]}, "must have a content"),
        ({"role": "user", "content": [{"type": "text"}]}, "must have a content"),
        (
            {"role": "user", "content": [{"type": "image", "data": b"x"}]},
            "has a part with data that does not",
        ),
        ({"role": "user", "content": "\ud800"}, "has a lone surrogate"),
    ],
)
def test_slots_take_messages_only(message, text):
    """What is no message is told with its place."""
    made = prompt((MessageSpec(slot="history"),))
    error = fault(made, history=[{"role": "user", "content": "x"}, message])
    assert error.names == ("history",)
    assert f"slot 'history'[1] {text}" in str(error)


def test_unknown_slots():
    """Messages for a slot that is not there, or in another form than a list, are refused."""
    assert fault(prompt("x"), history=[]).code == "unexpected-input"
    made = prompt((MessageSpec(slot="history"),))
    for wrong in ("text", {"role": "user", "content": "x"}, 5):
        assert fault(made, history=wrong).code == "wrong-type"


def test_bind_gives_defaults():
    """Bound values are defaults: they may still be given; the bound prompt is another value."""
    bound = GREET.bind({"name": "Ada", "age": None})
    assert bound.render().texts == ("Hello Ada, you are 30 years old",)
    assert bound.render({"name": "Bo"}).texts == ("Hello Bo, you are 30 years old",)
    assert bound != GREET
    assert GREET.bind({}) == GREET
    assert [item.required for item in bound.inputs] == [False, False]


def test_bind_checks():
    """A value of no input, or one that does not fit, cannot be bound."""
    with pytest.raises(RenderError) as caught:
        GREET.bind({"nam": 1, "age": "x"})
    assert "did you mean 'name'?; 'age' must be an integer" in str(caught.value)


def test_facts_about_a_prompt():
    """A prompt says what it was declared with; it shows its name and inputs."""
    assert (GREET.name, GREET.description, GREET.version) == ("p", "Greets.", "2")
    assert repr(GREET) == "<Prompt p(name, age)>"
    assert GREET.media_inputs == ()


def test_equal_by_content():
    """Where a prompt was declared does not count; each value does."""
    same = Prompt(attrs.evolve(GREET.spec, source="other.toml"))
    assert {GREET, same} == {GREET}
    assert Prompt(attrs.evolve(GREET.spec, version="3")) != GREET
    assert GREET != "p"


def test_a_faulty_template_is_told_at_first_use():
    """A prompt made by hand tells a fault of its template when it is rendered."""
    with pytest.raises(TemplateError, match="attribute-access"):
        prompt("{a.b}").render()


def test_tools_are_those_it_goes_with():
    """A prompt exports its recipients: the named ones, or all there are."""

    class one(Recipient):  # noqa: N801
        DESCRIPTION = "One."

        def process(self, message, **_kwargs):
            return message

    class two(one):  # noqa: N801
        DESCRIPTION = "Two."

    known = RecipientSnapshot({"one": one, "two": two})

    def names(made, *more):
        return [tool["function"]["name"] for tool in made.tools("openai", *more)]

    assert names(prompt("x", recipients=("two",)), known) == ["two"]
    assert names(attrs.evolve(prompt("x"), recipients=known)) == ["one", "two"]
    with pytest.raises(NoSuchRecipient):
        prompt("x", recipients=("three",)).tools("openai", known)


def test_examples_are_run():
    """Each example says what was expected and what came out, or why nothing did."""
    cases = (
        PromptExample(freeze({"name": "A"}), ("Hello A, you are 30 years old",)),
        PromptExample(freeze({"name": "A"}), ("Hello B",)),
        PromptExample(freeze({"name": "A"})),
        PromptExample(freeze({}), ("x",)),
    )
    right, wrong, free, broken = examples(Prompt(attrs.evolve(GREET.spec, examples=cases)))
    text = "Hello A, you are 30 years old"
    assert right == ExampleResult(0, (text,), (text,))
    assert (wrong.ok, wrong.expected, wrong.rendered) == (False, ("Hello B",), (text,))
    assert (right.ok, free.ok, broken.ok) == (True, True, False)
    assert broken.error.code == "missing-input"


def test_rendered_is_a_list_that_never_changes():
    """What is rendered equals a plain list, survives copies and refuses changes, inside too."""
    made = GREET.render({"name": "Ada"})
    assert made == list(made)
    assert copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made
    assert isinstance(pickle.loads(pickle.dumps(made)), RenderedPrompt)
    assert repr(RenderedPrompt()) == "RenderedPrompt([])"
    for change in (lambda: made.append({}), lambda: made[0].update(role="system")):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()


SNAPSHOT = PromptSnapshot({"greet": GREET})
OTHER = prompt("other")


def test_a_snapshot_is_a_mapping():
    """A snapshot is looked up, walked and counted like any mapping; a missing name suggests near ones."""
    assert dict(SNAPSHOT) == {"greet": GREET}
    assert (len(SNAPSHOT), "greet" in SNAPSHOT, "x" in SNAPSHOT) == (1, True, False)
    assert repr(SNAPSHOT) == "<PromptSnapshot of 1 prompts (greet)>"
    with pytest.raises(NoSuchPrompt) as caught:
        SNAPSHOT["gret"]
    assert caught.value.close == ("greet",)


def test_changes_return_new_snapshots():
    """Adding and removing leave the old snapshot as it was; together they change nothing."""
    more = SNAPSHOT.with_prompt("other", OTHER)
    assert (list(SNAPSHOT), list(more)) == (["greet"], ["greet", "other"])
    assert more.without("other") == SNAPSHOT
    assert PromptSnapshot({"other": OTHER}).combine(SNAPSHOT) == more
    assert hash(more.without("other")) == hash(SNAPSHOT)
    assert more != SNAPSHOT
    assert SNAPSHOT != {"greet": GREET}
    assert PromptSnapshot({"other": GREET}) != SNAPSHOT


def test_names_are_unique():
    """A name that is taken is an error that names both sources; nothing unknown is removed."""
    again = Prompt(attrs.evolve(GREET.spec, source="b.toml"))
    with pytest.raises(DuplicatePrompt) as caught:
        SNAPSHOT.combine(PromptSnapshot({"greet": again}))
    assert caught.value.sources == ("b.toml",)
    with pytest.raises(NoSuchPrompt):
        SNAPSHOT.without("gone")


def test_snapshots_hold_prompts_only():
    """Names are texts and values are prompts."""
    for entries in ({"": GREET}, {1: GREET}, {"x": "text"}):
        with pytest.raises(TypeError):
            PromptSnapshot(entries)


def test_snapshots_refuse_changes():
    """Every way to change a snapshot says what to do instead; a copy is the same."""

    def assign():
        SNAPSHOT["x"] = OTHER

    def delete():
        del SNAPSHOT["greet"]

    for change in (assign, delete, SNAPSHOT.clear, lambda: setattr(SNAPSHOT, "_entries", {})):
        with pytest.raises(TypeError, match="with_prompt"):
            change()
    assert copy.copy(SNAPSHOT) is copy.deepcopy(SNAPSHOT) is SNAPSHOT
