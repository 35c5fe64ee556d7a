"""OpenAI's strict mode."""

import pytest
from test_export import TEXT, one, recipient, refused, with_x, x_of

from registry.exporters import export_with_problems

UNSUPPORTED = "unsupported-schema"
#: A definition with a name of its own, which a validator can follow.
OTHER = {"$defs": {"other": {"$id": "urn:other", "type": "string"}}}


def strict(part, **more):
    return x_of(part, "openai-strict", **more)


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        (TEXT, {"type": ["string", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": "string", "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"enum": ["a", None]}, {"type": ["string", "null"], "enum": ["a", None]}),
        (
            {"const": 1, "title": "T"},
            {"title": "T", "anyOf": [{"type": "integer", "const": 1}, {"type": "null"}]},
        ),
        ({"const": None}, {"type": "null", "const": None}),
        ({"anyOf": [TEXT]}, {"anyOf": [TEXT, {"type": "null"}]}),
        ({"anyOf": [TEXT, {"type": "null"}]}, {"anyOf": [TEXT, {"type": "null"}]}),
        (
            {"type": "string", "anyOf": [{"type": "string", "pattern": "a"}]},
            {"anyOf": [{"type": "string", "anyOf": [{"type": "string", "pattern": "a"}]}, {"type": "null"}]},
        ),
    ],
)
def test_an_optional_property_is_required_and_may_be_null(part, wanted):
    """A model leaves it out by sending null."""
    done = one({"type": "object", "properties": {"x": part}}, "openai-strict")
    assert ({"x": wanted}, ["x"], False) == (
        done["properties"],
        done["required"],
        done["additionalProperties"],
    )


def test_objects_inside_are_closed_too():
    """Strict mode has no open object at any depth."""
    inner = {"type": "object", "properties": {"y": TEXT}, "required": ["y"]}
    wanted = {**inner, "additionalProperties": False}
    assert {"type": "array", "items": wanted} == strict({"type": "array", "items": inner})


def test_an_empty_closed_object_is_kept():
    """It has no free key."""
    done = strict({"type": "object", "additionalProperties": False})
    assert done == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def test_what_has_no_keyword_is_said_in_words():
    """The description ends with it; it is checked again at call time."""
    part = {
        "type": "string",
        "description": "A word",
        "minLength": 2,
        "default": "hi",
        "examples": ["a", "b"],
    }
    assert strict(part)["description"] == 'A word. Default: hi. Examples: "a", "b". At least 2 characters.'


def test_words_stand_alone_without_a_description():
    """A description that is a sentence gets no second full stop."""
    assert strict({"type": "string", "maxLength": 3})["description"] == "At most 3 characters."
    assert (
        strict({"type": "string", "description": "A?", "maxLength": 3})["description"]
        == "A? At most 3 characters."
    )


def test_definitions_stay_definitions():
    """Only those that are used, wherever they stood, each under a name of its own."""
    more = {
        "$defs": {
            "point": {"type": "object", "properties": {"next": {"$ref": "#/$defs/point"}}},
            "unused": True,
        },
        "definitions": {"point": TEXT},
    }
    part = {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/point"}, {"$ref": "#/definitions/point"}]}}
    done = one(with_x(part, **more), "openai-strict")
    assert done["properties"]["x"]["items"]["anyOf"] == [
        {"$ref": "#/$defs/point"},
        {"$ref": "#/$defs/point_2"},
    ]
    assert done["$defs"] == {
        "point": {
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/point"}, {"type": "null"}]}},
            "required": ["next"],
            "additionalProperties": False,
        },
        "point_2": TEXT,
    }


def test_definitions_that_want_one_name_get_several():
    """A name that another definition has already is not given again."""
    keys = ("a", "b", "c", "v_2")
    defs = {key: {"type": "object", "properties": {"v": TEXT}, "required": ["v"]} for key in keys}
    wanted = ["#/$defs/v_2", *(f"#/$defs/{key}/properties/v" for key in keys)]
    parts = {f"p{index}": {"$ref": reference} for index, reference in enumerate(wanted)}
    schema = {"type": "object", "properties": parts, "required": list(parts), "$defs": defs}
    done = one(schema, "openai-strict")
    assert list(done["$defs"]) == ["v_2", "v", "v_3", "v_4", "v_5"]
    assert [part["$ref"] for part in done["properties"].values()] == [f"#/$defs/{n}" for n in done["$defs"]]


def test_labels_go_around_a_reference():
    """Nothing may stand beside $ref."""
    part = {"$ref": "#/$defs/a", "description": "Where", "default": 1}
    assert strict(part, **{"$defs": {"a": TEXT}}) == {
        "description": "Where. Default: 1.",
        "anyOf": [{"$ref": "#/$defs/a"}],
    }


def test_a_reference_to_the_root_stays():
    """Recursion has a form in strict mode."""
    done = strict({"type": "array", "items": {"$ref": "#"}})
    assert done == {"type": "array", "items": {"$ref": "#"}}


def test_one_of_with_plain_branches_is_any_of():
    """Where no value fits two branches both say the same."""
    assert strict({"oneOf": [TEXT, {"type": "integer"}]}) == {"anyOf": [TEXT, {"type": "integer"}]}


def test_all_of_one_is_that_one():
    """A lone allOf, as generators write it around references, is kept as a branch."""
    assert strict({"allOf": [TEXT]}) == {"anyOf": [TEXT]}


@pytest.mark.parametrize(
    ("part", "pointer"),
    [
        ({}, ()),
        (True, ()),
        ({"type": "array"}, ("items",)),
        ({"type": "object"}, ()),
        ({"type": "object", "properties": {"y": TEXT}, "additionalProperties": True}, ()),
        ({"type": "object", "properties": {"y": TEXT}, "additionalProperties": TEXT}, ()),
        ({"type": "object", "properties": {"y": TEXT}, "required": ["z"]}, ("required",)),
        ({"type": "string", "not": TEXT}, ("not",)),
        ({"oneOf": [TEXT, TEXT]}, ("oneOf",)),
        ({"allOf": [TEXT, TEXT]}, ("allOf",)),
        ({"anyOf": [TEXT], "oneOf": [TEXT]}, ("anyOf",)),
        ({"$ref": "urn:other"}, ("$ref",)),
        ({"$ref": "#", "minimum": 1}, ()),
        ({"type": "object", "properties": {"y": TEXT}, "enum": [{"y": "a"}]}, ()),
        ({"type": "object", "properties": {"y": TEXT}, "const": {"y": "a"}}, ()),
    ],
)
def test_what_strict_mode_cannot_say_is_refused(part, pointer):
    """A schema is refused at the place that has no strict form."""
    assert [(UNSUPPORTED, ("properties", "x", *pointer))] == refused(with_x(part, **OTHER), "openai-strict")


@pytest.mark.parametrize("key", ["anyOf", "oneOf", "allOf"])
def test_alternatives_at_the_root_are_refused(key):
    """They are refused, not dropped."""
    assert [(UNSUPPORTED, (key,))] == refused({"type": "object", key: [{}]}, "openai-strict")


def test_a_reference_at_the_root_is_refused():
    """The root is an object there, and nothing stands beside a reference."""
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}
    assert refused(schema, "openai-strict") == [(UNSUPPORTED, ("$ref",))]


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "string", "format": "uri"}, {"type": "string", "description": "Format: uri."}),
    ],
)
def test_formats_that_strict_mode_does_not_know_are_said_in_words(part, wanted):
    """A request with another format would be refused."""
    assert strict(part) == wanted


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ({"enum": list(range(1_001))}, "1000 listed values, these are 1001"),
        ({"enum": ["x" * 60_000, "y" * 60_000]}, "120000 characters in names and listed values"),
        ({"const": "x" * 120_000}, "120000 characters in names and listed values"),
    ],
)
def test_limits_of_listed_values_are_checked(part, wanted):
    """They count for the whole schema."""
    _, problems = export_with_problems({"tool": recipient(with_x(part))}, "openai-strict")
    assert [wanted in problem.message for problem in problems] == [True]


def test_limits_of_size_are_checked():
    """Strict mode has a bound on properties and on levels."""
    many = {"type": "object", "properties": {f"p{n}": TEXT for n in range(5_001)}}
    deep = TEXT
    for _ in range(11):
        deep = {"type": "object", "properties": {"x": deep}}
    assert refused(many, "openai-strict") == [(UNSUPPORTED, ())]
    assert refused(deep, "openai-strict") == [(UNSUPPORTED, ("properties", "x") * 10)]
