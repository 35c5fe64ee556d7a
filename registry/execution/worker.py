"""One child process that runs code, seen from outside: started, spoken to, watched, killed, reaped.

Everything goes through the running event loop's readers and writers on plain pipes and a pidfd, so no child
watcher and no thread is involved, and nothing blocks.
"""
# ruff: noqa: ASYNC109 - the limit is kept here: the process has to be killed

from __future__ import annotations

import asyncio
import contextlib
import marshal
import os
import pathlib
import secrets
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import attrs

from registry.execution import folder, watch
from registry.execution.capture import HeadTail
from registry.execution.interface import OUTPUT_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable

START = pathlib.Path(__file__).parent / "child" / "start.py"

_CHUNK = 1 << 16
#: A pipe holds at most this much after its writer is gone; whatever comes later is from somebody else.
_PIPE_CAPACITY = 1 << 20


@attrs.frozen
class Setup:
    """How a child is confined for its whole life."""

    sandbox: bool
    stateful: bool
    #: Bytes of address space.
    memory: int
    #: Bytes of one file, and how many descriptors.
    file_size: int = 128 << 20
    open_files: int = 256
    self_test: bool = False

    def frame(self, work_folder: str) -> dict[str, Any]:
        """Return what the child is told at its start."""
        limits = {"memory": self.memory, "file_size": self.file_size, "open_files": self.open_files}
        return {
            "sandbox": self.sandbox,
            "stateful": self.stateful,
            "self_test": self.self_test,
            "folder": work_folder,
            "limits": limits,
        }


@attrs.define
class Finished:
    """How one call to a child ended."""

    stdout: HeadTail
    stderr: HeadTail
    #: What the child reported, None when it could not.
    report: dict[str, str] | None = None
    #: As `subprocess.Popen.returncode`; None while the child lives on.
    returncode: int | None = None
    #: Whether the child has ended, or is of no use for a next call.
    over: bool = False
    #: Why it was killed: ``timeout``, or the amount that it went over; empty when it was not.
    killed: str = ""


def environment(work_folder: str) -> dict[str, str]:
    """Return the whole environment of a child: nothing of this process's own."""
    one_thread = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "USER": "python",
        "HOME": work_folder,
        "TMPDIR": work_folder,
        "MPLCONFIGDIR": work_folder,
        "MPLBACKEND": "agg",
        # Each arena and each thread of a numeric library reserves address space, which is what is limited.
        "MALLOC_ARENA_MAX": "2",
        **dict.fromkeys(one_thread, "1"),
    }


def spawn(work_folder: str, source: int, sink: int, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
    """Start the child program. Frames come in by descriptor ``source``, reports go out by ``sink``."""
    return subprocess.Popen(  # noqa: S603 - this interpreter and a file of this package
        [sys.executable, "-I", "-X", "utf8", str(START), str(source), str(sink)],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        cwd=work_folder,
        env=environment(work_folder),
        pass_fds=(source, sink),
        start_new_session=True,
    )


def encoded(frame: dict[str, Any]) -> bytes:
    """Return a frame as the child reads it."""
    data = marshal.dumps(frame)
    return len(data).to_bytes(8, "big") + data


class Worker:
    """One child process in a folder of its own. Belongs to the event loop it was started in."""

    def __init__(self, setup: Setup) -> None:
        self._loop = asyncio.get_running_loop()
        self._setup = setup
        self._closed = self._group_killed = False
        with contextlib.ExitStack() as undo:
            self.folder = folder.make()
            undo.callback(folder.remove, self.folder)
            source, self._to_child = _pipe(undo)
            self._from_child, sink = _pipe(undo)
            self._stdout, out = _pipe(undo)
            self._stderr, err = _pipe(undo)
            self._process = spawn(self.folder, source, sink, out, err)
            undo.pop_all()
        for descriptor in (source, sink, out, err):
            os.close(descriptor)
        for descriptor in (self._to_child, self._from_child, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._exit = _exit_descriptor(self._process.pid)
        self._unsent = bytearray(encoded(setup.frame(self.folder)))

    @property
    def alive(self) -> bool:
        """Whether the process can take another call."""
        return not self._closed and not self._has_exited()

    async def call(self, code: str, stdin: str, *, timeout: float, max_output: int) -> Finished:
        """Run code; returns when it is done or was killed. Cancellation leaves the process to `close`."""
        token = secrets.token_hex(16)
        frame = {"code": code, "stdin": stdin, "token": token, "result_limit": max_output}
        self._unsent += encoded(frame)
        call = _Call(token, max_output, self._setup.stateful)
        with contextlib.ExitStack() as attached:
            self._attach(call, attached)
            watcher = asyncio.ensure_future(self._watch(call))
            attached.callback(watcher.cancel)
            try:
                async with asyncio.timeout(timeout):
                    await call.done.wait()
            except TimeoutError:
                call.finished.killed = "timeout"
        if call.finished.killed:
            self.kill()
        if call.finished.killed or self._has_exited():
            call.finished.returncode = await self._reaped()
        self._drain(call)
        call.finished.over = call.finished.returncode is not None or bool(
            (call.finished.report or {}).get("final")
        )
        return call.finished

    def kill(self) -> None:
        """End the process and whatever it started in its group."""
        if self._group_killed:
            return  # its number may belong to somebody else by now
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """Kill the process, wait until it is gone, close the pipes, remove the folder; twice does no harm."""
        if self._closed:
            return
        self._closed = True
        self.kill()
        await self._reaped()
        mine = [self._to_child, self._from_child, self._stdout, self._stderr]
        for descriptor in mine if self._exit is None else [*mine, self._exit]:
            os.close(descriptor)
        with contextlib.suppress(OSError):
            await asyncio.to_thread(folder.remove, self.folder)

    def _attach(self, call: _Call, attached: contextlib.ExitStack) -> None:
        """Let the loop serve the pipes while a call lasts."""
        readers = {
            self._stdout: lambda: call.output(self._read(self._stdout), call.finished.stdout),
            self._stderr: lambda: call.output(self._read(self._stderr), call.finished.stderr),
            self._from_child: lambda: call.reported(self._read(self._from_child)),
        }
        if self._exit is not None:
            readers[self._exit] = call.done.set
        for descriptor, reader in readers.items():
            self._loop.add_reader(descriptor, reader)
            attached.callback(self._loop.remove_reader, descriptor)
        self._loop.add_writer(self._to_child, self._write)
        attached.callback(self._loop.remove_writer, self._to_child)

    def _read(self, descriptor: int) -> bytes:
        """Return what a pipe holds; at its end it is not read again."""
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return b""
        if not data:
            self._loop.remove_reader(descriptor)
        return data

    def _write(self) -> None:
        """Send what the pipe takes of the frames that wait."""
        try:
            sent = os.write(self._to_child, self._unsent[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:  # the process is gone, which is noticed elsewhere
            sent = len(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._loop.remove_writer(self._to_child)

    def _drain(self, call: _Call) -> None:
        """Take what was written before the end and is still in the pipes."""
        takers = {
            self._stdout: call.finished.stdout.feed,
            self._stderr: call.finished.stderr.feed,
            self._from_child: call.reported,
        }
        for descriptor, take in takers.items():
            # Bounded, since something that the code left running may write on and on.
            for _ in range(_PIPE_CAPACITY // _CHUNK):
                if not (data := self._read(descriptor)):
                    break
                take(data)

    async def _watch(self, call: _Call) -> None:
        """Look now and then at what the kernel does not limit, and for the end where there is no pidfd."""
        while True:
            await asyncio.sleep(watch.INTERVAL)
            if self._has_exited():
                call.done.set()
            if self._setup.sandbox:
                excess = await asyncio.to_thread(watch.excess, self._process.pid, self.folder)
                if excess:
                    call.stop(excess)

    def _has_exited(self) -> bool:
        """Whether the process has ended; it is not reaped if possible, so that its number stays its own."""
        if self._exit is None or self._process.returncode is not None:
            return self._process.poll() is not None
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    async def _reaped(self) -> int:
        """Wait until the process has ended, kill its group, and return its code."""
        while not self._has_exited():  # noqa: ASYNC110 - a killed process takes but a moment
            await asyncio.sleep(0.001)
        self.kill()
        self._group_killed = True
        return self._process.wait()


class _Call:
    """What comes out of a child during one call."""

    def __init__(self, token: str, max_output: int, stateful: bool) -> None:
        self.done = asyncio.Event()
        self.finished = Finished(HeadTail(max_output), HeadTail(max_output))
        self._token = token.encode()
        self._until_report = stateful
        self._line = bytearray()
        # A result in hexadecimal, a traceback and a message; longer lines are not the child's.
        self._longest = 16 * max_output + (1 << 18)

    def output(self, data: bytes, stream: HeadTail) -> None:
        """Take a piece of a stream."""
        stream.feed(data)
        if stream.total > OUTPUT_LIMIT:
            self.stop("output")

    def reported(self, data: bytes) -> None:
        """Take a piece of the report pipe, in which the code may have written anything."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._line += line
            report = parse_report(bytes(self._line), self._token)
            self._line.clear()
            if report is not None:
                self.finished.report = report
                if self._until_report:
                    self.done.set()
        self._line += rest
        if len(self._line) > self._longest:
            self._line.clear()

    def stop(self, amount: str) -> None:
        """End the call because an amount was exceeded."""
        self.finished.killed = amount
        self.done.set()


def _pipe(undo: contextlib.ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    for end in ends:
        undo.callback(os.close, end)
    return ends


def parse_report(line: bytes, token: bytes) -> dict[str, str] | None:
    """Return the fields of a report; None for a line that is none. Nothing in a field is interpreted."""
    if not line.startswith(token + b" "):
        return None
    try:
        pairs = [field.split(b"=") for field in line[len(token) + 1 :].split(b" ")]
        return {
            name.decode("ascii"): bytes.fromhex(value.decode("ascii")).decode("utf-8", "replace")
            for name, value in pairs
        }
    except ValueError:
        return None


def _exit_descriptor(pid: int) -> int | None:
    """Return a descriptor that becomes readable when the process ends, None where there is no such thing."""
    opener: Callable[[int], int] | None = getattr(os, "pidfd_open", None)
    try:
        return opener(pid) if opener else None
    except OSError:
        return None
