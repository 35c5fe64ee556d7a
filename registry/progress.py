"""What a recipient can say while it works: how far it is, and messages for whoever watches.

::

    from registry import log, report_progress


    def index(folder: str) -> str:
        for done, path in enumerate(paths, 1):
            report_progress(done, len(paths))
        log("info", f"{len(paths)} files")

Both work from coroutines and from threads that run a recipient's function. Where nobody listens, as in a call
from code, they do nothing.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
from typing import TYPE_CHECKING, Any, Protocol

from registry.jsontext import NotJsonError, json_data

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Levels of a log message, from the least to the most urgent.
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Listener(Protocol):
    """Whoever wants to know. Called from any thread; must not block."""

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Take note of how far a call is."""
        ...

    def log(self, level: str, data: Any, logger: str | None) -> None:
        """Take note of a message of a call."""
        ...


_LISTENER: contextvars.ContextVar[Listener | None] = contextvars.ContextVar("listener", default=None)


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Pass on to the listener what recipients report inside the block."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def report_progress(done: float, total: float | None = None, message: str | None = None) -> None:
    """Say how much is done, out of how much if that is known. ``done`` should grow from call to call.

    Raises:
        ValueError: a number is not finite.
    """
    if not math.isfinite(done) or (total is not None and not math.isfinite(total)):
        raise ValueError(f"progress is told in finite numbers, not {done!r} of {total!r}")
    listener = _LISTENER.get()
    if listener is not None:
        listener.progress(
            _number(done),
            None if total is None else _number(total),
            None if message is None else _text(str(message)),
        )


def log(level: str, data: Any, *, logger: str | None = None) -> None:
    """Send a message, a text or JSON-like data, at one of the eight `LEVELS`.

    Data that is no JSON is sent as Python shows it.

    Raises:
        ValueError: there is no such level.
    """
    if level not in LEVELS:
        raise ValueError(f"unknown log level {level!r}: choose one of {', '.join(LEVELS)}")
    listener = _LISTENER.get()
    if listener is not None:
        try:
            sent = json_data(data)
        except NotJsonError:
            sent = _text(repr(data))
        listener.log(level, sent, logger)


def _number(value: float) -> float:
    """Return a number as JSON has it: a fraction or a decimal is none."""
    return value if type(value) in {int, float} else float(value)


def _text(text: str) -> str:
    found: str = json_data(text)
    return found


def listener() -> Listener | None:
    """Return who listens to the call that is being answered; None when nobody does."""
    return _LISTENER.get()
