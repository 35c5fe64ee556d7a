"""Laws of templates, for any text and any values."""

from __future__ import annotations

import json

import strategies
from hypothesis import assume, example, given
from hypothesis import strategies as st

from registry.exceptions import RenderError, TemplateError
from registry.template import Template, scan


def rendered(text, values, **options):
    """Return the rendered text, or the declared error; anything else fails the test."""
    try:
        return Template(text).render(values, **options)
    except (TemplateError, RenderError) as error:
        return error


@given(strategies.format_templates(), st.data())
def test_equals_str_format(drawn, data):
    """On the domain of str.format the text is that of str.format, and where it fails there is an error."""
    text, names = drawn
    values = {name: data.draw(strategies.scalars()) for name in names}
    found = rendered(text, values)
    try:
        expected = text.format(**values)
    except (ValueError, TypeError):
        assert found.code in ("wrong-type", "number-too-long", "bad-format-spec")
    else:
        assert expected == found


@given(strategies.json_values('ab" :,\\'), st.sampled_from([None, 1]))
def test_pasted_json_is_untouched(value, indent):
    """JSON whose texts hold no brace stays as it is, around a placeholder too."""
    text = json.dumps(value, indent=indent)
    assert not scan(text).problems
    assert Template(f"{text} {{x}}").render({"x": 1}) == f"{text} 1"


@given(strategies.json_values().filter(lambda value: isinstance(value, (dict, list))))
def test_doubled_json_is_undoubled(value):
    """JSON with every brace doubled renders to the JSON."""
    text = json.dumps(value)
    assert Template(text.replace("{", "{{").replace("}", "}}")).render({}) == text


@given(st.dictionaries(st.sampled_from("abc"), strategies.encodable_texts(), min_size=3))
def test_values_are_never_scanned(values):
    """A value stands in the text as it was given, whatever it imitates."""
    text = "{a}|{#if b}{b}{/if}|{#each l as x}{x}{/each}"
    expected = f"{values['a']}|{values['b']}|{values['c']}{values['a']}"
    assert expected == rendered(text, {"a": values["a"], "b": values["b"], "l": [values["c"], values["a"]]})


@given(st.text() | strategies.template_like_texts(), st.data())
@example("{a:" * 50 + "}", None)
def test_only_declared_errors(text, data):
    """Any text is read and any values are rendered with declared errors only, at places inside the text."""
    read = scan(text)
    for problem in read.problems:
        assert 0 <= problem.start < problem.end <= len(text)
    for use in read.placeholders:
        assert text[use.start] == "{"
        assert text[use.end - 1] == "}"
    values = {} if data is None else data.draw(st.dictionaries(st.sampled_from("ab"), strategies.scalars()))
    for missing in ("error", "empty"):
        found = rendered(text, values, missing=missing)
        assert isinstance(found, TemplateError) == bool(read.errors)


@given(strategies.template_like_texts())
def test_variables_are_those_used(text):
    """The variables are the names that placeholders use, and a template needs no other values."""
    assume(not scan(text).errors)
    template = Template(text)
    used = [use.name for use in scan(text).placeholders if use.role != "item"]
    assert template.variables == tuple(dict.fromkeys(used))
    values = {name: ["1"] for name in template.variables}
    assert getattr(rendered(text, values), "code", "wrong-type") == "wrong-type"
    extra = rendered(text, values | {"zz": 1})
    assert (extra.code, "zz" in str(extra)) in [("unexpected-input", True), ("missing-input", True)]


@given(strategies.format_templates(), st.data())
def test_the_short_way_is_the_long_way(drawn, data):
    """The way for the common case and the careful one give the same text."""
    text, names = drawn
    values = {name: data.draw(strategies.scalars()) for name in names}
    careful = rendered(text + "{#if zz}{/if}", values)
    assert rendered(text, values) == careful
