"""The programs of the child process, run in this one where they can be looked into."""
# ruff: noqa: E501, ISC004 - programs are easier to read in one line each

import builtins
import io
import marshal
import os
import re
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.execution.child import runner, sandbox, start, tracebacks
from registry.execution.worker import encoded, parse_report


def replace_streams(monkeypatch):
    """Put streams in place that a session may do anything to."""
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(), "utf-8"))


@pytest.fixture
def interpreter(monkeypatch):
    """Undo afterwards what a session does to the interpreter it takes over."""
    kept = dict(vars(builtins))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "stdin", sys.stdin)
    replace_streams(monkeypatch)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    written = []
    monkeypatch.setattr(
        runner, "_write", lambda descriptor, data: written.append((descriptor, data)) or len(data)
    )
    yield written
    builtins.__dict__.update(kept)


@pytest.fixture
def session(interpreter, tmp_path):
    """Return a session of one run."""
    return runner.Session(str(tmp_path), once=True)


def run(session, code, stdin="", limit=1000):
    """Run code in a session."""
    return session.run(code, stdin, limit)


def test_value(session):
    """The value of the last expression is told, unless there is none or it is None."""
    assert {"exit_code": "0", "result": "3", "result_cut": ""} == run(session, "x = 1\nx + 2")
    assert {"exit_code": "0"} == run(session, "None")
    assert {"exit_code": "0"} == run(session, "")
    assert "1" == run(session, "'x' * 5000")["result_cut"]


@given(st.text(max_size=40), st.integers(0, 45))
def test_cut_bytes(text, limit):
    """A text within its bytes stays as it is; of another the ends are kept, within the bytes, and the rest counted."""
    data = text.encode("utf-8", "backslashreplace")
    shown = tracebacks.cut_bytes(text, limit)
    assert (shown == text) == (len(data) <= limit)
    if shown != text:
        head, count, tail = re.fullmatch(r"(.*)\n… (-?\d+) characters cut …\n(.*)", shown, re.DOTALL).groups()
        assert len((head + tail).encode()) <= limit
        assert data.startswith(head.encode())
        assert data.endswith(tail.encode())
        assert len(text) - len(head) - len(tail) == int(count)


def test_output(session):
    """What is printed goes to the streams, and input is what was given."""
    run(session, "import sys\nprint(input())\nprint('e', file=sys.stderr)", "line\n")
    assert [b"line\n", b"e\n"] == [stream.buffer.getvalue() for stream in session._streams]
    assert "EOFError" == run(session, "input()")["type"]


def test_errors(session):
    """An error has its line and a traceback of the code's own frames."""
    told = run(session, "import json\n\njson.loads('{')")
    assert ("JSONDecodeError", "3", "1") == (told["type"], told["line"], told["exit_code"])
    assert 'File "<code>", line 3' in told["traceback"]
    assert "json/" not in told["traceback"]
    told = run(session, "if x\n  1")
    assert ("SyntaxError", "1") == (told["type"], told["line"])
    assert "ZeroDivisionError" == run(session, "import builtins\nbuiltins.isinstance = None\n1 / 0")["type"]


def test_exit(session, interpreter):
    """An exit is its code: none is 0, a text is 1 and is printed, numbers wrap as those of processes."""
    codes = {"": "0", "0": "0", "3": "3", "True": "1", "300": "44", "'bye'": "1"}
    codes |= {"10**30": "255", "-10**30": "255"}
    for code, told in codes.items():
        assert {"exit_code": told} == run(session, f"raise SystemExit({code})")
    assert [(2, b"bye\n")] == interpreter


def test_await(session):
    """Top-level await runs in one loop, also for the last expression."""
    assert "7" == run(session, "import asyncio\nawait asyncio.sleep(0)\nawait asyncio.sleep(0, 7)")["result"]


def test_await_across_runs(interpreter, tmp_path, monkeypatch):
    """The loop lives as long as the session, and so do variables and lines for tracebacks."""
    replace_streams(monkeypatch)
    lasting = runner.Session(str(tmp_path), once=False)
    run(lasting, "import asyncio\nevent = asyncio.Event()\nasync def f():\n    await event.wait()\n    1 / 0")
    run(lasting, "await asyncio.sleep(0)")
    told = run(lasting, "event.set()\nawait f()")
    assert ("ZeroDivisionError", "5") == (told["type"], told["line"])
    assert '"<code 3>", line 2' in told["traceback"]
    assert '"<code 1>", line 5' in told["traceback"]
    lasting._loop.close()


def test_future_statement():
    """A `__future__` statement holds for the last expression too."""
    steps = runner.compile_steps("from __future__ import annotations\n1", "<code>")
    assert steps[0].co_flags & steps[1].co_flags & 0x1000000


def test_restored(interpreter, tmp_path, monkeypatch):
    """A run gets back the streams and builtins that an earlier one has broken."""
    replace_streams(monkeypatch)
    lasting = runner.Session(str(tmp_path), once=False)
    run(lasting, "import builtins, sys\nbuiltins.print = None\nsys.stdout = None")
    assert "0" == run(lasting, "print('x')")["exit_code"]


def test_intact(session, monkeypatch):
    """A session with closed streams or descriptors is not used again."""
    assert session.intact()
    monkeypatch.setattr(runner, "_status", lambda _descriptor: os.fstat(-1))
    assert not session.intact()


def test_intact_streams(session):
    """A closed stream is of no use to a next run."""
    session._streams[0].close()
    assert not session.intact()


def test_streams_of_another_kind(interpreter, tmp_path, monkeypatch):
    """Streams that were replaced before the session began are left alone."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert {"exit_code": "0"} == run(runner.Session(str(tmp_path), once=True), "print('x')")


def test_hooks(session, interpreter):
    """Errors in threads and finalizers are told as errors of the code are; leaving a thread is no error."""
    run(
        session,
        "import threading\nfor f in (lambda: 1 / 0, lambda: exit()):\n"
        "    t = threading.Thread(target=f)\n    t.start()\n    t.join()\n"
        "class A:\n    def __del__(self): 1 / 0\nA()\nNone",
    )
    first, second = (data.decode() for descriptor, data in interpreter if descriptor == 2)
    assert first.startswith("Exception in thread Thread-")
    assert second.startswith("Exception ignored:\n")
    assert "ZeroDivisionError" in first
    assert "registry" not in first + second


def pipes():
    """Return two pipes: for frames in, and for reports out."""
    return (*os.pipe(), *os.pipe())


def test_frames():
    """A frame arrives whole, whatever its size; a closed pipe is the end."""
    source, to_child, out, sink = pipes()
    frame = {"code": "x" * 200_000, "lone": "\ud800"}
    writer = threading.Thread(target=lambda: (os.write(to_child, encoded(frame)), os.close(to_child)))
    writer.start()
    assert frame == runner.receive(source)
    writer.join()
    assert {} == runner.receive(source)
    for descriptor in (source, out, sink):
        os.close(descriptor)


def test_report():
    """A report is one line that the parent can read, whatever the texts hold."""
    source, to_child, out, sink = pipes()
    runner.send(sink, "token", {"a": "x y=z\n\ud800", "b": ""})
    _, line, _ = os.read(out, 1000).split(b"\n")
    assert {"a": "x y=z\n\\ud800", "b": ""} == parse_report(line, b"token")
    for descriptor in (source, to_child, out, sink):
        os.close(descriptor)


def test_report_without_pipe(interpreter, monkeypatch):
    """When the code has closed the pipe, the traceback goes to stderr."""

    def write(descriptor, data):
        if descriptor != 2:
            raise OSError
        interpreter.append(data)

    monkeypatch.setattr(runner, "_write", write)
    runner.send(99, "token", {"traceback": "what"})
    assert [b"what"] == interpreter


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"token",
        b"other a=78",
        b"token a",
        b"token a=7",
        b"token a=zz",
        b"token a=78=78",
        b"token \xff=78",
    ],
)
def test_no_report(line):
    """A line that is no report is none."""
    assert parse_report(line, b"token") is None


def serve(monkeypatch, calls, *, locked=lambda *_args, **_options: None, **setup):
    """Serve calls in this process; returns the exit code and what was reported."""
    replace_streams(monkeypatch)
    source, to_child, out, sink = pipes()
    frame = {
        "sandbox": True,
        "stateful": False,
        "self_test": False,
        "folder": "/nowhere",
        "limits": {},
        **setup,
    }
    os.write(to_child, b"".join(map(encoded, [frame, *calls])))
    os.close(to_child)
    monkeypatch.setattr(sandbox, "lock", locked)
    monkeypatch.setattr(sandbox, "end_with_parent", lambda: None)
    monkeypatch.setattr(sandbox, "set_limits", lambda **_limits: None)
    monkeypatch.setattr(runner, "_write", os.write)
    try:
        return runner.serve(source, sink), os.read(out, 10_000) if calls else b""
    finally:
        for descriptor in (source, out, sink):
            os.close(descriptor)


def call(code):
    """Return the frame of a call."""
    return {"code": code, "stdin": "", "token": "t", "result_limit": 100}


def test_serve(interpreter, monkeypatch):
    """One call ends a single run with its exit code; a session takes calls until the pipe is closed."""
    assert 4 == serve(monkeypatch, [call("raise SystemExit(4)"), call("1")])[0]
    code, told = serve(monkeypatch, [call("x = 1"), call("x")], stateful=True, sandbox=False)
    assert (0, 2) == (code, told.count(b"t exit_code="))
    _, told = serve(monkeypatch, [call("import sys\nsys.stdout.close()"), call("1")], stateful=True)
    assert 1 == told.count(b"t exit_code=")


def test_serve_unlocked(interpreter, monkeypatch, capfd):
    """Nothing is run in a process that could not be locked down."""

    def refuse(*_args, **_options):
        raise sandbox.Refused(1, "seccomp: no")

    assert runner.CANNOT_LOCK == serve(monkeypatch, [], locked=refuse)[0]
    assert "seccomp: no\n" == capfd.readouterr().err


def test_serve_self_test(interpreter, monkeypatch):
    """The self-test takes the place of a run."""
    monkeypatch.setattr(runner, "self_test", lambda _folder: 3)
    assert 3 == serve(monkeypatch, [], self_test=True)[0]


def test_start(interpreter, monkeypatch):
    """The script loads the other programs with builtins of their own and serves the descriptors it is given."""
    source, to_child, out, sink = pipes()
    os.close(to_child)
    monkeypatch.setattr(sys, "argv", ["start.py", str(source), str(sink)])
    monkeypatch.setattr(start, "_PACKAGE", "_child_under_test")
    with pytest.raises(KeyError, match="sandbox"):  # no frame came
        start.main()
    loaded = sys.modules["_child_under_test.runner"]
    # No frame of it tells a place of this machine or passes for the code's own.
    assert start.NAME == loaded.serve.__code__.co_filename == loaded.Session.run.__code__.co_filename
    assert tracebacks.shown_name(start.NAME, "") is None
    assert vars(loaded)["__builtins__"] is not vars(builtins)
    for name in [name for name in sys.modules if name.startswith("_child_under_test")]:
        del sys.modules[name]
    for descriptor in (source, out, sink):
        os.close(descriptor)


# --- tracebacks -----------------------------------------------------------------------------------------------
def caught(function, *arguments):
    """Return the exception that a call raises."""
    try:
        function(*arguments)
    except BaseException as exc:  # noqa: BLE001 - that is what it is for
        return exc
    raise AssertionError


def user(source, folder=""):
    """Run source as the code of a run and describe how it fails."""
    tracebacks.remember("<code>", source)
    code = compile(source, "<code>", "exec")
    return tracebacks.describe(caught(exec, code, {}), folder)


def test_chain():
    """Causes, contexts and groups are told too, each once and with the code's own frames."""
    told = user(
        "try:\n    1 / 0\nexcept Exception as e:\n    raise ExceptionGroup('g', [KeyError(1)]) from e"
    )
    assert "direct cause" in told["traceback"]
    assert "KeyError" in told["traceback"]
    told = user("a = ValueError(1)\nb = KeyError(2)\na.__cause__ = b\nb.__cause__ = a\nraise a")
    assert ("ValueError", "5") == (told["type"], told["line"])


@pytest.mark.parametrize(
    "source",
    [
        "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E",
        "class M(type):\n    @property\n    def __name__(cls): raise RuntimeError\n"
        "class E(Exception, metaclass=M): pass\nraise E",
        "class E(Exception):\n    @property\n    def __notes__(self): raise SystemExit\nraise E",
        "class E(SyntaxError): pass\nraise E(5, (1, 2, 3, 4))",
        "class E(SyntaxError): pass\ne = E()\ne.filename, e.lineno, e.text = 5, 'a', []\nraise e",
    ],
)  # fmt: skip
def test_hostile_exceptions(source):
    """An exception that cannot be printed is described all the same."""
    told = user(source)
    assert "E" == told["type"]
    assert "<code>" in told["traceback"]


def test_texts_that_lie():
    """Texts of the code's own class are taken for what they hold, whatever their methods answer."""
    lie = "class S(str):\n    encode = replace = __len__ = lambda *_: -1\n"
    told = user(
        f"{lie}class E(Exception):\n    def __str__(self): return S('m')\nE.__name__ = S('N')\nraise E"
    )
    assert ("N", "m", str, str) == (told["type"], told["message"], type(told["type"]), type(told["message"]))


def test_value_that_lies(session):
    """A repr of the code's own class is taken for what it holds."""
    lie = "class S(str):\n    encode = __len__ = lambda *_: -1\n"
    told = run(session, f"{lie}class R:\n    def __repr__(self): return S('r')\nR()")
    assert ("r", str) == (told["result"], type(told["result"]))


@pytest.mark.parametrize("broken", [{"_line"}, {"_full", "_plain"}, {"_full", "_plain", "_line"}])
def test_description_never_fails(monkeypatch, broken):
    """Whatever part of a description cannot be made, type and message are told."""
    for name in broken:
        monkeypatch.setattr(tracebacks, name, None)
    told = user("1 / 0")
    assert ("ZeroDivisionError", "division by zero") == (told["type"], told["message"])
    assert told["traceback"].endswith("ZeroDivisionError: division by zero\n")


def test_broken_traceback_module(monkeypatch):
    """Without the help of the standard library a traceback still has its lines."""
    monkeypatch.setattr(tracebacks.traceback, "TracebackException", None)
    told = user("def f():\n    1 / 0\nf()")
    assert (
        'Traceback (most recent call last):\n  File "<code>", line 3, in <module>\n'
        '  File "<code>", line 2, in f\nZeroDivisionError: division by zero\n'
    ) == told["traceback"]
    told = tracebacks.describe(caught(os.stat, "\0"), "")
    assert "File" not in told["traceback"]


def test_long():
    """Long messages and tracebacks keep their ends."""
    told = user("raise ValueError('a' + 'x' * 50_000 + 'z')")
    assert len(told["message"]) < 2100
    assert told["message"].endswith("z")
    assert ("1", True) == (told["traceback_cut"], len(told["traceback"]) < 8100)
    assert told["traceback"].endswith("z\n")


def test_no_host_path(tmp_path):
    """No place of this machine is told: not the folder of the run, not the library."""
    (tmp_path / "mine.py").write_text("1 / 0\n", encoding="utf-8")
    source = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport mine"
    told = user(source, str(tmp_path))
    assert 'File "mine.py", line 1' in told["traceback"]
    assert str(tmp_path) not in told["traceback"].replace(source, "").split("sys.path")[0]
    sys.path.remove(str(tmp_path))
    told = user("from json import nope")
    assert "<lib>/json/__init__.py" in told["message"]
    told = user("from attrs import nope")
    assert "<lib>/attrs/__init__.py" in told["message"]
    told = user(f"raise OSError(1, 'x', {str(tmp_path)!r})", str(tmp_path))
    assert "[Errno 1] x: '.'" == told["message"]
    assert str(tmp_path) not in told["traceback"]
    assert "relative.py" == tracebacks.shown_name("relative.py", "")
    assert tracebacks.shown_name("<frozen importlib>", "") is None


def test_syntax_error_elsewhere(session, tmp_path):
    """A syntax error in another file has the line of the code that imported it."""
    (tmp_path / "bad_module.py").write_text("\n\nif x\n", encoding="utf-8")
    told = run(session, f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport bad_module")
    assert ("SyntaxError", "3") == (told["type"], told["line"])
    told = run(session, "raise SyntaxError('mine')")
    assert ("SyntaxError", "1") == (told["type"], told["line"])
    assert marshal.loads(marshal.dumps(told)) == told
