"""The cases of tests/cases/template.json and the laws of `Template` that they do not state."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import string
import time

import pytest

from registry.exceptions import RenderError, TemplateError
from registry.template import MAX_DEPTH, MAX_OUTPUT, Template

CASES = json.loads((pathlib.Path(__file__).parent / "cases" / "template.json").read_text("utf-8"))


def text_of(parts):
    if isinstance(parts, str):
        return parts
    return "".join(p if isinstance(p, str) else p["repeat"][0] * p["repeat"][1] for p in parts)


def value_of(value):
    if isinstance(value, dict):
        if "$pow" in value:
            return value["$pow"][0] ** value["$pow"][1]
        if "$float" in value:
            return float(value["$float"])
        return {key: value_of(item) for key, item in value.items()}
    return [value_of(item) for item in value] if isinstance(value, list) else value


def outcome(case):
    options = {"missing": case["missing"]} if "missing" in case else {}
    try:
        template = Template(text_of(case["template"]))
        if "variables" in case:
            assert tuple(case["variables"]) == template.variables
        if "values" not in case:
            return None
        return template.render(value_of(case["values"]), **options)
    except (TemplateError, RenderError) as error:
        return error


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case):
    """Every case of the shared data has the outcome that it states."""
    started = time.perf_counter()
    found = outcome(case)
    assert time.perf_counter() - started < case.get("max_seconds", 60)
    if "error" not in case:
        if "renders" in case:
            assert text_of(case["renders"]) == found
        elif "renders_json" in case:
            assert case["renders_json"] == json.loads(found)
        else:
            assert found is None
        return
    codes = case["error"] if isinstance(case["error"], list) else [case["error"]]
    assert found.code in codes
    for field in ("line", "column"):
        if field in case:
            assert case[field] == getattr(found, field)
    if "names" in case:
        assert set(case["names"]) == set(found.names)


def fails(text, values=None, **options):
    """Return the declared error of a template or its rendering."""
    with pytest.raises((TemplateError, RenderError)) as caught:
        Template(text).render({} if values is None else values, **options)
    return caught.value


def test_every_short_text_agrees_with_str_format():
    """Whatever str.format accepts with identifier fields renders alike: all texts up to length 7, or 9."""
    longest, valid = (9, 14849) if os.environ.get("HYPOTHESIS_PROFILE") == "ci" else (7, 1791)
    names = {"a" * length: "V" for length in range(1, longest)}
    compared = 0
    for length in range(longest + 1):
        for letters in itertools.product('{}a"', repeat=length):
            text = "".join(letters)
            try:
                fields = [field for _, field, _, _ in string.Formatter().parse(text) if field is not None]
            except ValueError:
                continue
            if all(field.isidentifier() for field in fields):
                assert text.format(**names) == Template(text).render(dict.fromkeys(fields, "V"))
                compared += 1
    assert compared == valid


def test_constructing_names_the_first_fault():
    """A template with several faults raises for the first one, with a hint."""
    error = fails("ok\n {a.b} {c!r}")
    assert (
        TemplateError(
            "attribute-access",
            "{a.b} reaches into a value",
            2,
            2,
            "declare an input a_b and write {a_b}",
        )
        == error
    )


def test_equal_and_hashable_by_text():
    """Two templates of one text are one value."""
    assert {Template("{a}")} == {Template("{a}"), Template("{a}")}
    assert repr(Template("{a}")) == "Template(text='{a}')"


def test_cannot_be_changed():
    """A template is frozen."""
    with pytest.raises(AttributeError):
        Template("x").text = "y"


def test_missing_has_two_ways():
    """Another value of missing is the caller's mistake, also when nothing is missing."""
    for values in ({"a": 1}, {}):
        with pytest.raises(ValueError, match="'error' or 'empty'"):
            Template("{a}").render(values, missing="ignore")


def test_values_may_be_any_mapping_and_are_left_alone():
    """A mapping that makes up values on access is only asked for what it holds."""
    import collections

    values = collections.defaultdict(str, a=1)
    assert fails("{a} {b}", values).names == ("b",)
    assert dict(values) == {"a": 1}
    assert Template("{a}").render(collections.ChainMap({"a": 2})) == "2"


def test_one_error_tells_all():
    """Missing, unexpected and unprintable values stand in one text; the code is the gravest."""
    error = fails("{name} {age:d} {xs!json}", {"nmae": 1, "age": "old", "xs": {1}})
    assert (error.code, error.names) == ("missing-input", ("name",))
    assert str(error) == (
        "no value for 'name'; 'nmae' is no input, did you mean 'name'?; "
        "'age': cannot be printed as the template asks (str with format 'd'); "
        "'xs': cannot be printed as the template asks (set as JSON) [missing-input]"
    )


def test_a_key_that_is_no_text_is_unexpected():
    """A key of another type than str can name no input."""
    assert fails("{a}", {"a": 1, 3: 1}).names == ("3",)


@pytest.mark.parametrize(
    ("text", "value", "code"),
    [
        ("{v}", lambda: 10**5000, "number-too-long"),
        ("{v}", lambda: [10**5000], "number-too-long"),
        ("{v:,d}", lambda: 10**5000, "number-too-long"),
        ("{v:.2f}", lambda: 10**5000, "number-too-long"),
        ("{v!json}", lambda: {"a": [10**5000]}, "number-too-long"),
        ("{v!json}", [float("inf")], "not-finite"),
        ("{v!json}", "\ud800", "not-utf8"),
        ("é{v}", "\ud800", "not-utf8"),
        ("{v:c}", 0xD800, "not-utf8"),
        ("{v:c}", -1, "number-too-long"),
        ("{v:>5}", None, "wrong-type"),
        ("{v:d}", 1.5, "wrong-type"),
        ("{v!json}", object(), "wrong-type"),
        ("{#each v as x}{x}{/each}", "text", "wrong-type"),
        ("{#each v as x}{x}{/each}", {"a": 1}, "wrong-type"),
        ("{#each v as x}{x}{/each}", b"ab", "wrong-type"),
        ("{#each v as x}{x}{/each}", None, "missing-input"),
        ("{#each v as x}{x:.1f}{/each}", [1, "a"], "wrong-type"),
        ("{#each v as x}{x}{/each}", ["\udc80"], "not-utf8"),
        ("{#each v as x}{#each x as y}{y}{/each}{/each}", [[1], 2], "wrong-type"),
    ],
)
def test_values_that_cannot_be_printed(text, value, code):
    """A value that cannot be printed as asked is a declared error that names the input, also inside loops."""
    error = fails(text, {"v": value() if callable(value) else value})
    assert (code, ("v",)) == (error.code, error.names)


def test_a_value_that_raises_is_named():
    """Whatever a value raises when it is printed becomes an error with the input's name."""

    class Hostile:
        def __format__(self, spec):
            raise SystemError("boom")

    assert fails("{a} {h}", {"a": 1, "h": Hostile()}).names == ("h",)


def test_circular_and_very_deep_values():
    """A value that contains itself, or is nested without end, cannot be written as JSON."""
    circular = []
    circular.append(circular)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert [fails("{v!json}", {"v": value}).code for value in (circular, deep)] == ["wrong-type"] * 2


def test_printed_once():
    """A value used twice in the same way is printed once, in text and in sections."""

    class Counting:
        count = 0

        def __str__(self):
            self.count += 1
            return str(self.count)

    assert Template("{v}{v}{#if v}{v}{/if}").render({"v": Counting()}) == "111"
    assert Template("{v} {v} {v:>2} {v:>2}").render({"v": 7}) == "7 7  7  7"


def test_output_is_bounded():
    """No template multiplies a value past the bound, flat or in loops; the input at fault is named."""
    value = "x" * (MAX_OUTPUT // 2)
    assert len(Template("{v}{v}").render({"v": value})) == MAX_OUTPUT
    flat = fails("{v}{w}{v}", {"v": value, "w": 1})
    looped = fails("{#each v as x}{x}{/each}", {"v": [value] * 3})
    plain = fails("{v}", {"v": value * 2 + "x"})
    text = fails("{#each v as x}" + "y" * 1000 + "{/each}", {"v": [0] * (MAX_OUTPUT // 999)})
    for error in (flat, looped, plain, text):
        assert (error.code, error.names) == ("wrong-type", ("v",))
        assert "16,777,216 characters" in str(error)


def test_turns_are_bounded():
    """Nested loops that print nothing end too."""
    error = fails("{#each v as x}{#each v as y}{/each}{/each}", {"v": [0] * 2000})
    assert (error.code, error.names) == ("wrong-type", ("v",))
    assert "1,000,000 turns" in str(error)


def test_nesting_is_bounded():
    """Sections nest to the stated depth and no deeper; the section that is too deep is named."""

    def nested(depth):
        return "{#if a}" * depth + "{a}" + "{/if}" * depth

    assert Template(nested(MAX_DEPTH)).render({"a": 1}) == "1"
    error = fails(nested(MAX_DEPTH + 2).replace("{a}", "{#else}"))
    assert (error.code, error.line, error.column) == ("nesting-too-deep", 1, MAX_DEPTH * 7 + 1)


def test_loop_names_hide_and_come_back():
    """Inside a loop its name is the item; outside, and after it, the input."""
    text = "{x} {#each xs as x}{x}{#each ys as x}{x}{/each}{x} {/each}{x}"
    template = Template(text)
    assert template.variables == ("x", "xs", "ys")
    assert template.render({"x": 0, "xs": [1, 2], "ys": ["a", "b"]}) == "0 1ab1 2ab2 0"


def test_a_missing_item_list_names_the_input():
    """A nested list that is missing is the fault of the input that holds it."""
    assert fails("{#each v as x}{#each x as y}{y}{/each}{/each}", {"v": [None]}).names == ("v",)


def test_presence_of_items():
    """A loop's items can be asked for their presence."""
    text = "{#each v as x}{#if x}{x}{#else}-{/if}{/each}"
    assert Template(text).render({"v": [1, None, 0, ""]}) == "1-0"


def test_empty_is_lenient_in_sections_too():
    """With missing="empty" a missing list prints nothing; an unprintable value is still an error."""
    assert Template("[{#each v as x}{x}{/each}]").render({}, missing="empty") == "[]"
    assert fails("{v:d} {w}", {"v": "x"}, missing="empty").names == ("v",)


def test_names_are_compared_in_nfc():
    """One name in two spellings is one name, in the template, in sections and in the values."""
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    text = f"{{{decomposed}}}{{{composed}:>2}}{{#if {decomposed}}}!{{/if}}"
    assert Template(text).variables == (composed,)
    for name in (composed, decomposed):
        assert Template(text).render({name: 1}) == "1 1!"
    assert Template("{x}{" + decomposed + "!json}").render({"x": 1, decomposed: 2}) == "12"
    assert fails(text, {composed: 1, decomposed: 2}).names == (decomposed,)


def test_isascii_digits_only_in_widths():
    """Digits of other scripts make no width."""
    assert fails("{x:>\u0665}").code == "bad-format-spec"


def test_specs_that_fit_nothing():
    """A spec that no number and no text can have is refused when the template is read."""
    assert [fails(text).code for text in ("{x:,s}", "{x:.2d}", "{x:_n}")] == ["bad-format-spec"] * 3


@pytest.mark.parametrize("values", [[("a", 1)], "a", 5, None])
def test_values_that_are_no_mapping_are_the_callers_mistake(values):
    """It is told which form values have."""
    with pytest.raises(TypeError, match="values are a mapping"):
        Template("{a}").render(values)


def test_render_without_values():
    """A text without slots needs no values."""
    assert Template("x").render() == "x"


def test_a_template_is_a_text():
    """Anything but a text is the caller's mistake."""
    with pytest.raises(TypeError, match="a template is a text, not NoneType"):
        Template(None)
