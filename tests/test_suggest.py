"""Did you mean …?"""

import pytest

from registry.loading.loader import checks
from registry.suggest import bounded, close, nearest


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


def test_guesses_made_together_share_their_work():
    """When the work allowed is used up nothing more is suggested, and outside all is as before."""
    known = [f"word{number}" for number in range(100)]
    with bounded(1_000):
        assert "word7" == nearest("word7x", ["word7"])
        assert nearest("wrd7", known) is None
        assert nearest("word7x", ["word7"]) is None
    assert "word7" == nearest("word7x", ["word7"])


def test_thousands_of_misspelt_words_are_reported_in_linear_time():
    """Every fault is told, with a suggestion as long as there are not too many."""
    inputs = "".join(f'inputs.p{number} = {{ type = "string" }}\n' for number in range(2_000))
    uses = "".join(f"{{q{number}}}" for number in range(20_000))
    report = checks(f'[prompts.g]\ndescription = "x"\nrole = "user"\ntemplate = "{uses}"\n{inputs}')
    found = [one for one in report.errors if one.code == "undeclared-input"]
    assert 20_000 == len(found)
    assert found[0].hint != found[-1].hint
