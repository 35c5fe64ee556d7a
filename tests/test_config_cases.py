"""The shared cases: files, and the diagnostics that must come of them."""

import json
import pathlib

import pytest

from registry.exceptions import UnreadableFile
from registry.loading.loader import check

CASES = pathlib.Path(__file__).parent / "cases" / "config"


def outcome(files):
    """Return the exit code of a check and its diagnostics."""
    try:
        report = check(*files)
    except UnreadableFile:
        return 2, ()
    return (0 if report.ok else 1), report.diagnostics


def matches(found, wanted):
    return all(str(getattr(found, field)) == str(value) for field, value in wanted.items())


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_the_case_ends_as_expected(case, monkeypatch):
    """The exit code is right, every expected diagnostic is there, and where it matters no other error."""
    expected = json.loads((CASES / case / "expect.json").read_text("utf-8"))
    monkeypatch.chdir(CASES / case)
    code, diagnostics = outcome(expected["files"])
    assert (expected["exit"], expected["why"]) == (code, expected["why"])
    left = list(diagnostics)
    usual = {"file": expected["files"][0], "severity": "error"}
    for wanted in ({**usual, **given} for given in expected["diagnostics"]):
        found = [one for one in left if matches(one, wanted)]
        assert found, (expected["why"], wanted, [str(one) for one in left])
        left.remove(found[0])
    if expected["exact"]:
        assert [] == [str(one) for one in left if one.severity == "error"], expected["why"]


def test_valid_cases_bring_no_warning(monkeypatch):
    """What is right brings no warning either."""
    for path in CASES.glob("ok-*"):
        expected = json.loads((path / "expect.json").read_text("utf-8"))
        monkeypatch.chdir(path)
        assert (path.name, ()) == (path.name, outcome(expected["files"])[1])
