"""Runs a program to its end and nothing of it longer: no shell, bounded output, its own process group."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from typing import TYPE_CHECKING, Any

import attrs

from registry.exceptions import BackendUnavailable, RecipientFailed

if TYPE_CHECKING:
    import pathlib
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

#: Seconds that output is waited for once the program has ended and its group is killed: a child that left the
#: group may hold the pipes for ever.
DRAIN = 1.0
_CHUNK = 65_536


@attrs.frozen
class Ended:
    """How a program ended, and what it wrote."""

    #: Negative: the number of the signal that ended it. None: it was killed because its time was up.
    code: int | None
    stdout: str
    stderr: str
    #: Bytes that it wrote, also those that were not kept.
    written: int
    cut: bool


@attrs.define
class Capture:
    """Keeps the head and the tail of a stream, in bounded memory."""

    most: int
    head: bytearray = attrs.field(factory=bytearray, init=False)
    tail: bytearray = attrs.field(factory=bytearray, init=False)
    total: int = attrs.field(default=0, init=False)

    def add(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self.total += len(data)
        room = self.most - self.most // 2 - len(self.head)
        self.head += data[: max(room, 0)]
        self.tail += data[max(room, 0) :]
        # Cut rarely, so that the work stays linear.
        if len(self.tail) > self.most + _CHUNK:
            del self.tail[: len(self.tail) - self.most // 2]

    @property
    def cut(self) -> bool:
        """Whether bytes were left out."""
        return self.total > self.most

    def text(self, hide: Callable[[str], str] = lambda text: text) -> str:
        """Return what was kept, as text; bytes that are no UTF-8 become U+FFFD.

        Where something was left out a line says how much, if there is room for it. ``hide`` keeps secrets out
        of the text, or of its two ends, each of which may begin or end with a part of one.
        """
        if not self.cut:
            return hide((self.head + self.tail).decode("utf-8", "replace"))
        room = self.most - len(_note(self.total, self.total).encode())
        noted = room > 0
        room = room if noted else self.most
        head = bytes(self.head[: room - room // 2])
        tail = bytes(self.tail[len(self.tail) - room // 2 :])
        note = _note(self.total - len(head) - len(tail), self.total) if noted else ""
        return hide(head.decode("utf-8", "ignore")) + note + hide(tail.decode("utf-8", "ignore"))


def _note(left_out: int, total: int) -> str:
    return f"\n… {left_out} of {total} bytes left out …\n"


@attrs.frozen
class Program:
    """A program and what it is started with."""

    argv: Sequence[str]
    env: Mapping[str, str] = attrs.field(repr=False)
    folder: pathlib.Path | None = None
    #: What it reads; None: nothing.
    stdin: bytes | None = attrs.field(default=None, repr=False)


async def run(
    program: Program,
    *,
    seconds: float | None,
    most: int,
    hide: Callable[[str], str] = lambda text: text,
) -> Ended:
    """Run a program for so many seconds at most and keep so many bytes of each of its streams.

    ``hide`` keeps secrets out of what it wrote.

    Whatever happens, also a cancellation, nothing of its process group is left running.

    Raises:
        BackendUnavailable: this system has no process groups.
        RecipientFailed: it cannot be started.
    """
    if not hasattr(os, "killpg"):
        raise BackendUnavailable("programs are started on POSIX systems only: use Linux, macOS or WSL")
    stdout, stderr = Capture(most), Capture(most)
    code: int | None = None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds), _reading(stdout) as out, _reading(stderr) as err:
            process = await _start(program, out, err)
            try:
                code = await process.wait()
            finally:
                await _end(process)
    total = stdout.total + stderr.total
    return Ended(code, stdout.text(hide), stderr.text(hide), total, stdout.cut or stderr.cut)


async def _start(program: Program, *streams: _Pipe) -> asyncio.subprocess.Process:
    with contextlib.ExitStack() as stack:
        stdin: Any = asyncio.subprocess.DEVNULL
        if program.stdin is not None:
            # A file, not a pipe: a program that does not read it cannot block its writer.
            stdin = stack.enter_context(tempfile.TemporaryFile())
            stdin.write(program.stdin)
            stdin.seek(0)
        for stream in streams:
            stack.callback(stream.close_writer)
        try:
            return await asyncio.create_subprocess_exec(
                *program.argv,
                stdin=stdin,
                stdout=streams[0].writer,
                stderr=streams[1].writer,
                cwd=program.folder,
                env=dict(program.env),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = _reason(error, program)
            raise RecipientFailed(f"{program.argv[0]!r} cannot be started: {reason}") from None


def _reason(error: OSError | ValueError, program: Program) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "an argument has half a surrogate pair, which is no character"
    if not isinstance(error, OSError):
        return "an argument has a NUL character"
    name = program.argv[0]
    # The system says so of a program that is nowhere, too, if one folder of the path may not be looked into.
    elsewhere = isinstance(error, PermissionError) and os.sep not in name
    if elsewhere and shutil.which(name, os.F_OK, program.env.get("PATH")) is None:
        return "No such file or directory"
    return error.strerror or str(error)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the process group, and wait for the process so that it leaves no zombie."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


@attrs.define
class _Pipe:
    """A pipe whose writing end goes to the program. It is ours, so waiting for the program is not for it."""

    reader: int
    writer: int | None

    def close_writer(self) -> None:
        if self.writer is not None:
            os.close(self.writer)
            self.writer = None


@contextlib.asynccontextmanager
async def _reading(capture: Capture) -> AsyncIterator[_Pipe]:
    """Give a pipe that is read all the time, so that a program never waits for its reader."""
    pipe = _Pipe(*os.pipe())
    ended = asyncio.get_running_loop().create_future()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: _Reader(capture, ended), os.fdopen(pipe.reader, "rb", buffering=0)
    )
    try:
        yield pipe
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN):
                await ended
    finally:
        pipe.close_writer()
        transport.close()


class _Reader(asyncio.Protocol):
    def __init__(self, capture: Capture, ended: asyncio.Future[None]) -> None:
        self.capture = capture
        self.ended = ended

    def data_received(self, data: bytes) -> None:
        self.capture.add(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the end of a pipe has one meaning
        if not self.ended.done():
            self.ended.set_result(None)
