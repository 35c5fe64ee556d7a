"""Gemini's subset of OpenAPI."""

import pytest
from test_export import TEXT, one, recipient, refused, with_x, x_of

from registry.exporters import export
from registry.exporters.merge import Unmergeable, merge

UNSUPPORTED = "unsupported-schema"
#: A definition with a name of its own, which a validator can follow.
OTHER = {"$defs": {"other": {"$id": "urn:other", "type": "string"}}}
NUMBER = {"type": "number"}


def gemini(part, **more):
    return x_of(part, "gemini", **more)


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": ["string", "null"], "enum": ["a"]}, {"type": "string", "enum": ["a"]}),
        ({"enum": ["a", None]}, {"type": "string", "enum": ["a"], "nullable": True}),
        ({"type": "null"}, {"type": "null"}),
        (
            {"type": ["string", "integer", "null"], "minLength": 1, "minimum": 2, "title": "T"},
            {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer", "minimum": 2}],
             "nullable": True, "title": "T"},
        ),
        ({"anyOf": [TEXT, {"type": "null"}]}, {"type": "string", "nullable": True}),
        ({"anyOf": [{"type": "null"}]}, {"type": "null"}),
        ({"anyOf": [TEXT, NUMBER], "description": "D"}, {"anyOf": [TEXT, NUMBER], "description": "D"}),
        ({"oneOf": [TEXT, NUMBER]}, {"anyOf": [TEXT, NUMBER]}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"const": 3}, {"type": "integer", "minimum": 3, "maximum": 3, "description": "One of: 3."}),
        ({"enum": [1, 2.5]},
         {"type": "number", "minimum": 1, "maximum": 2.5, "description": "One of: 1, 2.5."}),
        ({"const": True}, {"type": "boolean", "description": "One of: true."}),
        ({"enum": ["", "a"]}, {"type": "string", "description": 'One of: "", "a".'}),
        ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9.5},
         {"type": "integer", "minimum": 1, "maximum": 9}),
        ({"type": "integer", "exclusiveMinimum": 0, "minimum": 5, "exclusiveMaximum": 9, "maximum": 6},
         {"type": "integer", "minimum": 5, "maximum": 6}),
        ({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5, "description": "Half."},
         {"type": "number", "description": "Half. A multiple of 0.5. Greater than 0."}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": "string", "format": "uuid"}, {"type": "string", "description": "Format: uuid."}),
        ({"type": "array", "items": TEXT, "uniqueItems": True, "minItems": 1},
         {"type": "array", "items": TEXT, "minItems": 1, "description": "No two items are equal: true."}),
        ({"type": "object", "properties": {"y": TEXT}, "additionalProperties": False},
         {"type": "object", "properties": {"y": TEXT}}),
        ({"type": "object"}, {"type": "object"}),
        ({"type": "string", "examples": ["a"], "$comment": "no"},
         {"type": "string", "description": 'Examples: "a".'}),
        ({"type": "string", "minimum": 1}, TEXT),
        ({"type": "integer", "enum": [1, 2.0]},
         {"type": "integer", "minimum": 1, "maximum": 2.0, "description": "One of: 1, 2.0."}),
        ({"type": "integer", "enum": [1, 5, 9], "minimum": 4, "exclusiveMaximum": 9},
         {"type": "integer", "minimum": 5, "maximum": 5, "description": "One of: 5."}),
        ({"enum": ["a", "abc"], "maxLength": 1}, {"type": "string", "maxLength": 1, "enum": ["a"]}),
        ({"allOf": [{"const": "a"}], "enum": ["a", "b"]}, {"type": "string", "enum": ["a"]}),
        ({"anyOf": [TEXT, {"const": None}], "maxLength": 1},
         {"type": "string", "maxLength": 1, "nullable": True}),
        ({"anyOf": [TEXT, {"type": "null", "description": "No limit"}]},
         {"anyOf": [TEXT, {"type": "null", "description": "No limit"}]}),
        ({"type": ["object", "null"], "allOf": [{"properties": {"y": TEXT}}]},
         {"type": "object", "properties": {"y": TEXT}, "nullable": True}),
        ({"type": "object", "properties": {"y": True}, "allOf": [{"properties": {"y": TEXT}}]},
         {"type": "object", "properties": {"y": TEXT}}),
        ({"type": "object", "properties": {"y": TEXT}, "additionalProperties": False,
          "anyOf": [{"required": ["y"]}, {"minProperties": 1}]},
         {"anyOf": [{"type": "object", "properties": {"y": TEXT}, "required": ["y"]},
                    {"type": "object", "minProperties": 1, "properties": {"y": TEXT}}]}),
    ],
)  # fmt: skip
def test_a_schema_is_said_in_geminis_words(part, wanted):
    """No list of types, no reference and no keyword that is unknown there is left."""
    assert wanted == gemini(part)


def test_no_parameters_are_said_by_leaving_them_out():
    """An object without properties is refused there."""
    assert export({"calc": recipient({"type": "object"})}, "gemini") == {
        "functionDeclarations": [{"name": "calc", "description": "Works."}]
    }


def test_references_and_all_of_are_put_in_place():
    """What stands beside them is kept; the words of the place win."""
    more = {
        "$defs": {
            "a": {"allOf": [{"$ref": "#/$defs/b"}], "description": "A"},
            "b": {"type": "string", "minLength": 1},
        }
    }
    done = gemini({"$ref": "#/$defs/a", "description": "X", "maxLength": 5}, **more)
    assert done == {"type": "string", "minLength": 1, "maxLength": 5, "description": "X"}


def test_what_stands_beside_any_of_goes_into_each_branch():
    """Gemini wants a branch to be whole."""
    inner = {"type": "object", "properties": {"a": TEXT}, "anyOf": [{"required": ["a"]}, {"title": "T"}]}
    whole = {"type": "object", "properties": {"a": TEXT}}
    assert {"anyOf": [{**whole, "required": ["a"]}, {**whole, "title": "T"}]} == gemini(inner)


def test_the_root_stays_an_object_beside_any_of():
    """Parameters are an object there."""
    done = one({"properties": {"a": TEXT}, "anyOf": [{"required": ["a"]}, {}]}, "gemini")
    whole = {"type": "object", "properties": {"a": TEXT}}
    assert {**whole, "anyOf": [{**whole, "required": ["a"]}, whole]} == done


@pytest.mark.parametrize(
    ("part", "pointer"),
    [
        ({}, ()),
        (True, ()),
        (False, ()),
        ({"type": "array"}, ("items",)),
        ({"type": "object", "additionalProperties": TEXT}, ()),
        ({"type": "object", "properties": {"y": TEXT}, "required": ["z"]}, ()),
        ({"type": "string", "enum": [1]}, ()),
        ({"const": 3, "maximum": 2}, ()),
        ({"const": "a", "enum": ["b"]}, ()),
        ({"type": "null", "const": "a"}, ()),
        ({"anyOf": [TEXT, {"type": "null", "not": {}}]}, ("anyOf", 1, "not")),
        ({"anyOf": [TEXT, {"type": "null", "oneOf": [TEXT]}]}, ("anyOf", 1)),
        ({"type": "string", "not": {}}, ("not",)),
        ({"oneOf": [TEXT, TEXT]}, ()),
        ({"type": "integer", "oneOf": [NUMBER, {"properties": {}}]}, ()),
        ({"allOf": [TEXT, NUMBER]}, ()),
        ({"allOf": [TEXT, False]}, ()),
        ({"$ref": "urn:other"}, ()),
        ({"type": "array", "items": {"$ref": "#"}}, ("items",)),
        ({"$ref": "#/properties/x"}, ()),
    ],
)
def test_what_gemini_cannot_say_is_refused(part, pointer):
    """A schema is refused at the place that has no form there."""
    assert [(UNSUPPORTED, ("properties", "x", *pointer))] == refused(with_x(part, **OTHER), "gemini")


def test_parameters_that_only_alternatives_have_are_parameters():
    """They are not lost, and their names are checked."""
    branches = [{"properties": {"a": TEXT}, "required": ["a"]}, {"properties": {"b": TEXT}}]
    done = one({"type": "object", "anyOf": branches}, "gemini")
    assert done == {"type": "object", "anyOf": [{"type": "object", **branch} for branch in branches]}
    faulty = {"type": "object", "properties": {"é": TEXT}, "anyOf": [{"properties": {"x y": TEXT}}, {}]}
    assert refused(faulty, "gemini") == [
        ("name-not-portable", ("anyOf", 0, "properties", "x y")),
        ("name-not-portable", ("properties", "é")),
    ]


def test_a_problem_is_reported_once():
    """The root is read twice beside anyOf; its problems are not."""
    assert refused({"if": {}, "anyOf": [{}]}, "gemini") == [
        (UNSUPPORTED, ("if",)),
        (UNSUPPORTED, ("anyOf", 0, "if")),
    ]


def test_a_root_that_refers_to_itself_is_refused():
    """Recursion is a problem, not a crash."""
    assert refused({"$ref": "#"}, "gemini") == [(UNSUPPORTED, ())]


def test_references_that_unfold_without_end_are_refused():
    """A small file cannot make a huge export."""
    defs = {
        f"d{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "abc"}}
        for n in range(20)
    }
    assert UNSUPPORTED in {
        code
        for code, _ in refused(with_x({"$ref": "#/$defs/d0"}, **{"$defs": {**defs, "d20": TEXT}}), "gemini")
    }


def test_a_schema_that_is_too_large_is_reported_once():
    """It is about the whole, not about each property from some number on."""
    many = {"type": "object", "properties": {f"p{n}": TEXT for n in range(5_010)}}
    assert refused(many, "gemini") == [(UNSUPPORTED, ())]


def test_references_that_unfold_too_deep_are_refused():
    """A chain of definitions has a bounded length."""
    plain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(400)}
    nested = {f"d{n}": {"type": "array", "items": {"$ref": f"#/$defs/d{n + 1}"}} for n in range(400)}
    wrapped = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, TEXT]} for n in range(90)}
    for defs in (plain | {"d400": TEXT}, nested | {"d400": TEXT}, wrapped | {"d90": TEXT}):
        assert UNSUPPORTED in {
            code for code, _ in refused(with_x({"$ref": "#/$defs/d0"}, **{"$defs": defs}), "gemini")
        }


@pytest.mark.parametrize("name", ["größe", "a-b", "1a", "x" * 65])
def test_parameters_have_plain_names(name):
    """Gemini takes ASCII letters, digits and underscores."""
    assert [("name-not-portable", ("properties", name))] == refused({"properties": {name: TEXT}}, "gemini")


@pytest.mark.parametrize(
    ("outer", "inner", "wanted"),
    [
        (True, {"minimum": 1}, {"minimum": 1}),
        (
            {"additionalProperties": False, "properties": {"a": {}, "b": {}}},
            {"properties": {"a": {"minimum": 1}}},
            {"additionalProperties": False, "properties": {"a": {"minimum": 1}, "b": {}}},
        ),
        ({"type": ["object", "null"]}, {"properties": {}}, {"type": ["object", "null"], "properties": {}}),
        ({"minimum": 1, "maximum": 9}, {"minimum": 2, "maximum": 5}, {"minimum": 2, "maximum": 5}),
        ({"type": "number"}, {"type": "integer"}, {"type": "integer"}),
        ({"type": ["integer", "null"]}, {"type": ["number", "null"]}, {"type": ["integer", "null"]}),
        ({"type": "string"}, {}, {"type": "string"}),
        ({"type": "number"}, {"const": 1}, {"type": "integer", "const": 1}),
        ({"required": ["b"]}, {"required": ["a", "b"]}, {"required": ["a", "b"]}),
        ({"properties": {"a": {"minimum": 1}, "b": {}}}, {"properties": {"a": {"minimum": 3}, "c": {}}},
         {"properties": {"a": {"minimum": 3}, "b": {}, "c": {}}}),
        ({"items": {"minimum": 1}}, {"items": {"maximum": 3}}, {"items": {"minimum": 1, "maximum": 3}}),
        ({"title": "o"}, {"title": "i"}, {"title": "o"}),
        ({"title": "o"}, True, {"title": "o"}),
        ({"additionalProperties": False}, {"additionalProperties": False}, {"additionalProperties": False}),
    ],
)  # fmt: skip
def test_merge_says_both(outer, inner, wanted):
    """A value fits the merged schema when it fits both."""
    assert wanted == merge(outer, inner)


@pytest.mark.parametrize(
    ("outer", "inner", "key"),
    [
        ({}, False, "false"),
        (False, {}, "false"),
        ({"pattern": "a", "format": "b"}, {"format": "c", "pattern": "d"}, "pattern"),
        ({"pattern": "a"}, {"pattern": "b"}, "pattern"),
        ({"type": "string"}, {"type": "null"}, "type"),
        (
            {"additionalProperties": False, "properties": {"a": {}}},
            {"properties": {"b": {}}},
            "additionalProperties",
        ),
    ],
)
def test_merge_gives_up_rather_than_lose_a_constraint(outer, inner, key):
    """What plain keywords cannot say is refused."""
    with pytest.raises(Unmergeable, match=key):
        merge(outer, inner)
