"""Runs code in an IPython kernel (extra ``jupyter``): no sandbox, but images. Only taken when named.

The kernel speaks over unix sockets in the run's own folder, never over TCP.
"""
# ruff: noqa: ASYNC109 - the limit is the backend's to keep: it has to interrupt, then kill

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import functools
import importlib.util
import io
import queue
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Self

from registry.exceptions import BackendUnavailable
from registry.execution import folder
from registry.execution.capture import HeadTail, cut_text
from registry.execution.child.tracebacks import TRACEBACK_LIMIT, without_paths
from registry.execution.interface import OUTPUT_LIMIT, Attachment, Capabilities, ExecError, ExecResult, Limits
from registry.execution.process import completed
from registry.execution.worker import environment

if TYPE_CHECKING:
    from types import TracebackType

    from registry.execution.interface import Status
    from registry.specs import PythonOptions

#: Seconds a kernel may take to start, and to stop by itself after an interrupt.
START_TIMEOUT = 30.0
INTERRUPT_GRACE = 1.0
#: Seconds from the end of a run until its reply, which was sent before, has come on another socket.
REPLY_TIMEOUT = 5.0
#: Seconds between two looks at whether a silent kernel still lives.
ALIVE_INTERVAL = 0.2
MAX_ATTACHMENTS = 20
MAX_ATTACHMENT = 8 << 20

_FRAME = re.compile(r"^  Cell In\[\d+\], line (\d+)", re.MULTILINE)
_CELL_FILE = re.compile(r"\(\d+\.py, line")
#: What IPython adds to Python (shell lines, magics, help, an exit that ends the kernel some time later) is
#: taken away: code means the same everywhere. Streams that a run has replaced are put back for the next one.
_PLAIN_PYTHON = (
    "_s = get_ipython()\n"
    "_m = _s.input_transformer_manager\n"
    "_m.cleanup_transforms.clear(), _m.line_transforms.clear(), _m.token_transformers.clear()\n"
    "_s.prefilter_manager.prefilter_lines = lambda lines, continue_prompt=False: lines\n"
    "import sys as _y, warnings as _w\n"
    "_s.user_ns.update(exit=_y.exit, quit=_y.exit)\n"
    "_w.filterwarnings('ignore', 'To exit: use')\n"
    "_b = lambda _, y=_y, o=_y.stdout, e=_y.stderr: vars(y).update(stdout=o, stderr=e)\n"
    "_s.events.register('post_run_cell', _b)\n"
    "del _b, _m, _s, _w, _y"
)
_END_OF_INPUT = "\x04"


class JupyterBackend:
    """Runs code in an IPython kernel, one for each run or, if stateful, one for all.

    Args:
        limits: What a run may take, the start of a kernel not included; memory is not limited.
        stateful: Whether variables live on between runs, inside ``async with``.
    """

    name = "jupyter"

    def __init__(self, limits: Limits = Limits(), *, stateful: bool = False) -> None:  # noqa: B008 - frozen
        self.capabilities = Capabilities(sandboxed=False, stateful=stateful, third_party=True)
        self._limits = limits
        self._stateful = stateful
        self._entered = False
        self._kernel: Kernel | None = None
        self._lost = False
        self._lock = asyncio.Lock()

    @classmethod
    def of(cls, options: PythonOptions, limits: Limits) -> Self:
        """Return the backend that a declaration asks for."""
        return cls(limits, stateful=options.stateful)

    @classmethod
    def probe(cls) -> tuple[bool, str]:
        """Return whether the packages are installed; no kernel is started."""
        return _probe()

    async def __aenter__(self) -> Self:
        usable, reason = await asyncio.to_thread(_probe)
        if not usable:
            raise BackendUnavailable(f"jupyter does not work here: {reason}")
        self._entered = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered = self._lost = False
        await self._discard()

    async def reset(self) -> None:
        """Forget all variables."""
        self._lost = False
        await self._discard()

    async def run(self, code: str, *, stdin: str = "", timeout: float | None = None) -> ExecResult:
        """Run code in a kernel."""
        if not self._entered:
            raise RuntimeError("the backend is not open: use it inside `async with`")
        limit = self._limits.timeout if timeout is None else timeout
        async with self._lock:
            lost, self._lost = self._lost, self._stateful
            told = _Told(self._limits.max_output, limit)
            try:
                usable = await self._execute(code, stdin, told)
            except BaseException:
                await self._discard()
                raise
            self._lost = self._stateful and not usable
            return told.result(session_lost=self._stateful and (lost or not usable))

    async def _execute(self, code: str, stdin: str, told: _Told) -> bool:
        """Run code; returns whether the kernel was kept."""
        kernel = self._kernel = self._kernel or Kernel()
        await kernel.start()
        told.begin(kernel.folder)
        if await kernel.execute(code, stdin, told) and self._stateful:
            return True
        await self._discard()
        return False

    async def _discard(self) -> None:
        kernel, self._kernel = self._kernel, None
        if kernel is not None:
            await completed(kernel.close())


class Kernel:
    """One kernel process in a folder of its own."""

    def __init__(self) -> None:
        self.folder = folder.make()
        self._manager: Any = None
        self._client: Any = None

    async def start(self) -> None:
        """Start the process, unless it runs already, and wait until it answers.

        Raises:
            BackendUnavailable: It does not.
        """
        if self._client is not None:
            return
        from jupyter_client.kernelspec import KernelSpec
        from jupyter_client.manager import AsyncKernelManager

        options = ["--InteractiveShell.colors=NoColor", "--InteractiveShell.xmode=Plain"]
        words = [sys.executable, "-I", "-X", "utf8", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        manager = self._manager = AsyncKernelManager(
            transport="ipc", ip=f"{self.folder}/k", connection_file=f"{self.folder}/connection.json"
        )
        # This interpreter, whatever kernels somebody has installed under the same name.
        manager._kernel_spec = KernelSpec(argv=[*words, *options], language="python")  # noqa: SLF001
        await manager.start_kernel(cwd=self.folder, env=environment(self.folder))
        client: Any = manager.client()
        self._client = client
        client.start_channels()
        try:
            await client.wait_for_ready(timeout=START_TIMEOUT)
            await client.execute(_PLAIN_PYTHON, silent=True, reply=True, timeout=START_TIMEOUT)
        except (RuntimeError, TimeoutError) as exc:
            raise BackendUnavailable(f"the kernel did not start: {exc}") from exc

    async def execute(self, code: str, stdin: str, told: _Told) -> bool:
        """Run code until it ends, is interrupted or killed; returns whether the kernel can be used again."""
        message = self._client.execute(code, store_history=False, allow_stdin=True)
        answering = asyncio.ensure_future(self._answer(io.StringIO(stdin), told))
        try:
            if await self._listen(message, told, told.limit):
                if not told.stopped:
                    told.judge(await self._reply(message))
                return not told.stopped
            if told.stopped:
                return False
            told.timed_out()
            await self._manager.interrupt_kernel()
            return await self._listen(message, told, INTERRUPT_GRACE)
        finally:
            answering.cancel()

    async def close(self) -> None:
        """Kill the process, close the sockets and remove the folder."""
        if self._client is not None:
            self._client.stop_channels()
        if self._manager is not None:
            await self._manager.shutdown_kernel(now=True)
        with contextlib.suppress(OSError):
            await asyncio.to_thread(folder.remove, self.folder)

    async def _listen(self, message: str, told: _Told, seconds: float) -> bool:
        """Take what the kernel sends; returns whether the run came to its end, in time and with it alive."""
        end = time.monotonic() + seconds
        while not told.stopped and (left := end - time.monotonic()) > 0:
            try:
                heard = await self._client.get_iopub_msg(timeout=min(left, ALIVE_INTERVAL))
            except queue.Empty:
                if not await self._manager.is_alive():
                    told.died()
                continue
            if heard["parent_header"].get("msg_id") == message:
                told.hear(heard["msg_type"], heard["content"])
                if heard["msg_type"] == "status" and heard["content"]["execution_state"] == "idle":
                    return True
        return False

    async def _reply(self, message: str) -> dict[str, Any] | None:
        """Return the kernel's reply to a run that came to its end; None when there is none."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REPLY_TIMEOUT):
                while True:  # a run that was interrupted has left its own
                    reply: dict[str, Any] = await self._client.get_shell_msg()
                    if reply["parent_header"].get("msg_id") == message:
                        return dict(reply["content"])
        return None

    async def _answer(self, stdin: io.StringIO, told: _Told) -> None:
        """Answer every `input()` with the next line, or the end of input."""
        while True:
            asked = await self._client.get_stdin_msg()
            told.stream("stdout", asked["content"]["prompt"])
            self._client.input(stdin.readline().removesuffix("\n") or _END_OF_INPUT)


class _Told:
    """What a kernel told about one run."""

    def __init__(self, max_output: int, limit: float) -> None:
        self.limit = limit
        #: Whether the kernel must not be listened to any longer.
        self.stopped = False
        self._begun = time.monotonic()
        self._max_output = max_output
        self._streams = {"stdout": HeadTail(max_output), "stderr": HeadTail(max_output)}
        self._status: Status = "ok"
        self._note = ""
        self._error: ExecError | None = None
        self._value: str | None = None
        self._exit_code: int | None = None
        self._attachments: list[Attachment] = []
        self._cut = False
        self._failure_heard = False
        self._folder = ""

    def begin(self, work_folder: str) -> None:
        """Count the time from now on."""
        self._begun = time.monotonic()
        self._folder = work_folder

    def hear(self, kind: str, content: dict[str, Any]) -> None:
        """Take one message."""
        if kind == "stream":
            self.stream(content["name"], content["text"])
        elif kind == "execute_result":
            self._value, cut = cut_text(content["data"].get("text/plain", ""), self._max_output)
            self._cut = self._cut or cut
            self._show(content["data"])
        elif kind == "display_data":
            if set(content["data"]) == {"text/plain"}:
                self.stream("stdout", f"{content['data']['text/plain']}\n")
            self._show(content["data"])
        elif kind == "error":
            self._failed(content)

    def judge(self, reply: dict[str, Any] | None) -> None:
        """Take the kernel's own verdict: not every failure can be, or is, told as a message."""
        if reply is None:
            self.stopped = True
            self._status, self._note = "crashed", "the kernel does not answer any more"
        elif reply["status"] != "ok" and not self._failure_heard:
            self._failed(reply)

    def stream(self, name: str, text: str) -> None:
        """Take a piece of output."""
        kept = self._streams[name]
        kept.feed(text.encode("utf-8", "replace"))
        if kept.total > OUTPUT_LIMIT:
            self.stopped = True
            self._status = "error"
            self._error = ExecError("LimitExceeded", "the run was ended: it printed more than 64 MiB")

    def timed_out(self) -> None:
        """Take note that the limit has passed."""
        self._status, self._note = "timeout", f"timed out after {self.limit:g} s"

    def died(self) -> None:
        """Take note that the kernel is gone."""
        self.stopped = True
        self._status, self._note = "crashed", "the kernel ended"

    def result(self, *, session_lost: bool) -> ExecResult:
        """Return what the run came to."""
        stdout, stderr = self._streams["stdout"], self._streams["stderr"]
        return ExecResult(
            status=self._status,
            backend=JupyterBackend.name,
            stdout=stdout.text(),
            stderr=stderr.text(),
            stdout_bytes=stdout.total,
            stderr_bytes=stderr.total,
            result=self._value,
            error=self._error,
            exit_code=self._exit_code,
            attachments=tuple(self._attachments),
            duration=time.monotonic() - self._begun,
            truncated=stdout.truncated or stderr.truncated or self._cut,
            session_lost=session_lost,
            note=self._note,
        )

    def _failed(self, content: dict[str, Any]) -> None:
        if self._status == "timeout":
            return  # the interrupt has reached the code
        self._failure_heard = True
        kind, value = content["ename"], content["evalue"]
        if kind == "SystemExit":
            self._exit_code = _exit_code(value)
            if self._exit_code == 0:
                return
            self._note = f"exit code {self._exit_code}"
        text = "\n".join(content["traceback"])
        lines = _FRAME.findall(text)
        value = without_paths(_CELL_FILE.sub("(<code>, line", value), self._folder)
        told = own_frames(text).lstrip("\n") if kind != "SystemExit" else ""
        told = without_paths(told, self._folder) or f"{kind}: {value}\n"
        traceback, cut = cut_text(told, TRACEBACK_LIMIT)
        self._cut = self._cut or cut
        self._status = "error"
        self._error = ExecError(kind, cut_text(value, 2_000)[0], int(lines[-1]) if lines else None, traceback)

    def _show(self, data: dict[str, Any]) -> None:
        for mime_type, value in data.items():
            if mime_type == "text/plain":
                continue
            content = _bytes(mime_type, value)
            if len(content) > MAX_ATTACHMENT or len(self._attachments) == MAX_ATTACHMENTS:
                self._cut = True
            else:
                name = f"output-{len(self._attachments) + 1}"
                self._attachments.append(Attachment(mime_type, content, name))


@functools.cache
def _probe() -> tuple[bool, str]:
    if importlib.util.find_spec("jupyter_client") is None:
        return False, "jupyter_client is not installed: pip install 'recipients[jupyter]'"
    # The kernel is a process of its own, which sees no PYTHONPATH.
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('ipykernel') is None)"
    if subprocess.run([sys.executable, "-I", "-c", look], check=False).returncode:  # noqa: S603 - this interpreter
        return False, "ipykernel is not installed: pip install 'recipients[jupyter]'"
    return True, "jupyter_client and ipykernel are installed; not sandboxed, so only when named"


def own_frames(text: str) -> str:
    """Return an IPython traceback without the frames of libraries, whose places are this machine's."""
    blocks = [block for block in text.split("\n\n") if not block.startswith("  File ")]
    return _FRAME.sub(r'  File "<code>", line \1', "\n".join(blocks)).rstrip("\n") + "\n"


def _exit_code(value: str) -> int:
    """Return the exit code that the text of a SystemExit stands for."""
    if value in ("", "None"):
        return 0
    return int(value) & 0xFF if re.fullmatch(r"-?\d{1,18}", value) else 1


def _bytes(mime_type: str, value: Any) -> bytes:
    """Return the content of one representation: binary ones come as base64, structured ones as JSON."""
    if not isinstance(value, str):
        import json

        return json.dumps(value).encode()
    if mime_type.startswith("text/") or mime_type.endswith(("+xml", "json", "javascript")):
        return value.encode("utf-8", "replace")
    try:
        return base64.b64decode(value, validate=False)
    except binascii.Error:
        return value.encode("utf-8", "replace")
