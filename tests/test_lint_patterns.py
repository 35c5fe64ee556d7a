"""Lint: which patterns take exponential time in a backtracking engine."""

import pytest

from registry.loading.lint.backtracking import is_exponential
from registry.loading.lint.regex import NotReadError, parse

EXPONENTIAL = [
    "^(x+)+y$",
    "(a*)*",
    "(a|a)*b",
    "(a|aa)+$",
    r"(\w+\s?)*$",
    r"^(\d+)*$",
    "([a-z]+)*@",
    "(.*)*x",
    "(x+x+)+y",
    r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.][a-z]{2,3}))$",
    "(a|b|ab)*c",
    r"(?:a+){2,}b",
    "((a+)b?)*c",
    "(a{1,3})+$",
    "(a*b*)*c",
    r"(\s*\w+\s*)*;",
    "([a-z]{8,64})+!",
    r"(.|\n)*x",
    "(a+|b+)*c",
    "((ab)*)*c",
    "(?:[0-9]+,?)+$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(é|é)*x",
    "([à-ÿ]+)*x",
    r"(\w+é*)*x",
    "([^é]|[^ü])*x",
    r"(\s|[\u00a0])*x",
    r"(?P<n>a+)+b",
    r"(?<n>a+)+b",
    "(?i:a+)+b",
    "((?:a?){3,}b?)+c",
    r"(\p{L}|x)*y",
    r"([[:alpha:]]|b)*c",
    r"(\x61|a)*b",
    r"(\u{61}|\x{61})*b",
    r"([\d-x]|-)*y",
    "([a-]|-)*b",
    "(a|[^b])*c",
    r"(\.|[.])*x",
    "(a+)+{2}b",
    "(?s)(a|a)*b",
    "([]a]|a)*b",
    r"(\t|[\t])*x",
    "(a{0,2})*b",
]

ORDINARY = [
    "^[a-z]+(-[a-z]+)?$",
    "^(-[a-z]+)*$",
    "([a-z]+-)*x",
    r"^([0-9]{1,3}\.){3}[0-9]{1,3}$",
    r"^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$",
    r"^[^@\s]+@[^@\s]+$",
    r"^([a-zA-Z0-9_.+-]+)@(([a-zA-Z0-9-]+\.)+[a-zA-Z]{2,})$",
    r"^(\d{4})-(\d{2})-(\d{2})$",
    "^([0-9a-f]{64})+$",
    "^(a{1,3}b)*$",
    r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$",
    "(foo|bar)*",
    "(a|b)+",
    "^#([0-9a-fA-F]{3}){1,2}$",
    r"^(\+[0-9]{1,3})?([ -]?[0-9]+)$",
    "^([A-Z]{2}[0-9]{2})+$",
    "^/([a-z]+/)*$",
    "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    "^[a-z]+( [a-z]+)*$",
    r"^P(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?)?$",
    "^(?:[^,]*,)*[^,]*$",
    r'^"(?:[^"\\]|\\.)*"$',
    r"^(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$",
    r"^\w+(\s\w+)*$",
    "(é|ü)*x",
    r"^(\d+\.)*\d+$",
    "^([^/]+/)*$",
    "([a-z]|[^a-z])*y",
    r"(\w|\W)+z",
    r"^(\S+\s)*\S+$",
    "(?>a+)+b",
    "(a++)*b",
    r"(\D\d)*x",
    r"(\b|^)*x",
    "((?=a)b)*",
    "(a{0})*b",
    "x{2}(y){3}",
    "(a?)*b",
    "()*",
    "(a|)*b",
]


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_patterns_that_go_round_in_two_ways_are_found(pattern):
    """Nested repetitions and alternatives that match the same text are exponential."""
    assert is_exponential(pattern)


@pytest.mark.parametrize("pattern", ORDINARY)
def test_ordinary_patterns_raise_no_alarm(pattern):
    """What can be read in one way only, or is polynomial, is left alone."""
    assert not is_exponential(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+)", "(a+)+[b", "(a+)+\\", "((a+)+", "(" * 60 + "a" + ")+" * 60])
def test_what_cannot_be_read_is_not_judged(pattern):
    """Whether a pattern is valid is decided elsewhere."""
    assert not is_exponential(pattern)
    with pytest.raises(NotReadError):
        parse(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+" + "b" * 200, "(" + "(ab?c?d?)?" * 29 + ")*" + "x"])
def test_large_patterns_take_bounded_time(pattern):
    """Beyond a limit nothing is said about a pattern."""
    is_exponential(pattern)


def test_two_copies_are_walked_only_so_far(monkeypatch):
    """The walk ends at its bound, whatever the pattern."""
    monkeypatch.setattr("registry.loading.lint.backtracking._MOST_STEPS", 0)
    is_exponential.cache_clear()
    assert not is_exponential("(a|a)*bb")
    is_exponential.cache_clear()
