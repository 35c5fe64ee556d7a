"""The JSON Schemas: valid, complete, and understood by the programs that read them in editors."""

import json
import pathlib
import re
import shutil
import subprocess
import sysconfig

import attrs
import bundle_schemas
import jsonschema
import pytest

from registry import specs
from registry.codes import CODES
from registry.kinds import KINDS
from registry.loading.schemas import schema
from registry.resources import schema_folder

NAMES = ("registry", *bundle_schemas.PARTS)
CASES = pathlib.Path(__file__).parent / "cases" / "config"
#: Options whose key is no Python name.
RENAMED = {"class_": "class", "as_": "as"}


def shipped(name):
    return json.loads((schema_folder() / f"{name}.schema.json").read_text("utf-8"))


def nodes(value, key=""):
    """Yield every table inside a schema, with the key it stands under."""
    if isinstance(value, dict):
        yield key, value
        for name, item in value.items():
            yield from nodes(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from nodes(item, key)


def keys_of(spec):
    return {RENAMED.get(field.name, field.name) for field in attrs.fields(spec)}


def branches():
    """Return the keys that each kind allows."""
    found = {}
    for branch in shipped("registry")["$defs"]["recipient"]["allOf"]:
        if "kind" in branch["if"].get("properties", {}):
            kind = branch["if"]["properties"]["kind"]["const"]
            found[kind] = set(branch["then"]["propertyNames"]["enum"])
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_valid_under_its_metaschema(name):
    """Every shipped schema is a JSON Schema 2020-12."""
    found = shipped(name)
    assert found["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]
    jsonschema.Draft202012Validator.check_schema(found)


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_refers_to_nothing_outside_itself(name):
    """Editors need no network and no second file; the id is a name, not an address."""
    found = shipped(name)
    refs = [node["$ref"] for _, node in nodes(found) if isinstance(node.get("$ref"), str)]
    assert all(ref.startswith("#/$defs/") and ref[8:] in found["$defs"] for ref in refs)
    assert found["$id"] == f"urn:recipients:schema:{name}"


@pytest.mark.parametrize("name", bundle_schemas.PARTS)
def test_the_schema_of_a_part_says_what_the_whole_says(name):
    """The schemas of parts are made from the whole: `python tests/bundle_schemas.py`."""
    written = (schema_folder() / f"{name}.schema.json").read_text("utf-8")
    assert bundle_schemas.text(bundle_schemas.part(name)) == written


@pytest.mark.parametrize("name", NAMES)
def test_the_loaded_schema_checks_argument_schemas_by_the_metaschema(name):
    """Where editors see the usual keywords, a check sees all of them."""
    checked = schema(name)["$defs"].get("json_schema")
    assert checked in (None, {"$ref": "https://json-schema.org/draft/2020-12/schema"})
    assert (checked is None) == (name == "server")


def test_kinds_of_the_schema_are_the_kinds_of_the_package():
    """The enum of `kind`, the branches and the table of kinds name the same kinds."""
    kind = shipped("registry")["$defs"]["recipient"]["properties"]["kind"]
    assert kind["enum"] == sorted(KINDS) == sorted(branches())


@pytest.mark.parametrize("kind", KINDS)
def test_the_keys_of_a_kind_are_its_options_and_the_common_keys(kind):
    """A kind allows a key for each field of its options, and what every recipient may have."""
    common = keys_of(specs.RecipientSpec) - {"name", "options", "source"}
    common |= {"parameters", "required_args"}
    assert branches()[kind] == common | keys_of(KINDS[kind].options)


@pytest.mark.parametrize(
    ("part", "spec", "left_out"),
    [
        ("server", specs.ServerSpec, {"name"}),
        ("http_body", specs.HttpBody, set()),
        ("example_message", specs.ExampleMessage, set()),
        ("message", specs.MessageSpec, set()),
        ("prompt_example", specs.PromptExample, set()),
    ],
)
def test_the_keys_of_a_table_are_the_fields_of_its_spec(part, spec, left_out):
    """A spec has one field for each key."""
    keys = set(shipped("registry")["$defs"][part]["properties"]) - {"template_file"}
    assert keys == keys_of(spec) - left_out


def test_defaults_in_the_schema_are_those_of_the_specs():
    """What an editor shows as the default is what is used."""
    properties = shipped("registry")["$defs"]["recipient"]["properties"]
    for options in (specs.PythonOptions, specs.HttpOptions, specs.McpOptions, specs.RecipientSpec):
        for field in attrs.fields(options):
            declared = properties.get(field.name, {})
            if "default" in declared:
                assert (field.name, declared["default"]) == (field.name, field.default)


def test_every_key_is_described():
    """Editors show a sentence for each key of the format."""
    found = shipped("registry")
    for name, definition in found["$defs"].items():
        if name not in {"json_schema", "argument_schema"}:
            for key, node in definition.get("properties", {}).items():
                whole = found["$defs"][node["$ref"][8:]] if "$ref" in node else node
                assert (name, key, "description" in {**whole, **node}) == (name, key, True)


def test_annotated_codes_can_be_explained():
    """Every `x-code` is a diagnostic code; patterns say what they expect."""
    for _, node in nodes(shipped("registry")):
        assert node.get("x-code", "wrong-value") in CODES
        assert ("pattern" not in node) or isinstance(node["pattern"], dict) or "x-expect" in node


def test_patterns_have_one_meaning_in_every_dialect():
    """Patterns use no shorthand classes, which differ between engines, and are anchored at both ends."""
    for _, node in nodes(shipped("registry")):
        pattern = node.get("pattern")
        if isinstance(pattern, str):
            assert re.match(r"\^.*\$\Z", pattern), pattern
            assert not re.search(r"\\[dDwWsSbB]", pattern), pattern


def test_examples_in_the_schema_fit():
    """Each example that an editor offers is right where it is offered."""
    found = shipped("registry")
    for _, node in nodes(found):
        for example in node.get("examples", ()) if isinstance(node.get("examples"), list) else ():
            jsonschema.Draft202012Validator({**node, "$defs": found["$defs"]}).validate(example)


def program(name):
    found = shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def accepted_by(tool, text, folder):
    """Say whether an editor's checker accepts a file with our schema."""
    uri = (schema_folder() / "registry.schema.json").resolve().as_uri()
    file = folder / "main.toml"
    file.write_text(f"#:schema {uri}\n{text}", "utf-8")
    commands = {
        "taplo": ["taplo", "lint", "--schema", uri, str(file)],
        "tombi": ["tombi", "lint", "--offline", str(file)],
    }
    command = commands[tool]
    run = subprocess.run([program(tool), *command[1:]], cwd=folder, capture_output=True, check=False)
    return run.returncode == 0


RIGHT = ["ok-every-kind", "ok-local-ref", "ok-developer-role", "ok-loop", "ok-unicode-names", "ok-env-unset"]
WRONG = [
    "foreign-key", "foreign-key-class", "import-path", "kind-unknown", "missing-call", "missing-kind",
    "missing-template", "missing-url", "name-argument", "name-input", "name-long", "name-recipient",
    "role-unknown", "schema-minimum", "schema-type", "second-message", "type-bool", "type-element",
    "type-fraction", "type-headers", "type-section", "unknown-dash", "unknown-in-message", "unknown-table",
    "value-branch", "value-negative",
]  # fmt: skip


@pytest.mark.parametrize("tool", ["taplo", "tombi"])
@pytest.mark.parametrize("case", RIGHT)
def test_editors_accept_what_is_right(tool, case, tmp_path):
    """An editor shows no error in a file that a check accepts."""
    assert accepted_by(tool, (CASES / case / "main.toml").read_text("utf-8"), tmp_path)


@pytest.mark.parametrize("case", ["ok-toml11-escapes", "ok-toml11-inline"])
def test_an_editor_is_told_the_version_of_toml(case, tmp_path):
    """Tombi accepts what is new in TOML 1.1, because the schema says so."""
    assert accepted_by("tombi", (CASES / case / "main.toml").read_text("utf-8"), tmp_path)


@pytest.mark.parametrize("tool", ["taplo", "tombi"])
@pytest.mark.parametrize("case", WRONG)
def test_editors_refuse_what_is_wrong(tool, case, tmp_path):
    """An editor shows an error where a check reports one of shape."""
    assert not accepted_by(tool, (CASES / case / "main.toml").read_text("utf-8"), tmp_path)
