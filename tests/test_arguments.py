"""Tests of binding a call's arguments: every row of the case data, and the laws behind them."""

import base64
import contextlib
import json
import pathlib

import pytest

from registry.arguments import MAX_ECHO, binder, read_object
from registry.exceptions import InvalidArguments
from registry.frozen import FrozenDict, freeze
from registry.jsontext import NotJsonError, parse_json
from registry.references import resolver

ROWS = json.loads((pathlib.Path(__file__).parent / "cases" / "arguments.json").read_text(encoding="utf-8"))


def built(value):
    """Return a row's input: texts may be written as parts with repetitions."""
    if isinstance(value, list):
        return "".join(
            part if isinstance(part, str) else part["repeat"][0] * part["repeat"][1] for part in value
        )
    return value


def schema_of(properties, *, required=(), **more):
    return {"type": "object", "properties": properties, "required": list(required), **more}


def errors_of(schema, raw):
    with pytest.raises(InvalidArguments) as caught:
        binder(schema)(raw)
    return caught.value


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_every_case_binds_as_it_says(row):
    """Each row of the case data gives its result or one of its errors."""
    raw = base64.b64decode(row["arguments_base64"]) if "arguments_base64" in row else built(row["arguments"])
    bind = binder(schema_of(row["parameters"], required=row["required_args"]))
    if "result" in row:
        result = bind(raw)
        assert json.dumps(row["result"], sort_keys=True) == json.dumps(result, sort_keys=True)
    else:
        codes = row["error"] if isinstance(row["error"], list) else [row["error"]]
        with pytest.raises(InvalidArguments) as caught:
            bind(raw)
        assert caught.value.code in codes
        assert caught.value.errors
        assert len(str(caught.value)) < 2_000


INTEGER = {"type": "integer"}
STRING = {"type": "string"}
TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "size": INTEGER,
                "kids": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
            },
        }
    },
}
SHAPES = {
    "oneOf": [
        {
            "properties": {"kind": {"const": "a"}, "n": INTEGER, "m": {"default": 1}},
            "required": ["kind"],
            "additionalProperties": False,
        },
        {"properties": {"kind": {"enum": ["b", 3]}, "n": {"type": "boolean"}}, "required": ["kind"]},
    ]
}


@pytest.mark.parametrize(
    ("schema", "value", "result"),
    [
        # numbers
        (INTEGER, "-0", 0),
        (INTEGER, "3.0", 3),
        (INTEGER, "1e3", 1000),
        (INTEGER, "12E-1", None),
        (INTEGER, "9007199254740993.0", 9007199254740993),
        (INTEGER, "1e999", 10**999),
        (INTEGER, "1e9999999", None),
        (INTEGER, "1e99999999999999999999", None),
        (INTEGER, "0e9999999", 0),
        (INTEGER, "9" * 4_001, None),
        (INTEGER, " 3", None),
        (INTEGER, "+3", None),
        (INTEGER, "03", None),
        (INTEGER, "0x3", None),
        (INTEGER, "3.", None),
        (INTEGER, ".5", None),
        (INTEGER, "true", None),
        (INTEGER, "null", None),
        (INTEGER, 1e20, 10**20),
        (INTEGER, -0.0, 0),
        ({"type": "number"}, "1e999", None),
        ({"type": "number"}, "-1.5e3", -1500.0),
        ({"type": "number"}, "12", 12),
        ({"type": "number"}, 3.0, 3.0),
        ({"type": "number"}, "Infinity", None),
        ({"type": "number"}, True, None),
        ({"type": ["number", "integer"]}, 3.0, 3.0),
        ({"type": ["integer", "boolean"]}, "true", True),
        ({"type": "number"}, "-", None),
        ({"type": "number"}, "", None),
        # enumerations without a type
        ({"enum": [1, 2]}, "2", 2),
        ({"enum": [1.5]}, "1.5", 1.5),
        ({"enum": [1, "1"]}, "1", "1"),
        ({"const": 7}, "7", 7),
        ({"enum": [1, 2]}, 2.0, 2),
        ({"const": True}, "true", True),
        ({"enum": [[1], None]}, "[1]", [1]),
        ({"type": "string", "const": "5"}, "5", "5"),
        ({"enum": []}, "2", None),
        # combinations
        ({"allOf": [{"type": ["integer", "string"]}, INTEGER]}, "3", 3),
        ({"allOf": [{"type": "number"}, {"type": ["integer", "null"]}]}, 3.0, 3),
        ({"anyOf": [INTEGER, {"type": "null"}]}, 4.0, 4),
        ({"anyOf": [INTEGER, {"type": "null"}]}, "null", None),
        ({"oneOf": [INTEGER, {"type": "array", "items": INTEGER}]}, '["1"]', [1]),
        ({"anyOf": [INTEGER, True]}, "3", "3"),
        ({"anyOf": [INTEGER, {}]}, "3", "3"),
        ({"anyOf": [{"minimum": 1, "type": "integer"}, {"type": "boolean"}]}, "0", None),
        ({"$ref": "#/$defs/n"}, "3", 3),
        ({"$ref": "#/$defs/loop"}, "3", "3"),
        ({"$ref": "#named"}, "3", 3),
        ({"$ref": "#words"}, '{"v": "3"}', '{"v": "3"}'),
        ({"$ref": "#/$defs/a~1b~0/0"}, "3", 3),
        # arrays
        (
            {"type": "array", "prefixItems": [INTEGER, STRING], "items": {"type": "boolean"}},
            ["1", "1", "true"],
            [1, "1", True],
        ),
        ({"type": "array", "prefixItems": [INTEGER], "items": False}, ["1"], [1]),
        ({"type": "array", "items": True}, ["1"], ["1"]),
        ({"type": "array"}, '["1"]', ["1"]),
        ({"type": "array"}, " [1] ", [1]),
        ({"type": "array"}, "[NaN]", None),
        ({"type": "array"}, "[1e999]", None),
        ({"type": "array"}, '["\\ud800"]', None),
        ({"type": "array"}, '[{"a": 1, "a": 1}]', None),
        ({"type": "array"}, "1", None),
        ({"type": ["array", "null"]}, '{"a": 1}', None),
        ({"type": "array"}, "[" * 200 + "]" * 200, None),
        # objects
        ({"type": "object", "additionalProperties": INTEGER}, {"x": "1"}, {"x": 1}),
        (
            {"type": "object", "patternProperties": {"^n": INTEGER}, "additionalProperties": STRING},
            {"n1": "1", "s": "1"},
            {"n1": 1, "s": "1"},
        ),
        (
            {
                "type": "object",
                "properties": {"n1": {"minimum": 0}},
                "patternProperties": {"^n": INTEGER, "1$": True},
            },
            {"n1": "1"},
            {"n1": 1},
        ),
        (
            {"allOf": [{"properties": {"a": INTEGER}}, {"properties": {"b": INTEGER, "a": {"minimum": 1}}}]},
            {"a": "1", "b": 2.0},
            {"a": 1, "b": 2},
        ),
        (
            {"anyOf": [{"type": "object", "properties": {"a": INTEGER}}, {"type": "null"}]},
            '{"a": "1"}',
            {"a": 1},
        ),
        (SHAPES, {"kind": "a", "n": "3"}, {"kind": "a", "n": 3, "m": 1}),
        (SHAPES, {"kind": "b", "n": "true"}, {"kind": "b", "n": True}),
        (SHAPES, {"kind": 3, "n": "true"}, {"kind": 3, "n": True}),
        (SHAPES, {"kind": "c", "n": "true"}, None),
        (SHAPES, {"n": "true"}, None),
        (SHAPES, {"kind": "a", "z": 1}, None),
        (
            {"anyOf": [{"allOf": [{"required": ["a"]}, True]}, False], "properties": {"a": INTEGER}},
            {"a": "1"},
            {"a": 1},
        ),
        (
            {
                "anyOf": [
                    {"properties": {"a": {"properties": {"n": INTEGER}}}},
                    {"properties": {"a": {"properties": {"n": {"type": "boolean"}}}}},
                ]
            },
            {"a": {"n": "true"}},
            {"a": {"n": True}},
        ),
        ({"anyOf": [{"properties": {"a": INTEGER}}, {"properties": {"b": INTEGER}}]}, {"a": "1"}, {"a": "1"}),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "3", "3"),
    ],
)
def test_a_value_follows_its_schema(schema, value, result):
    """Values convert without loss where the schema asks for it, wherever it says so, and never else."""
    definitions = {
        "n": INTEGER,
        "loop": {"$ref": "#/$defs/loop"},
        "a/b~": [INTEGER],
        "named": {"$anchor": "named", **INTEGER},
        "words": {"$dynamicAnchor": "words", "type": ["string", "integer"]},
    }
    root = schema_of({"v": schema}, **{"$defs": definitions})
    if "$ref" in schema and "a~1b" in schema["$ref"]:
        assert INTEGER == resolver(root)(schema["$ref"])  # no validator takes a list of schemas there
        return
    root["$defs"].pop("a/b~")
    if result is None:
        assert "invalid-arguments" == errors_of(root, {"v": value}).code
        return
    bound = binder(root)({"v": value})
    assert {"v": result} == bound
    assert repr(result) == repr(bound["v"])


def test_alternatives_inside_alternatives_are_told_apart():
    """A branch with branches of its own is taken when one of them may fit."""
    inner = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"n": INTEGER}}
    root = schema_of({"v": {"oneOf": [inner, {"required": ["c"], "properties": {"n": {"type": "boolean"}}}]}})
    assert {"v": {"b": 1, "n": 3}} == binder(root)({"v": {"b": 1, "n": "3"}})
    assert {"v": {"c": 1, "n": True}} == binder(root)({"v": {"c": 1, "n": "true"}})


def test_old_dialects_are_read():
    """The arrays of draft 7 convert as those of 2020-12."""
    schema = schema_of(
        {"v": {"type": "array", "items": [INTEGER], "additionalItems": {"type": "boolean"}}},
        **{"$schema": "http://json-schema.org/draft-07/schema#"},
    )
    assert {"v": [1, True]} == binder(schema)({"v": ["1", "true"]})


@pytest.mark.parametrize(
    ("keywords", "taken"),
    [
        ({"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}, {"$ref": "#/definitions/c"}]}, "abc"),
        ({"$ref": "#/definitions/c"}, "c"),
        ({"$ref": "#/definitions/c", "type": "object", "allOf": [{"properties": {"a": {}}}]}, "ac"),
        ({"anyOf": [{"properties": {"a": {}}}, {"patternProperties": {"^b": {}}}]}, "ab"),
        ({"if": {"properties": {"a": {}}}, "then": {"properties": {"b": {}}}, "else": True}, "ab"),
        ({"properties": {"a": {}}, "dependencies": {"a": {"properties": {"b": {}}}, "b": ["a"]}}, "ab"),
        ({"allOf": [{"$ref": "#/definitions/c"}], "anyOf": [{"$ref": "#/definitions/c"}]}, "c"),
        ({"oneOf": [{"properties": {"a": {}}, "additionalProperties": {}}]}, "abcd"),
        ({"properties": {"a": {}}, "additionalProperties": False}, "a"),
    ],
)
@pytest.mark.parametrize("draft", ["draft-04", "draft-06", "draft-07"])
def test_unknown_arguments_are_errors_in_old_dialects_too(keywords, taken, draft):
    """A composed schema takes the names of its parts and no others, unless a part takes any."""
    definitions = {"c": {"type": "object", "properties": {"c": {}}}}
    schema = {"$schema": f"http://json-schema.org/{draft}/schema#", "definitions": definitions, **keywords}
    if draft != "draft-07" and "if" in keywords:
        del schema["if"], schema["else"]
        schema["allOf"] = [{"properties": {"a": {}}}, schema.pop("then")]
    whole = dict.fromkeys(taken, 1)
    assert whole == binder(schema)(whole)
    for unknown in set("abcd") - set(taken):
        (text,) = errors_of(schema, {**whole, unknown: 1}).errors
        assert text.startswith(f"{unknown}: unknown argument (")


def test_a_reference_inside_another_address_converts_nothing():
    """References that start at an address inside the schema are left to the validator."""
    inner = {"$id": "urn:inner", "$defs": {"n": {"type": "string"}}, "$ref": "#/$defs/n"}
    bind = binder(schema_of({"v": inner, "w": INTEGER}, **{"$defs": {"n": INTEGER}}))
    assert {"v": "3", "w": 4} == bind({"v": "3", "w": "4"})


def test_a_reference_stands_alone_in_old_dialects():
    """What stands beside a reference says nothing before 2019-09, so it asks for no conversion."""
    keywords = {"v": {"$ref": "#/definitions/any", "type": "integer", "default": 5}}
    schema = schema_of(keywords, definitions={"any": {"type": ["string", "integer"]}})
    assert {"v": "3"} == binder({"$schema": "http://json-schema.org/draft-07/schema#", **schema})({"v": "3"})
    assert {"v": 3} == binder({"$schema": "https://json-schema.org/draft/2019-09/schema", **schema})(
        {"v": "3"}
    )


def test_recursive_schemas_convert_at_every_depth():
    """A schema that refers to itself converts its values as deep as they go."""
    value = {"size": "1", "kids": [{"size": "2", "kids": [None, {"size": 3.0}]}]}
    expected = {"size": 1, "kids": [{"size": 2, "kids": [None, {"size": 3}]}]}
    assert expected == binder(TREE)(value) == binder(TREE)(json.dumps(value))


def test_a_schema_that_doubles_itself_is_walked_once():
    """Two references to the same schema do not double the work with each level."""
    both = {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]}
    part = {"type": "array", "items": both}
    root = schema_of({"v": both}, **{"$defs": {"a": part, "b": dict(part)}})
    value = []
    for _ in range(60):
        value = [value]
    assert {"v": value} == binder(root)({"v": json.dumps(value)})


def test_texts_inside_texts_end_somewhere():
    """Lists written as texts inside lists written as texts are converted, or refused, but never crash."""
    root = schema_of(
        {"v": {"$ref": "#/$defs/l"}}, **{"$defs": {"l": {"type": "array", "items": {"$ref": "#/$defs/l"}}}}
    )
    text = "[]"
    for _ in range(3):
        text = json.dumps([text])
    assert {"v": [[[[]]]]} == binder(root)({"v": text})
    text = "[" * 100 + "]" * 100
    for _ in range(8):
        text = "[" * 100 + json.dumps(text) + "]" * 100
    # How deep is too deep is the interpreter's own affair.
    with contextlib.suppress(InvalidArguments):
        assert isinstance(binder(root)({"v": text})["v"], list)


@pytest.mark.parametrize(
    ("schema", "raw", "result"),
    [
        (schema_of({"a": {"default": 1}, "b": {}}), {"b": 2}, {"b": 2, "a": 1}),
        (schema_of({"a": {"default": 1}}), {"a": None}, {"a": None}),
        (schema_of({"a": {"default": [1, {"x": 2}]}}), "{}", {"a": [1, {"x": 2}]}),
        (
            schema_of({"o": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}}),
            {"o": {}},
            {"o": {"a": 1}},
        ),
        (schema_of({"o": {"properties": {"a": {"default": 1}}}}), {}, {}),
        (
            schema_of({"l": {"items": {"properties": {"a": {"default": 1}}}}}),
            '{"l": [{}, {"a": 2}, 3]}',
            {"l": [{"a": 1}, {"a": 2}, 3]},
        ),
        ({"allOf": [schema_of({"a": {"default": 1}, "b": True})]}, {"b": 1}, {"b": 1, "a": 1}),
        ({"$ref": "#/$defs/x", "$defs": {"x": schema_of({"a": {"default": 1}})}}, {}, {"a": 1}),
        ({"anyOf": [schema_of({"a": {"default": 1}}), schema_of({"b": {"default": 1}})]}, {}, {}),
        ({"anyOf": [False, schema_of({"a": {"default": 1}})]}, {}, {"a": 1}),
        ({"$ref": "#", "properties": {"a": {"default": 1}}, "allOf": [True]}, {}, {"a": 1}),
    ],
)
def test_defaults_stand_in_for_what_is_absent(schema, raw, result):
    """Absent arguments get their defaults, in objects that are there at any depth, and never elsewhere."""
    assert result == binder(freeze(schema))(raw)


def test_a_default_does_not_stand_in_for_a_required_argument():
    """A required argument has to be given, default or not."""
    schema = schema_of({"a": {"default": 1}}, required=["a"])
    assert ("a: is required",) == errors_of(schema, {}).errors


def test_results_are_the_callers_own():
    """What is bound may be changed without a change of the schema, of the next result, or of the input."""
    bind = binder(freeze(schema_of({"a": {"default": [1]}, "b": {}})))
    raw = freeze({"b": {"x": [1]}})
    first = bind(raw)
    first["a"].append(2)
    first["b"]["x"].append(2)
    assert {"b": {"x": [1]}, "a": [1]} == bind(raw)
    assert type(bind(raw)["b"]) is dict


@pytest.mark.parametrize(
    ("schema", "raw", "known"),
    [
        (schema_of({"a": {}}), {"c": 1}, False),
        ({"type": "object"}, {"c": 1}, False),
        (schema_of({}, additionalProperties=True), {"c": 1}, True),
        (schema_of({}, additionalProperties={"type": "integer"}), {"c": "1"}, True),
        (schema_of({}, unevaluatedProperties={"type": "integer"}), {"c": 1}, True),
        (schema_of({}, patternProperties={"^c": {}}), {"c": 1}, True),
        (schema_of({}, patternProperties={"^c": {}}), {"d": 1}, False),
        ({"allOf": [schema_of({"c": {}})]}, {"c": 1}, True),
        ({"allOf": [schema_of({"c": {}})]}, {"d": 1}, False),
        (
            schema_of({"a": {}, "b": {}}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
            {"a": 1, "b": 1},
            True,
        ),
        ({"$ref": "#/$defs/x", "$defs": {"x": schema_of({"c": {}})}}, {"c": 1}, True),
        (None, {"c": 1}, True),
    ],
)
def test_unknown_arguments_are_errors_unless_the_schema_takes_them(schema, raw, known):
    """A name that no part of the schema speaks about is an error, also where it does not say so."""
    if known:
        assert raw.keys() == binder(schema)(raw).keys()
    else:
        assert "unknown argument" in errors_of(schema, raw).errors[0]


@pytest.mark.parametrize(
    ("schema", "raw", "errors"),
    [
        (
            schema_of({"city": STRING, "days": INTEGER}),
            {"cty": "Oslo"},
            ("cty: unknown argument (did you mean city? known: city, days)",),
        ),
        (schema_of({}), {"a": 1}, ("a: unknown argument (there are none)",)),
        (
            schema_of({f"n{i:02}": {} for i in range(30)}),
            {"zzzzz": 1},
            (f"zzzzz: unknown argument (known: {', '.join(f'n{i:02}' for i in range(20))} …)",),
        ),
        (
            schema_of({"o": {"items": schema_of({"size": {}}, additionalProperties=False)}}),
            {"o": [{"sise": 1}]},
            ("o[0].sise: unknown name (did you mean size? known: size)",),
        ),
        (
            {"allOf": [schema_of({"a": INTEGER})]},
            {"a": "x", "b": 1},
            ('a: must be an integer (got "x")',),
        ),
        ({"allOf": [schema_of({"a": INTEGER})]}, {"b": 1}, ("b: unknown argument (known: a)",)),
        ({"$ref": "#", "properties": {"a": {}}}, {"b": 1}, ("b: unknown argument (known: a)",)),
        (
            {"anyOf": [True, schema_of({"a": {}})], "maxProperties": 1},
            {"a": 1, "b": 1},
            ("the arguments: must have at most 1 member (got an object)",),
        ),
        (schema_of({"a": STRING}), {"a": 5}, ("a: must be a string (got 5)",)),
        (
            schema_of({"a": STRING}),
            {"a": 10**5_000},
            ("a: must be a string (got an integer of very many digits)",),
        ),
        (schema_of({"a": INTEGER}), {"a": [1]}, ("a: must be an integer (got a list)",)),
        (
            schema_of({"a": INTEGER}),
            {"a": "x" * 500},
            (f'a: must be an integer (got "{"x" * MAX_ECHO}"… of 500 characters)',),
        ),
        (schema_of({"a": {}}), {"a": "\ud800"}, ("a: has a lone surrogate, which is no character",)),
        (schema_of({"a": {}}), '{"a": "\\ud800"}', ("a: has a lone surrogate, which is no character",)),
        (schema_of({"a": {}}), '{"a": "é\ud800"}', ("a: has a lone surrogate, which is no character",)),
        (schema_of({"a": {}}), {1: 2}, ("the arguments: has a name that is not text",)),
        (
            schema_of({"": {"items": schema_of({"": INTEGER})}}),
            {"": [{"": None}]},
            ('[""][0]: must be an integer (got an object)',),
        ),
        (
            schema_of({"": INTEGER, "a": {}}),
            {"": None},
            ("the arguments: must be an integer (got an object)",),
        ),
        (
            schema_of({"007": {"items": INTEGER}}),
            {"007": [{}]},
            ('["007"][0]: must be an integer (got an object)',),
        ),
        (schema_of({"+1": INTEGER, "b": {}}), {"b": 1, "+1": "x"}, ('["+1"]: must be an integer (got "x")',)),
        (
            schema_of({"": schema_of({"a": {"items": INTEGER}}), "a": {}}),
            {"a": 5, "": {"a": [None]}},
            ("a[0]: must be an integer",),
        ),
        (
            schema_of({"": schema_of({"a": schema_of({"b": INTEGER})}), "a": {}}),
            {"a": {}, "": {"a": {"b": None}}},
            ("a.b: must be an integer",),
        ),
        (
            schema_of({"": schema_of({"a": {"items": schema_of({}, additionalProperties=False)}}), "a": {}}),
            {"a": [], "": {"a": [{"b": None}]}},
            ("a[0].b: unknown name (there are none)",),
        ),
        (schema_of({"0": INTEGER}), {"0": "x"}, ('["0"]: must be an integer (got "x")',)),
        (schema_of({"a": {}}), {"a": {1, 2}}, ("a: must be JSON data, not a value of type set",)),
    ],
)
def test_errors_name_the_path_and_what_was_expected(schema, raw, errors):
    """Every error has a path, what was expected and what there was, cut; unknown names get a suggestion."""
    assert errors == errors_of(schema, raw).errors


def test_errors_are_bounded():
    """However much is wrong, the text stays short."""
    schema = schema_of({"l": {"items": INTEGER}})
    error = errors_of(schema, {"l": ["x" * 10_000] * 10_000})
    assert len(str(error)) < 10_000
    assert "and more" == errors_of(schema, {"l": ["x"] * 100}).errors[-1]


@pytest.mark.parametrize("mark", [{"writeOnly": True}, {"format": "password"}])
def test_no_error_shows_a_secret(mark):
    """With a secret among the arguments no value is repeated, wherever the model put it."""
    schema = schema_of(
        {
            "login": {"anyOf": [{"type": "object", "properties": {"key": {"type": "integer", **mark}}}]},
            "n": INTEGER,
        },
        additionalProperties=False,
    )
    for raw in (
        {"login": {"key": "hunter2"}},
        {"login": '{"key": "hunter2"'},
        {"n": "hunter2"},
        {"pin": "hunter2"},
        '{"login": "hunter2',
    ):
        error = errors_of(schema, raw)
        assert "hunter2" not in str(error) + repr(error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', "an object has a name twice"),
        ('{"a": -Infinity}', "-Infinity is no JSON value"),
        ('{"a": 1e999}', "a number is too large"),
        ("9" * 5_000, "a number has too many digits"),
        ("[" * 100_000, "it is nested too deeply"),
        ('\ufeff{"a": 1}', "Expecting value at line 1, column 1"),
        ('{"a": "x', "Unterminated string starting at line 1, column 7"),
        ('{"a": "x\ny"}', "Invalid control character at line 1, column 9"),
        ('{"secret', "Unterminated string starting at line 1, column 2"),
    ],
)
def test_json_is_read_strictly(text, message):
    """What only some readers take is no JSON; the error says where and never repeats the text."""
    with pytest.raises(NotJsonError) as caught:
        parse_json(text)
    assert message == str(caught.value)


def test_json_is_read():
    """All of JSON is read, with white space around it."""
    value = {"a": [1, -2.5, True, None, "é\\"], "b": {}}
    assert value == parse_json(json.dumps(value)) == parse_json(f" \n{json.dumps(value)}\t ")


@pytest.mark.parametrize("raw", [bytes, bytearray, memoryview])
def test_bytes_are_utf8(raw):
    """Bytes of any type are read as UTF-8 and nothing else."""
    assert {"a": "é"} == read_object(raw('{"a": "é"}'.encode()))
    for data in ('{"a": "é"}'.encode("latin-1"), '{"a": 1}'.encode("utf-16")):
        with pytest.raises(InvalidArguments) as caught:
            read_object(raw(data))
        assert "invalid-json" == caught.value.code


@pytest.mark.parametrize("raw", [None, 5, [], True, "5", "[{}]", '"{}"'])
def test_only_objects_are_arguments(raw):
    """Anything but an object is not-an-object."""
    assert "not-an-object" == errors_of(None, raw).code


def test_any_object_is_taken_without_a_schema():
    """Without a schema any object of JSON data is taken as it is."""
    deep = {"a": [[1.5]], "b": "é" * 200, "long": "x\\" * 200}
    assert deep == binder(None)(deep) == binder(None)(json.dumps(deep)) == binder(None)(FrozenDict(deep))
    assert "invalid-arguments" == errors_of(None, '{"a": ' + "[" * 200 + "]" * 200 + "}").code


def test_a_faulty_schema_is_an_error_of_its_author():
    """A schema that is none cannot be bound to."""
    with pytest.raises(ValueError, match="the JSON Schema is faulty at type"):
        binder({"type": "objct"})


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#", True), ("#/$defs/x%20y", True), ("#/$defs/none", False), ("#/list/0", True),
        ("#/list/9", False), ("#/list/x", False), ("#/title", False), ("other.json#/x", False),
        ("#/flag", True),
    ],
)  # fmt: skip
def test_references_are_json_pointers(reference, target):
    """A reference into the schema itself is followed; any other says nothing."""
    root = {"$defs": {"x y": {}}, "list": [{}], "title": "t", "flag": True}
    assert target == (resolver(root)(reference) is not None)


def test_data_with_an_id_is_no_schema_with_an_address():
    """An argument called ``id``, and an example that has one, leave references as they are."""
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "n": {"$ref": "#/$defs/number"}},
        "$defs": {"number": {"type": "integer"}},
        "examples": [{"id": "a", "n": 1}],
    }
    assert {"id": "a", "n": 3} == binder(schema)({"id": "a", "n": "3"})


STRICT = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"type": ["string", "null"]},
        "more": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["b"]},
        "list": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "string"}}}},
    },
    "required": ["city"],
    "additionalProperties": False,
}


def test_null_can_stand_for_an_argument_that_is_not_given():
    """Where every argument must be named, null is how a model leaves one out, at any depth."""
    given = {
        "city": "Oslo",
        "days": None,
        "unit": None,
        "more": {"a": None, "b": None},
        "list": [{"x": None}, 1],
    }
    bound = binder({**STRICT, "properties": {**STRICT["properties"], "list": {}}}, nulls=True)
    assert bound({**given, "list": None}) == {"city": "Oslo", "unit": None, "more": {"b": None}, "list": None}
    whole = {**given, "list": [{"x": None}]}
    assert binder(STRICT, nulls=True)(whole)["list"] == [{}]
    unknown = {"city": "Oslo", "more": {"b": 1, "z": {"q": None}}}
    assert binder(STRICT, nulls=True)({**unknown, "days": None}) == unknown


def test_null_does_not_stand_for_what_is_required():
    """Nor for anything where it was not agreed upon."""
    for value, nulls in (({"city": None}, True), ({"city": "Oslo", "days": None}, False)):
        with pytest.raises(InvalidArguments) as error:
            binder(STRICT, nulls=nulls)(value)
        assert error.value.code == "invalid-arguments"


CAR = {
    "type": "object",
    "properties": {"kind": {"const": "car"}, "n": {"type": "integer"}},
    "required": ["kind"],
}
BIKE = {**CAR, "properties": {**CAR["properties"], "kind": {"const": "bike"}}, "required": ["kind", "n"]}
ROAD = {"type": "object", "properties": {"kind": {"type": ["string", "null"]}, "n": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ({"anyOf": [{"$ref": "#/$defs/car"}, {"type": "null"}]}, {"kind": "car"}),
        ({"oneOf": [CAR, BIKE]}, {"kind": "car"}),
        ({"oneOf": [BIKE, CAR]}, {"kind": "car"}),
        ({"anyOf": [ROAD, {"type": "string"}]}, {"kind": "car"}),
        ({"anyOf": [CAR, {"type": "object"}]}, {"kind": "car", "n": None}),
    ],
)
def test_null_is_left_out_of_the_alternative_that_is_meant(part, wanted):
    """A member that is null does not rule out an alternative that has it as optional; a free one keeps it."""
    schema = {"$defs": {"car": CAR}, "properties": {"x": part, "list": {"type": "array", "items": part}}}
    given = {"kind": "car", "n": None}
    assert binder(schema, nulls=True)({"x": given, "list": [given]}) == {"x": wanted, "list": [wanted]}


def test_null_is_kept_in_an_alternative_that_requires_it():
    """What must be there and may be null is given as null."""
    required = {**ROAD, "required": ["kind"]}
    bind = binder({"properties": {"x": {"anyOf": [required, {"type": "null"}]}}}, nulls=True)
    assert bind({"x": {"kind": None, "n": None}}) == {"x": {"kind": None}}


def test_null_is_left_out_through_references_and_branches():
    """What is required may be said elsewhere in the schema, and a schema may lead back to itself."""
    schema = {
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
            }
        },
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}, "open": True},
        "anyOf": [{"required": ["root"]}, True],
        "allOf": [{"$ref": "#"}],
    }
    bind = binder(schema, nulls=True)
    assert bind({"root": {"n": None, "next": {"n": None}}, "open": None}) == {
        "root": {"next": {}},
        "open": None,
    }
