"""What a backend takes and gives: the same for all of them."""
# ruff: noqa: ASYNC109 - the limit is the backend's to keep: it has to kill what runs

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, Protocol, Self

import attrs

if TYPE_CHECKING:
    from types import TracebackType

    from registry.specs import PythonOptions

#: ``ok``; ``error``: the code failed, exited with a code other than 0 or went over an amount; ``timeout``;
#: ``crashed``: the interpreter was ended by a signal; ``unsupported``: this backend lacks what the code uses;
#: ``unavailable``: the code may not have run at all.
Status = Literal["ok", "error", "timeout", "crashed", "unsupported", "unavailable"]

#: Bytes of output after which a run is ended: it prints in a loop.
OUTPUT_LIMIT = 64 << 20
_SIZE = re.compile(r"\A\s*(\d{1,12})\s*([KMGT]i?)?B?\s*\Z", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_size(text: str) -> int:
    """Return bytes: ``512MiB`` counts in powers of 1024, ``512MB`` in powers of 1000.

    Raises:
        ValueError: The text is no size.
    """
    match = _SIZE.match(text)
    if not match:
        raise ValueError(f"{text!r} is no size of memory; write for example '512MiB'")
    unit = (match[2] or "").lower()
    scale = 1024 if unit.endswith("i") else 1000
    size: int = int(match[1]) * scale ** _POWERS[unit[:1]]
    return size


@attrs.frozen
class Limits:
    """What one run may take; the values are those of a declaration that names none."""

    #: Seconds.
    timeout: float = 10.0
    #: Bytes kept of each stream.
    max_output: int = 65_536
    #: Bytes of memory.
    memory: int = 512 << 20


@attrs.frozen
class ExecError:
    """What the code failed with."""

    #: Name of the exception's class.
    type: str
    message: str
    #: 1-based line in the code that was run, None when it is not known.
    line: int | None = None
    #: The code's own frames only; at most 8,000 characters.
    traceback: str = ""


@attrs.frozen
class Attachment:
    """Something other than text that the code showed, such as an image."""

    mime_type: str
    data: bytes = attrs.field(repr=False)
    name: str = ""


@attrs.frozen
class ExecResult:
    """What became of one run. Every text is valid Unicode and can be encoded as UTF-8."""

    status: Status
    #: Name of the backend that ran the code.
    backend: str
    #: Head and tail of the output, with a line that tells how much was cut between them.
    stdout: str = ""
    stderr: str = ""
    #: True totals, however much was kept.
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    #: repr of the last expression; None when there was none, or it was None.
    result: str | None = None
    error: ExecError | None = None
    #: None when the process was ended by a signal, or the backend has no processes.
    exit_code: int | None = None
    #: Name of the signal that ended the process, such as ``SIGSEGV``.
    signal: str | None = None
    attachments: tuple[Attachment, ...] = ()
    #: Seconds from call to return.
    duration: float = 0.0
    #: Whether anything was cut: a stream, the result or the traceback.
    truncated: bool = False
    #: Whether variables of earlier runs are gone: this run ended its session, or started in a new one because
    #: the last had ended.
    session_lost: bool = False
    #: One line for the reader about how the run ended; empty when there is nothing to say.
    note: str = ""


@attrs.frozen
class Capabilities:
    """What a backend can do."""

    #: The code is confined: no files of others, no network, no processes.
    sandboxed: bool
    stateful: bool
    #: Packages installed beside this one can be imported.
    third_party: bool
    #: The code never leaves this machine.
    offline: bool = True


class ExecBackend(Protocol):
    """A way to run code. Made for one recipient; a context manager that leaves nothing behind.

    ``run`` never raises for what the code does, nor for a server that does not answer (``unavailable``). It
    raises `BackendUnavailable` when the backend cannot work here, RuntimeError outside ``async with``, and
    CancelledError after the run was killed.
    """

    name: str
    capabilities: Capabilities

    @classmethod
    def of(cls, options: PythonOptions, limits: Limits) -> Self:
        """Return the backend that a declaration asks for, not yet open."""
        ...

    @classmethod
    def probe(cls) -> tuple[bool, str]:
        """Return whether this backend works here, and why (not). Takes under 200 ms once, then nothing."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def run(self, code: str, *, stdin: str = "", timeout: float | None = None) -> ExecResult:
        """Run code that was cleaned; ``timeout`` in seconds overrides the backend's own."""
        ...

    async def reset(self) -> None:
        """Forget all variables."""
