"""Laws of explaining syntax errors to people who do not know TOML."""

import hypothesis
import hypothesis.strategies as st
import pytest

from registry.loading.parse import parse
from registry.loading.syntax import meaning


def fault_of(text):
    document, (fault,) = parse(text.encode(), "x.toml")
    assert "toml-syntax" == fault.code
    start, end = fault.span
    return fault, document.text[start:end]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        # quotes
        ("a = “x”", "straight quotes", 'write " instead of “'),
        ("a = „x“", "straight quotes", 'write " instead of „'),
        ("a = 'x’\n", "not end on its line", 'write " instead of ’'),  # noqa: RUF001 - the curled quote
        ('a = "x”\nb = 1', "not end on its line", 'write " instead of ”'),
        ('a = "x', "not end on its line", "close it with the quote that it begins with"),
        ("a = 'x", "not end on its line", "close it with the quote that it begins with"),
        ('a = "x\ny"', "not end on its line", "for a text of several lines put '''"),
        ("a = 'it's'", "follows the end of a text", 'put that text between " or """'),
        ('a = "say "hi""', "follows the end of a text", "put that text between ' or '''"),
        ("a = '''x''' y'''", "follows the end of a text", 'put that text between " or """'),
        ("b = '''y'''\na = '''\nx\nc = 1\n", "this text is never closed", "write '''"),
        ('# """\na = """\nx\nc = 1\n', "this text is never closed", 'write """'),
        # values
        ("a = user", "a word without quotes is no value", 'put a text in quotes: "..."'),
        ("a = True", "a word without quotes is no value", "write `true`"),
        ("a = no", "a word without quotes is no value", "write `false`"),
        ("a = None", "a word without quotes is no value", "leave the key out"),
        ("a = # later", "a value is missing", "after `=`"),
        ("a = [ type = 'x' ]", "invalid value", "in braces"),
        ("a = $x", "invalid value", ""),
        ("a = 1,5", "expected newline", "with a point: 1.5"),
        ("a = 'x',", "expected newline", "no comma stands after a statement"),
        ("a = 10s", "expected newline", "one statement on a line"),
        ("a = 2026-02-30", "invalid date", "put it in quotes"),
        ("a = [1 2]", "unclosed array", "close it with ]"),
        ("a = {b = 1 c = 2}", "unclosed inline table", "close it with }"),
        # keys and tables
        ("a: 1", "expected '='", "write `=` instead of `:`"),
        ("{a: 1}", "invalid statement", "name in brackets"),
        ("a 1", "expected '='", "write key = value"),
        ("a b = 1", "expected '='", "A to Z"),
        ("größe = 1", "expected '='", "A to Z"),
        ("= 1", "invalid statement", "write the key before `=`"),
        ("// note", "invalid statement", "a comment begins with `#`"),
        ("* note", "invalid statement", "write key = value"),
        ("[größe]", "expected ']'", "A to Z"),
        ("[über]", "invalid initial character", "A to Z"),
        ("[a", "expected ']'", "close it with ]"),
        ("[[a]", "expected ']]'", "close it with ]]"),
        # letters
        ("a\u00a0= 1", "the invisible character U+00A0", "a plain space"),
        ("a\u200b = 1", "the invisible character U+200B", "delete it"),
        ("a ＝ 1", "expected '='", "write = instead of ＝"),  # noqa: RUF001 - what is typed in Chinese
        ("a = １", "invalid value", ""),  # noqa: RUF001 - as above
        ("a = 1\rb = 2", "expected newline", "line ends LF or CRLF"),
        ("a\0 = 1", "expected '='", "plain text in UTF-8"),
        (r'a = "\d"', "backslash", "double it"),
        (r'a = "C:\Users"', "backslash", "write / instead"),
        (r'a = "\uD800"', "backslash", "double it"),
    ],
)
def test_a_mistake_is_told_with_its_remedy(text, message, hint):
    """What people type who do not know TOML is told in plain words, with what to write instead."""
    fault, _ = fault_of(text)
    assert message in fault.message
    assert hint in fault.hint
    assert bool(hint) == bool(fault.hint)


@pytest.mark.parametrize("quote", ["'", '"', "'''", '"""'])
def test_a_text_that_is_never_closed_is_reported_in_its_line(quote):
    """The place is where the text begins or its line ends, however far the parser looked for its end."""
    text = f"# it's\na = 1\nb = {quote}x\nc = 1\nd = 2\n"
    fault, _ = fault_of(text)
    assert 2 == text.count("\n", 0, fault.span[0])


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("a = 1\n|a = 2", "a"),
        ("a = 1\n  |a = '''\nx\n'''\n", "a"),
        ("a = [\n1]\n'a=b' = 1\n|'a=b' = 2", "'a=b'"),
        ("[a.b]\n[c]\n[ |a.b ]", "a.b"),
        ("[[a]]\n[|a]\n", "a"),
        ("a = 1\na.|b = 2", "b"),
        ("[a.b]\n[a]\nb.|c = 1", "c"),
        ("a = []\n[[|a]]", "a"),
        ("a = 1 # a\n[|a.b]", "a.b"),
        ("a = {b = 1, |b = [\n2]}", "b"),
    ],
)
def test_a_name_that_is_taken_is_reported_at_its_key(text, key):
    """The second declaration of a name is told by that name, where it stands, also before a long value."""
    fault, shown = fault_of(text.replace("|", ""))
    assert (text.index("|"), key) == (fault.span[0], shown)
    assert f"`{key}` is declared already" in fault.message
    assert "a name is declared once" in fault.hint


GOOD = """a = "x"
b = [1, {c = true}]
[d.e]
f = '''
{g}
'''
[[h]]
"k.l" = 1979-05-27 # m
"""
LETTERS = list("=[]{}\"'#\n,.:\\“＝\0a ")  # noqa: RUF001 - what Chinese keyboards give
EDITS = st.tuples(st.integers(0, len(GOOD)), st.integers(0, 6), st.sampled_from(LETTERS))


@hypothesis.given(st.lists(EDITS, max_size=4))
def test_any_damage_is_explained_inside_the_file(edits):
    """However a file is damaged, the explanation is a message and a place inside the text."""
    text = GOOD
    for at, cut, letter in edits:
        text = text[:at] + letter + text[at + cut :]
    document, faults = parse(text.encode(), "x.toml")
    for fault in faults:
        assert fault.message
        assert fault.span is None or 0 <= fault.span[0] <= fault.span[1] <= len(document.text)


def test_messages_are_short_and_keep_secrets():
    """A long name is cut, and what may be a value is not repeated."""
    fault, _ = fault_of("a" * 5_000 + " = 1\n" + "a" * 5_000 + " = 2")
    assert len(fault.message) < 100
    fault, _ = fault_of("token = sk-12345")
    assert "12345" not in fault.message + fault.hint


def test_words_that_are_not_known_are_kept():
    """What another version of the parser says is passed on."""
    assert ("something else", "", None) == meaning("a = 1", 2, "Something else")
    assert meaning("a = 1", 2, "Cannot overwrite a value").message.startswith(
        "cannot overwrite a value: a name"
    )
    assert ("unterminated string", "", None) == meaning("a = 1", 2, "Unterminated string")
