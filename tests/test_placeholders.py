"""Texts that a call fills in."""

import pytest

from registry.exceptions import RecipientFailed
from registry.placeholders import Absent, Filler, Origin


def fill(text, values, schema=None):
    return Filler.of(values, schema).text(text, "k")


@pytest.mark.parametrize(
    ("text", "values", "wanted"),
    [
        ("plain", {}, "plain"),
        ("a{x}b", {"x": "1"}, "a1b"),
        ("{x}", {"x": 1}, "1"),
        ("{x}", {"x": True}, "true"),
        ("{x}", {"x": [1, "é"]}, '[1,"é"]'),
        ("{x!json}", {"x": "a"}, '"a"'),
        ("{x:>3}", {"x": "a"}, "  a"),
        ('{"q": "{x}", "n": {"m": 1}}', {"x": "a"}, '{"q": "a", "n": {"m": 1}}'),
        ("{{x}}", {"x": "a"}, "{x}"),
        ("{x}", {"x": "{x}"}, "{x}"),
        ("{first-name}!", {"first-name": "A"}, "A!"),
        ("{first-name}{first_name}", {"first-name": "A", "first_name": "B"}, "AB"),
        ("{a-b}{a_b_}{a_b}", {"a-b": "1", "a_b": "2", "a_b_": "3"}, "132"),
        ("{{first-name}}", {"first-name": "A"}, "{first-name}"),
        ("{#if a-b}{a-b}{#else}none{/if}", {"a-b": "1"}, "1"),
        ("{#each a-b as x}{x}{a-c}{/each}", {"a-b": [1, 2], "a-c": "-"}, "1-2-"),
        ("{#if x}<{x}>{#else}none{/if}", {"x": 0}, "<0>"),
        ("{#if x}<{x}>{#else}none{/if}", {"x": None}, "none"),
        ("{#each x as y}{y},{/each}", {"x": ["a", None, 2]}, "a,null,2,"),
    ],
)
def test_arguments_are_filled_in_as_in_templates(text, values, wanted):
    """The grammar is that of templates; a value is a text as it is, everything else as JSON."""
    assert fill(text, values) == wanted


def test_the_environment_stands_apart(monkeypatch):
    """Who wrote what is known for each piece."""
    monkeypatch.setenv("KEY", "{x}")
    pieces = Filler({"x": "1"}).pieces("a${KEY}{x}", "k")
    assert [(piece.text, piece.origin) for piece in pieces] == [
        ("a", Origin.FILE),
        ("{x}", Origin.ENVIRONMENT),
        ("1", Origin.CALLER),
    ]


@pytest.mark.parametrize(("text", "name"), [("{x}", "x"), ("{#each x as y}{/each}", "x"), ("{a-b}", "a-b")])
def test_an_absent_argument_is_named(text, name):
    """The place decides what to do without it."""
    schema = {"properties": {"a-b": {}}}
    with pytest.raises(Absent, match=name):
        fill(text, {"x": None}, schema)
    with pytest.raises(RecipientFailed, match=f"k needs the argument {name}"):
        Filler.of({}, schema).needed(text, "k")


def test_what_is_needed_is_filled_in():
    """With its argument given a needed text is like any other."""
    assert Filler({"x": 1}).needed("{x}", "k") == "1"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{x.y}", {"x": "a"}),
        ("{x:d}", {"x": "a"}),
        ("{x!json}", {"x": {1}}),
        ("{#each x as y}{/each}", {"x": "abc"}),
        ("{#each x as a}{#each x as b}{/each}{/each}", {"x": [1] * 1_000}),
    ],
)
def test_what_cannot_be_filled_in_is_an_error(text, values):
    """The error names the key and never repeats a value."""
    with pytest.raises(RecipientFailed, match=r"\Ak: "):
        fill(text, values)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{x}", "x"),
        ("{a-b}", "a-b"),
        ("x", None),
        ("{x}y", None),
        ("{x:>3}", None),
        ("{x!json}", None),
        ("{{x}}", None),
    ],
)
def test_a_lone_placeholder_is_recognised(text, wanted):
    """Only the plain placeholder and nothing else stands for the value itself."""
    assert Filler.of({"a-b": 1}, None).only(text) == wanted


def test_names_are_those_of_arguments():
    """Environment variables and loop names are none."""
    assert Filler({}, ("a-b",)).names("{x}${KEY}{a-b}{#each z as y}{y}{/each}") == {"x", "a-b", "z"}
    assert Filler({}).names("plain") == frozenset()


def test_values_are_not_in_the_repr():
    """Arguments may hold what is not for a log."""
    assert "hush" not in repr(Filler({"x": "hush"}))
