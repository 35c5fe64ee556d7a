"""The laws of comparing schemas."""

import contextlib
import json
import pathlib

import pytest
import strategies
from hypothesis import assume, example, given, settings

from registry import schema_check
from registry.diff.changes import Effect
from registry.diff.schema import compare, compare_inputs

BREAKING, COMPATIBLE, TEXT = Effect


def effects(old, new, compared=compare):
    """Return the changes as (effect, dotted path)."""
    return [(change.effect, ".".join(map(str, change.path))) for change in compared(old, new)]


def compiled(schema):
    with contextlib.suppress(ValueError):
        return schema_check.compile(schema)
    assume(condition=False)
    raise AssertionError


@given(strategies.schema_pairs(), strategies.diff_arguments())
@settings(max_examples=300)
@example(({"required": ["a"]}, {}), {"a": 1})
def test_what_fits_before_fits_after_where_nothing_breaks(pair, value):
    """Where no change is breaking, every value that fits the old schema fits the new one."""
    old, new = pair
    assume(not any(effect is BREAKING for effect, _path in effects(old, new)))
    if compiled(old).is_valid(value):
        assert compiled(new).is_valid(value), effects(old, new)


@given(strategies.schema_pairs())
def test_no_change_from_a_schema_to_itself(pair):
    """A schema does not differ from itself, in whatever order its keys are."""
    old, _new = pair
    assert effects(old, dict(reversed(old.items())), compare_inputs) == []


@given(strategies.schema_pairs())
@settings(max_examples=200)
def test_the_way_back_has_the_same_paths(pair):
    """Swapping the schemas gives changes at the same places."""
    old, new = pair
    for compared in (compare, compare_inputs):
        there, back = effects(old, new, compared), effects(new, old, compared)
        assert {path for _effect, path in there} == {path for _effect, path in back}


_LINES = pathlib.Path(__file__).with_name("diff_schemas.jsonl").read_text("utf-8").splitlines()
#: By a law's name: two schemas, the changes from old to new and the effects of the way back.
CASES = {case["law"]: case for case in map(json.loads, _LINES)}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_keyword_has_its_rule(case):
    """A change has the effect that its keyword's rule says, there and back."""
    old, new = case["old"], case["new"]
    assert case["there"] == [f"{effect} {path}" for effect, path in effects(old, new)]
    assert case["back"] == [effect for effect, _path in effects(new, old)]


def _tagged(*kinds):
    return {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": kind}, "a": {}}, "required": ["kind"]}
            for kind in kinds
        ]
    }


def test_a_variant_can_be_added_to_a_tagged_union():
    """One more branch is safe where a required member tells the branches apart, and not where none does."""
    assert effects(_tagged("a"), _tagged("a", "b")) == [(COMPATIBLE, "oneOf")]
    assert effects(_tagged("a"), _tagged("a", "a")) == [(BREAKING, "oneOf")]
    untold = {"type": "object", "properties": {"kind": True}, "required": ["kind"]}
    both = {"oneOf": [*_tagged("a")["oneOf"], untold]}
    assert effects(_tagged("a"), both) == [(BREAKING, "oneOf")]


FRAGILE = {
    "unevaluated": {"unevaluatedProperties": False},
    "turned": {"not": {"$ref": "#/$defs/a"}},
    "inside a list": {"oneOf": [{"$ref": "#/$defs/a"}]},
    "elsewhere": {"$ref": "#/properties/b"},
    "no reference": {"$ref": 1},
    "anchor": {"properties": {"b": {"$anchor": "c"}}},
    "address": {"properties": {"b": {"$id": "urn:c"}}},
    "unknown keyword": {"surprise": {"$ref": "#/$defs/a"}},
    "old draft": {"$schema": "http://json-schema.org/draft-04/schema#"},
}


@pytest.mark.parametrize("extra", FRAGILE.values(), ids=FRAGILE)
def test_a_change_is_breaking_where_its_effect_may_be_elsewhere(extra):
    """In a schema whose parts depend on each other, every change but of text is breaking."""
    schema = {"$defs": {"a": {}}, "properties": {"a": {"minimum": 1, "title": "a"}}}
    changed = {"$defs": {"a": {}}, "properties": {"a": {"title": "b"}}}
    for part in (schema, changed):
        part["properties"].update(extra.get("properties", {}))
        part.update({key: value for key, value in extra.items() if key != "properties"})
    expected = [(BREAKING, "properties.a.minimum"), (TEXT, "properties.a.title")]
    assert expected == effects(schema, changed)


def test_a_plain_reference_is_judged_where_it_leads():
    """A definition that takes more is a compatible change for all that refer to it; data is no schema."""
    old = {"$ref": "#/$defs/a", "$defs": {"a": {"minimum": 1}}, "$id": "urn:a", "examples": [{"$ref": 1}]}
    new = {**old, "$defs": {"a": {"minimum": 0}}}
    assert effects(old, new) == [(COMPATIBLE, "$defs.a.minimum")]


def test_binding_closes_a_root_that_is_silent():
    """Arguments that a root took expressly are refused when it is silent; and the other way round."""
    explicit, silent = {"additionalProperties": {}}, {}
    assert effects(explicit, silent, compare_inputs) == [(BREAKING, "additionalProperties")]
    assert effects(silent, explicit, compare_inputs) == [(COMPATIBLE, "additionalProperties")]
    assert effects({"additionalProperties": False}, silent, compare_inputs) == [
        (COMPATIBLE, "additionalProperties")
    ]


def test_binding_closes_a_composed_root_by_what_its_parts_know():
    """In a silent root made of other schemas a relaxed part may know fewer names: breaking."""
    old = {"allOf": [{"properties": {"a": {}}}]}
    assert effects(old, {}, compare) == [(COMPATIBLE, "allOf")]
    assert effects(old, {}, compare_inputs) == [(BREAKING, "allOf")]
