"""What `scan` says about a template: every problem, every use of a name, and their places."""

from __future__ import annotations

import pytest

from registry.diagnostics import Severity
from registry.template import Placeholder, scan


def found(text):
    return [(problem.code, text[problem.start : problem.end]) for problem in scan(text).problems]


def uses(text):
    return [(use.name, use.role, use.guards, use.loops) for use in scan(text).placeholders]


def test_all_problems_in_order():
    """One reading finds every problem, sorted by place, and marks what only looks wrong as a warning."""
    text = "} {a.b[0]} {x:zz} { y } {c!r} {/if} {#if d}"
    assert found(text) == [
        ("unbalanced-brace", "}"),
        ("attribute-access", "{a.b[0]}"),
        ("bad-format-spec", "{x:zz}"),
        ("looks-like-placeholder", "{ y }"),
        ("bad-conversion", "{c!r}"),
        ("stray-section-close", "{/if}"),
        ("unclosed-section", "{#if d}"),
    ]
    warnings = [problem.code for problem in scan(text).problems if problem.severity is Severity.WARNING]
    assert warnings == ["unbalanced-brace", "looks-like-placeholder"]
    assert len(scan(text).errors) == 5


def test_places_count_code_points():
    """Offsets are code points, past letters outside the basic plane too."""
    text = "😀😀 {name:>5}"
    assert scan(text).placeholders == (Placeholder("name", 3, 12, spec=">5"),)
    assert text[3:12] == "{name:>5}"


def test_uses_of_names():
    """Every use says what it is for, and what is known where it stands."""
    text = "{#if a}{a}{#each xs as x}{x!json}{#if x}{/if}{/each}{#else}{a}{/if}{b.c}"
    assert uses(text) == [
        ("a", "if", (), ()),
        ("a", "value", ("a",), ()),
        ("xs", "each", ("a",), ()),
        ("x", "item", ("a",), ("x",)),
        ("x", "item", ("a",), ("x",)),
        ("a", "value", (), ()),
        ("b", "faulty", (), ()),
    ]
    assert scan(text).variables == ("a", "xs")
    assert [use.json for use in scan(text).placeholders][3]


def test_a_loop_name_hides_a_guard():
    """Inside a loop of the same name nothing is known about the input."""
    assert uses("{#if x}{#each y as x}{x}{/each}{x}{/if}")[2:] == [
        ("x", "item", (), ("x",)),
        ("x", "value", ("x",), ()),
    ]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("{x:{w}} {y}", [("bad-format-spec", "{x:{w}}")]),
        ("{x!{w}", [("bad-conversion", "{x!{w}")]),
        ("{x:" + "y" * 500 + "}", [("bad-format-spec", "{x:" + "y" * 500 + "}")]),
        ("{x!json:>3}", [("bad-conversion", "{x!json:>3}")]),
        ("{a.b:>3}", [("attribute-access", "{a.b:>3}")]),
        ("{x: no end", [("unbalanced-brace", "{")]),
        ("{x.y", [("unbalanced-brace", "{")]),
        ("{a}{#else}{/each}", [("stray-section-close", "{#else}"), ("stray-section-close", "{/each}")]),
        ("{#if a}1{#else}2{#else}3{/if}", [("stray-section-close", "{#else}")]),
        ("{#if a}{#each x as y}{/if}{/each}", [("stray-section-close", "{/if}")]),
        ("{#each x as y}{#else}{/each}", [("stray-section-close", "{#else}")]),
        ("a\ud800\udfffb", [("not-utf8", "\ud800\udfff")]),
    ],
)
def test_one_fault_is_reported_once(text, problems):
    """A fault brings no second one along."""
    assert found(text) == problems


@pytest.mark.parametrize(
    "text",
    [
        "{ name }",
        "{name }",
        "{\nname\n}",
        "{first-name}",
        "{0}",
        "say {12}",
        "{user.name()}",
        "{name|upper}",
        "{row[}",
        "{# if x}",
        "{#if x }",
        "{/ if}",
        "{#elif x}",
        "{#each xs}",
        "{/end}",
        "{#if 1}",
    ],
)
def test_looks_like_a_placeholder(text):
    """What may be a misspelt placeholder is text with a warning."""
    warnings = [problem for problem in scan(text).problems if problem.code == "looks-like-placeholder"]
    assert [(0 if text[0] == "{" else 4, len(text))] == [(w.start, w.end) for w in warnings]
    assert scan(text).nodes == (text,)


@pytest.mark.parametrize("text", ["{#each xs}", "{# if x}", "{ /each }", "{#elif x}"])
def test_what_looks_like_a_section_comes_with_their_forms(text):
    """Who writes a section in another language's way is told ours."""
    (problem,) = scan(text).problems
    assert ("looks-like-placeholder", True) == (problem.code, "{#each xs as x}" in problem.hint)


def test_long_lookalikes_are_cut():
    """The text of a warning is bounded."""
    assert "...}" in scan("{" + "a-" * 60 + "b}").problems[0].message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"a": {"b": [1, {}]}}',
        r"\frac{1}{2} x^{2} \d{3} [a-z]{2} f(x){1}",
        "{{ name }} {{0}} {{a.b}} {{#if x}}",
        "p { color: red; }",
        "{#main} {#iffy x}",
        "{1.5} {a b} {f(x); return 1}",
        '{"open": "{{"}',
        "}} {{",
        "{😀} {²}",
    ],
)
def test_plain_text_has_no_problem(text):
    """JSON, CSS, LaTeX and doubled braces pass without a word."""
    assert found(text) == []
    assert scan(text).placeholders == ()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"re": "a{{b", "x": {"y": 1}}', '{"re": "a{b", "x": {"y": 1}}'),
        ("{{ }", "{ }"),
        ("{{ { }} }", "{ { }} }"),
        ("{ {{ } }}", "{ { } }"),
        ("}}}", "}}"),
    ],
)
def test_literal_braces_are_balanced(text, kept):
    """A literal brace is closed by its own kind; an escaped one need not be closed."""
    assert scan(text).nodes == (kept,)
