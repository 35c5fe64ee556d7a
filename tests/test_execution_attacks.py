"""Every attack program behaves as its manifest says, on the default backend and on monty."""

import asyncio

import hostile
import pytest

from registry.execution.choose import backend_name
from registry.execution.cleaning import clean
from registry.execution.monty import MontyBackend
from registry.execution.process import ProcessBackend
from registry.specs import PythonOptions

BACKENDS = {"subprocess": (ProcessBackend, "status"), "monty": (MontyBackend, "monty_status")}


def absent(backend):
    """Skip with the backend's own words where it does not work."""
    usable, reason = backend.probe()
    if not usable:
        pytest.skip(reason)


@pytest.mark.parametrize("entry", hostile.MANIFEST, ids=lambda entry: entry["file"].removesuffix(".py"))
@pytest.mark.parametrize("name", BACKENDS)
def test_attack(name, entry, monkeypatch):
    """An attack ends as the manifest says, touches nothing outside and leaves nothing behind."""
    backend, status_key = BACKENDS[name]
    absent(backend)
    with hostile.surroundings(monkeypatch) as around:
        code = around.source((hostile.ATTACKS / entry["file"]).read_bytes())
        result, took, gap = asyncio.run(hostile.run_once(backend(hostile.LIMITS), code))
        assert set() == hostile.verdict(entry, result, took, around, status_key), result
        assert gap < 0.5, "the event loop stood still"


@pytest.mark.parametrize("name", hostile.TYPICAL)
def test_typical(name):
    """An ordinary snippet runs on the default backend."""
    absent(ProcessBackend)
    if name == "numpy":
        pytest.importorskip("numpy")
    result, _, _ = asyncio.run(hostile.run_once(ProcessBackend(hostile.LIMITS), hostile.TYPICAL[name]))
    assert ("ok", None) == (result.status, result.error)


@pytest.mark.parametrize("case", hostile.EXEC, ids=lambda case: case["id"])
@pytest.mark.parametrize("name", BACKENDS)
def test_case(name, case):
    """Code gives the stated status, output, result and error on each backend."""
    backend, _ = BACKENDS[name]
    absent(backend)
    result, took, _ = asyncio.run(hostile.run_once(backend(hostile.LIMITS), case["code"]))
    statuses = [case["status"]] if isinstance(case["status"], str) else case["status"]
    assert result.status in statuses
    error = result.error
    found = {
        "stdout": result.stdout,
        "stdout_if_ok": result.stdout if result.status == "ok" else case.get("stdout_if_ok"),
        "result": result.result,
        "error_type": error and error.type,
        "error_line": error and error.line,
        "stdout_bytes": result.stdout_bytes,
        "truncated": result.truncated,
    }
    wanted = {key: value for key, value in case.items() if key in found}
    assert wanted == {key: found[key] for key in wanted}
    assert took <= case.get("max_s", 5)


def test_default_is_the_sandboxed_process():
    """On Linux the backend `auto` is the sandboxed child process."""
    absent(ProcessBackend)
    assert "subprocess" == backend_name(PythonOptions())
    assert clean("1") == "1"
