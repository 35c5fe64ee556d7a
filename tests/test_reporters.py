"""What the output formats look like. Their laws are in property/test_reporter_laws.py."""

import importlib.metadata
import json
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from registry.codes import CODES
from registry.diagnostics import Diagnostic, Related, Report, Severity
from registry.reporters import REPORTERS
from registry.reporters import sarif as sarif_module
from registry.reporters.frames import frame
from registry.reporters.text import text
from registry.reporters.visible import visible, width

SOURCE = "version = 1\n[recipients.calc]\ndescripton = '漢字'\t# note\n"
FOUND = Diagnostic(
    "unknown-key",
    Severity.ERROR,
    "unknown key 'descripton'",
    "a.toml",
    3,
    1,
    3,
    11,
    "recipients.calc.descripton",
    "did you mean 'description'?",
)
WARNING = Diagnostic(
    "duplicate-recipient",
    Severity.WARNING,
    "two lines\nabout it",
    "parts/b.toml",
    12,
    1,
    13,
    4,
    related=(Related("first here", "a.toml", 2, 2, 2, 17),),
)
REPORT = Report([FOUND, WARNING], 2, 3, 1, {"a.toml": SOURCE, "parts/b.toml": "\n" * 11 + "[x]\ny = 1"})
EMPTY = Report(files=1, recipients=1, sources={"a.toml": SOURCE})


def lines_of(name, report=REPORT):
    """Give the lines of a report in a format."""
    return REPORTERS[name](report).splitlines()


def test_text():
    """People see what is wrong, where, the line with marks, related places, the remedy and a summary."""
    assert [
        "error[unknown-key]: unknown key 'descripton'",
        " --> a.toml:3:1 in recipients.calc.descripton",
        "  |",
        "3 | descripton = '漢字'    # note",
        "  | ^^^^^^^^^^",
        "  = help: did you mean 'description'?",
        "",
        "warning[duplicate-recipient]: two lines",
        "     about it",
        "  --> parts/b.toml:12:1",
        "   |",
        "12 | [x]",
        "   | ^^^",
        "   = note: first here",
        "  --> a.toml:2:2",
        "   |",
        " 2 | [recipients.calc]",
        "   |  ---------------",
        "",
        "1 error, 1 warning in 2 files (3 recipients, 1 prompt)",
    ] == lines_of("text")


def test_text_without_findings():
    """A clean report is one line."""
    assert ["no problems in 1 file (1 recipient, 0 prompts)"] == lines_of("text", EMPTY)


def test_text_without_the_line():
    """A file whose text is not known, or which has no such line, is shown without a frame."""
    report = Report([FOUND], sources={})
    short = Report([FOUND], sources={"a.toml": "x"})
    assert 5 == len(lines_of("text", report)) == len(lines_of("text", short))


def test_text_in_colour():
    """Colours come only when asked for, and take nothing away."""
    coloured = text(REPORT, colour=True)
    assert "\x1b[1;31merror[unknown-key]\x1b[0m" in coloured
    assert "| \x1b[1;31m^^^^^^^^^^\x1b[0m".replace("| ", "") in coloured
    assert "\x1b" not in text(REPORT)
    plain = coloured
    for code in ("0", "1", "1;31", "1;33", "1;34", "1;36"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert text(REPORT) == plain


def test_text_shows_controls():
    """Nothing from a file reaches the terminal as a control character."""
    evil = "a = '\x1b[2J\u202e'"
    found = Diagnostic("unknown-key", Severity.ERROR, "\x1b[0m", "\x07.toml", 1, 6, 1, 7, "\r", "\x1b\nx")
    shown = text(Report([found], sources={"\x07.toml": evil}))
    assert "1 | a = '\\x1b[2J\\u202e'\n  |      ^^^^\n" in shown
    assert " --> \\x07.toml:1:6 in \\r\n" in shown
    assert "= help: \\x1b\n          x" in shown


@pytest.mark.parametrize(
    ("line", "start", "end", "shown", "marks"),
    [
        ("", 0, 0, "", "^"),
        ("abc", 1, 2, "abc", " ^"),
        ("abc", 1, 1, "abc", " ^"),
        ("abc", 3, 3, "abc", "   ^"),
        ("abc", 3, 9, "abc", "   ^"),
        ("\ta", 1, 2, "    a", "    ^"),
        ("漢e\u0301x", 3, 4, "漢e\u0301x", "   ^"),
        ("漢字", 0, 2, "漢字", "^^^^"),
        ("👩\u200d🚀.", 3, 4, "👩\u200d🚀.", "    ^"),
        ("a" * 200, 0, 3, "a" * 100 + "…", "^^^"),
        ("a" * 200, 199, 200, "…" + "a" * 34, " " * 34 + "^"),
        ("a" * 200, 100, 103, "…" + "a" * 100 + "…", " " * 34 + "^^^"),
        ("a" * 200, 100, 200, "…" + "a" * 100 + "…", " " * 34 + "^" * 67),
        ("漢" * 60, 0, 1, "漢" * 50 + "…", "^^"),
    ],
)
def test_frames(line, start, end, shown, marks):
    """Marks stand under what they mean, whatever the width of characters; long lines are cut around them."""
    assert (shown, marks) == frame(line, start, end)


def test_json():
    """The JSON format has exactly the fields that it promises."""
    document = json.loads(REPORTERS["json"](REPORT))
    assert {
        "code": "unknown-key",
        "severity": "error",
        "message": "unknown key 'descripton'",
        "file": "a.toml",
        "line": 3,
        "column": 1,
        "end_line": 3,
        "end_column": 11,
        "path": "recipients.calc.descripton",
        "hint": "did you mean 'description'?",
        "related": [],
    } == document["diagnostics"][0]
    assert [
        {"message": "first here", "file": "a.toml", "line": 2, "column": 2, "end_line": 2, "end_column": 17}
    ] == document["diagnostics"][1]["related"]
    assert {"files": 2, "recipients": 3, "prompts": 1, "errors": 1, "warnings": 1} == document["summary"]


FIRST = "unknown key 'descripton'%0Ahelp: did you mean 'description'?"
SECOND = "two lines%0Aabout it%0Aa.toml:2:2: first here"


def test_github():
    """Workflow commands carry file, place and code; an end column only within one line."""
    assert [
        ("::error file=a.toml,line=3,col=1,endLine=3,endColumn=11,title=unknown-key", FIRST),
        ("::warning file=parts/b.toml,line=12,col=1,endLine=13,title=duplicate-recipient", SECOND),
    ] == [tuple(line.rsplit("::", 1)) for line in lines_of("github")]
    assert "" == REPORTERS["github"](EMPTY)


def test_github_escapes():
    """Signs with a meaning in workflow commands are escaped."""
    found = Diagnostic("unknown-key", Severity.ERROR, "50% \r\n: ,", "a:b,c%.toml", 1, 1, 1, 1)
    assert [
        "::error file=a%3Ab%2Cc%25.toml,line=1,col=1,endLine=1,endColumn=1,title=unknown-key::50%25 %0D%0A: ,"
    ] == lines_of("github", Report([found]))


def test_junit():
    """A file with errors fails, one with warnings passes with output, a clean one just passes."""
    again = Diagnostic("bad-name", Severity.ERROR, "<bad> & \x00", "a.toml", 1, 1, 1, 2)
    report = Report([FOUND, WARNING, again], sources={**REPORT.sources, "clean.toml": ""})
    (suite,) = ET.fromstring(REPORTERS["junit"](report))
    assert ("3", "1") == (suite.get("tests"), suite.get("failures"))
    failing, clean, warned = suite
    (failure,) = failing
    assert ("bad-name", "<bad> & \\x00 (and 1 more)") == (failure.get("type"), failure.get("message"))
    assert 2 == len(failure.text.splitlines())
    assert ["system-out"] == [part.tag for part in warned]
    assert [] == list(clean)
    assert "clean.toml" == clean.get("name")


def test_sarif(monkeypatch, tmp_path):
    """A SARIF log has rules with help, places in declared units, and the tool's version."""
    (tmp_path / "unknown-key.md").write_text("# unknown-key\n")
    monkeypatch.setattr(sarif_module, "rules_folder", lambda: tmp_path)
    odd = Diagnostic("new-code", Severity.ERROR, "x", "/tmp/a b%.toml", 1, 2, 1, 3)
    emoji = Diagnostic("unknown-key", Severity.ERROR, "x", "e.toml", 1, 3, 1, 4)
    report = Report([FOUND, WARNING, odd, emoji], sources={**REPORT.sources, "e.toml": "🐍=1"})
    document = json.loads(REPORTERS["sarif"](report))
    (run,) = document["runs"]
    assert "2.1.0" == document["version"]
    duplicate, new, unknown = run["tool"]["driver"]["rules"]
    assert {"text": "new-code", "markdown": "new-code"} == new["help"]
    assert {"text": "# unknown-key\n", "markdown": "# unknown-key\n"} == unknown["help"]
    assert CODES["duplicate-recipient"].summary == duplicate["help"]["text"]
    assert {"level": "error"} == duplicate["defaultConfiguration"]
    places = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: result["locations"][0]
        for result in run["results"]
    }
    assert {"startLine": 1, "endLine": 1, "startColumn": 4, "endColumn": 5} == places["e.toml"][
        "physicalLocation"
    ]["region"]
    assert {"startLine": 1, "endLine": 1} == places["file:///tmp/a%20b%25.toml"]["physicalLocation"]["region"]
    assert [{"fullyQualifiedName": "recipients.calc.descripton"}] == places["a.toml"]["logicalLocations"]


def test_sarif_without_installed_distribution(monkeypatch):
    """The log is made also where the package runs without being installed."""

    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    (run,) = json.loads(REPORTERS["sarif"](REPORT))["runs"]
    assert "0" == run["tool"]["driver"]["version"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("plain é🐍\u00a0\u200d", "plain é🐍\u00a0\u200d"),
        (
            "a\tb\n\x1b\x7f\u0085\u2028\u202e\ufeff\ud800\uffff",
            r"a\tb\n\x1b\x7f\x85\u2028\u202e\ufeff\ud800\uffff",
        ),
    ],
)
def test_visible(given, expected):
    """Controls, line separators, direction marks and lone surrogates are escaped; all else stays."""
    assert expected == visible(given)


def test_width():
    """Wide characters take two cells, combining ones none."""
    assert [3, 2, 1, 2, 0] == [width(text) for text in ("abc", "漢", "e\u0301", "🐍\ufe0f", "\u200d")]


def test_the_table_is_sorted_and_light():
    """The table lists the formats in order, and importing it imports none of them."""
    assert sorted(REPORTERS) == list(REPORTERS)
    code = "import sys, registry.reporters; print([n for n in sys.modules if 'registry.reporters.' in n])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()
