"""Lint: names given twice, names that look alike, and what has no description."""

import pytest
from linting import document, faults, found, only

from registry.diagnostics import Place, Severity
from registry.loading.lint.names import skeleton

TOOL = '[recipients.{}]\nkind = "python"\ndescription = "x"\n'


def test_a_name_in_two_files_is_refused_at_the_second():
    """The fault is at the later key and mentions the first."""
    fault = only(
        document("version = 1"), document(TOOL.format("a"), "a.toml"), document(TOOL.format("a"), "b.toml")
    )
    assert ("duplicate-recipient", "b.toml", ("recipients", "a"), Place.KEY) == (
        fault.code,
        fault.document.name,
        fault.path,
        fault.place,
    )
    assert [("a.toml", ("recipients", "a"))] == [(one.document.name, one.path) for one in fault.mentions]


def test_the_root_file_comes_after_what_it_includes():
    """A name of an included file that the root file declares again is refused in the root file."""
    fault = only(document(TOOL.format("a")), document(TOOL.format("a"), "more.toml"))
    assert ("main.toml", "the recipient `a` is declared in more.toml already") == (
        fault.document.name,
        fault.message,
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('[prompts.a]\ndescription = "x"\nrole = "user"\ntemplate = "x"\n', "duplicate-prompt"),
        ('[servers.a]\ncommand = ["x"]\n', "duplicate-server"),
    ],
)
def test_prompts_and_servers_have_one_name_each_too(text, code):
    """Names are unique in every section."""
    assert [f"{code} {text[1 : text.index('.')]}.a"] == found(text, text)


def test_equal_names_in_different_sections_do_not_clash():
    """A prompt may be called like a recipient."""
    assert [] == found(TOOL.format("a"), '[prompts.a]\ndescription = "x"\nrole = "user"\ntemplate = "x"\n')


PARAMETERS = TOOL.format("a") + "parameters = {{ {} }}\n"
INPUTS = '[prompts.p]\ndescription = "x"\nrole = "user"\ntemplate = "{}"\ninputs = {{ {} }}\n'


@pytest.mark.parametrize("pair", [("list1", "listl"), ("Item", "ltem"), ("a0", "aO"), ("I", "l")])
def test_arguments_that_look_alike_are_warned_of(pair):
    """Two names that many fonts draw alike bring a warning at the second."""
    fault = only(PARAMETERS.format(", ".join(f"{name} = {{}}" for name in pair)))
    assert ("confusable-name", Severity.WARNING, pair[1]) == (fault.code, fault.severity, fault.path[-1])


def test_names_of_different_scripts_that_look_alike_are_warned_of():
    """A Cyrillic letter in place of a Latin one is seen, beside its twin and alone."""
    twins = INPUTS.format("{city} {сity}", "city = {}, 'сity' = {}")  # noqa: RUF001 - that is the point
    assert ["confusable-name prompts.p.inputs.сity"] == found(twins)  # noqa: RUF001
    turned = INPUTS.format("{city} {сity}", "'сity' = {}, city = {}")  # noqa: RUF001
    assert ["confusable-name prompts.p.inputs.сity"] == found(turned)  # noqa: RUF001
    fault = only(INPUTS.format("{сity}", "'сity' = {}"))  # noqa: RUF001
    assert "write `city` in letters of one script" == fault.hint


@pytest.mark.parametrize("names", ["straße", "größe", "имя", "сад", "name", "x1", "δx", "数"])
def test_ordinary_names_of_any_script_are_fine(names):
    """Letters that look like no Latin one, and words of one script, bring no warning."""
    assert [] == found(INPUTS.format(f"{{{names}}}", f"'{names}' = {{}}"))


@pytest.mark.parametrize("name", ["a→b", "ab²", "naïve→", "名、前"])
def test_inputs_of_any_alphabet_are_identifiers(name):
    """Only what can stand in a placeholder may be declared."""
    assert f"bad-name prompts.p.inputs.{name}" in found(INPUTS.format("x", f"'{name}' = {{}}"))
    assert not [one for one in found(INPUTS.format("x", "'größe in m' = {}")) if one.startswith("bad-name")]


def test_recipients_prompts_and_servers_are_compared_too():
    """Names of one section are compared with each other."""
    assert ["confusable-name recipients.tooI"] == found(TOOL.format("tool") + TOOL.format("tooI"))
    assert [] == found(TOOL.format("t1") + TOOL.format("t2"))


def test_a_skeleton_is_what_a_name_looks_like():
    """Compatibility forms and look-alikes fall together."""
    assert skeleton("ﬁle") == skeleton("flle".replace("fl", "fi", 1))
    assert skeleton("раураl") == skeleton("paypal")  # noqa: RUF001


def test_what_has_no_description_is_warned_of():
    """Recipients and prompts have descriptions; the warning is at the table."""
    assert ["missing-description prompts.p", "missing-description recipients.a"] == found(
        '[recipients.a]\nkind = "python"\n[prompts.p]\nrole = "user"\ntemplate = "x"\n'
    )
    fault = only('[recipients.a]\nkind = "python"\n')
    assert (Severity.WARNING, Place.TABLE) == (fault.severity, fault.place)


def test_a_misspelt_description_is_not_also_missing():
    """One fault, one report."""
    assert () == faults('[recipients.a]\nkind = "python"\ndescripton = "x"\n')


@pytest.mark.parametrize(
    "text", ["recipients.a = 3", "prompts.p = []", "servers = 'x'", "recipients.a = { kind = [] }"]
)
def test_what_is_no_table_is_passed_over(text):
    """It is reported by its type, and nothing else is said about it."""
    assert [] == [one for one in found(text) if "missing-description" not in one]
