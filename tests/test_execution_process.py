"""The default backend from outside: sessions, limits, cancellation, and that nothing is left."""
# ruff: noqa: E501 - programs are easier to read in one line each

import asyncio
import gc
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

import hostile
import pytest

from registry.exceptions import BackendUnavailable
from registry.execution import process, worker
from registry.execution.capture import HeadTail
from registry.execution.interface import Limits
from registry.execution.process import ProcessBackend
from registry.execution.worker import Finished, Setup
from registry.specs import PythonOptions

SANDBOX = ProcessBackend.probe()[0]
ENDLESS = "while True: pass"


@pytest.fixture(params=[True, False], ids=["sandbox", "no sandbox"])
def sandboxed(request):
    """Run a test with and without the sandbox."""
    if request.param and not SANDBOX:
        pytest.skip(ProcessBackend.probe()[1])
    return request.param


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Let all folders of runs lie in one place."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def run(*codes, limits=Limits(timeout=10), sandbox=SANDBOX, stateful=False, **options):  # noqa: B008 - frozen
    """Run codes one after the other in one backend."""

    async def go():
        async with ProcessBackend(limits, stateful=stateful, sandbox=sandbox) as backend:
            return [await backend.run(code, **options) for code in codes]

    return asyncio.run(go())


def open_descriptors():
    """Return how many descriptors this process has open."""
    return len(list(pathlib.Path("/proc/self/fd").iterdir()))


# --- what comes back -------------------------------------------------------------------------------
def test_result(sandboxed):
    """Output of both streams, the value, the code and the totals come back."""
    (result,) = run("import sys\nprint('é')\nprint('e', file=sys.stderr)\n6 * 7", sandbox=sandboxed)
    assert ("ok", "é\n", "e\n", "42", 0, None) == (
        result.status, result.stdout, result.stderr, result.result, result.exit_code, result.signal,
    )  # fmt: skip
    assert (3, 2, False, False, "") == (
        result.stdout_bytes, result.stderr_bytes, result.truncated, result.session_lost, result.note,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("code", "status", "exit_code", "signal_name"),
    [
        ("import sys\nsys.exit(3)", "error", 3, None),
        ("import os\nos._exit(7)", "error", 7, None),
        ("import os\nos._exit(0)", "ok", 0, None),
        ("import os\nos._exit(120)", "error", 120, None),
        ("import sys\nsys.stdout.close()", "ok", 0, None),
        ("import os\nos.abort()", "crashed", None, "SIGABRT"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "crashed", None, "SIGKILL"),
        ("import os\nos.kill(os.getpid(), 40)", "crashed", None, "signal 40"),
        ("import os\nos.closerange(0, 100)\n1 / 0", "error", 1, None),
        ("import atexit, os\natexit.register(os._exit, 5)", "error", 5, None),
        ("import sys\nsys.exit(10**30)", "error", 255, None),
        ("import sys\nsys.exit = None", "ok", 0, None),
    ],
)
def test_end(sandboxed, code, status, exit_code, signal_name):
    """The status, the exit code and the signal are those of the process."""
    (result,) = run(code, sandbox=sandboxed)
    assert (status, exit_code, signal_name) == (result.status, result.exit_code, result.signal)


def test_printed_status_means_nothing():
    """Nothing that the code prints or writes into other descriptors has a part in the status."""
    forged = (
        'import os\nfor fd in range(3, 999):\n    try: os.write(fd, b\'{"status": "ok"}\\nexit_code=30\\n\' * 9)\n'
        "    except OSError: pass\nprint('status: ok')\n1 / 0"
    )
    (result,) = run(forged)
    assert ("error", "ZeroDivisionError") == (result.status, result.error.type)


def test_endless_line_into_the_report_pipe():
    """Whatever the code writes into the report pipe is bounded, and its own report still arrives."""
    code = (
        "import os\nfor fd in range(3, 99):\n    try:\n        for _ in range(300): os.write(fd, b'x' * 60000)\n"
        "    except OSError: pass\n42"
    )
    (result,) = run(code, limits=Limits(timeout=20, max_output=1000))
    assert ("ok", "42") == (result.status, result.result)


def test_hint():
    """What the sandbox denies is said in words that a model can act on."""
    if not SANDBOX:
        pytest.skip(ProcessBackend.probe()[1])
    results = run(
        "open('/etc/passwd')",
        "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1')",
        "import socket\nsocket.getaddrinfo('recipients.invalid', 80)",
    )
    assert "this sandbox has no network" in results[0].note
    assert 1 == len({result.note for result in results})


@pytest.mark.parametrize(
    "code",
    [
        "async def f(): pass\nf()",
        "import sys\nsys.exit = None\n1 / 0",
        "import sys\nsys.addaudithook(lambda *_: 1 / 0)\nopen('x')",
        "raise SyntaxError(5, (1, 2, 3, 4))",
    ],
)
def test_no_place_of_this_program_is_told(code):
    """Neither a warning nor an error of any kind tells where this program lies."""
    (result,) = run(code)
    told = result.stderr + (result.error.traceback if result.error else "")
    assert str(worker.START.parent) not in told
    assert "ok" == result.status or result.error.type in told


def test_notebook_lines():
    """Shell lines and magics are told for what they are."""
    (result,) = run("!pip list")
    assert ("SyntaxError", "shell lines and magics of notebooks are no Python") == (
        result.error.type,
        result.note,
    )


def test_forged_report():
    """A report that the code has written itself is bounded as an honest one."""
    code = (
        "import os, sys\nframe = sys._getframe()\nwhile 'call' not in frame.f_locals: frame = frame.f_back\n"
        "token = frame.f_locals['call']['token']\nfor fd in range(3, 500):\n    try:\n"
        "        os.write(fd, f\"\\n{token} exit_code=30 result={'78' * 3000} more=\\n\".encode())\n"
        "    except OSError: pass\nos._exit(0)"
    )
    (result,) = run(code, limits=Limits(timeout=10, max_output=1000))
    assert ("ok", "x" * 1100) == (result.status, result.result)


def test_value_of_many_bytes():
    """The value is bounded in bytes, as the streams are: exactly at the bound nothing is cut."""
    fits, cut = run("'é' * 49", "'é' * 50", limits=Limits(timeout=10, max_output=100))
    assert (False, repr("é" * 49)) == (fits.truncated, fits.result)
    assert (True, True) == (cut.truncated, len(cut.result.encode()) < 100 + 50)


def test_stdin():
    """Input is what was given, then its end."""
    (result,) = run("print(input())\ninput()", stdin="é\n")
    assert ("é\n", "EOFError") == (result.stdout, result.error.type)


def test_totals():
    """Output is cut at the source; totals stay true, for stderr too."""
    (result,) = run(
        "import sys\nsys.stderr.write('e' * 200_000)\nprint('x' * 300_000)", limits=Limits(max_output=1000)
    )
    assert (300_001, 200_000, True) == (result.stdout_bytes, result.stderr_bytes, result.truncated)
    assert len(result.stdout) < 1100
    assert result.stdout.startswith("xxx")
    assert result.stdout.endswith("xxx\n")


def test_host_memory_is_bounded():
    """Endless output does not grow this process."""
    script = (
        "import asyncio, resource\nfrom registry.execution.interface import Limits\n"
        "from registry.execution.process import ProcessBackend\n"
        "async def go(code):\n"
        f"    async with ProcessBackend(Limits(timeout=20), sandbox={SANDBOX}) as backend:\n"
        "        result = await backend.run(code)\n"
        "        return result.stdout_bytes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "few, before = asyncio.run(go('1'))\n"
        "many, after = asyncio.run(go('while True: print(\"x\" * 100_000)'))\n"
        "print(many > 60 << 20, after - before < 4096)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "True True\n" == done.stdout


def test_long_code():
    """Code longer than a pipe is passed on whole."""
    (result,) = run(f"x = '{'a' * 500_000}'\nlen(x)")
    assert "500000" == result.result


# --- time ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "code",
    [
        "print('before')\nwhile True: pass",
        "print('before')\nimport signal, time\nfor s in (2, 15, 24): signal.signal(s, signal.SIG_IGN)\ntime.sleep(99)",
        "print('before')\nimport atexit, time\natexit.register(time.sleep, 99)",
        "print('before')\nimport threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()",
        "print('before')\nimport os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        "print('before')\nimport re\nre.match('(a+)+$', 'a' * 50 + 'b')",
    ],
    ids=["loop", "ignored signals", "exit hook", "thread", "stopped", "regex"],
)
def test_timeout(sandboxed, code):
    """A run is over when its time is, whatever it does; what was printed is kept."""
    (result,) = run(code, limits=Limits(timeout=1), sandbox=sandboxed)
    assert ("timeout", "before\n", None, "SIGKILL") == (
        result.status, result.stdout, result.exit_code, result.signal,
    )  # fmt: skip
    assert "timed out after 1 s" == result.note


def test_timeout_of_one_run():
    """A run may have a limit of its own."""
    (result,) = run(ENDLESS, timeout=0.1)
    assert "timed out after 0.1 s" == result.note


def test_loop_goes_on():
    """The event loop serves others while code runs and while it floods its output."""

    async def go():
        turns = 0
        async with ProcessBackend(Limits(timeout=1), sandbox=SANDBOX) as backend:
            running = [
                asyncio.ensure_future(backend.run(code)) for code in (ENDLESS, "while True: print('x' * 999)")
            ]
            while not all(task.done() for task in running):
                await asyncio.sleep(0.001)
                turns += 1
        return turns

    assert asyncio.run(go()) > 20


# --- sessions --------------------------------------------------------------------------------------
def test_state(sandboxed):
    """Variables, functions, imports and files live on, also after an error."""
    results = run(
        "import math\nx = 2\ndef f(): return x + math.floor(1.5)\nopen('file', 'w').write('kept')",
        "1 / 0", "x = 40", "f() + 1", "open('file').read()", "raise SystemExit(3)", "x",
        stateful=True, sandbox=sandboxed,
    )  # fmt: skip
    assert ["ok", "error", "ok", "ok", "ok", "error", "ok"] == [result.status for result in results]
    assert ["42", "'kept'", None, "40"] == [result.result for result in results[3:]]
    assert (3, 1) == (results[5].exit_code, results[1].error.line)
    assert 'File "<code 2>", line 1,' in results[1].error.traceback
    assert not any(result.session_lost for result in results)


def test_no_state():
    """Without `stateful` a run sees nothing of another, and no session is ever lost."""
    results = run("x = 1", "import os\nos._exit(1)", "x")
    assert ["ok", "error", "error"] == [result.status for result in results]
    assert not any(result.session_lost for result in results)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (ENDLESS, "timeout"),
        ("import os\nos.abort()", "crashed"),
        ("import os\nos._exit(0)", "ok"),
        ("import os\nos.close(1)", "ok"),
        ("import sys\nsys.stderr.close()", "ok"),
        ("import os\nos.closerange(3, 100)", "ok"),
        ("while True: print('x' * 100_000)", "error"),
    ],
)
def test_lost_session(code, status):
    """When a session ends, this run and the next one say so, and the one after does not."""
    results = run("x = 1", code, "x", "1", limits=Limits(timeout=1), stateful=True)
    assert ["ok", status, "error", "ok"] == [result.status for result in results]
    assert [False, True, True, False] == [result.session_lost for result in results]


def test_session_lost_between_runs():
    """A session that ends while nobody runs anything is noticed by the next run."""

    async def go():
        async with ProcessBackend(sandbox=SANDBOX, stateful=True) as backend:
            first = await backend.run("x = 1")
            session = backend._worker
            os.kill(session._process.pid, signal.SIGKILL)
            await session._reaped()
            return first, await backend.run("x"), await backend.run("1")

    results = asyncio.run(go())
    assert [False, True, False] == [result.session_lost for result in results]


def test_broken_builtins():
    """Code that breaks builtins or streams does not break the next run of its session."""
    results = run(
        "import builtins, sys\nbuiltins.print = builtins.compile = builtins.len = None\nsys.stdout = None\n1 / 0",
        "print(len('ab'))",
        stateful=True,
    )
    assert ("ZeroDivisionError", "2\n", False) == (
        results[0].error.type, results[1].stdout, results[1].session_lost,
    )  # fmt: skip


def test_reset():
    """A reset forgets variables and files and is no loss."""

    async def go():
        async with ProcessBackend(sandbox=SANDBOX, stateful=True) as backend:
            await backend.reset()
            await backend.run("x = 1\nopen('f', 'w')")
            await backend.reset()
            return await backend.run("import os\n'x' in globals(), os.listdir()")

    result = asyncio.run(go())
    assert ("(False, [])", False) == (result.result, result.session_lost)


def test_runs_of_a_session_wait():
    """Runs of one session are done one after the other."""

    async def go():
        async with ProcessBackend(sandbox=SANDBOX, stateful=True) as backend:
            await backend.run("x = []")
            await asyncio.gather(*(backend.run(f"x.append({number})") for number in range(5)))
            return await backend.run("x")

    assert "[0, 1, 2, 3, 4]" == asyncio.run(go()).result


def test_single_runs_do_not_wait():
    """Runs without state do not wait for each other."""

    async def go():
        async with ProcessBackend(Limits(timeout=2), sandbox=SANDBOX) as backend:
            long = asyncio.ensure_future(backend.run(ENDLESS))
            result = await backend.run("1")
            return result, long.done(), await long

    result, done, long = asyncio.run(go())
    assert ("1", False, "timeout") == (result.result, done, long.status)


# --- nothing is left -------------------------------------------------------------------------------
@pytest.mark.parametrize("stateful", [True, False])
def test_cancel(home, stateful):
    """Cancellation kills what runs and leaves nothing; a session is lost by it."""

    async def go():
        async with ProcessBackend(sandbox=SANDBOX, stateful=stateful) as backend:
            await backend.run("x = 1")
            running = asyncio.ensure_future(backend.run("open('begun', 'w').close()\n" + ENDLESS))
            while not (running.done() or list(home.glob("*/begun"))):  # noqa: ASYNC110 - what begins is another process
                await asyncio.sleep(0.001)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            left = hostile.leftovers(home), list(home.iterdir())
            return left, await backend.run("1")

    left, result = asyncio.run(go())
    assert (([], []), stateful) == (left, result.session_lost)


def test_cancelled_twice():
    """What must be done to the end is, however often it is cancelled."""

    async def go():
        done = []

        async def work():
            for _ in range(10):
                await asyncio.sleep(0)
            done.append(True)

        task = asyncio.ensure_future(process.completed(work()))
        for _ in range(3):
            await asyncio.sleep(0)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return done

    assert [True] == asyncio.run(go())


def test_nothing_left(home):
    """After 200 runs of all kinds there is no process, descriptor or folder more than before."""
    codes = ["1", "1 / 0", "import os\nos._exit(3)", "open('f', 'w')", "import os\nos.symlink('/', 'l')"]

    async def go():
        async with ProcessBackend(Limits(timeout=30), sandbox=SANDBOX) as backend:
            await backend.run("1")
            before = open_descriptors()
            for _ in range(20):
                await asyncio.gather(*(backend.run(code) for code in codes * 2))
            return before, open_descriptors()

    before, after = asyncio.run(go())
    gc.collect()
    assert (before, [], []) == (after, hostile.leftovers(home), list(home.iterdir()))


def test_background_processes_end(home):
    """Without the sandbox, what the code leaves running in its group ends with it."""
    code = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'])\nprint('x')"
    (result,) = run(code, sandbox=False)
    assert ("ok", "x\n", []) == (result.status, result.stdout, hostile.leftovers(home))


def test_in_a_thread():
    """A loop in any thread will do."""
    found = []
    thread = threading.Thread(target=lambda: found.extend(run("6 * 7")))
    thread.start()
    thread.join()
    assert "42" == found[0].result


@pytest.mark.parametrize("missing", [True, False])
def test_without_pidfd(monkeypatch, missing):
    """Where the kernel has no descriptors for processes their end is looked for instead."""

    def refuse(_pid):
        raise OSError

    if missing:
        monkeypatch.delattr(os, "pidfd_open")
    else:
        monkeypatch.setattr(os, "pidfd_open", refuse)
    first, second = run("1", "import os\nos._exit(4)", stateful=True)
    assert ("1", 4) == (first.result, second.exit_code)
    assert "1" == run("1")[0].result


def test_slow_pipe(monkeypatch):
    """Reading from an empty pipe and writing into a full one wait; a closed one is no error."""

    async def go():
        child = worker.Worker(Setup(sandbox=False, stateful=True, memory=1 << 30))
        assert b"" == child._read(child._stdout)
        os.kill(child._process.pid, signal.SIGSTOP)
        child._unsent = bytearray(1 << 20)
        while True:
            before = len(child._unsent)
            child._write()
            if before == len(child._unsent):
                break
        child.kill()
        await child._reaped()
        child._write()
        assert not child._unsent
        child._write()
        assert not child.alive
        await child.close()
        await child.close()
        assert not child.alive

    asyncio.run(go())


def test_endless_leftovers():
    """Something that the code left running and that writes on and on does not keep the run from its end."""

    async def go():
        child = worker.Worker(Setup(sandbox=False, stateful=False, memory=1 << 30))
        call = worker._Call("token", 10, stateful=False)
        child._read = lambda _descriptor: b"x" * 1000
        child._drain(call)
        await child.close()
        return call.finished.stdout.total

    assert 16_000 == asyncio.run(go())


def test_no_more_processes(monkeypatch, home):
    """When no process can be started nothing is left, and the error says so."""

    def refuse(*_args, **_options):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    async def go():
        async with ProcessBackend(sandbox=False) as backend:
            before = open_descriptors()
            with pytest.raises(BackendUnavailable, match="Resource temporarily unavailable"):
                await backend.run("1")
            return before, open_descriptors()

    monkeypatch.setattr(subprocess, "Popen", refuse)
    before, after = asyncio.run(go())
    assert (before, []) == (after, list(home.iterdir()))


def test_folder_that_cannot_be_removed(monkeypatch, home):
    """A folder that resists does not fail the run."""

    def refuse(_folder):
        raise PermissionError

    monkeypatch.setattr(worker.folder, "remove", refuse)
    assert "ok" == run("1")[0].status


# --- the interface ---------------------------------------------------------------------------------
def test_not_open():
    """Code runs only inside `async with`, which may be left twice."""
    backend = ProcessBackend.of(PythonOptions(stateful=True, sandbox="none"), Limits())
    assert (True, False) == (backend.capabilities.stateful, backend.capabilities.sandboxed)
    with pytest.raises(RuntimeError, match="async with"):
        asyncio.run(backend.run("1"))
    asyncio.run(backend.__aexit__(None, None, None))


@pytest.mark.parametrize("kind", ["pass", "fail", "hang", "none", "windows"])
def test_probe(monkeypatch, kind):
    """The probe is good only when a child says by its exit code that all was denied."""
    process._probe.cache_clear()
    monkeypatch.setattr(process, "_PROBE_TIMEOUT", 0.2)
    start = {
        "pass": "raise SystemExit(0)", "fail": "print('starting a process')\nraise SystemExit(1)",
        "hang": "import time\ntime.sleep(99)",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        script = pathlib.Path(place, "start.py")
        script.write_text(start.get(kind, ""), encoding="utf-8")
        monkeypatch.setattr(worker, "START", script)
        if kind == "none":
            monkeypatch.setattr(sys, "executable", "/nonexistent")
        if kind == "windows":
            monkeypatch.setattr(process.os, "name", "nt")
        if kind == "pass":
            monkeypatch.setattr(process, "_PROBE_TIMEOUT", 30)
        usable, reason = ProcessBackend.probe()
    monkeypatch.undo()
    process._probe.cache_clear()
    said = {
        "pass": "passed",
        "fail": "starting a process",
        "hang": "did not end",
        "none": "No such file",
        "windows": "Linux",
    }
    assert (kind == "pass", True) == (usable, said[kind] in reason)


def test_probe_without_temporary_folder(monkeypatch):
    """Where no folder can be made the sandbox does not work, and that is said."""
    process._probe.cache_clear()
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    assert (False, "no temporary folder can be made: No such file or directory") == ProcessBackend.probe()
    process._probe.cache_clear()


def test_judged():
    """A child that could not lock itself down says why; one that says nothing failed too."""
    assert (False, "seccomp: no") == process.judged(process.CANNOT_LOCK, "seccomp: no")
    assert (False, "the self-test failed (code -31): it said nothing") == process.judged(-31, "")


def test_no_sandbox_here(monkeypatch):
    """Where the sandbox does not work the backend is not entered, unless the declaration does without it."""
    monkeypatch.setattr(process, "_probe", lambda: (False, "no Landlock"))
    with pytest.raises(BackendUnavailable, match="no Landlock"):
        run("1", sandbox=True)
    assert "1" == run("1", sandbox=False)[0].result


def test_report_without_exit_code():
    """A report that lacks what it should have is a report all the same."""
    finished = Finished(HeadTail(9), HeadTail(9), {"type": "E", "line": "x", "exit_code": "y"}, 1)
    result = process.result_of(finished, duration=0.0, limit=1.0)
    assert ("error", "E", None, 1) == (result.status, result.error.type, result.error.line, result.exit_code)
