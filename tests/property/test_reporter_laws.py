"""Laws of the output formats: each tells the same diagnostics, and is valid in its language for any text."""

import json
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import reports, shown_texts

from registry.diagnostics import Diagnostic, Related, Severity
from registry.reporters import REPORTERS
from registry.reporters.frames import LIMIT, frame
from registry.reporters.visible import paragraphs, visible, width


def key_of(found):
    """Give what identifies a diagnostic in formats that leave things out."""
    return found.code, str(found.severity), found.line, found.column


@given(reports())
def test_json_keeps_everything(report):
    """The JSON format leads back to equal diagnostics and the same counts."""
    document = json.loads(REPORTERS["json"](report))
    again = [
        Diagnostic(
            **{
                **found,
                "severity": Severity(found["severity"]),
                "related": tuple(Related(**related) for related in found["related"]),
            }
        )
        for found in document["diagnostics"]
    ]
    assert list(report.diagnostics) == again
    assert {
        "files": report.files,
        "recipients": report.recipients,
        "prompts": report.prompts,
        "errors": len(report.errors),
        "warnings": len(report.warnings),
    } == document["summary"]


@given(reports())
def test_github_has_one_line_a_diagnostic(report):
    """Each diagnostic is one command on one line; unescaped, its fields are those of the diagnostic."""
    lines = REPORTERS["github"](report).splitlines()
    assert len(report.diagnostics) == len(lines)
    for line, found in zip(lines, report.diagnostics, strict=True):
        level, listed, message = re.fullmatch(r"::(error|warning) ([^:]*)::(.*)", line).groups()
        fields = dict(part.split("=", 1) for part in listed.split(","))
        assert key_of(found) == (fields["title"], level, int(fields["line"]), int(fields["col"]))
        assert shown_again(found.file) == unescaped(fields["file"])
        assert unescaped(message).startswith(shown_again(found.message))


def shown_again(text):
    """Make a text visible as the workflow command does, which keeps line ends."""
    return "".join(char if char in "\r\n" else visible(char) for char in text)


def unescaped(value):
    """Undo the escapes of workflow commands as the runner does."""
    for sign, escape in ((":", "%3A"), (",", "%2C"), ("\r", "%0D"), ("\n", "%0A"), ("%", "%25")):
        value = value.replace(escape, sign)
    return value


@given(reports())
def test_junit_is_xml_with_one_case_a_file(report):
    """JUnit output parses as XML, has a case for each file, and a line for each diagnostic of it."""
    root = ET.fromstring(REPORTERS["junit"](report))
    cases = root.findall("testsuite/testcase")
    files = {*report.sources, *(found.file for found in report.diagnostics)}
    assert sorted(map(visible, files)) == sorted(case.get("name") for case in cases)
    assert str(len({found.file for found in report.errors})) == root.get("failures")
    lines = [line for case in cases for part in case for line in part.text.split("\n")]
    assert sorted(visible(str(found)) for found in report.diagnostics) == sorted(lines)


@given(reports())
def test_sarif_tells_the_same(report):
    """SARIF results have code, level, place in UTF-16 units and message of the diagnostics, in order."""
    (run,) = json.loads(REPORTERS["sarif"](report))["runs"]
    assert "utf16CodeUnits" == run["columnKind"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result, found in zip(run["results"], report.diagnostics, strict=True):
        assert (found.code, found.severity) == (result["ruleId"], result["level"])
        assert found.code == rules[result["ruleIndex"]]
        assert result["message"]["text"].startswith("\n".join(paragraphs(found.message)))
        place = result["locations"][0]["physicalLocation"]
        assert found.line == place["region"]["startLine"]
        assert len(found.related) == len(result.get("relatedLocations", []))
        if found.file in report.sources:
            line = report.sources[found.file].split("\n")[found.line - 1].encode("utf-16-le", "surrogatepass")
            units = line[: 2 * (place["region"]["startColumn"] - 1)]
            assert found.column - 1 == len(units.decode("utf-16-le", "surrogatepass"))
        assert re.fullmatch(r"[\w.~/%:-]+", place["artifactLocation"]["uri"], re.ASCII)


@given(reports())
def test_text_has_a_head_for_each_diagnostic(report):
    """The text format has a head with severity, code and place for each diagnostic, and hides no control."""
    shown = REPORTERS["text"](report)
    heads = re.findall(r"^(error|warning)\[([a-z-]+)\]: (.*)$", shown, re.MULTILINE)
    first = [(str(found.severity), found.code, paragraphs(found.message)[0]) for found in report.diagnostics]
    assert first == heads
    assert all(line == visible(line) for line in shown.split("\n"))


@pytest.mark.parametrize("name", sorted(REPORTERS))
@given(report=reports())
def test_formats_are_pure(name, report):
    """The same report gives the same text, which can be encoded and ends with a line end unless empty."""
    shown = REPORTERS[name](report)
    assert shown == REPORTERS[name](report)
    assert not shown.encode() or shown.endswith("\n")


@given(shown_texts, st.data())
def test_marks_stand_under_their_place(line, data):
    """What stands before the marks is as wide as what stands before the place; no line is too long."""
    line = line.replace("\n", "") * data.draw(st.sampled_from([1, 1, 40]))
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    shown, marks = frame(line, start, end)
    indent = len(marks) - len(marks.lstrip())
    assert {"^"} == set(marks.strip())
    assert width(shown) <= LIMIT + 2
    assert indent <= width(shown)
    if end > start:
        piece = visible(line[start].replace("\t", "    "))
        at = 0
        while width(shown[:at]) < indent:
            at += 1
        assert piece in shown[at:]
        assert width(shown[:at]) == indent


@given(shown_texts)
def test_visible_text_stays_visible(text):
    """Making a text visible twice changes nothing more, and it fits in one line and in XML."""
    shown = visible(text)
    assert shown == visible(shown)
    assert 1 >= len(shown.splitlines())
    ET.fromstring(f"<x>{shown.replace('&', '').replace('<', '')}</x>")
