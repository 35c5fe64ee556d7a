"""Laws of the exporters, for any input schema."""

from __future__ import annotations

import copy
import json

import jsonschema
import pytest
import referencing
import strategies
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from registry.exceptions import ExportRefused
from registry.exporters import EXPORTERS, export
from registry.exporters.schemas import walk
from registry.frozen import freeze
from registry.recipient import Recipient

CODES = {"name-not-portable", "unsupported-schema"}


def tool(schema):
    """Return a recipient class with an input schema."""
    namespace = {
        "DESCRIPTION": "Works.",
        "INPUT_SCHEMA": freeze(schema),
        "process": lambda _self, message: message,
    }
    return type("Tool", (Recipient,), namespace)


def exported(schema, target):
    """Return the exported data, or drop the example when the target has no words for it."""
    try:
        return export({"tool": tool(schema)}, target)
    except ExportRefused:
        assume(False)


def includes(wanted, given):
    """Say whether data has all that other data has, with more keys at most."""
    if isinstance(wanted, dict):
        return all(key in given and includes(item, given[key]) for key, item in wanted.items())
    return wanted == given or (isinstance(wanted, list) and all(map(includes, wanted, given)))


def fits(value, schema):
    """Say whether a value fits a schema."""
    validator = jsonschema.Draft202012Validator(schema, registry=referencing.Registry())
    return validator.is_valid(value)


@given(strategies.input_schemas(), st.sampled_from(sorted(EXPORTERS)))
def test_every_schema_is_exported_or_refused(schema, target):
    """The outcome is JSON data or a report of known codes, and the schema is not changed."""
    before = copy.deepcopy(schema)
    refusal, first = None, None
    try:
        first = export({"tool": tool(schema)}, target)
    except ExportRefused as error:
        refusal = error
    if refusal is None:
        assert json.loads(json.dumps(first)) == first
        assert export({"tool": tool(schema)}, target) == first
    else:
        assert refusal.report.errors
        assert {diagnostic.code for diagnostic in refusal.report.errors} <= CODES
    assert before == schema


@given(strategies.json_values() | strategies.faulty_schemas, st.sampled_from(sorted(EXPORTERS)))
def test_what_is_no_schema_is_refused_or_exported(value, target):
    """A class of the caller's own may have anything for a schema; the outcome is data or a report."""
    refusal, first = None, None
    try:
        first = export({"tool": tool(value if isinstance(value, dict) else {"properties": value})}, target)
    except ExportRefused as error:
        refusal = error
    assert refusal is not None or json.loads(json.dumps(first)) == first


@given(
    strategies.input_schemas(),
    st.sampled_from(["anthropic", "json-schema", "mcp", "openai", "openai-responses"]),
)
def test_targets_that_speak_json_schema_keep_every_keyword(schema, target):
    """What those targets get includes the whole schema, word for word."""
    found = exported(schema, target)
    data = found["tool"] if target == "json-schema" else found["tools"][0] if target == "mcp" else found[0]
    body = data.get("function", data)
    inside = next(
        body[key] for key in ("parameters", "input_schema", "inputSchema", "$schema") if key in body
    )
    assert includes(schema, body if isinstance(inside, str) else inside)


@given(strategies.input_schemas())
def test_anthropic_has_a_plain_object_at_the_root(schema):
    """No alternatives at the root: they are refused there."""
    root = exported(schema, "anthropic")[0]["input_schema"]
    assert root["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf"} & set(root)


def strict_of(schema):
    return exported(schema, "openai-strict")[0]["function"]["parameters"]


@given(strategies.portable_input_schemas())
def test_strict_objects_are_closed_and_complete(schema):
    """Every object of a strict schema requires all its properties and takes no others."""
    for _, part in walk(strict_of(schema)):
        if isinstance(part, dict) and "properties" in part:
            assert list(part["properties"]) == part["required"]
            assert part["additionalProperties"] is False


def with_nulls(value, schema, root):
    """Fill in null for each argument that is left out, as a model does in strict mode."""
    if not isinstance(value, dict) or not isinstance(schema, dict):
        return value
    return {name: value.get(name) for name in schema.get("properties", {})}


@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(strategies.object_schemas(strategies.value_schemas, (False,)), st.data())
def test_a_strict_schema_takes_what_the_original_takes(schema, data):
    """A value that fits fits strictly too once the missing arguments are null, and the other way round."""
    strict = strict_of(schema)
    value = data.draw(strategies.values_of(schema, schema))
    if fits(value, schema):
        assert fits(with_nulls(value, schema, schema), strict)
    full = data.draw(strategies.values_of(strict, strict))
    optional = set(schema["properties"]) - set(schema.get("required", ()))
    bare = {name: item for name, item in full.items() if item is not None or name not in optional}
    words = {"minLength", "maxLength"}  # said in words there, checked at call time
    loose = {
        **schema,
        "properties": {
            name: {key: item for key, item in part.items() if key not in words}
            for name, part in schema["properties"].items()
        },
    }
    if fits(full, strict):
        assert fits(bare, loose)


@given(strategies.portable_input_schemas())
def test_strict_is_a_fixed_point_of_openais_own_tool(schema):
    """OpenAI's own library has nothing to add to a strict schema."""
    oracle = pytest.importorskip("agents.strict_schema")
    strict = strict_of(schema)
    assert oracle.ensure_strict_json_schema(copy.deepcopy(strict)) == strict


def from_openapi(schema):
    """Return Gemini's form as JSON Schema: nullable is the one difference that matters here."""
    done = {key: value for key, value in schema.items() if key != "nullable"}
    if "properties" in schema:
        done["properties"] = {name: from_openapi(part) for name, part in schema["properties"].items()}
    if "items" in schema:
        done["items"] = from_openapi(schema["items"])
    if "anyOf" in schema:
        done["anyOf"] = [from_openapi(part) for part in schema["anyOf"]]
    return {"anyOf": [done, {"type": "null"}]} if schema.get("nullable") else done


@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(strategies.portable_input_schemas(), st.data())
def test_gemini_takes_what_the_original_takes(schema, data):
    """No value that fits is shut out by the translation."""
    parameters = exported(schema, "gemini")["functionDeclarations"][0].get("parameters", {})
    value = data.draw(strategies.values_of(schema, schema))
    if fits(value, schema):
        assert fits(value, from_openapi(parameters))


@given(strategies.portable_input_schemas())
def test_gemini_gets_only_words_it_knows(schema):
    """No reference, no list of types and no keyword of JSON Schema alone is left."""
    known = {
        "type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties",
        "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "anyOf", "default",
        "items", "minimum", "maximum",
    }  # fmt: skip
    parameters = exported(schema, "gemini")["functionDeclarations"][0].get("parameters", {})
    for _, part in walk(parameters):
        assert set(part) <= known
        assert isinstance(part.get("type", ""), str)
        assert all(isinstance(value, str) for value in part.get("enum", ()))


@given(strategies.portable_input_schemas())
def test_gemini_makes_a_declaration_of_googles_own_library(schema):
    """Google's own library takes the declaration."""
    types = pytest.importorskip("google.genai.types")
    declaration = exported(schema, "gemini")["functionDeclarations"][0]
    assert types.FunctionDeclaration(**declaration).name == "tool"
