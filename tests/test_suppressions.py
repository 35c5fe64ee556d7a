"""Comments that silence diagnostics."""

import pytest

from registry.codes import CODES
from registry.diagnostics import Diagnostic, Severity
from registry.documents import Document
from registry.suppressions import SILENCEABLE, apply

WARNING = "unbalanced-brace"
ERROR = "unused-input"


def diagnostic(code=WARNING, line=1, file="a.toml"):
    """Give a diagnostic on a line."""
    severity = Severity(CODES[code].severity)
    return Diagnostic(code, severity, "what", file, line, 1, line, 2)


def silence(text, *found, data=None):
    """Apply the comments of a text to diagnostics of its file."""
    return apply(found, [Document("a.toml", text, data or {})])


@pytest.mark.parametrize("code", [WARNING, *sorted(SILENCEABLE)])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1 # recipients: ignore[{}]", 1),
        ("a = 1 #recipients:ignore[ {} ] because", 1),
        ("a = 1 # because # recipients: ignore[{}]", 1),
        ("# recipients: ignore[{}]\na = 1", 2),
        ("\t# recipients: ignore[{}]\n# because\na = 1", 3),
        ("# recipients: ignore[{}]\na = '''\nx\n'''", 3),
        ("a = '''\nx\ny''' # recipients: ignore[{}]", 2),
        ("a = 1\n\nb = 2\n# recipients: ignore-file[{}]", 3),
    ],
)
def test_a_comment_silences_its_line(text, line, code):
    """On its own line, alone above it or for the whole file, a comment silences its code."""
    assert () == silence(text.format(code), diagnostic(code, line))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1 # recipients: ignore[{}]\nb = 2", 2),
        ("# recipients: ignore[{}]\na = 1\nb = 2", 3),
        ("# recipients: ignore[{}]\n\nb = 2", 3),
        ("a = 1\n# recipients: ignore[{}]", 1),
        ("# recipients: ignore[{}]", 2),
    ],
)
def test_a_comment_silences_no_other_line(text, line):
    """Other lines are not affected, and the comment is reported as unused."""
    found = diagnostic(WARNING, line)
    kept, unused = silence(text.format(WARNING), found)
    assert found == kept
    assert "unused-ignore" == unused.code


@pytest.mark.parametrize(
    "text",
    [
        "a = '# recipients: ignore[{0}]'",
        'a = "# recipients: ignore-file[{0}]"',
        "a = '''\n# recipients: ignore-file[{0}]\n'''",
        "# recipients: ignore {0}",
        "# recipient: ignore[{0}]",
        "a = 1",
    ],
)
def test_only_real_comments_count(text):
    """What stands in a string, or is spelt otherwise, is no such comment."""
    found = diagnostic(WARNING, 1)
    assert (found,) == silence(text.format(WARNING), found)


def test_several_codes_in_one_comment():
    """Each code of a comment counts by itself; one that silences nothing is reported at its own place."""
    text = f"a = 1 # recipients: ignore[{WARNING}, {ERROR},unsafe-pattern]"
    (unused,) = silence(text, diagnostic(WARNING), diagnostic(ERROR))
    start = text.index("unsafe") + 1
    assert (
        Diagnostic(
            "unused-ignore",
            Severity.WARNING,
            "there is no 'unsafe-pattern' to ignore here",
            "a.toml",
            1,
            start,
            1,
            start + len("unsafe-pattern"),
            hint="delete it from the comment",
        )
        == unused
    )


def test_a_comment_is_not_judged_while_there_are_errors():
    """As long as an error may keep later checks from running, no comment is called unused."""
    text = f"# recipients: ignore-file[{WARNING}]"
    error = diagnostic("wrong-type")
    assert (error,) == silence(text, error)
    (unused,) = silence(text)
    assert "there is no 'unbalanced-brace' to ignore in this file" == unused.message


@pytest.mark.parametrize(
    ("code", "message", "hint"),
    [
        (
            "unbalanced-bracee",
            "there is no code 'unbalanced-bracee' to ignore",
            "did you mean 'unbalanced-brace'?",
        ),
        ("zzzzzz", "there is no code 'zzzzzz' to ignore", "`recipients explain` lists all codes"),
        (
            "wrong-type",
            "'wrong-type' is an error that stops a load and cannot be ignored",
            "delete it from the comment",
        ),
    ],
)
def test_a_code_that_can_never_be_ignored(code, message, hint):
    """An unknown code, or one of an error that stops a load, is reported and has no effect."""
    error = diagnostic("wrong-type")
    kept, wrong = silence(f"a = 1 # recipients: ignore[{code}]", error)
    assert error == kept
    assert ("unused-ignore", message, hint) == (wrong.code, wrong.message, wrong.hint)


def test_an_ignore_reaches_the_template_files_it_names_only_when_for_the_file():
    """A comment for the file speaks of its template files too; other files have their own comments."""
    template = Document("t.txt", "# recipients: ignore-file[wrong-type] {", "a text")
    root = Document("a.toml", f"# recipients: ignore-file[{WARNING}]", {}, templates={"t.txt": template})
    other = Document("b.toml", "", {})
    inside, outside = diagnostic(file="t.txt"), diagnostic(file="b.toml")
    assert (outside,) == apply([inside, outside], [root, other, template])
    line = Document("a.toml", f"# recipients: ignore[{WARNING}]", {}, templates={"t.txt": template})
    assert inside in apply([inside], [line, template])


def test_everything_silenceable_is_a_known_error():
    """The list of errors that may be silenced holds known codes of errors only."""
    assert {"error"} == {CODES[code].severity for code in SILENCEABLE}


def test_comments_without_number_take_linear_time():
    """Each warning is silenced, and each comment counts as used, however many there are of both."""
    block = f"# recipients: ignore[{WARNING}, confusable-name]\n" * 20_000 + "a = 1\n"
    found = [diagnostic(WARNING, 20_001) for _ in range(20_000)]
    assert {"confusable-name"} == {one.message.split("'")[1] for one in silence(block, *found)}
    assert () == silence("# recipients: ignore[" * 100_000)
