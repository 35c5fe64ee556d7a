"""Lint: the texts of prompts, the inputs they use, and their examples."""

import pytest
from linting import document, faults, found, only

from registry.diagnostics import Place, Severity
from registry.loading.validate import validate

HEAD = '[prompts.p]\ndescription = "x"\nrole = "user"\n'
CHAT = '[prompts.p]\ndescription = "x"\nmessages = [{}]\n'


def prompt(template, inputs="name = {}", more=""):
    return f"{HEAD}template = '''{template}'''\ninputs = {{ {inputs} }}\n{more}"


@pytest.mark.parametrize(
    ("template", "code", "where"),
    [
        ("{name} {name.x}", "attribute-access", "{name.x}"),
        ("{name!r}", "bad-conversion", "{name!r}"),
        ("{name:>5000}", "bad-format-spec", "{name:>5000}"),
        ("{#if name}{name}", "unclosed-section", "{#if name}"),
        ("{name}{/if}", "stray-section-close", "{/if}"),
        ("{name} { x }", "looks-like-placeholder", "{ x }"),
        ("{name} {", "unbalanced-brace", "{"),
        ("{name} {nmae}", "undeclared-input", "{nmae}"),
        ("{name}{#if nmae}x{/if}", "undeclared-input", "{#if nmae}"),
        ("{#each name as x}{x}{/each}{x}", "undeclared-input", "{x}"),
    ],
)
def test_a_fault_in_a_template_is_reported_at_its_place(template, code, where):
    """One fault, one report, at the placeholder or section."""
    assert [f"{code} prompts.p.template [{where}]"] == found(prompt(template))


def test_a_misspelt_input_is_not_also_unused():
    """The use that is misspelt is a use."""
    assert ["undeclared-input prompts.p.template [{nmae}]"] == found(prompt("{nmae}"))
    assert ["attribute-access prompts.p.template [{nmae.x}]"] == found(prompt("{nmae.x}"))
    assert "did you mean {name}?" == only(prompt("{nmae}")).hint
    assert (
        "declare it under `inputs`; for the text itself write {{city}}" == only(prompt("{name}{city}")).hint
    )


def test_an_input_that_no_text_uses_is_refused_at_its_key():
    """Declared for nothing, or misspelt."""
    fault = only(prompt("{name}", "name = {}, mood = {}"))
    assert ("unused-input", ("prompts", "p", "inputs", "mood"), Place.KEY) == (
        fault.code,
        fault.path,
        fault.place,
    )


@pytest.mark.parametrize(
    "marked",
    ["{{mood}}", "{{ mood }}", "$mood", "<mood>", "[mood]", "%mood%", "｛mood｝"],  # noqa: RUF001
)
def test_marks_of_other_languages_are_recognised(marked):
    """An input that stands in the text in other marks than ours comes with the right ones."""
    fault = only(prompt(f"{{name}} {marked}", "name = {}, mood = {}"))
    assert ("unused-input", f"{marked} is text: write {{mood}}") == (fault.code, fault.hint)


def test_names_are_compared_in_their_normal_form():
    """A letter with its accent is one letter, however it is encoded."""
    assert [] == found(prompt("{caf\u00e9}", "'cafe\u0301' = {}"))


@pytest.mark.parametrize(
    "template",
    ["{name!json}", "{#each name as x}{x}{/each}", "{#if name}x{/if}"],
)
def test_arrays_have_their_forms(template):
    """As JSON, item by item, or only their presence."""
    assert [] == found(prompt(template, "name = { type = 'array', items = { type = 'string' } }"))


@pytest.mark.parametrize("kind", ["'array'", "'object'", "['array', 'null']", "['object', 'array']"])
def test_arrays_and_objects_have_no_plain_text(kind):
    """They need `!json` or a loop."""
    text = prompt("{name}", f"name = {{ type = {kind} }}")
    assert ["needs-json prompts.p.template [{name}]"] == found(text)
    assert ("{#each" in only(text).hint) == ("array" in kind)


def test_items_without_a_plain_text_need_json_too():
    """Also in a loop inside a section."""
    inputs = "name = { type = 'array', items = { type = 'object' } }"
    template = "{#if name}{#each name as x}%s{/each}{#else}none{/if}"
    assert ["needs-json prompts.p.template [{x}]"] == found(prompt(template % "{x}", inputs))
    assert [] == found(prompt(template % "{x!json}", inputs))


LISTS = (
    "rows = { type = 'array', items = { type = 'array', items = { type = 'integer' } } }, "
    "names = { type = 'array', items = { type = 'string' } }"
)


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        ("{#each names as x}{x}{/each}{#each rows as x}{x!json}{/each}", []),
        ("{#each rows as x}{x!json}{/each}{#each names as x}{x}{/each}", []),
        ("{#each names as x}{x}{/each}{#each rows as x}{x}{/each}", ["needs-json"]),
        ("{#each names as x}{x}{/each}{#each rows as item}{item}{/each}", ["needs-json"]),
        ("{#each names as x}{x}{/each}{#each rows as x}{#each x as y}{y}{/each}{/each}", []),
        ("{#each names as x}{x}{/each}{#each rows as x}{#if x}yes{/if}{/each}", []),
        ("{#each names as x}{x}{/each}{#each rows as x}{#each x as x}{x}{/each}{/each}", []),
        ("{#if rows}{/if}{#each names as x}{#each x as y}{y}{/each}{/each}", ["wrong-type"]),
        ("{names!json}{#each rows as x}{#each x as y}{#each y as z}{z}{/each}{/each}{/each}", ["wrong-type"]),
    ],
)
def test_an_item_is_what_its_own_loop_walks_through(template, wanted):
    """Loops may share a name, stand inside each other and ask for presence; each item has its own type."""
    assert wanted == [fault.code for fault in faults(prompt(template, LISTS))]


VALUES = {"string": "'a'", "integer": "1", "number": "1.0", "boolean": "true"}


@pytest.mark.parametrize(
    ("kind", "spec", "good"),
    [
        ("string", ".2f", False), ("string", ",", False), ("string", "05", True), ("string", ">9.3", True),
        ("integer", "s", False), ("integer", "x", True), ("integer", ".1f", True), ("number", "d", True),
        ("number", "s", False), ("boolean", "<7", True), ("boolean", "d", False),
    ],
)  # fmt: skip
def test_a_format_fits_the_type_of_its_input(kind, spec, good):
    """What could never be rendered is refused; what depends on the value is not."""
    text = f"{{x:{spec}}}"
    wanted = [] if good else [f"wrong-type prompts.p.template [{text}]"]
    example = f"examples = [{{ inputs.x = {VALUES[kind]}, renders = '0' }}]\n"
    assert wanted == found(prompt(text, f"x = {{ type = '{kind}' }}"))
    assert (wanted or ["example-mismatch"]) == [
        one.split(" ")[0] if good else one
        for one in found(prompt(text, f"x = {{ type = '{kind}' }}", example))
    ]


def test_a_format_is_not_judged_by_a_type_that_does_not_exist():
    """That is reported by itself."""
    assert [] == found(prompt("{x:.2f}", "x = {}"))
    assert [] == found(prompt("{x:.2f}", "x = { type = 'text' }"))


@pytest.mark.parametrize(
    ("text", "wanted"), [("{x}", ["needs-json"]), ("{x!json}", []), ("{#each x as y}{y}{/each}", [])]
)
def test_a_message_for_each_item_prints_what_items_are(text, wanted):
    """The item that a message is sent for is checked as the item of a loop is."""
    head = CHAT.replace("{}", f"{{ role = 'user', each = 'rows', as = 'x', template = '{text}' }}")
    inputs = "inputs.rows = { type = 'array', items = { type = 'array', items = { type = 'string' } } }"
    assert wanted == [fault.code for fault in faults(head + inputs)]


def test_an_image_for_each_item_needs_no_plain_text():
    """What is sent along is not printed, so any item may be."""
    message = "{ role = 'user', each = 'rows', as = 'x', template = '', image = '{x}' }"
    inputs = "inputs.rows = { type = 'array', items = { type = 'object' } }"
    assert [] == found(CHAT.replace("{}", message) + inputs)


@pytest.mark.parametrize("name", ["caf\u00e9", "cafe\u0301"])
def test_the_guard_of_a_message_is_compared_in_its_normal_form(name):
    """A message with `when` may use that input, however the name is encoded."""
    head = CHAT.replace("{}", f"{{ role = 'user', when = '{name}', template = '{{{name}}}' }}")
    assert [] == found(head + f"inputs.'{name}' = {{ optional = true }}")


def test_only_arrays_are_walked_through():
    """A loop over anything else fails at every render."""
    assert ["wrong-type prompts.p.template [{#each name as x}]"] == found(
        prompt("{#each name as x}{x}{/each}", "name = { type = 'string' }")
    )


@pytest.mark.parametrize(
    ("template", "inputs", "wanted"),
    [
        ("{name}", "name = { optional = true }", 1),
        ("{#each name as x}{x}{/each}", "name = { optional = true }", 1),
        ("{#if name}a{#else}{name}{/if}", "name = { optional = true }", 1),
        ("{#if name}{name}{/if}", "name = { optional = true }", 0),
        ("{name}", "name = { optional = true, default = 'x' }", 0),
        ("{name}", "name = { optional = true, provided = 'api_docs' }", 0),
        ("{name}", "name = { optional = false }", 0),
    ],
)
def test_an_optional_input_is_used_only_where_it_is_present(template, inputs, wanted):
    """Inside `{#if}`, or with a default."""
    assert ["optional-outside-section"] * wanted == [fault.code for fault in faults(prompt(template, inputs))]


def test_a_message_that_depends_on_an_input_is_a_section_of_its_own():
    """`when` sends the message only if the input is present."""
    message = "{ role = 'user', template = '{name}', when = 'name' }"
    assert [] == found(CHAT.format(message) + "inputs.name.optional = true\n")


@pytest.mark.parametrize(
    ("message", "inputs", "wanted"),
    [
        ("template = '{x}', each = 'xs', as = 'x'", "xs = { type = 'array' }", []),
        ("template = '{x}', each = 'xs', as = 'x'", "xs = {}", []),
        (
            "template = '{x}', each = 'xs', as = 'x'",
            "xs = { type = 'string' }",
            ["wrong-type prompts.p.messages.0.each"],
        ),
        (
            "template = '{x}', each = 'itmes', as = 'x'",
            "items = {}",
            ["undeclared-input prompts.p.messages.0.each"],
        ),
        ("template = '{x}', when = 'far'", "x = {}", ["undeclared-input prompts.p.messages.0.when"]),
        ("template = 'a', image = '{x}'", "x = {}", []),
        ("template = 'a', image = '{x}'", "x = { type = 'array' }", []),
        ("template = '{x}', file = '{y}'", "x = {}", ["undeclared-input prompts.p.messages.0.file [{y}]"]),
        ("template = 'a', when = 3", "", []),
    ],
)
def test_what_a_message_names_is_declared(message, inputs, wanted):
    """`when`, `each`, `image` and `file` use inputs too."""
    assert wanted == found(CHAT.format(f"{{ role = 'user', {message} }}") + f"inputs = {{ {inputs} }}\n")


def test_every_message_is_read():
    """The inputs of a prompt are used by all its messages together; slots have no text."""
    messages = (
        "{ role = 'system', template = '{a}' }, { slot = 'history' }, { role = 'user', template = '{b}' }"
    )
    assert [] == found(CHAT.format(messages) + "inputs = { a = {}, b = {} }\n")
    assert ["undeclared-input prompts.p.messages.2.template [{b}]"] == found(
        CHAT.format(messages) + "inputs = { a = {} }\n"
    )


def test_a_raw_prompt_has_no_placeholders():
    """Its texts are sent as they are, so its inputs are used by nothing."""
    assert [] == found(f"{HEAD}template = '{{x.y'\nraw = true\n")
    assert ["unused-input prompts.p.inputs.x"] == found(
        f"{HEAD}template = '{{x}}'\nraw = true\ninputs.x = {{}}\n"
    )


def test_a_template_file_is_read_like_a_template():
    """The fault is in the file, at its place there."""
    text = HEAD + "template_file = 'hi.txt'\ninputs.name = {}\n"
    fault = only(document(text, **{"hi.txt": "Hi {name}\n{nmae}"}))
    assert ("undeclared-input", "hi.txt", (), (10, 16)) == (
        fault.code,
        fault.document.name,
        fault.path,
        fault.within,
    )


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "template_file = 'gone.txt'\ninputs.name = {}\n",
        HEAD + "template = 3\ninputs.name = {}\n",
        HEAD + "tmplate = '{x}'\ninputs.name = {}\n",
        HEAD + "template = '{x}'\ninput.x = {}\n",
        HEAD + "template = '{x}'\ninputs = 3\n",
        CHAT.format("3") + "inputs = {}\n",
        "[prompts.p]\ndescription = 'x'\nmessages = 3\ninputs.x = {}\n",
        HEAD + "template = 'x'\ninputs.a-b = {}\n",
        HEAD + "template = '{x}'\ninputs.x = 3\n",
        HEAD + "template = '{x}'\ninputs.x.type = 3\n",
    ],
)
def test_what_is_in_error_already_brings_no_second_report(text):
    """A text or a declaration that could not be read is not missed."""
    assert [] == [
        one for one in found(text) if "unused-input prompts.p.inputs.x" != one or "messages = [3]" not in text
    ]


def test_the_other_texts_of_a_prompt_are_read_all_the_same():
    """One message without a text hides nothing in the next."""
    messages = "{ role = 'user', template_file = 'gone.txt' }, { role = 'user', template = '{nmae}' }"
    assert ["undeclared-input prompts.p.messages.1.template [{nmae}]"] == found(
        CHAT.format(messages) + "inputs.name = {}\n"
    )


def test_a_second_system_message_is_warned_of():
    """Each one after the first, at its role."""
    message = "{ role = 'system', template = 'x' }"
    fault = only(CHAT.format(f"{message}, {message}"))
    assert ("second-system-message", ("prompts", "p", "messages", 1, "role"), Severity.WARNING) == (
        fault.code,
        fault.path,
        fault.severity,
    )


@pytest.mark.parametrize(
    ("template", "renders", "wanted"),
    [
        ("Hi {name}!", "Hi Mia!", None),
        ("Hi {name}!", "Hi Mia", "examples.0.renders"),
        ("Hi {name}!", "hi Mia!", "examples.0.renders"),
    ],
)
def test_an_example_renders_as_it_says(template, renders, wanted):
    """Character by character; the fault is at the text."""
    text = prompt(
        template, "name = {}", f"examples = [{{ inputs = {{ name = 'Mia' }}, renders = '{renders}' }}]\n"
    )
    assert ([] if wanted is None else [f"example-mismatch prompts.p.{wanted}"]) == found(text)


def test_the_message_says_where_the_texts_part():
    """With the line, and a piece of the text that comes out."""
    text = prompt("one\ntwo {name} and much more after it", "name = {}")
    text += "examples = [{ inputs = { name = 'Mia' }, renders = '''one\ntwo Max and''' }]\n"
    where, shown = "from character 10 on (line 2)", "'one\\ntwo Mia and much more aft…'"
    assert f"the template renders to another text {where}: {shown}" == only(text).message


def test_several_messages_have_several_texts():
    """The fault is at the text that differs, or at all of them when their number does."""
    chat = CHAT.format(
        "{ role = 'system', template = 'a' }, { slot = 'h' }, { role = 'user', template = '{x}' }"
    )
    chat += "inputs.x = {}\nexamples = [{ inputs = { x = 'b' }, renders = RENDERS }]\n"
    assert [] == found(chat.replace("RENDERS", "['a', 'b']"))
    assert ["example-mismatch prompts.p.examples.0.renders.1"] == found(chat.replace("RENDERS", "['a', 'c']"))
    assert ["example-mismatch prompts.p.examples.0.renders"] == found(chat.replace("RENDERS", "'a'"))


def test_values_are_completed_and_printed_as_in_a_render():
    """Defaults are applied, booleans are written in lower case, white space is trimmed where asked."""
    more = "trim = true\nexamples = [{ inputs = { b = true }, renders = 'x true' }]\n"
    assert [] == found(prompt(" {a} {b}\n", "a = { default = 'x' }, b = { type = 'boolean' }", more))


def test_an_example_renders_a_message_for_each_item():
    """Messages that depend on inputs, and those of a list."""
    each = "{ role = 'user', template = '{x}', each = 'xs', as = 'x' }"
    text = (
        CHAT.format(f"{each}, {{ role = 'user', template = 'b', when = 'c' }}")
        + "inputs = { xs = { type = 'array' }, c = { optional = true } }\n"
    )
    assert [] == found(text + "examples = [{ inputs = { xs = ['a', 'b'] }, renders = ['a', 'b'] }]\n")


def test_an_example_cannot_be_judged_where_an_included_prompt_is_in_error():
    """A prompt is rendered with those that it includes, or not at all."""
    text = prompt("{a}", "a.prompt = 'q'", "examples = [{ inputs = { b = 'x' }, renders = 'y' }]\n")
    assert ["attribute-access prompts.q.template [{b.c}]"] == found(text + INNER.replace("{b}", "{b.c}"))


def test_a_prompt_with_a_misshapen_inclusion_is_passed_over():
    """A problem at a value that is in error already is not reported again."""
    text = prompt("{a}{c}", "a = { prompt = 'p', type = 'strng' }, c = { prompt = 'zz' }")
    assert {"include-cycle", "wrong-value"} == {fault.code for fault in faults(text)}


@pytest.mark.parametrize(
    ("other", "code"),
    [
        ("{ inputs = { name = 3 }, renders = 'x' }", "example-violates-schema"),
        ("{ inputs = { name = 'a' }, rendrs = 'x' }", "unknown-key"),
        ("{ inputs = {}, renders = 'x' }", "example-violates-schema"),
        ("'x'", "wrong-type"),
    ],
)
def test_a_wrong_example_does_not_hide_what_others_render_to(other, code):
    """Every example that is in order itself is compared, whatever the ones beside it are."""
    more = f"examples = [{other}, {{ inputs = {{ name = 'Mia' }}, renders = 'x' }}]\n"
    text = prompt("Hi {name}", "name = { type = 'string' }", more)
    codes = [fault.code for fault in faults(text)]
    assert {code} <= {*codes, *(fault.code for fault in validate(document(text)))}
    assert ["example-mismatch prompts.p.examples.1.renders"] == [
        one for one in found(text) if "mismatch" in one
    ]


@pytest.mark.parametrize("more", ["examples = 'x'\n", "examples = [{ renders = 'x' }]\nrol = 1\n"])
def test_a_wrong_prompt_has_its_examples_not_judged(more):
    """What is wrong outside of the examples is told first."""
    assert [] == [one for one in found(prompt("Hi", "", more)) if "mismatch" in one]


def test_line_breaks_at_the_end_are_pointed_out():
    """The difference that nobody sees comes with a hint."""
    text = HEAD + "template = '''\nHi\n'''\nexamples = [{ renders = '%s' }]\n"
    assert "only line breaks at the end differ" in only(text % "Hi").hint
    assert "" == only(text % "Ho").hint


def test_an_example_that_cannot_be_rendered_is_refused():
    """A format that does not fit the value is found by the example."""
    more = "examples = [{ inputs = { name = 1.5 }, renders = 'x' }]\n"
    fault = only(prompt("{name:d}", "name = { type = 'number' }", more))
    assert ("example-mismatch", True) == (fault.code, "cannot be rendered" in fault.message)


def test_examples_that_need_what_the_registry_provides_are_not_judged():
    """What is filled in at call time is not known before."""
    more = "examples = [{ inputs = {}, renders = 'x' }]\n"
    assert [] == found(prompt("{name}", "name = { type = 'string', provided = 'current_date' }", more))
    given = "examples = [{ inputs = { name = 'y' }, renders = 'x' }]\n"
    assert ["example-mismatch prompts.p.examples.0.renders"] == found(
        prompt("{name}", "name = { type = 'string', provided = 'current_date' }", given)
    )


def test_examples_of_a_prompt_in_error_are_not_rendered():
    """One fault, one report; in the text, in a template file, and in an included prompt."""
    examples = "examples = [{ inputs = { name = 'Mia' }, renders = 'x' }]\n"
    assert ["undeclared-input prompts.p.template [{nmae}]"] == found(prompt("{name}{nmae}", more=examples))
    text = HEAD + "template_file = 'hi.txt'\ninputs.name = {}\n" + examples
    assert ["undeclared-input"] == [
        fault.code for fault in faults(document(text, **{"hi.txt": "{name}{nmae}"}))
    ]
    outer = prompt("{name}", "name.prompt = 'q'", examples.replace("'x'", "'y'")) + prompt("{b").replace(
        "prompts.p", "prompts.q"
    )
    assert {"unbalanced-brace", "unused-input"} == {fault.code for fault in faults(outer)}


INNER = "[prompts.q]\ndescription = 'x'\nrole = 'user'\ntemplate = 'I {b}'\ninputs.b = {}\n"


def test_examples_may_take_in_other_prompts():
    """An included prompt is rendered with the values of the example; its inputs may be given there."""
    text = (
        prompt("{a}!", "a.prompt = 'q'", "examples = [{ inputs = { b = 'x' }, renders = 'I x!' }]\n") + INNER
    )
    assert [] == found(text)
    assert ["example-mismatch prompts.p.examples.0.renders"] == found(text.replace("'I x!'", "'I y!'"))


def test_a_prompt_that_cannot_be_included_is_refused():
    """One that does not exist, or that includes the first; at the value that names it."""
    unknown = only(prompt("{a}", "a.prompt = 'r'") + INNER)
    assert ("wrong-value", ("prompts", "p", "inputs", "a", "prompt")) == (unknown.code, unknown.path)
    own = found(prompt("{a}", "a.prompt = 'p'"))
    assert ["include-cycle prompts.p.inputs.a.prompt"] == own


def test_names_of_prompts_are_not_judged_where_some_are_missing():
    """A misspelt table may hold the prompt."""
    assert [] == found(prompt("{a}", "a.prompt = 'q'") + INNER.replace("prompts.q", "prompt.q"))
    assert [] == found(prompt("{a}", "a = { prompt = 3 }"))


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("\\frac{1}{2}", "f"),
        ("\\beta", "b"),
        ("\\rho", "r"),
        ("\\theta x", "t"),
        ("\\nabla f", "n"),
        ("\\neq b", "n"),
        ("\\tau_1", "t"),
        ("\\end", "e"),
    ],
)
def test_a_command_that_lost_its_backslash_is_warned_of(text, letter):
    """In double quotes TOML reads a backslash with some letters as a control character."""
    fault = only(f'{HEAD}template = "a {text}"\n')
    assert ("backslash-in-basic-string", (2, 3), Severity.WARNING) == (
        fault.code,
        fault.within,
        fault.severity,
    )
    assert f"the escape \\{letter} " in fault.message


@pytest.mark.parametrize(
    "text",
    [
        '"a\\tb\\nc \\"x\\" \\u00e9"',
        '"\\\\frac{1}{2}"',
        "'\\frac{1}{2}'",
        '"one\\nabout"',
        '"one\\nunder\\n\\tan apple\\tau lait"',
        '"a\\textile"',
    ],
)
def test_ordinary_escapes_bring_no_warning(text):
    """Line breaks, tabs, quotes and escaped backslashes are what they seem."""
    assert [] == found(f"{HEAD}template = {text}\n")


def test_only_files_with_such_escapes_are_looked_at():
    """A control character cannot get into the other files."""
    other = HEAD.replace("prompts.p", "prompts.q") + "template = 'x'\n"
    assert ["backslash-in-basic-string prompts.p.template [\x0c]"] == found(
        f'{HEAD}template = "\\frac"\n', other
    )


def test_every_text_of_a_recipient_or_prompt_is_looked_at():
    """Patterns and examples lose backslashes too."""
    text = '[recipients.a]\nkind = "python"\ndescription = "x"\n'
    text += 'parameters.x = { pattern = "\\bword", enum = ["\\f x", 3] }\n'
    assert ["backslash-in-basic-string recipients.a.parameters.x.pattern [\x08]"] == found(text)
