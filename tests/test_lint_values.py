"""Lint: defaults and examples fit their schemas; what is named elsewhere exists."""

import pytest
from linting import document, faults, found, only

from registry import schema_check
from registry.diagnostics import Place
from registry.documents import Document, Sources
from registry.loading.lint import lint
from registry.loading.lint.values import plainly_fits

HEAD = '[recipients.a]\nkind = "function"\ndescription = "x"\ncall = "a:b"\n'
OTHER = "[recipients.b]\nkind = 'python'\ndescription = 'x'\n"
PROMPT = '[prompts.p]\ndescription = "x"\nrole = "user"\ntemplate = "{x}"\n'


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("{ type = 'integer', default = 'many' }", "default"),
        ("{ type = 'integer', minimum = 1, default = 0 }", "default"),
        ("{ type = 'integer', maximum = 1, default = 2 }", "default"),
        ("{ type = 'string', enum = ['a'], default = 'b' }", "default"),
        ("{ type = 'string', minLength = 2, default = 'b' }", "default"),
        ("{ type = 'string', maxLength = 2, default = 'abc' }", "default"),
        ("{ type = 'string', pattern = '^a$', default = 'b' }", "default"),
        ("{ type = 'boolean', default = 1 }", "default"),
        ("{ type = 'integer', default = true }", "default"),
        ("{ type = 'integer', default = 1.5 }", "default"),
        ("{ type = ['integer', 'null'], default = 'x' }", "default"),
        ("{ enum = [1, 2], default = 3 }", "default"),
        ("{ type = 'array', items = { type = 'string' }, default = ['a', 3] }", "default.1"),
        (
            "{ type = 'object', properties = { y = { type = 'string', default = 3 } } }",
            "properties.y.default",
        ),
        ("{ type = 'object', required = ['y'], default = {} }", "default"),
        (
            "{ type = 'object', properties = { z = {} }, additionalProperties = false, default = { y = 1 } }",
            "default.y",
        ),
        ("{ '$ref' = '#/properties/y', default = 3 }", "default"),
        ("{ items = { '$ref' = '#/properties/y', default = 3 } }", "items.default"),
    ],
)
def test_a_default_that_does_not_fit_is_refused_at_the_value(schema, path):
    """Also inside a schema, and by reference; one that fits elsewhere in the file changes nothing."""
    parameters = f"parameters = {{ y = {{ type = 'string' }}, x = {schema} }}\n"
    wanted = [f"default-violates-schema recipients.a.parameters.x.{path}"]
    assert wanted == found(HEAD + parameters)
    more = OTHER + "parameters.z = { type = ['string'], default = 'x' }\n"
    assert wanted == found(HEAD + parameters + more)


@pytest.mark.parametrize(
    "schema",
    [
        "{ type = 'integer', default = 1.0 }",
        "{ type = 'number', minimum = 0, default = 0.5 }",
        "{ type = 'string', enum = ['a', 'b'], default = 'b' }",
        "{ enum = [1, 2], default = 2 }",
        "{ type = 'boolean', default = false }",
        "{ type = 'array', items = { type = 'string' }, default = [] }",
        "{ default = { y = 3 } }",
        "{ '$ref' = '#/properties/y', default = 'x' }",
    ],
)
def test_a_default_that_fits_is_fine(schema):
    """Whether it is seen at once or decided by the validator."""
    parameters = f"parameters = {{ y = {{ type = 'string', default = 'x' }}, x = {schema} }}\n"
    assert [] == found(HEAD + parameters)
    assert [] == found(
        HEAD + parameters + "[recipients.b]\nkind = 'python'\ndescription = 'x'\n" + parameters
    )


def test_defaults_in_whole_schemas_and_of_inputs_are_checked():
    """Wherever a schema is declared."""
    assert ["default-violates-schema recipients.a.input_schema.properties.x.default"] == found(
        HEAD + "input_schema.properties.x = { type = 'string', default = 3 }\n"
    )
    assert ["default-violates-schema prompts.p.inputs.x.default"] == found(
        PROMPT + "inputs.x = { type = 'integer', default = 'x' }\n"
    )
    assert ["default-violates-schema recipients.a.input_schema.properties.x.default"] == found(
        HEAD + "input_schema = { '$id' = 'urn:a', properties = { x = { '$ref' = '#/$defs/s', default = 3 } },"
        " '$defs' = { s = { type = 'string' } } }\n"
    )


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ("{ text = 'x', width = 'wide' }", "width"),
        ("{ text = 'x', width = 0 }", "width"),
        ("{ text = 3 }", "text"),
        ("{ text = 'x', unit = 'C' }", "unit"),
        ("{ width = 3 }", ""),
        ("{ text = 'x', list = [1, 'x'] }", "list.1"),
    ],
)
def test_an_example_that_does_not_fit_is_refused(arguments, path):
    """The fault is at the value inside the example; unknown arguments at their key."""
    text = HEAD + (
        "required_args = ['text']\n"
        "parameters = { text = { type = 'string' }, width = { type = 'integer', minimum = 1 },"
        " list = { type = 'array', items = { type = 'integer' } } }\n"
        f"example_messages = [{{ arguments = {{ text = 'fine' }} }}, {{ arguments = {arguments} }}]\n"
    )
    fault = only(text)
    whole = "recipients.a.example_messages.1.arguments"
    assert ("example-violates-schema", f"{whole}.{path}".rstrip(".")) == (
        fault.code,
        ".".join(map(str, fault.path)),
    )
    assert {"unit": Place.KEY, "": Place.TABLE}.get(path, Place.VALUE) is fault.place


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [("{ x = 'a', y = 1 }", []), ("{ x = 'a' }", []), ("{ y = 1 }", [""]), ("{ x = 'a', y = 'b' }", [".y"])],
)
@pytest.mark.parametrize("more", ["", ", { text = 'z' }"])
def test_simple_examples_are_judged_like_any_other(arguments, wanted, more):
    """What is decided without a validator is decided in the same way."""
    text = HEAD + (
        "required_args = ['x']\nparameters = { x = { type = 'string' }, y = { type = 'integer' } }\n"
        f"example_messages = [{{ arguments = {arguments} }}{more}]\n"
    )
    where = "example-violates-schema recipients.a.example_messages.0.arguments"
    assert [f"{where}{path}" for path in wanted] == found(text)


def test_all_faults_of_one_example_are_reported():
    """Each wrong argument of an example is named."""
    text = HEAD + (
        "required_args = ['x', 'y']\nparameters = { x = {}, y = {}, z = { type = 'string' } }\n"
        "example_messages = [{ arguments = { z = 3, u = 1 } }]\n"
    )
    where = "example-violates-schema recipients.a.example_messages.0.arguments"
    assert [where, where, f"{where}.u", f"{where}.z"] == found(text)


def test_examples_of_whole_schemas_rule_out_unknown_arguments():
    """As calls do: unless the schema says itself which it takes."""
    text = (
        HEAD
        + "input_schema = {{ properties = {{ x = {{}} }}{} }}\n"
        + "example_messages = [{{ arguments = {{ y = 1 }} }}]\n"
    )
    where = "example-violates-schema recipients.a.example_messages.0.arguments.y"
    assert [where] == found(text.format(""))
    assert [where] == found(text.format(", allOf = [{ properties = { z = {} } }]"))
    assert [] == found(text.format(", allOf = [{ properties = { y = {} } }]"))
    assert [] == found(text.format(", additionalProperties = true"))
    assert [where] == found(text.format(", additionalProperties = false"))


def test_examples_of_kinds_with_arguments_of_their_own():
    """A python recipient takes code; what a class takes is its own affair."""
    python = '[recipients.a]\nkind = "python"\ndescription = "x"\nexample_messages = [{{ arguments = {} }}]\n'
    assert [] == found(python.format("{ code = 'x' }"))
    assert ["example-violates-schema recipients.a.example_messages.0.arguments.code"] == found(
        python.format("{ code = 3 }")
    )
    own = '[recipients.a]\nkind = "class"\nclass = "a:B"\ndescription = "x"\n'
    assert [] == found(own + "example_messages = [{ arguments = { y = 1 } }]\n")


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "parameters = 3\nexample_messages = [{ arguments = { x = 1 } }]\n",
        HEAD + "paramaters.x = {}\nexample_messages = [{ arguments = { x = 1 } }]\n",
        HEAD + "parameters.x.type = 'strng'\nexample_messages = [{ arguments = { x = 1 } }]\n",
        HEAD + "parameters.x = { type = 'strng', default = 3 }\n",
        HEAD + "parameters.x = { type = 'integer', minimum = '1', default = 3 }\n",
        HEAD + "parameters.x = {}\nexample_messages = [{ arguments = 3 }, 4]\n",
        HEAD + "parameters.x = {}\nexample_messages = 'x'\n",
        HEAD + "parameters.x = 3\n",
        '[recipients.a]\nkind = "pythn"\ndescription = "x"\nexample_messages = [{ arguments = { y = 1 } }]\n',
        PROMPT + "inputs.x = 3\nexamples = [{ inputs = { x = 3 } }]\n",
        PROMPT + "inputs.x = { type = 'strng' }\nexamples = [{ inputs = { x = 3 } }]\n",
        PROMPT + "inputs.x = {}\nexamples = [3, { inputs = 3 }]\n",
        PROMPT + "inputs.x = {}\nexamples = [{ input = { x = 3 } }]\n",
        PROMPT + "inputs = 3\nexamples = [{ inputs = { x = 3 } }]\n",
        PROMPT + "input.x = {}\nexamples = [{ inputs = { x = 3 } }]\n",
    ],
)
def test_what_is_in_error_already_brings_no_second_report(text):
    """Values are judged only by schemas that are in order."""
    assert () == faults(text)


def test_a_schema_that_lint_refuses_judges_nothing():
    """A bad pattern is reported, and the values that need the schemas around it are not judged."""
    parameters = "parameters = { x = { pattern = '(' }, y = { '$ref' = '#/properties/x', default = 3 } }\n"
    assert ["bad-parameter-schema recipients.a.parameters.x.pattern"] == found(HEAD + parameters)


def test_a_schema_that_needs_no_other_judges_all_the_same():
    """What is wrong in one argument hides nothing in the next."""
    parameters = "parameters = { x = { pattern = '(' }, y = { type = 'string', default = 3 } }\n"
    assert [
        "bad-parameter-schema recipients.a.parameters.x.pattern",
        "default-violates-schema recipients.a.parameters.y.default",
    ] == found(HEAD + parameters)


def test_a_value_that_is_wrong_in_two_ways_is_one_fault():
    """One place, one report."""
    assert ["default-violates-schema recipients.a.parameters.x.default"] == found(
        HEAD + "parameters.x = { type = 'string', minLength = 2, pattern = '^x', default = 'a' }\n"
    )


def test_schemas_that_cannot_be_compiled_together_are_compiled_alone(monkeypatch):
    """What one validator cannot hold is decided one by one."""
    compile_ = schema_check.compile

    def alone(schema):
        if "prefixItems" in schema:
            raise ValueError
        return compile_(schema)

    monkeypatch.setattr(schema_check, "compile", alone)
    parameters = (
        "parameters = { x = { type = ['string'], default = 3 }, y = { type = ['string'], default = 'x' } }\n"
    )
    assert ["default-violates-schema recipients.a.parameters.x.default"] == found(HEAD + parameters)


@pytest.mark.parametrize(
    ("inputs", "example", "wanted"),
    [
        ("{ x = { type = 'integer' } }", "{ x = 'y' }", ["inputs.x"]),
        ("{ x = { type = 'integer', pattern = 'a' } }", "{ x = 3 }", []),
        ("{ x = {} }", "{ x = 3, z = 1 }", ["inputs.z"]),
        ("{ x = {} }", "{ }", ["inputs"]),
        ("{ x = { default = 3 } }", "{ }", []),
        ("{ x = { type = 'string', provided = 'current_date' } }", "{ }", []),
        ("{ x = { type = ['string', 'null'] } }", "{ x = 'y' }", []),
    ],
)
def test_examples_of_prompts_give_the_inputs_that_there_are(inputs, example, wanted):
    """Unknown inputs, wrong values and missing ones are refused."""
    text = f"{PROMPT}inputs = {inputs}\nexamples = [{{ inputs = {example} }}]\n"
    assert [f"example-violates-schema prompts.p.examples.0.{path}" for path in wanted] == found(text)


def test_an_example_without_inputs_is_one_of_a_prompt_that_needs_none():
    """Leaving out `inputs` gives no values."""
    fault = only(PROMPT + "inputs.x = {}\nexamples = [{ renders = 'x' }]\n")
    assert ("example-violates-schema", ("prompts", "p", "examples", 0), Place.TABLE) == (
        fault.code,
        fault.path,
        fault.place,
    )
    assert [] == found(PROMPT.replace("{x}", "x") + "examples = [{ renders = 'x' }]\n")


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"type": "string"}, "x", True),
        ({"type": "string"}, 3, False),
        ({"type": "integer"}, True, False),
        ({"type": "integer", "minimum": 3}, 3, True),
        ({"type": "integer", "enum": [3]}, 3, False),
        ({"type": "string", "pattern": "x"}, "x", False),
        ({"type": "boolean"}, True, True),
        ({}, "x", False),
    ],
)
def test_only_what_certainly_fits_is_said_to(schema, value, fits):
    """False means that the validator has to decide."""
    assert fits is plainly_fits(schema, value)


MCP = '[recipients.a]\nkind = "mcp"\ndescription = "x"\nserver = "{}"\ntool = "x"\ninput_schema = {{}}\n'
PROMPTS = '[prompts.{}]\ndescription = "x"\nrole = "user"\ntemplate = "x"\n'


@pytest.mark.parametrize(
    ("text", "wanted", "hint"),
    [
        (
            HEAD + PROMPTS.format("p") + "recipients = ['a', 'b']\n",
            "unknown-recipient prompts.p.recipients.1",
            None,
        ),
        (
            HEAD + PROMPTS.format("p") + "recipients = ['A']\n",
            "unknown-recipient prompts.p.recipients.0",
            "`a`",
        ),
        (
            MCP.format("clok") + '[servers.clock]\ncommand = ["x"]\n',
            "unknown-server recipients.a.server",
            "`clock`",
        ),
    ],
)
def test_what_is_named_must_exist(text, wanted, hint):
    """The fault is at the name; a near one is suggested."""
    assert [wanted] == found(text)
    assert (f"did you mean {hint}?" if hint else "declare it under `recipients`") == only(text).hint


def test_names_of_included_files_count():
    """A name is looked up in all files of the registry."""
    assert [] == found(PROMPTS.format("p") + "recipients = ['a']\n", HEAD)


def test_names_are_not_judged_where_declarations_are_missing():
    """A file that could not be read, or a table that is misspelt, may hold the name."""
    text = PROMPTS.format("p") + "recipients = ['b', 3]\n"
    assert [] == found("recipient.b.kind = 'python'\n" + text)
    assert [] == found("recipients = 3\n" + text)
    assert () == lint(Sources((document(text), Document("unread.toml", "", None))))
    assert [] == found(MCP.format("s") + "[server.s]\ncommand = ['x']\n")


def test_what_may_not_stand_there_brings_no_second_fault():
    """A whole schema beside parameters is refused as a key; what is in it is not looked at."""
    text = HEAD + "parameters.x = { type = 'integer', default = 1 }\n"
    whole = "input_schema = { type = 'object', properties = { y = { type = 'integer', default = 'a' } } }\n"
    assert not faults(document(text + whole))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("ciyt = 'x'", ["arguments.ciyt"]),
        ("ciyt = 'x', dayz = 1", ["arguments.ciyt", "arguments.dayz"]),
        ("city = 'x', dayz = 1", ["arguments.dayz"]),
        ("town = 'x'", ["arguments", "arguments.town"]),
        ("city = 'x', at = { lta = 1 }", ["arguments.at.lta"]),
        ("city = 'x', at = { x = 1 }", ["arguments.at", "arguments.at.x"]),
    ],
)
def test_a_misspelt_argument_of_an_example_is_one_fault(given, wanted):
    """What it is misspelt for is not missing as well; only what resembles nothing leaves it missing."""
    text = (
        f"{HEAD}required_args = ['city']\n"
        "parameters.city = { type = 'string' }\nparameters.days = { type = 'integer' }\n"
        "parameters.at = { type = 'object', properties.lat = {}, required = ['lat'],"
        " additionalProperties = false }\n"
        f"example_messages = [{{ arguments = {{ {given} }} }}]\n"
    )
    assert [f"example-violates-schema recipients.a.example_messages.0.{place}" for place in wanted] == found(
        text
    )


def test_a_misspelt_input_of_an_example_is_one_fault():
    """As with arguments."""
    text = PROMPT.replace("{x}", "{name}") + "inputs.name = {}\nexamples = [{ inputs = { nmae = 1 } }]\n"
    assert ["example-violates-schema prompts.p.examples.0.inputs.nmae"] == found(text)
    assert "did you mean `name`?" == only(text).hint


def test_defaults_beside_references_take_linear_time():
    """The schema that they are part of is compiled once for all of them."""
    parameters = "".join(
        f"p{number} = {{ allOf = [{{ '$ref' = '#/properties/t' }}], default = {number} }}\n"
        for number in range(3_000)
    )
    text = f"{HEAD}[recipients.a.parameters]\nt = {{ maximum = 2_998 }}\n{parameters}"
    assert ["default-violates-schema recipients.a.parameters.p2999.default"] == found(text)
