"""The scanner that finds where keys and values stand."""

import os
import pathlib

import pytest
import tomli
from strategies import paths_of, value_at

from registry.loading.spans import Lines, Span, StringOffsets, comments, index, long_strings

CORPUS = pathlib.Path(
    os.environ.get("RECIPIENTS_TOML_TEST", pathlib.Path(__file__).parents[2] / "shared/corpora/toml-test")
)

NASTY = """\
# [no.header]
"🐍 key" = 'a # b'
'quoted.key'."x\\u0041" = "[[nope]]\\n[nope]" # {
plain . dotted.last=1979-05-27 07:32:00
text = \"\"\"
[inside]
x = "1" \\
   \"\"quotes\"\" \"\"\"\"\"
raw = '''
[[inside]]
'''''
empty = [ ]
none = {}
list = [ 1, # one ]
  [ 'a]', { b.c = [ 2 ], "d e" = 3, # }
  f = { }, }, ],
  true , ]

[ spaced . "header" ]
a = +1_000.5e-1
[[tables]]
[[tables.inner]]
x = 1
[[tables.inner]]
[tables.inner.sub]
y = 2
[[tables]]
inner = []
[late.sub]
[late]
z = nan"""


def shown(text, path):
    """Give the texts of a key and its value."""
    span = index(text)[path]
    return text[span.key_start : span.key_end], text[span.value_start : span.value_end]


def check_against_parser(text):
    """Hold every promise of the index against what the parser says."""
    data = tomli.loads(text)
    spans = index(text)
    assert set(paths_of(data)) == set(spans)
    for path, span in spans.items():
        value = value_at(data, path)
        if path and isinstance(path[-1], str):
            key = text[span.key_start : span.key_end]
            assert {path[-1]: 1} == tomli.loads(f"{key} = 1")
        if span.has_header:
            header = text[span.value_start : span.value_end]
            assert (header[0], header[-1]) == ("[", "]")
        elif path and (not isinstance(value, dict) or text[span.value_start] == "{"):
            again = tomli.loads(f"x = {text[span.value_start : span.value_end]}")["x"]
            assert repr(value) == repr(again)
        if isinstance(value, str):
            check_string(text, span, value)


def check_string(text, span, value):
    """Hold every character of a string against the piece of text it stands for."""
    offsets = StringOffsets(text, span.value_start, span.value_end)
    assert len(value) == len(offsets)
    for at, char in enumerate(value):
        start, end = offsets.span(at, at + 1)
        piece = text[start:end]
        assert char == (
            tomli.loads(f'x = "{piece}"')["x"] if piece.startswith("\\") and len(piece) > 1 else piece
        )
        assert start == offsets.offset(at)


def test_a_nasty_file():
    """Every path of a file full of traps has the place that the parser's data asks for."""
    check_against_parser(NASTY)


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ((), "", ""),
        (("🐍 key",), '"🐍 key"', "'a # b'"),
        (("quoted.key",), "'quoted.key'", "'quoted.key'"),
        (("quoted.key", "xA"), '"x\\u0041"', '"[[nope]]\\n[nope]"'),
        (("plain", "dotted"), "dotted", "dotted"),
        (("plain", "dotted", "last"), "last", "1979-05-27 07:32:00"),
        (("list", 1, 1, "b"), "b", "b"),
        (("list", 1, 1, "b", "c"), "c", "[ 2 ]"),
        (("list", 1, 1, "b", "c", 0), "2", "2"),
        (("list", 1, 1, "f"), "f", "{ }"),
        (("list", 2), "true", "true"),
        (("spaced",), "spaced", '[ spaced . "header" ]'),
        (("spaced", "header"), '"header"', '[ spaced . "header" ]'),
        (("tables",), "tables", "[[tables]]"),
        (("tables", 0, "inner", 1), "inner", "[[tables.inner]]"),
        (("tables", 0, "inner", 1, "sub", "y"), "y", "2"),
        (("tables", 1, "inner"), "inner", "[]"),
        (("late",), "late", "[late]"),
        (("late", "z"), "z", "nan"),
    ],
)
def test_places(path, key, value):
    """A key's place is its own part, a table's value is its header, an element stands for its own key."""
    assert (key, value) == shown(NASTY, path)


def test_a_table_has_a_header_only_when_brackets_name_it():
    """Tables by header, also implicit ones, are told from inline tables and from those of dotted keys."""
    spans = index("[a.b]\nc.d = {}")
    assert [True, True, False, False] == [
        spans[path].has_header for path in [("a",), ("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")]
    ]


@pytest.mark.parametrize(
    "text",
    [
        "=",
        "a = ",
        "a = [1, }",
        "a = { b = 1 ]",
        "a = { b = [",
        "[a",
        'a = "x',
        "a = 1\n]",
        '"\\UFFFFFFFF" = 1',
    ],
)
def test_refused_text_gives_what_comes_before(text):
    """On text that the parser refuses the scanner stops at what it cannot read, without an error."""
    spans = index(f"first = 1\n{text}")
    assert Span(0, 5, 8, 9) == spans["first",]


def test_deep_nesting_needs_no_recursion():
    """Nesting of any depth is scanned."""
    paths = index(f"a = {'[' * 500}1{']' * 500}")
    assert 502 == len(paths)


def test_nesting_without_bounds_ends_the_scan():
    """What no parser accepts costs no time: the scan stops in the depth."""
    assert {()} == set(index(f"a = {'[' * 100_000}"))
    assert 1_001 == len(index(f"{'a.' * 100_000}a = 1"))


def test_long_numbers_are_scanned():
    """A number that Python refuses to convert has its place all the same."""
    digits = "9" * 5000
    assert digits == shown(f"a = {digits}", ("a",))[1]


def test_comments():
    """Comments are found outside strings only."""
    text = "# one\na = '# no' # two\nb = '''\n# no\n''' #\n\"# no\" = \"\\\"# no\" # three"
    assert ["# one", "# two", "#", "# three"] == [text[start:end] for start, end in comments(text)]


def test_long_strings():
    """Only strings on more than one line are long."""
    text = 'a = \'\'\'\nx\'\'\' # \'\'\'\nb = \'x\'\nc = """x"""\nd = """\n"""'
    assert ["'''\nx'''", '"""\n"""'] == [text[start:end] for start, end in long_strings(text)]


@pytest.mark.parametrize(
    ("text", "start", "end", "piece"),
    [
        ("'abc'", 1, 2, "b"),
        ("'abc'", 1, 1, ""),
        ("'abc'", -5, 99, "abc"),
        ("'abc'", 3, 9, ""),
        ("''", 0, 1, ""),
        ('""', 0, 0, ""),
        ('"a\\tb\\u00e9\\U0001F600\\x41\\e\\"\\\\z"', 1, 4, "\\tb\\u00e9"),
        ('"a\\tb\\u00e9\\U0001F600\\x41\\e\\"\\\\z"', 4, 10, '\\U0001F600\\x41\\e\\"\\\\z'),
        ('"""\nab\\\n   cd"""', 1, 2, "b"),
        ('"""\nab\\\n   cd"""', 1, 3, "b\\\n   c"),
        ('"""\nab\\\n   cd"""', 2, 3, "c"),
        ('"""ab\\\n """', 1, 2, "b"),
        ("'''\n\nab'''", 0, 2, "\na"),
        ('"""a"""""', 1, 3, '""'),
    ],
)
def test_parts_of_strings(text, start, end, piece):
    """A part of a string is found through escapes, dropped line ends and quotes, for every kind of string."""
    first, last = StringOffsets(text, 0, len(text)).span(start, end)
    assert piece == text[first:last]


def test_the_end_of_a_string_is_before_its_closing_quotes():
    """The offset of a string's length, and of anything beyond, is where the closing quotes begin."""
    offsets = StringOffsets('"a\\n"', 0, 5)
    assert [1, 2, 4, 4, 1] == [offsets.offset(at) for at in (0, 1, 2, 9, -1)]


def test_lines_count_code_points():
    """Lines and columns start at 1; only LF ends a line; an offset outside goes to the nearest end."""
    lines = Lines("é🐍\u2028x\n\nab")
    assert [(1, 1), (1, 3), (1, 5), (2, 1), (3, 1), (3, 3), (3, 3), (1, 1)] == [
        lines.locate(offset) for offset in (0, 2, 4, 5, 6, 8, 99, -1)
    ]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the toml-test corpus is not here")
def test_toml_test_corpus():
    """For every file of toml-test that the parser accepts, all paths are found with their exact places."""
    accepted = 0
    for file in sorted(CORPUS.rglob("*.toml")):
        try:
            text = file.read_bytes().decode().removeprefix("\ufeff").replace("\r\n", "\n")
            tomli.loads(text)
        except ValueError:
            continue
        check_against_parser(text)
        accepted += 1
    assert accepted >= 200
