"""The pages on diagnostic codes: complete, and their examples say what they promise."""

import pathlib
import re

import pytest

from registry.codes import CODES
from registry.loading.loader import check
from registry.resources import rules_folder

#: Codes whose bad example is no text that could stand in a page, or that only an export finds.
WITHOUT_BAD = {
    "file-too-large",
    "name-collision",
    "name-not-portable",
    "not-utf8",
    "number-too-long",
    "too-many-faults",
    "too-many-tools",
    "unsupported-schema",
}

_SECTION = re.compile(r"^## (Bad|Good)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"(?:`([\w./]+)`:\n\n)?```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(code):
    return (rules_folder() / f"{code}.md").read_text("utf-8")


def examples(code):
    """Return the files of the bad and of the good example."""
    return {
        name: {file or "main.toml": text for file, text in _BLOCK.findall(body)}
        for name, body in _SECTION.findall(page(code))
    }


def report_on(files, folder, monkeypatch):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.chdir(folder)
    return check("main.toml")


def test_every_code_has_a_page_and_every_page_a_code():
    """The table of codes and the folder of pages name the same codes."""
    assert sorted(CODES) == sorted(path.stem for path in rules_folder().glob("*.md"))


def test_codes_are_sorted_and_have_a_severity():
    """The table is in alphabetical order; each code is an error or a warning."""
    assert list(CODES) == sorted(CODES)
    assert {entry.severity for entry in CODES.values()} == {"error", "warning"}


@pytest.mark.parametrize("code", CODES)
def test_a_page_starts_with_its_code_summary_and_severity(code):
    """The head of a page says what the table says."""
    entry = CODES[code]
    assert page(code).startswith(f"# {code}\n\n{entry.summary} ({entry.severity.capitalize()})\n\n")


@pytest.mark.parametrize("code", sorted(CODES.keys() - WITHOUT_BAD))
def test_the_bad_example_has_the_fault_and_no_other(code, tmp_path, monkeypatch):
    """A bad example brings the code it is about, with its severity, and no other."""
    report = report_on(examples(code)["Bad"], tmp_path, monkeypatch)
    assert {(code, CODES[code].severity)} == {
        (found.code, str(found.severity)) for found in report.diagnostics
    }


@pytest.mark.parametrize("code", [code for code in CODES if "## Good" in page(code)])
def test_the_good_example_is_faultless(code, tmp_path, monkeypatch):
    """A good example brings no diagnostic at all."""
    assert () == report_on(examples(code)["Good"], tmp_path, monkeypatch).diagnostics


def test_pages_without_a_bad_example_are_those_listed():
    """Every other page has one."""
    assert {code for code in CODES if "Bad" not in examples(code)} == WITHOUT_BAD


@pytest.mark.parametrize("code", CODES)
def test_lines_of_a_page_fit_a_terminal(code):
    """Pages are read in terminals: no line outside an example is longer than 130 characters."""
    text = re.sub(r"```.*?```", "", page(code), flags=re.DOTALL)
    assert [] == [line for line in text.splitlines() if len(line) > 130]


def test_every_code_used_in_the_package_is_in_the_table():
    """What the stages report can be explained."""
    package = pathlib.Path(__file__).parent.parent / "registry" / "loading"
    used = set()
    for path in package.rglob("*.py"):
        used |= set(re.findall(r'(?:Fault|fault)\(\s*"([a-z0-9-]+)"', path.read_text("utf-8")))
    assert used - CODES.keys() == set()
