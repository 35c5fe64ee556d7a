"""Laws of validation and lint, for documents of every shape."""

import copy

import hypothesis.strategies as st
import jsonschema
import pytest
import referencing.jsonschema
import strategies
from hypothesis import given
from jsonschema_specifications import REGISTRY

from registry.codes import CODES
from registry.diagnostics import Place
from registry.documents import Document, Sources
from registry.kinds import KINDS
from registry.loading.lint import RULES, lint
from registry.loading.lint.values import plainly_fits
from registry.loading.locate import locate
from registry.loading.parts import refused_parts
from registry.loading.problems import problems
from registry.loading.schemas import schema
from registry.loading.structure import structure
from registry.loading.validate import validate
from registry.loading.validators import validator

ORACLE = jsonschema.Draft202012Validator(schema(), registry=REGISTRY)

#: Where the two validators differ as they come, and which of them says yes. Python's `$` also stands before a
#: line break at the end; explaining, jsonschema uses the patterns of the other.
DIFFERENCES = [
    ({"recipients": {"a\n": {"kind": "python"}}}, "jsonschema"),
    ({"recipients": {"a": {"kind": "function", "call": "a:b\n"}}}, "jsonschema"),
]


def faults_of(data):
    document = Document("main.toml", "", data)
    found = validate(document)
    return found, lint(Sources((document,)), found)


def value_at(data, path):
    for key in path:
        data = data[key]
    return data


@given(strategies.any_documents | strategies.nearly_documents)
def test_any_data_is_validated_and_linted_without_an_exception(data):
    """Whatever a file holds, the answer is a list of faults, and every path leads somewhere."""
    before = copy.deepcopy(data)
    for fault in (*faults_of(data)[0], *faults_of(data)[1]):
        assert fault.code in CODES
        assert fault.message
        value = value_at(data, fault.path)
        assert fault.within is None or 0 <= fault.within[0] <= fault.within[1] <= len(value)
    assert before == data


@given(strategies.any_documents | strategies.nearly_documents)
def test_the_gate_agrees_with_the_reference_validator(data):
    """The fast validator and jsonschema say the same of a document."""
    assert ORACLE.is_valid(data) == validator().is_valid(data)


@given(strategies.any_documents | strategies.nearly_documents)
def test_what_explains_agrees_with_what_decides(data):
    """jsonschema, as it is used to explain, finds a problem exactly where the gate says no."""
    found, complete = problems([data])
    assert complete
    assert bool(found) == (not validator().is_valid(data))


@pytest.mark.parametrize("data", [data for data, _ in DIFFERENCES])
def test_the_listed_differences_do_not_matter_to_explanations(data):
    """What only one of them refuses as they come, both refuse as they are used."""
    assert not validator().is_valid(data)
    assert "wrong-value" not in {fault.code for fault in validate(Document("main.toml", "", data))}


@given(strategies.any_documents | strategies.nearly_documents)
def test_the_parts_of_a_document_have_all_of_its_problems(data):
    """Cutting a document down to what is refused leaves its problems as they are."""

    def told(parts):
        return {(problem.keyword, problem.path, problem.in_argument) for problem in problems(parts)[0]}

    assert told([data]) == told(refused_parts(data, validator().is_valid))


@given(strategies.any_documents | strategies.nearly_documents)
def test_what_is_refused_is_explained_and_nothing_else_is(data):
    """There is a fault exactly when the gate says no."""
    assert (not validator().is_valid(data)) == bool(validate(Document("main.toml", "", data)))


@pytest.mark.parametrize(("data", "says_yes"), DIFFERENCES)
def test_the_listed_differences_are_still_there(data, says_yes):
    """A difference that is gone is taken from the list; the stricter answer counts."""
    answers = {"jsonschema": ORACLE.is_valid(data), "jsonschema-rs": validator().is_valid(data)}
    assert {says_yes} == {name for name, answer in answers.items() if answer}


@given(strategies.any_documents)
def test_one_place_has_one_report_of_a_kind(data):
    """No two faults of validation have the same code at the same place."""
    found = [(fault.code, fault.path, fault.place) for fault in faults_of(data)[0]]
    assert len(found) == len(set(found))


@given(strategies.valid_documents)
def test_a_valid_document_has_no_fault(data):
    """What the format allows brings no diagnostic."""
    assert ((), ()) == faults_of(data)


@given(strategies.valid_documents)
def test_what_is_accepted_is_structured_without_a_change(data):
    """A document without faults becomes specs that hold its values as they are."""
    spec = structure(Sources((Document("main.toml", "", data),)))
    for recipient in spec.recipients:
        table = data["recipients"][recipient.name]
        for key in table.keys() & {"description", "timeout", "max_output", "idempotent", "api_docs"}:
            assert (table[key], type(table[key])) == (getattr(recipient, key), type(getattr(recipient, key)))
    assert list(data.get("prompts", {})) == [prompt.name for prompt in spec.prompts]


MUTATIONS = {
    "unknown-key": ("zzz", 1, Place.KEY),
    "wrong-type": ("timeout", "5", Place.VALUE),
    "wrong-value": ("timeout", -1, Place.VALUE),
    "unknown-kind": ("kind", "qqq", Place.VALUE),
}


@given(strategies.valid_documents, st.lists(st.sampled_from(sorted(MUTATIONS)), max_size=3), st.data())
def test_each_mutation_is_reported_and_nothing_else(data, codes, draw):
    """Faults put into different recipients are found, each at its place, and no other."""
    names = draw.draw(st.permutations(sorted(data.get("recipients", {}))))
    wanted = set()
    for name, code in zip(names, codes, strict=False):
        key, value, place = MUTATIONS[code]
        data = copy.deepcopy(data)
        data["recipients"][name][key] = value
        wanted.add((code, ("recipients", name, key), place))
    found = faults_of(data)[0]
    assert wanted == {(fault.code, fault.path, fault.place) for fault in found}
    assert len(wanted) == len(found)


@given(strategies.any_documents, st.sampled_from(sorted(KINDS)))
def test_the_keys_of_other_kinds_are_foreign(data, kind):
    """A recipient of a kind has no key that only another kind has."""
    branches = {
        branch["if"]["properties"]["kind"]["const"]: set(branch["then"]["propertyNames"]["enum"])
        for branch in schema()["$defs"]["recipient"]["allOf"]
        if "kind" in branch["if"].get("properties", {})
    }
    table = {**data, "kind": kind}
    found = validate(Document("main.toml", "", {"recipients": {"a": table}}))
    unknown = {fault.path[2] for fault in found if fault.code == "unknown-key" and len(fault.path) == 3}
    assert table.keys() - branches[kind] <= unknown


@given(
    st.dictionaries(
        st.sampled_from(
            ["type", "minimum", "maximum", "minLength", "maxLength", "enum", "default", "pattern"]
        ),
        st.sampled_from(["string", "integer", "number", "boolean", "array", 0, 1, 2, ["a", "ab"], [1], "^a"]),
        max_size=3,
    ),
    st.sampled_from(["", "a", "ab", "abc", 0, 1, 2, 1.5, True, False]),
)
def test_what_plainly_fits_is_valid(found, value):
    """The shortcut never says yes where the validator says no."""
    try:
        jsonschema.Draft202012Validator.check_schema(found)
        fits = plainly_fits(found, value)
    except (jsonschema.SchemaError, TypeError):
        return
    assert not fits or jsonschema.Draft202012Validator(found, registry=referencing.Registry()).is_valid(value)


@given(strategies.any_documents)
def test_faults_have_places_also_in_a_text_that_does_not_show_them(data):
    """Locating never fails."""
    document = Document("main.toml", "", data)
    found = validate(document)
    assert len(locate((*found, *lint(Sources((document,)), found)))) <= len(found) + 1_000


def test_rules_are_functions_with_a_sentence_each():
    """A rule's docstring says what it does."""
    assert len(RULES) == len(set(RULES))
    assert all(rule.__doc__ and rule.__doc__.split()[0] in {"Refuse", "Warn", "Check"} for rule in RULES)
