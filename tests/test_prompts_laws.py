"""Laws of prompts and their snapshot, for any values."""

from __future__ import annotations

import strategies
from hypothesis import given
from hypothesis import strategies as st

from registry.exceptions import RenderError
from registry.frozen import freeze
from registry.prompts.prompt import Prompt, PromptSnapshot
from registry.specs import InputSpec, MessageSpec, PromptSpec

SCHEMAS = {"s": {"type": "string"}, "i": {"type": "integer"}, "b": {"type": "boolean"}, "x": {}}
MADE = Prompt(
    PromptSpec(
        "p",
        (
            MessageSpec("system", "{s} {i:d} {b}{#if x} {x!json}{/if}"),
            MessageSpec(slot="history"),
            MessageSpec("user", "{it}", each="xs", as_="it", image="{s}"),
        ),
        inputs=(
            *(InputSpec(name, freeze(schema), optional=name == "x") for name, schema in SCHEMAS.items()),
            InputSpec("xs", freeze({"type": "array"}), default=()),
        ),
    )
)

ANYTHING = st.recursive(
    strategies.scalars() | st.binary(max_size=4) | st.just("\ud800") | st.just(object()) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from(["s", "i", "b", "x", "xs", "zz"]), ANYTHING),
    st.none() | st.lists(ANYTHING),
)
def test_only_render_errors(values, history):
    """Whatever the values are, there are messages or one error that names something known."""
    names, made = (), ()
    try:
        made = MADE.render(values, history=history)
    except RenderError as error:
        names = error.names
    assert set(names) <= {"s", "i", "b", "x", "xs", "zz", "history"}
    assert all(set(message) == {"role", "content"} for message in made)


@given(strategies.encodable_texts(), st.integers(-(10**30), 10**30), st.booleans())
def test_values_stand_as_given(text, number, truth):
    """A text is never read again, a number is printed whole, a truth value as TOML spells it."""
    (message,) = MADE.render({"s": text, "i": number, "b": truth})
    assert message == {"role": "system", "content": f"{text} {number} {str(truth).lower()}"}


@given(strategies.encodable_texts())
def test_bound_values_are_given_values(text):
    """Binding a value and giving it are one."""
    rest = {"i": 1, "b": True}
    assert MADE.bind({"s": text}).render(rest) == MADE.render({"s": text, **rest})


@given(st.lists(strategies.input_names(), unique=True, max_size=6), st.data())
def test_snapshots(names, data):
    """Order does not count, adding and removing undo each other, and parts combine to the whole."""
    entries = {name: Prompt(PromptSpec(name, (MessageSpec("user", name, None),))) for name in names}
    whole = PromptSnapshot(entries)
    shuffled = data.draw(st.permutations(names))
    cut = data.draw(st.integers(0, len(names)))
    first, second = (
        PromptSnapshot({n: entries[n] for n in part}) for part in (shuffled[:cut], shuffled[cut:])
    )
    assert first.combine(second) == second.combine(first) == whole
    assert hash(first.combine(second)) == hash(whole)
    assert whole.without(*shuffled[cut:]) == first
    assert first.with_prompts(second).without(*second) == first
