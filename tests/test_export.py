"""Recipients in the shape of each provider, and what no provider can be told."""

import json
import pathlib
import tomllib

import pytest

import registry.exporters
from registry.documents import Document
from registry.exceptions import ExportRefused, InvalidRegistry
from registry.exporters import EXPORTERS, export, export_with_problems
from registry.exporters.problems import Problem
from registry.exporters.schemas import (
    anchors_of,
    children,
    disjoint,
    reference_to,
    resolve,
    too_deep,
    types_of,
    walk,
)
from registry.frozen import freeze
from registry.loading.loader import load
from registry.recipient import Recipient
from registry.specs import CommandOptions, RecipientSpec

CASES = sorted((pathlib.Path(__file__).parent / "cases" / "export").glob("*.json"))
TEXT = {"type": "string"}


def recipient(schema=None, name="tool", **constants):
    """Return a recipient class with an input schema."""
    frozen = None if schema is None else freeze(schema)
    namespace = {"DESCRIPTION": "Works.", "INPUT_SCHEMA": frozen, "process": lambda _self, message: message}
    return type(name, (Recipient,), {**namespace, **constants})


def one(schema, target):
    """Return the schema in the target's dialect."""
    exported = export({"tool": recipient(schema)}, target)
    if target == "gemini":
        return exported["functionDeclarations"][0].get("parameters")
    return exported[0]["function"]["parameters"]


def with_x(part, **more):
    """Return a schema with one required property."""
    return {"type": "object", "properties": {"x": part}, "required": ["x"], **more}


def x_of(part, target, **more):
    """Return the translation of one required property."""
    return one(with_x(part, **more), target)["properties"]["x"]


def refused(schema, target):
    """Return the code and pointer of each problem."""
    exported, problems = export_with_problems({"tool": recipient(schema)}, target)
    assert exported is None
    return [(problem.code, problem.pointer) for problem in problems]


def includes(wanted, given):
    """Say whether the wanted data is in the given data, as the cases define it."""
    if isinstance(wanted, dict):
        return isinstance(given, dict) and all(
            k in given and includes(v, given[k]) for k, v in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(given, list) and all(any(includes(w, g) for g in given) for w in wanted)
    return type(wanted) is type(given) and wanted == given


def objects(value):
    """Yield every object inside JSON data."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(item)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_each_case_is_exported_or_refused_as_it_says(path):
    """A target gets everything it can be told, and every problem has its code."""
    expect = json.loads(path.read_text("utf-8"))
    if expect["exit"] == 2:
        with pytest.raises(ValueError, match="unknown target"):
            export({}, expect["target"])
        return
    try:
        exported, problems = export_with_problems(load(path.with_suffix(".toml")), expect["target"])
    except InvalidRegistry as invalid:
        exported, problems = None, invalid.report.errors
    assert (expect["exit"] == 1) == bool(problems)
    assert set(expect["codes"]) <= {problem.code for problem in problems}
    if not problems:
        assert includes(expect["contains"], exported)
        found = list(objects(exported))
        assert not [key for key in expect.get("lacks_keys", ()) for item in found if key in item]
        assert not expect.get("no_type_arrays") or not [i for i in found if isinstance(i.get("type"), list)]


def test_targets_are_the_documented_ones_in_order():
    """The table of exporters is complete and sorted."""
    wanted = ["anthropic", "gemini", "json-schema", "mcp", "openai", "openai-responses", "openai-strict"]
    assert wanted == list(EXPORTERS)


def test_the_function_is_public():
    """``registry.export`` is the function, whatever was imported before."""
    assert registry.export({}, "openai") == registry.exporters.export({}, "openai") == []


def test_export_gives_data_of_its_own():
    """What is exported can be changed without touching the recipients."""
    tool = recipient(with_x(TEXT))
    first = export({"tool": tool}, "openai")
    first[0]["function"]["parameters"]["properties"]["x"]["type"] = "number"
    assert export({"tool": tool}, "openai")[0]["function"]["parameters"]["properties"]["x"] == TEXT


def test_the_responses_api_has_a_flat_shape_that_is_not_strict():
    """The Responses API would turn strict mode on by itself."""
    exported = export({"tool": recipient(with_x(TEXT))}, "openai-responses")
    assert [{"type": "function", "name": "tool", "description": "Works.", "parameters": with_x(TEXT),
             "strict": False}] == exported  # fmt: skip


def test_json_schema_names_its_dialect_and_keeps_what_the_schema_says():
    """A schema's own title and dialect win over those that are added."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    tools = {"a": recipient(with_x(TEXT)), "b": recipient({"title": "Own"}, DESCRIPTION="")}
    assert {
        "a": {"$schema": dialect, "title": "a", "description": "Works.", **with_x(TEXT)},
        "b": {"$schema": dialect, "title": "Own", "type": "object"},
    } == export(tools, "json-schema")


def test_mcp_says_that_a_call_may_be_repeated():
    """An idempotent recipient has the hint, another has no annotations."""
    spec = RecipientSpec(
        "say", "command", "Says.", CommandOptions(("echo",)), freeze({}), idempotent=True, source="a.toml"
    )
    tools = {"say": recipient({}, SPEC=spec), "go": recipient({})}
    first, second = export(tools, "mcp")["tools"]
    assert (first["annotations"], "annotations" in second) == ({"idempotentHint": True}, False)


def test_a_recipient_without_a_schema_is_exported_with_the_names_it_requires():
    """A class of the caller's own may have no schema."""
    tools = {"own": recipient(REQUIRED_ARGS=["code"]), "none": recipient()}
    assert export(tools, "anthropic") == [
        {"name": "own", "description": "Works.",
         "input_schema": {"type": "object", "properties": {"code": {}}, "required": ["code"]}},
        {"name": "none", "description": "Works.", "input_schema": {"type": "object", "properties": {}}},
    ]  # fmt: skip


def test_all_problems_are_reported_at_once():
    """One refusal lists the problems of all recipients, in places of their files."""
    root = {"type": "object", "anyOf": [{}]}
    spec = RecipientSpec("b", "command", "Says.", CommandOptions(("echo",)), freeze({}), source="a.toml")
    tools = {"a b": recipient({}), "b": recipient(root, SPEC=spec), "c": recipient({"properties": {"ä": {}}})}
    with pytest.raises(ExportRefused) as caught:
        export(tools, "anthropic")
    assert [(d.file, d.code, d.path) for d in caught.value.report.diagnostics] == [
        ("<registry>", "name-not-portable", "recipients.c.input_schema.properties.ä"),
        ("<registry>", "name-not-portable", "recipients.a b"),
        ("a.toml", "unsupported-schema", "recipients.b.input_schema.anyOf"),
    ]


def test_too_many_tools_is_about_the_registry():
    """A limit on the number of tools is not the fault of one recipient."""
    tools = {f"t{index}": recipient({}) for index in range(129)}
    with pytest.raises(ExportRefused) as caught:
        export(tools, "openai")
    assert [(d.code, d.path) for d in caught.value.report.errors] == [("too-many-tools", "recipients")]


def test_names_that_look_the_same_collide():
    """Two spellings of one text are no two names."""
    tools = {"\u00e9": recipient({}), "e\u0301": recipient({})}
    exported, problems = export_with_problems(tools, "json-schema")
    assert (exported, [problem.code for problem in problems]) == (None, ["name-collision"])


@pytest.mark.parametrize("target", EXPORTERS)
def test_arguments_that_are_no_object_are_refused_everywhere(target):
    """A call has an object of arguments."""
    assert ("unsupported-schema", ("type",)) in refused({"type": "array"}, target)


@pytest.mark.parametrize("target", EXPORTERS)
def test_a_schema_that_is_too_deep_is_refused_everywhere(target):
    """Depth is a problem, not a stack overflow."""
    schema = {}
    for _ in range(3_000):
        schema = {"properties": {"x": schema}}
    exported, problems = export_with_problems({"tool": recipient(None, INPUT_SCHEMA=schema)}, target)
    assert (exported, [problem.code for problem in problems]) == (None, ["unsupported-schema"])


def test_a_root_that_may_be_null_is_an_object():
    """The arguments are an object, whatever else the schema would take."""
    assert one({"type": ["object", "null"]}, "openai")["type"] == "object"


def test_openai_is_told_that_items_may_be_anything():
    """An array without items is refused there; an empty schema says the same."""
    part = {"anyOf": [{"type": "array"}, {"$ref": "#/$defs/a"}], "not": {"const": 1}}
    branches = x_of(part, "openai", **{"$defs": {"a": True}})["anyOf"]
    assert branches == [{"type": "array", "items": {}}, {"$ref": "#/$defs/a"}]


# --- places in files ---


def test_openai_is_not_told_more_of_items_than_is_meant():
    """Where unevaluated items are restricted, items that may be anything would lift that."""
    part = {"type": "array", "prefixItems": [TEXT], "unevaluatedItems": False}
    assert refused(with_x(part), "openai") == [("unsupported-schema", ("properties", "x"))]
    whole = {**part, "items": TEXT}
    assert one(with_x(whole), "openai")["properties"]["x"] == whole


@pytest.mark.parametrize("target", ["gemini", "openai-strict"])
def test_references_below_another_address_are_refused(target):
    """They start there, not at the root; an address that nothing is relative to says nothing."""
    part = {"$id": "urn:a", "$ref": "#/$defs/b", "$defs": {"b": TEXT}}
    assert ("unsupported-schema", ("properties", "x", "$id")) in refused(with_x(part), target)
    assert one(with_x({"$id": "urn:a", **TEXT}), target)["properties"]["x"] == TEXT


@pytest.mark.parametrize(
    ("target", "part", "pointer"),
    [
        ("gemini", {"type": "integer", "exclusiveMinimum": True, "minimum": 5}, ("exclusiveMinimum",)),
        ("openai-strict", {"type": "integer", "exclusiveMaximum": True, "maximum": 5}, ("exclusiveMaximum",)),
    ],
)
def test_bounds_of_older_dialects_are_refused(target, part, pointer):
    """Draft 4 has exclusive bounds that are true or false; a class of the caller's own may speak it."""
    old = with_x(part, **{"$schema": "http://json-schema.org/draft-04/schema#"})
    assert refused(old, target) == [("unsupported-schema", ("properties", "x", *pointer))]


def test_anthropic_takes_no_list_of_items():
    """It reads all schemas in the newest dialect, where that is no schema."""
    part = {"type": "array", "items": [TEXT]}
    old = with_x(part, **{"$schema": "http://json-schema.org/draft-07/schema#"})
    assert refused(old, "anthropic") == [("unsupported-schema", ("properties", "x", "items"))]


@pytest.mark.parametrize(
    ("text", "pointer", "wanted"),
    [
        (
            "recipients.a.parameters.x.type = 'string'",
            ("properties", "x", "type"),
            ("parameters", "x", "type"),
        ),
        ("recipients.a.parameters.x.type = 'string'", ("properties", "x", "items"), ("parameters", "x")),
        (
            "recipients.a.input_schema.properties.x = {}",
            ("properties", "x"),
            ("input_schema", "properties", "x"),
        ),
        ("recipients.a.input_schema.anyOf = [{}]", ("anyOf", 0, "type"), ("input_schema", "anyOf", 0)),
        ("recipients.a.input_schema.anyOf = []", ("anyOf", 0), ("input_schema", "anyOf")),
        ("recipients.a.kind = 'python'", (), ()),
    ],
)
def test_a_problem_is_found_in_its_file(text, pointer, wanted):
    """A made schema's parts are looked up where the file has them; the nearest place there is, is used."""
    data = tomllib.loads(text)
    fault = Problem("unsupported-schema", "no", "a", pointer).fault(Document("a.toml", text, data))
    assert ("recipients", "a", *wanted) == fault.path


@pytest.mark.parametrize(
    ("text", "wanted"), [("[recipients]", ("recipients",)), ("", ()), ("recipients.a = 1", ())]
)
def test_a_problem_of_all_recipients_is_at_their_table(text, wanted):
    """Without a recipient the place is the table of all, if there is one."""
    data = tomllib.loads(text)
    problem = (
        Problem("too-many-tools", "no") if text != "recipients.a = 1" else Problem("x", "no", "a", ("x",))
    )
    path = problem.path_in(data)
    assert (("recipients", "a") if text == "recipients.a = 1" else wanted) == path


# --- walking schemas ---


def test_walk_goes_by_position():
    """A property, a default or an enum value named like a keyword is no keyword."""
    schema = {
        "properties": {"items": {"default": {"properties": {"no": {}}}}, "anyOf": True},
        "enum": [{"not": {}}],
        "items": [{"type": "null"}, False],
        "additionalProperties": {"anyOf": [{}]},
        "anyOf": 3,
    }
    assert {
        (), ("properties", "items"), ("properties", "anyOf"), ("items", 0), ("items", 1),
        ("additionalProperties",), ("additionalProperties", "anyOf", 0),
    } == {path for path, _ in walk(schema)}  # fmt: skip
    assert list(children(True)) == []


@pytest.mark.parametrize(
    ("reference", "wanted"),
    [
        ("#", ((), ...)),
        ("#/$defs/a~1b%20c", (("$defs", "a/b c"), {"$anchor": "here"})),
        ("#here", (("$defs", "a/b c"), {"$anchor": "here"})),
        ("#/anyOf/1", (("anyOf", 1), True)),
        ("#/anyOf/2", None),
        ("#/anyOf/x", None),
        ("#/anyOf", None),
        ("#/title/x", None),
        ("#/nope", None),
        ("#nope", None),
        ("other.json", None),
    ],
)
def test_resolve_follows_local_references_only(reference, wanted):
    """A reference names the document, a place in it or an anchor; anything else leads nowhere."""
    root = {"$defs": {"a/b c": {"$anchor": "here"}}, "anyOf": [{}, True], "title": "t"}
    assert (wanted if wanted != ((), ...) else ((), root)) == resolve(root, reference, anchors_of(root))


@pytest.mark.parametrize("name", ["point", "a/b", "a~b", "ä b", "50%", "a#b"])
def test_a_made_reference_leads_to_its_definition(name):
    """A definition may have any name."""
    assert (("$defs", name), {}) == resolve({"$defs": {name: {}}}, reference_to(name), {})


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": ["string", "null"]}, ["string", "null"]),
        (
            {"enum": ["a", 1, None, True, 1.5, [], {}]},
            ["string", "null", "boolean", "number", "array", "object"],
        ),
        ({"const": 1}, ["integer"]),
        ({"properties": {}}, ["object"]),
        ({"prefixItems": []}, ["array"]),
        ({"items": {}}, ["array"]),
        ({}, []),
    ],
)
def test_types_are_named_or_implied(schema, wanted):
    """The values that a schema lists say its types too."""
    assert wanted == types_of(schema)


TAGGED = [{"type": "object", "properties": {"k": {"const": name}}, "required": ["k"]} for name in ("a", "b")]


@pytest.mark.parametrize(
    ("branches", "wanted"),
    [
        ([{"type": "string"}, {"type": "number"}, {"type": "null"}], True),
        ([{"type": "integer"}, {"type": "number"}], False),
        ([{"enum": ["a"]}, {"const": "b"}], True),
        ([{"enum": ["a", "b"]}, {"const": "b"}], False),
        ([{"enum": [1, 2]}, {"enum": [True, "a"]}], True),
        ([{"const": 1}, {"const": 1.0}], False),
        ([{"const": [1]}, {"const": [2]}], True),
        ([{"const": {"a": 1}}, {"const": {"a": 1}}], False),
        ([{"const": number} for number in range(2_000)], True),
        (TAGGED, True),
        ([TAGGED[0], TAGGED[0]], False),
        ([TAGGED[0], {**TAGGED[1], "required": []}], False),
        ([TAGGED[0], {**TAGGED[1], "properties": {}}], False),
        ([TAGGED[0], {**TAGGED[1], "properties": {"k": True}}], False),
        ([TAGGED[0], {"required": ["k"], "enum": [{"k": "b"}]}], False),
        ([True, {"type": "string"}], False),
        ([{}, {"type": "string"}], False),
    ],
)
def test_branches_are_apart_only_when_it_is_plain(branches, wanted):
    """Different types, listed values or required tags tell branches apart."""
    assert wanted == disjoint(branches)


def test_depth_counts_containers():
    """A wide schema is not deep."""
    assert not too_deep({"a": [{} for _ in range(1_000)]})
