"""Laws of binding arguments, for any schema and any input."""

import json

import hypothesis
import hypothesis.strategies as st
import strategies

from registry import schema_check
from registry.arguments import binder
from registry.exceptions import InvalidArguments
from registry.frozen import freeze, thaw
from registry.messages import json_type

CODES = {"invalid-json", "not-an-object", "invalid-arguments"}


def bound(schema, raw):
    """Return what binding gives, or None where it raises as declared."""
    try:
        return binder(schema)(raw)
    except InvalidArguments as caught:
        error = caught
    assert error.code in CODES
    assert error.errors
    assert len(str(error)) < 20_000
    return None


@hypothesis.given(strategies.call_schemas, strategies.call_arguments)
def test_what_is_bound_fits(schema, raw):
    """Bound arguments fit the schema, except for defaults that do not."""
    result = bound(schema, raw)
    if result is not None:
        given_only = {name: value for name, value in result.items() if name in raw}
        assert schema_check.compile(schema).is_valid(given_only)


@hypothesis.given(strategies.call_schemas, strategies.call_arguments)
def test_text_and_mapping_bind_alike(schema, raw):
    """JSON text, its bytes, a mapping and a read-only mapping of the same content give the same."""
    result = bound(schema, raw)
    text = json.dumps(raw)
    for form in (text, text.encode(), freeze(raw), json.dumps(raw, ensure_ascii=False, indent=1)):
        assert repr(result) == repr(bound(schema, form))


@hypothesis.given(strategies.call_schemas, strategies.call_arguments)
def test_binding_twice_changes_nothing_more(schema, raw):
    """What was bound binds to itself."""
    result = bound(schema, raw)
    if result is not None and schema_check.compile(schema).is_valid(result):
        assert repr(result) == repr(bound(schema, thaw(result)))


@hypothesis.given(strategies.call_schemas, strategies.call_arguments)
def test_what_fits_is_kept(schema, raw):
    """A value that fits is not converted: only whole floats for integers, and defaults are added."""
    if set(raw) <= set(schema["properties"]) and schema_check.compile(schema).is_valid(raw):
        result = binder(schema)(raw)
        assert all(raw[name] == result[name] for name in raw if "default" not in json.dumps(schema))


@hypothesis.given(strategies.call_schemas, strategies.call_arguments)
def test_only_texts_and_whole_floats_are_converted(schema, raw):
    """No boolean becomes a number, no number a text, and nothing is dropped."""
    result = bound(schema, raw)
    if result is None or "default" in json.dumps(schema):
        return
    assert raw.keys() == result.keys()
    for name, value in raw.items():
        if not isinstance(value, (str, list, dict, float)):
            assert json_type(value) == json_type(result[name])
            assert value == result[name]
        if isinstance(result[name], str):
            assert value == result[name]


@hypothesis.given(strategies.call_schemas, st.text() | st.binary() | strategies.call_values)
def test_any_input_is_bound_or_refused_as_declared(schema, raw):
    """Whatever comes in, a dict goes out or InvalidArguments is raised."""
    result = bound(schema, raw)
    assert result is None or type(result) is dict


@hypothesis.given(strategies.call_value_schemas, strategies.call_values)
def test_errors_are_empty_exactly_for_what_is_valid(schema, value):
    """`errors` and `is_valid` never disagree."""
    checker = schema_check.compile(schema)
    assert checker.is_valid(value) == (checker.errors(value) == ())


@hypothesis.given(
    strategies.call_schemas, st.text(st.sampled_from('{}[]",:0123456789aeE.-tru\\ \n'), max_size=30)
)
def test_broken_json_never_crashes(schema, text):
    """Text that is nearly JSON is read or refused."""
    bound(schema, text)
