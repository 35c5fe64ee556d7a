"""Faults become diagnostics with exact places."""

import pytest

from registry.diagnostics import Diagnostic, Fault, Mention, Place, Related, Severity
from registry.documents import Document
from registry.loading import locate as module
from registry.loading.locate import dotted, locate

TEXT = """\
version = 1
recipients.calc.timeouts = 2
prompts = { chat = { messages = [{ role = "user" }, {}] } }

[servers . "x"]
command = ["a", 3]
note = \"\"\"
Hi \\"{name}\\" \\
   {age}\"\"\"
"""
DOCUMENT = Document("a.toml", TEXT, {})


def place_of(path, place=Place.VALUE, document=DOCUMENT, **more):
    """Give line, column and their ends of a fault at a path."""
    (found,) = locate([Fault("wrong-type", "wrong", document, path, place, **more)])
    return found.line, found.column, found.end_line, found.end_column


@pytest.mark.parametrize(
    ("path", "place", "expected"),
    [
        ((), Place.TABLE, (1, 1, 1, 1)),
        (("version",), Place.KEY, (1, 1, 1, 8)),
        (("version",), Place.VALUE, (1, 11, 1, 12)),
        (("recipients", "calc", "timeouts"), Place.KEY, (2, 17, 2, 25)),
        (("recipients", "calc"), Place.TABLE, (2, 12, 2, 16)),
        (("recipients", "calc"), Place.VALUE, (2, 12, 2, 16)),
        (("prompts", "chat"), Place.TABLE, (3, 13, 3, 17)),
        (("prompts", "chat"), Place.VALUE, (3, 20, 3, 58)),
        (("prompts", "chat", "messages", 0), Place.TABLE, (3, 34, 3, 35)),
        (("prompts", "chat", "messages", 0), Place.VALUE, (3, 34, 3, 51)),
        (("prompts", "chat", "messages", 1), Place.KEY, (3, 53, 3, 55)),
        (("servers", "x"), Place.TABLE, (5, 1, 5, 16)),
        (("servers", "x"), Place.VALUE, (5, 1, 5, 16)),
        (("servers", "x"), Place.KEY, (5, 12, 5, 15)),
        (("servers",), Place.KEY, (5, 2, 5, 9)),
        (("servers", "x", "command", 1), Place.VALUE, (6, 17, 6, 18)),
    ],
)
def test_places(path, place, expected):
    """A fault stands at its key, its value, or the header, key or brace of its table."""
    assert expected == place_of(path, place)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("servers", "x", "missing"), (5, 1, 5, 16)),
        (("servers", "x", "command", 9, "deep"), (6, 1, 6, 8)),
        (("prompts", "chat", "messages", 1, "role"), (3, 53, 3, 54)),
        (("nowhere",), (1, 1, 1, 1)),
    ],
)
def test_a_path_that_is_not_there(path, expected):
    """What is missing is reported at the nearest table or key around it."""
    assert expected == place_of(path)


@pytest.mark.parametrize(
    ("within", "expected"),
    [((4, 10), (8, 6, 8, 12)), ((3, 4), (8, 4, 8, 6)), ((12, 17), (9, 4, 9, 9)), ((99, 100), (9, 9, 9, 9))],
)
def test_places_inside_strings(within, expected):
    """A place inside a string counts its escapes and line ends as the file has them."""
    assert expected == place_of(("servers", "x", "note"), within=within)


def test_within_something_that_is_no_string():
    """A place inside a value that is no string is the value."""
    assert (1, 11, 1, 12) == place_of(("version",), within=(0, 1))


def test_a_template_file_is_its_text():
    """In a template file places inside the text are places in the file; without one, it is the beginning."""
    document = Document("t.txt", "Hi\n{name}\n", "Hi\n{name}\n")
    assert (2, 1, 2, 7) == place_of(("prompts", "x", "template_file"), document=document, within=(3, 9))
    assert (1, 1, 1, 1) == place_of((), document=document)


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        ("a = 1\nb", (6, 7), (2, 1, 2, 2)),
        ("a = \n", (5, 6), (1, 5, 1, 5)),
        ("a = \n\n", (9, 2), (2, 1, 2, 1)),
        ("", (0, 1), (1, 1, 1, 1)),
        ("a", (-4, -2), (1, 1, 1, 1)),
    ],
)
def test_given_offsets(text, span, expected):
    """Given offsets win over the path, and stay on a line that has text or a line end."""
    assert expected == place_of(("a",), document=Document("a.toml", text, None), span=span)


@pytest.mark.parametrize(
    ("text", "span", "path"),
    [
        ("[a.b]\nc = [1, 99]", (14, 16), "a.b.c.1"),
        ("[a.b]\nc = [1, 99]", (12, 13), "a.b.c"),
        ("[a.b]\nc = [1, 99]", (7, 8), ""),
    ],
)
def test_offsets_without_a_path(text, span, path):
    """A fault that knows only its offsets gets the path of the innermost value around them."""
    (found,) = locate([Fault("number-too-long", "long", Document("a.toml", text, {}), (), span=span)])
    assert path == found.path


def test_offsets_in_text_that_was_not_parsed_have_no_path():
    """A syntax error has no path: where text is no TOML, nothing is known of its tables."""
    (found,) = locate([Fault("toml-syntax", "no", Document("a.toml", "a = [1, 2", None), (), span=(5, 6))])
    assert not found.path


def test_a_diagnostic_keeps_what_the_fault_says():
    """Code, severity, message, hint and mentions are carried over."""
    other = Document("b.toml", "[x]\ny = 1", {})
    mention = Mention("first here", other, ("x",), Place.TABLE)
    fault = Fault(
        "unknown-key",
        "unknown key 'timeouts'",
        DOCUMENT,
        ("recipients", "calc", "timeouts"),
        Place.KEY,
        hint="did you mean 'timeout'?",
        severity=Severity.WARNING,
        mentions=(mention,),
    )
    expected = Diagnostic(
        "unknown-key",
        Severity.WARNING,
        "unknown key 'timeouts'",
        "a.toml",
        2,
        17,
        2,
        25,
        "recipients.calc.timeouts",
        "did you mean 'timeout'?",
        (Related("first here", "b.toml", 1, 1, 1, 4),),
    )
    assert (expected,) == locate([fault])


def test_faults_of_one_code_at_one_place_are_one_diagnostic():
    """They keep every message and hint once, the graver severity and all related places."""
    path = ("servers", "x")
    first = Fault("missing-key", "'a' is missing", DOCUMENT, path, Place.TABLE, severity=Severity.WARNING)
    second = Fault(
        "missing-key",
        "'b' is missing",
        DOCUMENT,
        (*path, "b"),
        Place.TABLE,
        hint="add it",
        mentions=(Mention("see", DOCUMENT, ()),),
    )
    other = Fault("bad-name", "bad", DOCUMENT, path, Place.TABLE)
    merged, kept = locate([first, second, other, first, second])
    assert "'a' is missing; 'b' is missing" == merged.message
    assert "add it" == merged.hint
    assert Severity.ERROR is merged.severity
    assert "servers.x" == merged.path
    assert 1 == len(merged.related)
    assert "bad" == kept.message
    both_warn, _ = locate([first, other])
    assert Severity.WARNING is both_warn.severity


def test_the_text_is_scanned_once(monkeypatch):
    """However many faults a document has, its index is made once; given offsets need none."""
    calls = []
    real = module.spans.index
    monkeypatch.setattr(module.spans, "index", lambda text: calls.append(text) or real(text))
    locate([Fault("a", "m", DOCUMENT, ("version",), span=(0, 1))])
    assert [] == calls
    note = ("servers", "x", "note")
    locate([Fault("a", "m", DOCUMENT, note, within=(0, 1)), Fault("b", "m", DOCUMENT, note, within=(1, 2))])
    assert [TEXT] == calls


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), ""),
        (("recipients", "a", "parameters", "city", "type"), "recipients.a.parameters.city.type"),
        (("messages", 0, "role"), "messages.0.role"),
        (("properties", "$ref"), "properties.$ref"),
        (("a.b", "", "x y", "é", 'q"', "\n"), '"a.b"."".x y.é."q\\""."\\n"'),
    ],
)
def test_dotted_paths(path, expected):
    """Keys and indexes are joined by dots; a key that would be read wrongly is quoted."""
    assert expected == dotted(path)
