"""Tests of checking values against a JSON Schema."""

import datetime as dt
import socket

import pytest

from registry import schema_check
from registry.frozen import freeze
from registry.schema_check import MAX_DEPTH, MAX_FAULTS, SchemaFault, not_json, path_text


def nested(depth):
    """Return a list nested so deep."""
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("schema", "value", "faults"),
    [
        ({"type": "integer"}, "x", [((), "must be an integer")]),
        ({"type": ["integer", "null"]}, "x", [((), "must be an integer or null")]),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", [((), "must be an integer or null")]),
        (
            {"anyOf": [{"type": "object"}, {"minimum": 3}]},
            1,
            [((), "fits none of 2 alternatives: (1) must be an object; (2) must be at least 3")],
        ),
        (
            {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {},
            [((), "fits none of 2 alternatives: (1) a: is required; (2) b: is required")],
        ),
        ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 3, [((), "fits more than one alternative")]),
        ({"required": ["a"]}, {}, [(("a",), "is required")]),
        ({"additionalProperties": False}, {"b": 1}, [((), "is not allowed")]),
        (
            {"properties": {"a": {"items": {"enum": [1, "x"]}}}},
            {"a": [2]},
            [(("a", 0), 'must be one of 1, "x"')],
        ),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"b": 1}, [(("b",), "is not known")]),
        ({"items": False}, [1], [((0,), "is not allowed")]),
        ({"enum": list(range(12))}, 20, [((), "must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 … (12 in all)")]),
        ({"const": {"a": 1}}, 20, [((), 'must be {"a": 1}')]),
        ({"const": "y" * 300}, 20, [((), f'must be "{"y" * 199}…')]),
        ({"minimum": 5, "multipleOf": 2}, 3, [((), "must be a multiple of 2"), ((), "must be at least 5")]),
        ({"exclusiveMinimum": 3}, 3, [((), "must be greater than 3")]),
        ({"exclusiveMaximum": 3}, 3, [((), "must be less than 3")]),
        ({"maximum": 3}, 4, [((), "must be at most 3")]),
        ({"minLength": 1}, "", [((), "must have at least 1 character")]),
        ({"maxLength": 2}, "abc", [((), "must have at most 2 characters")]),
        ({"minItems": 2}, [], [((), "must have at least 2 items")]),
        ({"maxItems": 0}, [1], [((), "must have at most 0 items")]),
        ({"minProperties": 1}, {}, [((), "must have at least 1 member")]),
        ({"maxProperties": 0}, {"a": 1}, [((), "must have at most 0 members")]),
        ({"pattern": "^a$"}, "b", [((), 'must match the pattern "^a$"')]),
        ({"uniqueItems": True}, [1, 1], [((), "must not have equal items")]),
        ({"contains": {"const": 1}}, [], [((), "must contain an item that fits")]),
        ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, [((), "has a name that is not allowed")]),
        ({"not": {"type": "null"}}, None, [((), 'must not fit {"type": "null"}')]),
        ({"properties": {"a": False}}, {"a": 1}, [(("a",), "is not allowed")]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, 1, [((), "must be a string")]),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "format": "ipv4", "type": "string"},
            "x",
            [((), "must have the format 'ipv4'")],
        ),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}], "additionalItems": False},
            [1, 2],
            [((), "Additional items are not allowed (1 item)")],
        ),
    ],
)  # fmt: skip
def test_a_fault_says_where_and_what_was_expected(schema, value, faults):
    """Every keyword that fails gives its path and what it wanted, and never the value."""
    checker = schema_check.compile(schema)
    assert not checker.is_valid(value)
    assert set(faults) == {(fault.path, fault.message) for fault in checker.errors(value)}


def test_a_value_that_fits_has_no_faults():
    """A valid value has no errors, read-only or not."""
    checker = schema_check.compile(freeze({"type": "object", "properties": {"a": {"type": "array"}}}))
    for value in ({"a": [1]}, freeze({"a": [1]}), {"a": (1,)}):
        assert checker.is_valid(value)
        assert () == checker.errors(value)


@pytest.mark.parametrize(
    ("value", "path", "message"),
    [
        ("\ud800", (), "has a lone surrogate, which is no character"),
        ({"a": ["é", "x\udfff"]}, ("a", 1), "has a lone surrogate, which is no character"),
        ({"\ud800": 1}, (), "has a name that is not text"),
        ({1: 1}, (), "has a name that is not text"),
        ([float("nan")], (0,), "must be a finite number"),
        ({"x": float("-inf")}, ("x",), "must be a finite number"),
        ({"d": dt.date(2026, 1, 1)}, ("d",), "must be JSON data, not a value of type date"),
        (b"x", (), "must be JSON data, not a value of type bytes"),
        (nested(MAX_DEPTH + 1), (0,) * MAX_DEPTH, f"is nested deeper than {MAX_DEPTH} levels"),
        (nested(100_000), (0,) * MAX_DEPTH, f"is nested deeper than {MAX_DEPTH} levels"),
    ],
)
@pytest.mark.parametrize(
    "schema",
    [{}, {"type": "string"}, {"$ref": "#/$defs/n", "$defs": {"n": {"items": {"$ref": "#/$defs/n"}}}}],
)
def test_what_json_does_not_have_is_a_fault_under_any_schema(schema, value, path, message):
    """Dates, lone surrogates, endless numbers and too deep values are faults, never a crash."""
    checker = schema_check.compile(schema)
    assert not checker.is_valid(value)
    assert (SchemaFault(path, message),) == checker.errors(value)


def test_json_data_is_json():
    """Plain and read-only data of all JSON types, nested as deep as allowed, has no fault."""
    assert () == not_json(
        freeze({"a": [None, True, 1, 1.5, "é😀", {}], "deep": nested(MAX_DEPTH - 1), "long": 10**5_000})
    )


def test_faults_are_bounded():
    """However many faults there are, only so many are told; of a large value only the first."""
    checker = schema_check.compile({"items": {"type": "string"}})
    assert MAX_FAULTS == len(checker.errors([1] * 100))
    assert (SchemaFault((0,), "must be a string"),) == checker.errors([1] * 20_000)
    assert MAX_FAULTS == len(not_json([float("nan")] * 100))


def test_patterns_run_in_linear_time():
    """A pattern that a backtracking engine never finishes is decided at once."""
    checker = schema_check.compile({"pattern": "^(a+)+$"})
    assert not checker.is_valid("a" * 100_000 + "!")


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "strng"}, "the JSON Schema is faulty at type: "),
        ({"properties": {"a": {"pattern": "(a"}}}, "the JSON Schema is faulty at properties.a.pattern: "),
        ({"pattern": "^(?=a)"}, 'is not a "regex"'),
        ({"$ref": "#/$defs/none"}, "Pointer '/$defs/none' does not exist"),
        ({"const": "\ud800"}, "surrogates not allowed"),
    ],
)
def test_a_faulty_schema_is_an_error_that_says_where(schema, text):
    """A schema that is none raises ValueError with its first fault."""
    with pytest.raises(ValueError, match="the JSON Schema is faulty") as caught:
        schema_check.compile(schema)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:9/s", "https://example.org/s.json", "file:///etc/passwd"]
)
def test_no_reference_is_ever_fetched(reference, monkeypatch):
    """A reference to somewhere else is an error without a look there."""

    def refuse(*_args):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    with pytest.raises(ValueError, match="Retrieval is disabled"):
        schema_check.compile({"$ref": reference})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("ids", 0, "name"), "ids[0].name"),
        (("a b",), '["a b"]'),
        (("a", "b.c", "\ud800"), 'a["b.c"]["\\ud800"]'),
        (("x" * 90,), f'["{"x" * 80}…"]'),
        (("x" * 80,) * 9, ".".join(["x" * 80] * 3)[:200] + "…"),
    ],
)
def test_a_path_is_shown_as_it_is_written_in_code(path, text):
    """Paths are shown with dots and brackets, and long ones are cut."""
    assert text == path_text(path)
