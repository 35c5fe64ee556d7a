"""The monty backend: a part of Python with no access to the system."""

import asyncio
import sys
import threading

import pytest

from registry.exceptions import BackendUnavailable
from registry.execution import monty
from registry.execution.interface import Limits
from registry.execution.monty import MontyBackend
from registry.specs import PythonOptions

pytest.importorskip("pydantic_monty")


ENDLESS = "print('begun')\nwhile True: pass"


@pytest.fixture
def begun(monkeypatch):
    """Return what waits until code has printed something."""
    printed = threading.Event()
    monkeypatch.setattr(monty._Run, "_print", lambda *_args: printed.set())

    async def wait(_backend):
        assert await asyncio.to_thread(printed.wait, 30)

    return wait


def run(*codes, limits=Limits(timeout=2), stateful=False, **options):  # noqa: B008 - frozen
    """Run codes one after the other in one backend."""

    async def go():
        async with MontyBackend(limits, stateful=stateful) as backend:
            return [await backend.run(code, **options) for code in codes]

    return asyncio.run(go())


def test_value_and_output():
    """Output of both streams and the value of the last expression come back."""
    (result,) = run("import sys\nprint('é')\nprint('e', file=sys.stderr)\n6 * 7")
    assert ("ok", "é\n", "e\n", "42") == (result.status, result.stdout, result.stderr, result.result)
    assert (3, 2, False, False) == (
        result.stdout_bytes,
        result.stderr_bytes,
        result.truncated,
        result.session_lost,
    )


def test_no_state():
    """Without `stateful` no run sees another's variables, and no run counts as a lost session."""
    first, second = run("x = 1", "x")
    assert ("ok", "error", "NameError", False) == (
        first.status,
        second.status,
        second.error.type,
        second.session_lost,
    )


def test_state():
    """With `stateful` variables live on, also after an error."""
    results = run("x = 1", "1 / 0", "x + 1", stateful=True)
    assert ["ok", "error", "ok"] == [result.status for result in results]
    assert "2" == results[2].result
    assert [False] * 3 == [result.session_lost for result in results]


def test_lost_session():
    """After a time limit the session is a new one, and says so."""
    results = run("x = 1", "while True: pass", "x", "1", limits=Limits(timeout=0.3), stateful=True)
    assert ["ok", "timeout", "error", "ok"] == [result.status for result in results]
    assert [False, True, True, False] == [result.session_lost for result in results]
    assert "timed out after 0.3 s" == results[1].note


def test_reset():
    """A reset forgets all variables and is no loss."""

    async def go():
        async with MontyBackend(stateful=True) as backend:
            await backend.run("x = 1")
            await backend.reset()
            return await backend.run("x")

    result = asyncio.run(go())
    assert ("error", False) == (result.status, result.session_lost)


def test_error():
    """An error has its type, its message, its line and a traceback of the code's own lines."""
    (result,) = run("def f(n):\n    return 1 / n\n\nf(0)")
    assert ("ZeroDivisionError", "division by zero", 2) == (
        result.error.type,
        result.error.message,
        result.error.line,
    )
    assert 'File "<code>", line 4' in result.error.traceback
    (result,) = run("if x\n  y")
    assert ("error", "SyntaxError", 1) == (result.status, result.error.type, result.error.line)
    (result,) = run("raise SystemExit(3)")
    assert ("error", None) == (result.status, result.error.line)


@pytest.mark.parametrize(("code", "construct"), [("yield 1", "yield"), ("x = 1\ndel x", "'del'")])
def test_unsupported(code, construct):
    """A statement that this interpreter lacks is `unsupported`, with the construct named."""
    (result,) = run(code)
    assert "unsupported" == result.status
    assert construct in result.error.message


def test_input():
    """`input()` reads the lines that were given and then ends at once."""
    (result,) = run("print(input('a'))\ninput('b')", stdin="line\n")
    assert ("error", "EOFError", "aline\nb") == (result.status, result.error.type, result.stdout)
    assert "EOFError: EOF when reading a line" in result.error.traceback


def test_sleep_counts():
    """A sleep over the limit is a timeout, not one that was cut short in silence."""
    (result,) = run("import time\ntime.sleep(3600)")
    assert "timeout" == result.status


def test_memory():
    """More memory than allowed is a MemoryError."""
    (result,) = run("x = 'x' * (8 * 1024**3)")
    assert ("error", "MemoryError") == (result.status, result.error.type)


def test_stuck_worker():
    """A worker that does not stop by itself is killed, and partial output is kept."""
    first, second = run("print('before')\nx = 10**10**8\nlen(bin(x))", "1", limits=Limits(timeout=0.5))
    assert ("timeout", "before\n", "ok") == (first.status, first.stdout, second.status)


def test_flood(monkeypatch):
    """Endless output ends the run; what was printed first and last is kept, with a true total."""
    monkeypatch.setattr(monty, "OUTPUT_LIMIT", 100_000)
    first, second = run(
        "while True:\n    print('x' * 1000)", "1", limits=Limits(timeout=5, max_output=1000), stateful=True
    )
    assert ("error", True, True) == (first.status, first.truncated, first.session_lost)
    assert first.stdout_bytes > 100_000
    assert len(first.stdout) < 1100
    assert "64 MiB" in first.error.message
    assert ("ok", True) == (second.status, second.session_lost)


def test_cuts():
    """Long values and tracebacks are cut and marked."""
    (result,) = run("'x' * 5000", limits=Limits(max_output=100))
    assert (True, True) == (result.truncated, len(result.result) < 200)
    (result,) = run("raise ValueError('x' * 50000)")
    assert (True, True) == (result.truncated, len(result.error.traceback) < 9000)


@pytest.mark.parametrize("code", ["10**5000", "{1: [-10**5000]}"])
def test_value_that_cannot_be_shown(code):
    """A value that has no text is the code's error, as on every backend, and never this process's."""
    (result,) = run(code)
    assert ("error", "ValueError") == (result.status, result.error.type)
    assert result.error.traceback.startswith("ValueError: ")


def test_value_that_is_nested_deeply():
    """It is shown, or it is the code's error: some versions of Python print what others give up on."""
    (result,) = run("a = []\nfor i in range(3000): a = [a]\na")
    assert (result.status, result.error and result.error.type) in {("ok", None), ("error", "RecursionError")}


def test_cancel(begun):
    """Cancellation kills the run; the backend works on, in a new session."""

    async def go():
        async with MontyBackend(Limits(timeout=60), stateful=True) as backend:
            await backend.run("x = 1")
            running = asyncio.ensure_future(backend.run(ENDLESS))
            await begun(backend)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            return await backend.run("x")

    result = asyncio.run(go())
    assert ("error", True) == (result.status, result.session_lost)


def test_last_resort(monkeypatch):
    """A worker that neither stops nor is killed by its pool ends the run all the same."""

    class Stuck:
        async def feed_run(self, _code, **_options):
            await asyncio.sleep(3600)

    run_ = monty._Run(Limits(), "", 0.01)
    monkeypatch.setattr(monty, "GRACE", 0.0)
    asyncio.run(run_.feed(Stuck(), "1"))
    assert ("timeout", True) == (run_.result(session_lost=False).status, run_.broken)


def test_crash(begun):
    """A worker that dies is `crashed`."""
    import os
    import signal

    async def go():
        async with MontyBackend(Limits(timeout=60), stateful=True) as backend:
            await backend.run("1")
            pid = backend._session.worker_pid
            running = asyncio.ensure_future(backend.run(ENDLESS))
            await begun(backend)
            os.kill(pid, signal.SIGKILL)
            return await running, await backend.run("2")

    first, second = asyncio.run(go())
    assert ("crashed", "the interpreter ended", True) == (first.status, first.note, first.session_lost)
    assert ("ok", True) == (second.status, second.session_lost)


def test_not_open():
    """Code runs only inside `async with`."""
    backend = MontyBackend.of(PythonOptions(stateful=True), Limits())
    assert (True, True) == (backend.capabilities.stateful, backend.capabilities.sandboxed)
    with pytest.raises(RuntimeError, match="async with"):
        asyncio.run(backend.run("1"))
    asyncio.run(backend.__aexit__(None, None, None))


def test_probe(monkeypatch):
    """The probe says what is missing, and an absent backend cannot be entered."""
    assert MontyBackend.probe()[0]
    monty._probe.cache_clear()
    monkeypatch.setenv("MONTY_BIN", "/nonexistent")
    usable, reason = MontyBackend.probe()
    assert (False, True) == (usable, "does not run" in reason)
    monty._probe.cache_clear()
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    assert (False, "it is not installed: pip install 'recipients[monty]'") == MontyBackend.probe()
    with pytest.raises(BackendUnavailable, match="not installed"):
        asyncio.run(MontyBackend().__aenter__())
    monty._probe.cache_clear()


def test_callbacks():
    """Output is counted, input is read line by line, and output without end is refused."""
    # The interpreter calls these from threads that no coverage measurement sees.
    run_ = monty._Run(Limits(max_output=10), "one\n", 1.0)
    assert "one" == run_._input("?")
    with pytest.raises(EOFError):
        run_._input()
    with pytest.raises(MemoryError):
        run_._print("stderr", "x" * (monty.OUTPUT_LIMIT + 1))
    result = run_.result(session_lost=False)
    assert ("?", monty.OUTPUT_LIMIT + 1, True) == (result.stdout, result.stderr_bytes, result.truncated)
