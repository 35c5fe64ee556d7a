"""Runs code in this process and reports what became of it over a pipe.

Frames from the parent are an 8-byte length and a marshalled dict (same interpreter on both sides, and the
parent is trusted). Reports to the parent are lines of a one-time token and ``name=hex`` fields: nothing in
them is interpreted, so code that writes into the pipe can at most lose its own report.
"""
# ruff: noqa: PTH108, PTH118, PTH120 - pathlib is slow to import, and each child would have to

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import marshal
import os
import sys
import threading
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import sandbox, tracebacks

if TYPE_CHECKING:
    from types import CodeType, TracebackType

# The code may replace these.
_read_some, _write, _status = os.read, os.write, os.fstat
_COROUTINE = 0x80
#: Flags of `from __future__ import …`, which hold for the last expression too.
_FUTURES = 0x1FE0000
#: Freed when an exception is reported, so that a full memory can still be told about.
_RESERVE = 4 << 20
#: Exit code of a child that could not be locked down; the code was not run.
CANNOT_LOCK = 98


def serve(source: int, sink: int) -> int:
    """Lock this process as the first frame says, then run what the next frames hold; returns an exit code."""
    setup = receive(source)
    for descriptor in (source, sink):
        os.set_inheritable(descriptor, False)
    if setup["sandbox"]:
        try:
            sandbox.lock(setup["folder"], **setup["limits"])
        except OSError as exc:
            os.write(2, f"{exc.strerror}\n".encode())
            return CANNOT_LOCK
    else:
        sandbox.set_limits(**setup["limits"])
        sandbox.end_with_parent()
    if setup["self_test"]:
        return self_test(setup["folder"])
    session = Session(setup["folder"], once=not setup["stateful"])
    code = 0
    while call := receive(source):
        outcome = session.run(call["code"], call["stdin"], call["result_limit"])
        code = int(outcome["exit_code"])
        final = session.once or not session.intact()
        sent = send(sink, call["token"], {**outcome, "final": "1" if final else ""})
        if final or not sent:
            break
    return code


def receive(source: int) -> dict[str, Any]:
    """Return the next frame of the parent; an empty dict when it has closed the pipe."""
    size = int.from_bytes(_read(source, 8), "big")
    return marshal.loads(_read(source, size)) if size else {}  # noqa: S302 - see above


def _read(source: int, size: int) -> bytes:
    parts = []
    while size:
        part = _read_some(source, min(size, 1 << 20))
        if not part:
            return b""
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def send(sink: int, token: str, outcome: dict[str, str]) -> bool:
    """Write one report; False when the code has closed the pipe, and the traceback went to stderr instead."""
    fields = [f"{name}={value.encode('utf-8', 'backslashreplace').hex()}" for name, value in outcome.items()]
    line = f"\n{token} {' '.join(fields)}\n".encode()
    try:
        while line:
            line = line[_write(sink, line) :]
    except OSError:
        with contextlib.suppress(OSError):
            _write(2, outcome.get("traceback", "").encode("utf-8", "backslashreplace"))
        return False
    return True


class Session:
    """The namespace of one or more runs, which is the module ``__main__``."""

    def __init__(self, folder: str, *, once: bool) -> None:
        self.folder = folder
        self.once = once
        self.calls = 0
        self._loop: Any = None
        self._reserve: bytearray | None = bytearray(_RESERVE)
        self._streams = (sys.stdout, sys.stderr)
        self._builtins = dict(vars(builtins))
        main = ModuleType("__main__")
        sys.modules["__main__"] = main
        self.names = vars(main)
        self.names["__builtins__"] = builtins
        sys.argv = [""]
        sys.path.insert(0, "")
        # Text that was printed before a kill is kept up to the last line.
        for stream in self._streams:
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(line_buffering=True)
        self._install_hooks()

    def run(self, code: str, stdin: str, result_limit: int) -> dict[str, str]:
        """Run code as a whole and return its outcome as texts."""
        self.calls += 1
        name = "<code>" if self.once else f"<code {self.calls}>"
        self._restore(stdin)
        try:
            value = self._execute(code, name)
            result = None if value is None else tracebacks.exactly(repr(value))
            self._finish()
        except SystemExit as exc:
            outcome = {"exit_code": str(self._exit_code(exc))}
        except BaseException as exc:  # noqa: BLE001 - whatever the code raises is its outcome
            self._reserve = None
            builtins.__dict__.update(self._builtins)
            outcome = {"exit_code": "1", **tracebacks.describe(exc, self.folder)}
            self._reserve = bytearray(_RESERVE) if not self.once else None
        else:
            outcome = {"exit_code": "0"}
            if result is not None:
                shown = tracebacks.cut_bytes(result, result_limit)
                outcome |= {"result": shown, "result_cut": "" if shown is result else "1"}
        self._flush()
        return outcome

    def intact(self) -> bool:
        """Return whether a next run could still be heard: the code may have closed the output."""
        try:
            for descriptor in (1, 2):
                _status(descriptor)
        except OSError:
            return False
        return not any(stream.closed for stream in self._streams)

    def _execute(self, code: str, name: str) -> Any:
        tracebacks.remember(name, code)
        value = None
        for step in compile_steps(code, name):
            value = eval(step, self.names)  # noqa: S307 - running the code is what this process is for
            if step.co_flags & _COROUTINE:
                value = self._await(value)
        return value

    def _await(self, coroutine: Any) -> Any:
        if self._loop is None:
            import asyncio  # slow to import, and most code does not need it

            self._loop = asyncio.Runner()
        return self._loop.run(coroutine)

    def _finish(self) -> None:
        if self.once and self._loop is not None:
            self._loop.close()

    def _restore(self, stdin: str) -> None:
        """Undo what an earlier run did to the things every run stands on."""
        builtins.__dict__.update(self._builtins)
        sys.stdout, sys.stderr = self._streams
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "surrogatepass")), "utf-8", "replace")
        self.names["__name__"] = "__main__"

    def _flush(self) -> None:
        for stream in (sys.stdout, sys.stderr, *self._streams):
            with contextlib.suppress(BaseException):
                stream.flush()

    def _exit_code(self, exc: SystemExit) -> int:
        if exc.code is None:
            return 0
        if isinstance(exc.code, int):
            # As the interpreter itself does: a number that is no C long is an error.
            return exc.code & 0xFF if -(1 << 63) <= exc.code < 1 << 63 else 0xFF
        with contextlib.suppress(BaseException):
            _write(2, f"{exc.code}\n".encode("utf-8", "backslashreplace"))
        return 1

    def _install_hooks(self) -> None:
        """Show what goes wrong in threads and finalizers in the same way as in the code itself."""

        def show(kind: Any, exc: BaseException | None, _trace: TracebackType | None, where: str) -> None:
            if exc is not None and kind is not SystemExit:
                text = tracebacks.describe(exc, self.folder)["traceback"]
                _write(2, f"{where}\n{text}".encode("utf-8", "backslashreplace"))

        threading.excepthook = lambda args: show(
            args.exc_type,
            args.exc_value,
            args.exc_traceback,
            f"Exception in thread {getattr(args.thread, 'name', '')}:",
        )
        sys.unraisablehook = lambda args: show(
            args.exc_type, args.exc_value, args.exc_traceback, "Exception ignored:"
        )


def compile_steps(code: str, name: str) -> list[CodeType]:
    """Compile everything before anything runs: the statements, and the last expression if there is one."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = compile(code, name, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    if not (tree.body and isinstance(tree.body[-1], ast.Expr)):
        return [compile(tree, name, "exec", flags, dont_inherit=True)]
    last = ast.Expression(tree.body.pop().value)
    statements = compile(tree, name, "exec", flags, dont_inherit=True)
    future = statements.co_flags & _FUTURES
    return [statements, compile(last, name, "eval", flags | future, dont_inherit=True)]


def self_test(folder: str) -> int:
    """Try what must not be possible; prints what was, and returns how many things that were."""
    import socket

    outside = os.path.join(os.path.dirname(folder), "recipients-self-test")
    attempts = {
        "reading a file outside": lambda: os.close(os.open("/proc/self/environ", os.O_RDONLY)),
        "writing a file outside": lambda: _create(outside),
        "opening a socket": lambda: socket.socket().close(),
        "signalling another process": lambda: os.kill(os.getppid(), 0),
        "starting a process": _fork,
    }
    possible = []
    for name, attempt in attempts.items():
        with contextlib.suppress(PermissionError):
            attempt()
            possible.append(name)
    print(", ".join(possible))  # noqa: T201 - the parent reads it
    return len(possible)


def _create(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    os.unlink(path)  # pragma: no cover -- only when the sandbox fails


def _fork() -> None:
    if os.fork() == 0:  # pragma: no cover -- only when the sandbox fails
        os._exit(0)
