"""The jupyter backend with a real kernel: images, interrupts, and nothing left behind."""

import asyncio
import tempfile

import hostile
import pytest

from registry.exceptions import BackendUnavailable
from registry.execution import jupyter
from registry.execution.interface import Limits
from registry.execution.jupyter import JupyterBackend
from registry.specs import PythonOptions

if not JupyterBackend.probe()[0]:
    pytest.skip(JupyterBackend.probe()[1], allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("default")  # a kernel's client brings warnings of its own

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def run(*codes, limits=Limits(timeout=20), stateful=True, **options):  # noqa: B008 - frozen
    """Run codes one after the other in one backend."""

    async def go():
        async with JupyterBackend(limits, stateful=stateful) as backend:
            return [await backend.run(code, **options) for code in codes]

    return asyncio.run(go())


def test_run(tmp_path, monkeypatch):
    """Output, values, errors, input, exits and state are as on every backend, and nothing is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    results = run(
        "import sys\nprint('é')\nprint('e', file=sys.stderr)\n6 * 7",
        "x = 2\nNone",
        "x + 1",
        "import json\n\njson.loads('{')",
        "!pip list",
        "raise SystemExit",
        "import sys\nsys.exit(3)",
        "print(input('? '))\ninput()",
        "print('x' * 200_000)",
        stdin="line\n",
    )
    first = results[0]
    assert ("ok", "é\n", "e\n", "42", 3) == (
        first.status, first.stdout, first.stderr, first.result, first.stdout_bytes,
    )  # fmt: skip
    assert ["ok", "ok", "ok", "error", "error", "ok", "error", "error", "ok"] == [r.status for r in results]
    assert [None, "3"] == [result.result for result in results[1:3]]
    error = results[3].error
    assert ("JSONDecodeError", 3) == (error.type, error.line)
    assert 'File "<code>", line 3' in error.traceback
    assert "decoder.py" not in error.traceback
    assert ("SyntaxError", "invalid syntax (<code>, line 1)") == (
        results[4].error.type,
        results[4].error.message,
    )
    assert [0, 3] == [result.exit_code for result in results[5:7]]
    assert ("EOFError", "? line\n") == (results[7].error.type, results[7].stdout)
    assert (True, 200_001) == (results[8].truncated, results[8].stdout_bytes)
    assert not any(result.session_lost for result in results)
    assert ([], []) == (hostile.leftovers(tmp_path), list(tmp_path.iterdir()))


def test_failures_that_are_not_told():
    """A run that failed is an error with a text, also when IPython tells of it in no message."""
    surrogate, group, null = run(
        "raise ValueError('\\ud800')", "raise ExceptionGroup('g', [KeyError(1)])", "\0"
    )
    assert ["error"] * 3 == [result.status for result in (surrogate, group, null)]
    assert ("UnicodeEncodeError", "ExceptionGroup") == (surrogate.error.type, group.error.type)
    assert null.error.type in {"SyntaxError", "ValueError"}  # before 3.11.4
    assert "ExceptionGroup: g (1 sub-exception)\n" == group.error.traceback
    assert "null bytes" in null.error.traceback


def test_exits_keep_the_session():
    """An exit by any name has its code, says nothing else, and later runs find their variables."""
    codes = ("exit()", "quit(2)", "import sys\nsys.exit('bad')", "x")
    results = run("x = 1", *codes)[1:]
    assert [0, 2, 1, None] == [result.exit_code for result in results]
    assert ["ok", "error", "error", "ok"] == [result.status for result in results]
    assert "SystemExit: bad\n" == results[2].error.traceback
    assert ("1", "") == (results[3].result, "".join(result.stderr for result in results))


def test_streams_are_put_back():
    """A run that takes the streams away does not silence the next one."""
    results = run("import sys\nsys.stdout = sys.stderr = None", "print(5)")
    assert "5\n" == results[1].stdout


def test_no_host_path(tmp_path, monkeypatch):
    """An error names neither the folder of the run nor the place of a library."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    library, own = run("from attrs import nope", "import os\nopen(os.path.abspath('nope'))")
    assert "(<lib>/attrs/__init__.py)" in library.error.message
    assert "'./nope'" in own.error.message
    assert str(tmp_path) not in own.error.traceback


class Replies:
    """A client that gives replies to some messages, then none."""

    def __init__(self, *messages):
        self.messages = list(messages)

    async def get_shell_msg(self):
        """Return the next reply, or wait."""
        if not self.messages:
            await asyncio.Event().wait()
        return {"parent_header": {"msg_id": self.messages.pop(0)}, "content": {"status": "ok"}}


@pytest.mark.parametrize(("messages", "wanted"), [(["old", "mine"], {"status": "ok"}), (["old"], None)])
def test_reply(tmp_path, monkeypatch, messages, wanted):
    """Replies to other runs are passed over; when none comes the kernel has ended for us."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(jupyter, "REPLY_TIMEOUT", 0.01)
    kernel = jupyter.Kernel()
    kernel._client = Replies(*messages)
    assert wanted == asyncio.run(kernel._reply("mine"))
    told = jupyter._Told(100, 1.0)
    told.judge(wanted)
    assert (wanted is None) == told.stopped
    assert ("crashed" if wanted is None else "ok") == told.result(session_lost=False).status


def test_attachments():
    """Images and other representations come as attachments; a display of text is output."""
    (result,) = run(
        "from IPython.display import display, Image, HTML, JSON\nimport base64\n"
        f"display(Image(base64.b64decode({PNG!r})))\ndisplay('text')\ndisplay(JSON({{'a': 1}}))\nHTML('<b>')",
        stateful=False,
    )
    kinds = [(shown.mime_type, shown.name) for shown in result.attachments]
    assert [("image/png", "output-1"), ("application/json", "output-2"), ("text/html", "output-3")] == kinds
    assert result.attachments[0].data.startswith(b"\x89PNG")
    assert [b'{"a": 1}', b"<b>"] == [shown.data for shown in result.attachments[1:]]
    assert "'text'\n" in result.stdout


def test_no_state():
    """Without `stateful` each run has a kernel of its own."""
    results = run("x = 1", "'x' in globals()", stateful=False)
    assert ("False", False) == (results[1].result, results[1].session_lost)


def test_interrupt():
    """A run over its time is interrupted, and variables live on."""
    results = run("x = 1", "print('before')\nwhile True: pass", "x", limits=Limits(timeout=1))
    assert ["ok", "timeout", "ok"] == [result.status for result in results]
    assert ("before\n", None, "1") == (results[1].stdout, results[1].error, results[2].result)
    assert not any(result.session_lost for result in results)


def test_kill():
    """A run that does not heed the interrupt is killed, and its session is lost."""
    stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    results = run("x = 1", stubborn, "'x' in globals()", "1", limits=Limits(timeout=1))
    assert ["ok", "timeout", "ok", "ok"] == [result.status for result in results]
    assert [False, True, True, False] == [result.session_lost for result in results]
    assert "False" == results[2].result


def test_death():
    """A kernel that dies is `crashed`."""
    first, second = run("import os\nos._exit(1)", "1")
    assert ("crashed", "the kernel ended", True) == (first.status, first.note, first.session_lost)
    assert ("ok", True) == (second.status, second.session_lost)


def test_flood(monkeypatch):
    """Endless output ends the run and its session."""
    monkeypatch.setattr(jupyter, "OUTPUT_LIMIT", 100_000)
    first, second = run("while True: print('x' * 1000)", "1")
    assert ("error", "LimitExceeded", True) == (first.status, first.error.type, first.session_lost)
    assert "ok" == second.status


def test_flood_at_the_end(monkeypatch):
    """A run that prints too much and ends is over, and so is its kernel."""
    told = jupyter._Told(10, 1.0)
    monkeypatch.setattr(jupyter, "OUTPUT_LIMIT", 10)

    class Client:
        asked = 0

        def execute(self, _code, **_options):
            return "id"

        async def get_stdin_msg(self):
            await asyncio.sleep(99)

        async def get_iopub_msg(self, **_options):
            self.asked += 1
            if self.asked == 1:  # what belongs to another run is passed over
                return {"parent_header": {}, "msg_type": "stream", "content": {}}
            told.stream("stdout", "x" * 11)
            content = {"execution_state": "idle"}
            return {"parent_header": {"msg_id": "id"}, "msg_type": "status", "content": content}

    async def go():
        kernel = jupyter.Kernel()
        kernel._client = Client()
        try:
            return await kernel.execute("1", "", told)
        finally:
            kernel._client = None
            await kernel.close()

    assert asyncio.run(go()) is False


def test_cancel_and_reset(tmp_path, monkeypatch):
    """Cancellation kills the kernel; a reset forgets variables and is no loss."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    async def go():
        async with JupyterBackend(Limits(timeout=60), stateful=True) as backend:
            running = asyncio.ensure_future(backend.run("open('begun', 'w').close()\nwhile True: pass"))
            while not (running.done() or list(tmp_path.glob("*/begun"))):  # noqa: ASYNC110 - what begins is another process
                await asyncio.sleep(0.01)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert [] == list(tmp_path.iterdir())
            lost = await backend.run("x = 1")
            await backend.reset()
            return lost, await backend.run("'x' in globals()")

    lost, result = asyncio.run(go())
    assert (True, "False", False) == (lost.session_lost, result.result, result.session_lost)


def test_kernel_that_does_not_start(monkeypatch):
    """A kernel that does not answer makes the backend unavailable."""
    assert JupyterBackend.probe()[0]  # looked up before its interpreter is changed
    monkeypatch.setattr(jupyter.sys, "executable", "/bin/false")
    with pytest.raises(BackendUnavailable, match="did not start"):
        run("1")


@pytest.mark.parametrize(
    ("value", "code"), [("", 0), ("None", 0), ("0", 0), ("300", 44), ("-1", 255), ("bye", 1)]
)
def test_exit_codes(value, code):
    """The text of an exit stands for the code that a process would end with."""
    assert code == jupyter._exit_code(value)


def test_too_much_to_show(monkeypatch):
    """Attachments are bounded in number and size."""
    monkeypatch.setattr(jupyter, "MAX_ATTACHMENTS", 1)
    monkeypatch.setattr(jupyter, "MAX_ATTACHMENT", 4)
    for shown in (
        {"image/png": "AAAAAAAAAAAA"},
        {"image/png": "AAAA", "image/gif": "AAAA", "text/plain": "x"},
    ):
        told = jupyter._Told(10, 1.0)
        told.hear("display_data", {"data": shown})
        told.hear("clear_output", {})
        result = told.result(session_lost=False)
        assert (True, len(shown) // 2) == (result.truncated, len(result.attachments))
    assert b"A" == jupyter._bytes("image/png", "A")
    assert b"<svg/>" == jupyter._bytes("image/svg+xml", "<svg/>")


def test_protocol_of_backend(monkeypatch):
    """The backend says when it is not installed, must be open to run, and is never taken for sandboxed."""
    backend = JupyterBackend.of(PythonOptions(stateful=True), Limits())
    assert (True, False) == (backend.capabilities.stateful, backend.capabilities.sandboxed)
    assert JupyterBackend.probe()[0]
    with pytest.raises(RuntimeError, match="async with"):
        asyncio.run(backend.run("1"))
    asyncio.run(backend.__aexit__(None, None, None))


def test_probe(monkeypatch):
    """The probe says which package is missing; without them the backend cannot be entered."""
    jupyter._probe.cache_clear()
    monkeypatch.setattr(jupyter.sys, "executable", "/bin/false")
    assert (False, "ipykernel is not installed: pip install 'recipients[jupyter]'") == JupyterBackend.probe()
    jupyter._probe.cache_clear()
    monkeypatch.setattr(jupyter.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(BackendUnavailable, match="jupyter_client is not installed"):
        asyncio.run(JupyterBackend().__aenter__())
    monkeypatch.undo()
    jupyter._probe.cache_clear()
