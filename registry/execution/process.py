"""The default backend: a fresh CPython that locks itself down before it runs anything."""
# ruff: noqa: ASYNC109 - the limit is the backend's to keep: it has to kill what runs

from __future__ import annotations

import asyncio
import functools
import os
import re
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any, Self

from registry.exceptions import BackendUnavailable
from registry.execution import folder, watch
from registry.execution.child.tracebacks import MESSAGE_LIMIT, TRACEBACK_LIMIT
from registry.execution.interface import (
    Capabilities,
    ExecError,
    ExecResult,
    Limits,
)
from registry.execution.worker import Finished, Setup, Worker, encoded, spawn

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType

    from registry.execution.interface import Status
    from registry.specs import PythonOptions

#: Code that Python's finalization ends with when it could not flush stdout: the run itself had ended well.
_FLUSH_FAILED = 120
#: Code of a child that could not lock itself down; it has run nothing.
CANNOT_LOCK = 98
#: Characters that a child may write in place of a cut.
_MARK = 100
_NOTEBOOK_LINE = re.compile(r"^ {4}[!%]", re.MULTILINE)
#: Seconds; a self-test usually takes a twentieth of one.
_PROBE_TIMEOUT = 10


class ProcessBackend:
    """Runs code in a child process; every run has one of its own, or all runs of a session share one.

    Args:
        limits: What a run may take; the time includes the start of the process.
        stateful: Whether variables live on between runs, inside ``async with``.
        sandbox: False runs the code with all rights of this process's user.
    """

    name = "subprocess"

    def __init__(self, limits: Limits = Limits(), *, stateful: bool = False, sandbox: bool = True) -> None:  # noqa: B008 - frozen
        self.capabilities = Capabilities(sandboxed=sandbox, stateful=stateful, third_party=True)
        self._limits = limits
        self._setup = Setup(sandbox=sandbox, stateful=stateful, memory=limits.memory)
        self._entered = False
        self._worker: Worker | None = None
        self._lost = False
        self._lock: asyncio.Lock | None = None

    @classmethod
    def of(cls, options: PythonOptions, limits: Limits) -> Self:
        """Return the backend that a declaration asks for."""
        return cls(limits, stateful=options.stateful, sandbox=options.sandbox != "none")

    @classmethod
    def probe(cls) -> tuple[bool, str]:
        """Try the sandbox in a throw-away child: whether everything that must be denied is. Cached."""
        return _probe()

    async def __aenter__(self) -> Self:
        if self._setup.sandbox:
            usable, reason = await asyncio.to_thread(_probe)
            if not usable:
                raise BackendUnavailable(f"the sandbox does not work here: {reason}")
        self._entered = True
        self._lock = asyncio.Lock()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered = False
        self._lost = False
        await self._discard()

    async def reset(self) -> None:
        """Forget all variables."""
        self._lost = False
        await self._discard()

    async def run(self, code: str, *, stdin: str = "", timeout: float | None = None) -> ExecResult:
        """Run code in a child process."""
        if not self._entered or self._lock is None:
            raise RuntimeError("the backend is not open: use it inside `async with`")
        begun = time.monotonic()
        limit = self._limits.timeout if timeout is None else timeout
        if not self._setup.stateful:
            return await self._once(code, stdin, limit, begun)
        async with self._lock:
            return await self._in_session(code, stdin, limit, begun)

    async def _once(self, code: str, stdin: str, limit: float, begun: float) -> ExecResult:
        worker = self._start()
        try:
            finished = await worker.call(code, stdin, timeout=limit, max_output=self._limits.max_output)
        finally:
            await completed(worker.close())
        return result_of(finished, duration=time.monotonic() - begun, limit=limit)

    async def _in_session(self, code: str, stdin: str, limit: float, begun: float) -> ExecResult:
        if self._worker is not None and not self._worker.alive:
            self._lost = True
            await self._discard()
        if self._worker is None:
            self._worker = self._start()
        worker, lost = self._worker, self._lost
        self._lost = True  # until the call has ended well: cancellation kills the session
        ended = True
        try:
            finished = await worker.call(code, stdin, timeout=limit, max_output=self._limits.max_output)
            ended = finished.over
        finally:
            if ended:
                await self._discard()
        self._lost = ended
        return result_of(finished, duration=time.monotonic() - begun, limit=limit, session_lost=lost or ended)

    def _start(self) -> Worker:
        try:
            return Worker(self._setup)
        except OSError as exc:
            raise BackendUnavailable(f"no process could be started: {exc.strerror}") from exc

    async def _discard(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await completed(worker.close())


async def completed(work: Coroutine[Any, Any, None]) -> None:
    """Await to the end even when cancelled meanwhile; the cancellation is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as exc:
            cancelled = exc
    task.result()
    if cancelled is not None:
        raise cancelled


def result_of(finished: Finished, *, duration: float, limit: float, session_lost: bool = False) -> ExecResult:
    """Make a result of how a call ended. Nothing the code printed has a part in the status."""
    report = bounded(finished.report or {}, finished.stdout.limit)
    code, name = _exit(finished, report)
    status, error, note = _verdict(finished, report, code, name, limit)
    cut = finished.stdout.truncated or finished.stderr.truncated
    return ExecResult(
        status=status,
        backend=ProcessBackend.name,
        stdout=finished.stdout.text(),
        stderr=finished.stderr.text(),
        stdout_bytes=finished.stdout.total,
        stderr_bytes=finished.stderr.total,
        result=report.get("result") if status == "ok" else None,
        error=error,
        exit_code=code,
        signal=name,
        duration=duration,
        truncated=bool(cut or report.get("result_cut") or report.get("traceback_cut")),
        session_lost=session_lost,
        note=note,
    )


def bounded(report: dict[str, str], limit: int) -> dict[str, str]:
    """Return a report with its texts cut to what an honest child sends: the code may have written it."""
    lengths = {"result": limit + _MARK, "traceback": TRACEBACK_LIMIT + _MARK}
    return {name: text[: lengths.get(name, MESSAGE_LIMIT + _MARK)] for name, text in report.items()}


def _exit(finished: Finished, report: dict[str, str]) -> tuple[int | None, str | None]:
    """Return exit code and signal name, of which one is None."""
    code = finished.returncode
    if finished.killed:
        return None, "SIGKILL"
    if code is not None and code < 0:
        return None, _signal_name(-code)
    said = report.get("exit_code", "")
    if said.isdecimal() and (code is None or code == _FLUSH_FAILED):
        return int(said[:3]) & 0xFF, None
    return code, None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no names
        return f"signal {number}"


def _verdict(
    finished: Finished, report: dict[str, str], code: int | None, name: str | None, limit: float
) -> tuple[Status, ExecError | None, str]:
    if finished.killed == "timeout":
        return "timeout", None, f"timed out after {limit:g} s"
    if finished.killed:
        meaning = watch.MEANING[finished.killed]
        return "error", ExecError("LimitExceeded", f"the run was ended: {meaning}"), f"ended: {meaning}"
    if name is not None:
        return "crashed", None, f"the interpreter was ended by {name}"
    if code == 0:
        return "ok", None, ""
    if "type" in report:
        line = report.get("line", "")
        error = ExecError(
            type=report["type"],
            message=report.get("message", ""),
            line=int(line[:9]) if line.isdecimal() else None,
            traceback=report.get("traceback", ""),
        )
        return "error", error, _hint(error)
    return "error", None, f"exit code {code}"


def _hint(error: ExecError) -> str:
    if error.type in ("PermissionError", "gaierror") or "Operation not permitted" in error.message:
        return "this sandbox has no network, no other processes and no files but its own"
    if error.type == "SyntaxError" and _NOTEBOOK_LINE.search(error.traceback):
        return "shell lines and magics of notebooks are no Python"
    return ""


@functools.cache
def _probe() -> tuple[bool, str]:
    if os.name != "posix":
        return False, "it needs Linux"
    setup = Setup(sandbox=True, stateful=False, memory=Limits().memory, self_test=True)
    try:
        work_folder = folder.make()
    except OSError as exc:
        return False, f"no temporary folder can be made: {exc.strerror}"
    (source, to_child), (from_child, sink) = os.pipe(), os.pipe()
    try:
        with spawn(work_folder, source, sink, subprocess.PIPE, subprocess.STDOUT) as child:
            os.write(to_child, encoded(setup.frame(work_folder)))
            try:
                said = child.communicate(timeout=_PROBE_TIMEOUT)[0].decode("utf-8", "replace").strip()
            except subprocess.TimeoutExpired:
                child.kill()
                return False, "the self-test did not end"
    except OSError as exc:
        return False, f"no Python could be started: {exc.strerror}"
    finally:
        for descriptor in (source, to_child, from_child, sink):
            os.close(descriptor)
        folder.remove(work_folder)
    return judged(child.returncode, said)


def judged(code: int, said: str) -> tuple[bool, str]:
    """Return what the end of a self-test means: only exit code 0 is good, whatever was printed."""
    if code == 0:
        return True, "the self-test passed: files, network, processes and signals are denied"
    last = said.rpartition("\n")[2]
    if code == CANNOT_LOCK:
        return False, last
    return False, f"the self-test failed (code {code}): {last or 'it said nothing'}"
