"""Prompts inside prompts, and how prompts are built from specs."""

from __future__ import annotations

import attrs
import pytest

from registry.exceptions import DuplicatePrompt, NoSuchPrompt, RenderError, TemplateError
from registry.frozen import freeze
from registry.loading.build_prompts import build_prompts
from registry.prompts.includes import MAX_INCLUDES, IncludeProblem, include_problems
from registry.prompts.prompt import Prompt
from registry.specs import InputSpec, MessageSpec, PromptSpec


def spec(name, text, *inputs, **more):
    messages = text if isinstance(text, tuple) else (MessageSpec("user", text),)
    return PromptSpec(name, messages, inputs=inputs, **more)


def text_input(name, **more):
    return InputSpec(name, freeze({"type": "string"}), **more)


RULES = spec("rules", "Be {tone}.", text_input("tone", default="kind"))


def test_a_prompt_can_hold_anothers_text():
    """The text stands where the input is used; its inputs become inputs of the whole, with their defaults."""
    outer = spec("outer", "{rules} Hi {name}", text_input("rules", prompt="rules"), text_input("name"))
    prompt = build_prompts([outer, RULES])["outer"]
    assert [item.name for item in prompt.inputs] == ["rules", "name", "tone"]
    assert prompt.render({"name": "Ada"}).texts == ("Be kind. Hi Ada",)
    assert prompt.render({"name": "Ada", "tone": "dry"}).texts == ("Be dry. Hi Ada",)
    assert prompt.render({"name": "Ada", "rules": "No rules."}).texts == ("No rules. Hi Ada",)


def test_own_inputs_win_over_included_ones():
    """An input that both declare is the outer prompt's; its value goes on to the inner one."""
    outer = spec(
        "outer", "{rules} {tone}", text_input("rules", prompt="rules"), text_input("tone", default="dry")
    )
    assert build_prompts([outer, RULES])["outer"].render().texts == ("Be dry. dry",)


def test_included_texts_are_never_scanned():
    """Braces in the included text and in its values are text."""
    inner = spec("rules", "{{tone}} {tone}", text_input("tone"))
    outer = spec("outer", "{rules}", text_input("rules", prompt="rules"))
    assert build_prompts([outer, inner])["outer"].render({"tone": "{x}"}).texts == ("{tone} {x}",)


def test_included_messages_are_joined():
    """Several messages become one text, joined by blank lines; slots and absent messages leave no trace."""
    messages = (
        MessageSpec("system", "One."),
        MessageSpec(slot="history"),
        MessageSpec("user", "{tone}", when="tone"),
        MessageSpec("user", "Two."),
    )
    inner = spec("rules", messages, text_input("tone", optional=True))
    outer = spec("outer", "{rules}", text_input("rules", prompt="rules"))
    prompt = build_prompts([outer, inner])["outer"]
    assert prompt.render().texts == ("One.\n\nTwo.",)
    assert prompt.render({"tone": "x"}).texts == ("One.\n\nx\n\nTwo.",)


def test_faults_of_included_prompts_are_in_the_same_error():
    """What an included prompt misses or cannot take is named together with the rest."""
    inner = spec("rules", "{who} {n:d}", text_input("who"), InputSpec("n", freeze({"type": "integer"})))
    outer = spec("outer", "{rules} {name}", text_input("rules", prompt="rules"), text_input("name"))
    with pytest.raises(RenderError) as caught:
        build_prompts([outer, inner])["outer"].render({"n": "x"})
    assert set(caught.value.names) == {"who", "name"}
    assert "'n' must be an integer" in str(caught.value)
    loose = spec("rules", "{n:d}", InputSpec("n", freeze({})))
    with pytest.raises(RenderError) as caught:
        build_prompts([outer, loose])["outer"].render({"n": "x", "name": "a"})
    assert ("wrong-type", ("n",)) == (caught.value.code, caught.value.names)


def test_bound_values_reach_included_prompts():
    """A value bound to an inherited input is there for the included prompt."""
    outer = spec("outer", "{rules}", text_input("rules", prompt="rules"))
    bound = build_prompts([outer, RULES])["outer"].bind({"tone": "dry"})
    assert bound.render().texts == ("Be dry.",)
    assert bound.render({"tone": "warm"}).texts == ("Be warm.",)


def test_the_digest_covers_included_prompts():
    """A change of an included prompt changes the digest."""
    outer = spec("outer", "{rules}", text_input("rules", prompt="rules"))
    other = attrs.evolve(RULES, messages=(MessageSpec("user", "Be very {tone}."),))
    assert build_prompts([outer, RULES])["outer"] != build_prompts([outer, other])["outer"]
    assert build_prompts([outer, RULES])["outer"] == build_prompts([RULES, outer])["outer"]


def test_a_prompt_made_by_hand_needs_what_it_includes():
    """Without the included prompt at hand, the error names it."""
    with pytest.raises(NoSuchPrompt, match="'rules'"):
        Prompt(spec("outer", "{rules}", text_input("rules", prompt="rules"))).render()


@pytest.mark.parametrize(
    ("specs", "problems"),
    [
        ([spec("a", "{x}", text_input("x", prompt="a"))], [("include-cycle", "a", "x", "a -> a")]),
        (
            [spec(n, "{x}", text_input("x", prompt=m)) for n, m in ("ab", "bc", "ca", "da")],
            [
                ("include-cycle", "a", "x", "a -> b -> c -> a"),
                ("include-cycle", "b", "x", "b -> c -> a -> b"),
                ("include-cycle", "c", "x", "c -> a -> b -> c"),
            ],
        ),
        ([spec("a", "{x}", text_input("x", prompt="rulse")), RULES], [("wrong-value", "a", "x", "'rulse'")]),
        ([spec("a", "{x}", text_input("x", prompt="zzz")), RULES], [("wrong-value", "a", "x", "'zzz'")]),
        (
            [
                spec("a", "{x}", text_input("x", prompt="b")),
                spec("b", (MessageSpec("user", "", image="{i}"),), text_input("i")),
            ],
            [("wrong-value", "a", "x", "more than texts")],
        ),
        (
            [spec(f"p{i}", "{x}", text_input("x", prompt=f"p{i + 1}")) for i in range(MAX_INCLUDES + 1)]
            + [spec(f"p{MAX_INCLUDES + 1}", "end")],
            [("nesting-too-deep", "p0", "x", "more than 8 deep")],
        ),
        (
            [
                spec(
                    "a", "{x}{y}", text_input("x", prompt="b"), text_input("y", prompt="c"), text_input("z")
                ),
                spec("b", "{x}", text_input("x", prompt="c")),
                spec("c", "end"),
            ],
            [],
        ),
    ],
)
def test_include_problems(specs, problems):
    """Circles, unknown prompts, and what cannot stand inside another are found before anything is built."""
    found = include_problems(specs)
    assert [(p.code, p.prompt, p.input) for p in found] == [problem[:3] for problem in problems]
    for problem, (*_, part) in zip(found, problems, strict=True):
        assert part in problem.message
        assert problem.hint
    if problems:
        with pytest.raises(TemplateError) as caught:
            build_prompts(specs)
        assert caught.value.code == problems[0][0]
    else:
        assert build_prompts(specs)["a"].render({"z": "z"}).texts == ("endend",)


def test_a_near_name_is_suggested():
    """A misspelt name of an included prompt comes with the right one."""
    (problem,) = include_problems([spec("a", "{x}", text_input("x", prompt="rulse")), RULES])
    assert problem == IncludeProblem(
        "wrong-value", "there is no prompt 'rulse'", "a", "x", "did you mean 'rules'?"
    )


def test_two_prompts_of_one_name_are_refused():
    """The error says where both come from, as far as known."""
    with pytest.raises(DuplicatePrompt) as caught:
        build_prompts([attrs.evolve(RULES, source="a.toml"), RULES])
    assert caught.value.sources == ("a.toml",)


class Tool:
    API_DOCS = "\nSend code.\n"
    DESCRIPTION = "Runs code."


class Plain:
    API_DOCS = ""
    DESCRIPTION = "Does things."


def provided(name, source, **schema):
    return InputSpec(name, freeze(schema), provided=source)


def test_provided_inputs_are_filled():
    """The date, the documentation and the names of the recipients are there without being given."""
    inputs = (
        provided("docs", "api_docs", type="string"),
        provided("names", "recipient_names", type="string"),
        provided("each", "recipient_names", type="array", items={"type": "string"}),
        provided("day", "current_date", type="string", pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
    )
    made = spec("p", "{docs}|{names}|{each!json}|{day:.0}", *inputs)
    recipients = {"tool": Tool, "plain": Plain}
    prompt = build_prompts([made], recipients)["p"]
    expected = 'Send code.\n\nplain: Does things.|tool, plain|["tool","plain"]|'
    assert prompt.render().texts == (expected,)
    assert prompt.render({"docs": "none", "names": "n", "each": []}).texts == ("none|n|[]|",)
    chosen = attrs.evolve(made, recipients=("plain", "gone"))
    only = build_prompts([chosen], recipients)["p"]
    assert only.render().texts == ('plain: Does things.|plain|["plain"]|',)
    assert not any(item.required for item in prompt.inputs)


def test_nothing_provides():
    """Without a provider a provided input is missing, unless it is given."""
    prompt = Prompt(spec("p", "{day}", provided("day", "current_date", type="string")))
    with pytest.raises(RenderError, match="nothing here provides 'current_date'") as caught:
        prompt.render()
    assert ("missing-input", ("day",)) == (caught.value.code, caught.value.names)
    assert prompt.render({"day": "today"}).texts == ("today",)
