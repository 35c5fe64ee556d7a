"""The start and the end of the program."""

import gc
import subprocess
import sys

import pytest

import registry.cli
from registry.__main__ import entry


@pytest.fixture
def collector():
    """Leave the garbage collector as it was."""
    before = gc.get_threshold()
    yield before
    gc.unfreeze()
    gc.set_threshold(*before)


def test_the_program_ends_with_the_code_of_its_command(monkeypatch, collector):
    """What the command line returns is the exit code."""
    monkeypatch.setattr(registry.cli, "main", lambda: 3)
    with pytest.raises(SystemExit) as ended:
        entry()
    assert 3 == ended.value.code


def test_garbage_is_still_looked_for_in_a_program_that_goes_on(monkeypatch, collector):
    """While a command runs, the collector is only less eager: a server must not grow for ever."""
    monkeypatch.setattr(registry.cli, "main", lambda: (gc.isenabled(), gc.get_threshold()))
    with pytest.raises(SystemExit) as ended:
        entry()
    enabled, threshold = ended.value.code
    assert enabled
    assert 0 < collector[0] < threshold[0]
    assert collector[1:] == threshold[1:]


def test_the_module_is_the_program(tmp_path):
    """`python -m registry` is the command."""
    file = tmp_path / "main.toml"
    file.write_text("x = 1\n", "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "registry", "check", str(file)], capture_output=True, text=True, check=False
    )
    assert (1, True) == (run.returncode, "unknown-key" in run.stdout)


def test_what_explains_is_imported_only_for_a_fault(tmp_path):
    """A check of a file without faults imports neither jsonschema nor what words its errors."""
    file = tmp_path / "main.toml"
    file.write_text('recipients.a = {kind = "python", description = "x"}\n', "utf-8")
    code = (
        "import sys; from registry.loading.loader import check; report = check(sys.argv[1]);"
        "print(report.ok, *(set(sys.modules) & {'jsonschema', 'referencing', 'registry.loading.explain'}))"
    )
    run = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    assert ["True"] == run.stdout.split()
