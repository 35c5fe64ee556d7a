"""Lint: the schemas of arguments and inputs."""

import pytest
from linting import faults, found, only

from registry.diagnostics import Place, Severity

HEAD = '[recipients.a]\nkind = "function"\ndescription = "x"\ncall = "a:b"\n'
INPUT = '[prompts.p]\ndescription = "x"\nrole = "user"\ntemplate = "{x}"\n'


@pytest.mark.parametrize(
    ("schema", "key", "meant"),
    [
        ("{ minimun = 1 }", "minimun", "minimum"),
        (
            "{ type = 'object', properties = { y = { max_length = 3 } } }",
            "properties.y.max_length",
            "maxLength",
        ),
        ("{ items = { anyOf = [{ Type = 'string' }] } }", "items.anyOf.0.Type", "type"),
    ],
)
def test_a_misspelt_keyword_is_refused(schema, key, meant):
    """A validator would pass over it; it is found at any depth."""
    fault = only(f"{HEAD}parameters.x = {schema}\n")
    assert ("unknown-key", f"recipients.a.parameters.x.{key}", Place.KEY, f"did you mean `{meant}`?") == (
        fault.code,
        ".".join(map(str, fault.path)),
        fault.place,
        fault.hint,
    )


def test_a_misspelt_key_of_an_input_is_refused():
    """The keys of an input beside the keywords of JSON Schema are known."""
    assert ["unknown-key prompts.p.inputs.x.optinal"] == found(INPUT + "inputs.x = { optinal = true }\n")
    assert [] == found(INPUT + "inputs.x = { type = 'string', provided = 'current_date', title = 'x' }\n")


@pytest.mark.parametrize(
    "schema",
    [
        "{ example = 3, nullable = true, x-order = 1, '$comment' = 'x' }",
        "{ properties = { minimun = {}, typ = {} } }",
        "{ default = { minimun = 1 }, enum = [{ typ = 1 }], const = { minimun = 1 }, type = 'object' }",
        "{ '$defs' = { requird = {} }, dependentSchemas = { typ = {} } }",
    ],
)
def test_what_is_no_misspelt_keyword_is_left_alone(schema):
    """Names of arguments, data, and keywords of other dialects are not judged."""
    assert "unknown-key" not in {fault.code for fault in faults(f"{HEAD}parameters.x = {schema}\n")}


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:9/x.json",
        "https://x.example#/a",
        "other.json",
        "file:///etc/passwd",
        "/x#/y",
        "urn:x:y",
    ],
)
def test_a_reference_that_leaves_the_schema_is_refused(target):
    """Nothing is fetched; the fault is at the reference."""
    text = f"{HEAD}input_schema = {{ type = 'object', properties = {{ x = {{ '$ref' = '{target}' }} }} }}\n"
    assert ["remote-ref recipients.a.input_schema.properties.x.$ref"] == found(text)


@pytest.mark.parametrize(
    "target", ["#/$defs/pont", "#/properties/y", "#nowhere", "#/$defs/point/title", "#/anyOf/7", "#/anyOf/x"]
)
def test_a_reference_to_nothing_is_refused(target):
    """A reference must lead to a schema."""
    text = f"""{HEAD}
[recipients.a.input_schema]
type = "object"
properties = {{ x = {{ "$ref" = "{target}" }} }}
anyOf = [{{ required = ["x"] }}]
"$defs" = {{ point = {{ title = "x" }} }}
"""
    fault = only(text)
    assert ("unresolved-ref", "$ref") == (fault.code, fault.path[-1])
    assert ("did you mean `#/$defs/point`?" == fault.hint) == (target == "#/$defs/pont")


@pytest.mark.parametrize(
    "target", ["#", "#/$defs/a~1b", "#/$defs/c%20d", "#/anyOf/0", "#there", "#/$defs/yes", "#/properties/x"]
)
def test_a_reference_to_a_schema_inside_is_right(target):
    """Pointers are unescaped, anchors are found, and a schema may refer to itself."""
    text = f"""{HEAD}
[recipients.a.input_schema]
type = "object"
properties = {{ x = {{ "$ref" = "{target}" }} }}
anyOf = [{{ required = ["x"] }}]
"$defs" = {{ "a/b" = {{}}, "c d" = {{ "$anchor" = "there" }}, yes = true }}
"""
    assert [] == found(text)


def test_references_of_single_parameters_start_at_the_schema_of_all():
    """The arguments of a call are one object; its parts may refer to each other."""
    assert [] == found(HEAD + "parameters = { x = {}, y = { '$ref' = '#/properties/x' } }\n")
    assert ["unresolved-ref recipients.a.parameters.y.$ref"] == found(
        HEAD + "parameters = { x = {}, y = { '$ref' = '#/$defs/x', '$defs' = { x = {} } } }\n"
    )


def test_schemas_with_ids_of_their_own_are_resolved_by_the_engine():
    """A nested id moves the start of references; what does not resolve then is reported."""
    text = (
        HEAD
        + "input_schema = {{ '$id' = 'urn:a', '$defs' = {{ b = {{ '$id' = 'urn:b' }} }}, '$ref' = '{}' }}\n"
    )
    assert [] == found(text.format("urn:b"))
    assert ["unresolved-ref recipients.a.input_schema.$ref"] == found(text.format("#/$defs/c"))
    assert ["remote-ref recipients.a.input_schema.$ref"] == found(text.format("urn:c"))


def test_references_in_data_are_data():
    """An example may hold a key called $ref."""
    assert [] == found(HEAD + "parameters.x = { type = 'object', default = { '$ref' = 'http://x' } }\n")


@pytest.mark.parametrize("pattern", ["(", "[a-", "(?=a)b", "(?<!x)y", r"(a)\\1", "a{3,1}", "(?x"])
def test_a_pattern_that_is_not_linear_is_refused(pattern):
    """Patterns are matched by an engine without look-around and back-references."""
    fault = only(f'{HEAD}parameters.x = {{ type = "string", pattern = "{pattern}" }}\n')
    assert ("bad-parameter-schema", "pattern") == (fault.code, fault.path[-1])


def test_a_bad_pattern_does_not_hide_the_others():
    """Each pattern is judged alone when one of them is bad."""
    text = HEAD + "parameters = { x = { pattern = '(' }, y = { pattern = 'a' }, z = { pattern = '(a+)+' } }\n"
    assert [
        "bad-parameter-schema recipients.a.parameters.x.pattern",
        "unsafe-pattern recipients.a.parameters.z.pattern",
    ] == found(text)


def test_an_exponential_pattern_is_warned_of():
    """Also as a key of patternProperties, and in inputs of prompts."""
    fault = only(HEAD + "parameters.x = { patternProperties = { '^(a*)*$' = {} } }\n")
    assert ("unsafe-pattern", Severity.WARNING, Place.KEY) == (fault.code, fault.severity, fault.place)
    assert ["unsafe-pattern prompts.p.inputs.x.pattern"] == found(
        INPUT + "inputs.x = { pattern = '(a|a)*b' }\n"
    )


@pytest.mark.parametrize(
    ("rest", "wanted"),
    [
        (
            "required_args = ['x', 'z']\nparameters.x = {}\n",
            ["required-arg-not-declared recipients.a.required_args.1"],
        ),
        ("required_args = ['z']\n", ["required-arg-not-declared recipients.a.required_args.0"]),
        ("required_args = ['x']\nparameters.x = {}\n", []),
        ("required_args = []\n", []),
        # What is misspelt or misshapen elsewhere is reported there only.
        ("required_args = ['z']\nparamaters.z = {}\n", []),
        ("required_args = ['z']\nparameters = 3\n", []),
        ("required_args = 'z'\nparameters.x = {}\n", []),
        (
            "required_args = ['z', 3]\nparameters.x = {}\n",
            ["required-arg-not-declared recipients.a.required_args.0"],
        ),
    ],
)
def test_a_required_argument_is_declared(rest, wanted):
    """A name that no call may give cannot be required."""
    assert wanted == [one for one in found(HEAD + rest) if one.startswith("required")]


def test_arguments_that_a_kind_brings_need_no_declaration():
    """A python recipient has its code; what a class takes is its own affair."""
    assert [] == found('[recipients.a]\nkind = "python"\ndescription = "x"\nrequired_args = ["code"]\n')
    assert [] == found(
        '[recipients.a]\nkind = "class"\nclass = "a:B"\ndescription = "x"\nrequired_args = ["y"]\n'
    )
    assert [] == found(
        '[recipients.a]\nkind = "pythn"\ndescription = "x"\nparameters.y = {}\nrequired_args = ["y"]\n'
    )


def test_a_near_name_is_suggested():
    """The hint names the argument that was most likely meant."""
    assert "did you mean `city`?" == only(HEAD + "required_args = ['ctiy']\nparameters.city = {}\n").hint


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("{ '$schema' = 'https://x.example/schema' }", "input_schema.$schema"),
        ("{ '$id' = '::' }", "input_schema.$id"),
        ("{ '$defs' = { a = { '$id' = '::' } } }", "input_schema"),
    ],
)
def test_a_schema_that_names_what_is_not_known_is_refused(schema, path):
    """Another dialect could not be checked, and an id that is no URI cannot be referred to."""
    assert [f"bad-parameter-schema recipients.a.{path}"] == found(f"{HEAD}input_schema = {schema}\n")


@pytest.mark.parametrize(
    "dialect", ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"]
)
def test_known_dialects_may_be_named(dialect):
    """Tools of servers often say which one they mean."""
    assert [] == found(f"{HEAD}input_schema = {{ '$schema' = '{dialect}', type = 'object' }}\n")


def test_a_dialect_is_not_judged_in_a_schema_that_is_in_error():
    """One fault, one report."""
    text = HEAD + "input_schema = { '$schema' = 'x:y', type = 'strng' }\n"
    assert [] == found(text)


def test_a_schema_with_an_id_has_only_its_bad_references_reported():
    """Whether a reference names the id or not, one that leads somewhere is fine beside one that does not."""
    schema = (
        "[recipients.a]\nkind = 'python'\ndescription = 'x'\n[recipients.a.input_schema]\n'$id' = 'urn:a'\n"
        "'$defs'.x = {{ '$anchor' = 'here' }}\nproperties.b.'$ref' = '#/$defs/x'\n"
        "properties.c.'$ref' = 'urn:a#here'\n"
        "properties.d.'$ref' = 'urn:a#/$defs/x'\nproperties.e.'$ref' = '{}'\n"
    )
    assert [] == found(schema.format("urn:a"))
    for bad in ("#/$defs/z", "urn:a#/$defs/z", "#there"):
        place = "recipients.a.input_schema.properties.e.$ref"
        assert [f"unresolved-ref {place}"] == found(schema.format(bad))


def test_thousands_of_references_take_linear_time():
    """What they may lead to is gathered once, for the arguments of a recipient too."""
    parameters = "".join(f"p{number} = {{ '$ref' = '#/properties/q{number}' }}\n" for number in range(3_000))
    targets = "".join(f"q{number} = {{ items = {{}} }}\n" for number in range(2_999))
    text = "[recipients.a]\nkind = 'python'\ndescription = 'x'\n[recipients.a.parameters]\n"
    assert ["unresolved-ref recipients.a.parameters.p2999.$ref"] == found(text + parameters + targets)
