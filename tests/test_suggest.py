"""Did you mean …?"""

import pytest

from registry.suggest import close, nearest


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("descripton", ["description", "api_docs"], "description"),
        ("tiemout", ["timeout", "tags"], "timeout"),
        ("required-args", ["required_args"], "required_args"),
        ("URL", ["url", "method"], "url"),
        ("knd", ["kind"], "kind"),
        ("nmae", ["name", "age"], "name"),
        ("clac", ["calc", "shorten"], "calc"),
    ],
)
def test_a_misspelt_word_is_recognised(word, known, meant):
    """One typing error for every three letters is seen through; case and dashes do not count."""
    assert meant == nearest(word, known)


@pytest.mark.parametrize("word", ["qqq", "content", "", "-", "x" * 65, "ab"])
def test_a_far_fetched_word_brings_no_suggestion(word):
    """A wrong guess is worse than none."""
    assert nearest(word, ["kind", "url", "timeout", "ac", "y" * 65, "x" * 66]) is None


def test_the_nearest_come_first_and_not_too_many():
    """At most three words are suggested, by distance and then by name."""
    known = ["timeouts", "timeout", "timeour", "timoeut", "tim"]
    assert ("timeout", "timeour", "timeouts") == close("timeout", known)
