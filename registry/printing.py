"""What functions print goes to the log: the standard output may carry an answer or a protocol."""

from __future__ import annotations

import contextvars
import logging
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG = logging.getLogger("registry.function")
#: Characters of a line that has no end yet.
_LONGEST = 8_192
#: Held while a printer's text is changed; threads of one call share a printer.
_WRITING = threading.Lock()
_PRINTER: contextvars.ContextVar[Printing | None] = contextvars.ContextVar("printer", default=None)


class Printing:
    """Sends what is printed in this context, and in threads that inherit it, to the log, line by line.

    From when it is made until `end`. One is made for every call of a function, so it costs little where
    nothing is printed: a context manager would cost a third more.
    """

    __slots__ = ("_name", "_rest", "_token")

    def __init__(self, name: str) -> None:
        self._name = name
        self._rest = ""
        _SWITCH.on()
        self._token = _PRINTER.set(self)

    def write(self, text: str) -> None:
        """Take what was printed; whole lines go to the log."""
        with _WRITING:
            *lines, self._rest = (self._rest + text).split("\n")
            if len(self._rest) > _LONGEST:
                lines.append(self._rest)
                self._rest = ""
        for line in lines:
            _LOG.info("%s: %s", self._name, line)

    def end(self) -> None:
        """Leave the standard output to others again; a last line without an end goes to the log too."""
        _PRINTER.reset(self._token)
        _SWITCH.off()
        if self._rest:
            self.write("\n")


class _Router:
    """Stands for the standard output while functions run; the context tells each call's own output apart."""

    def __init__(self, original: Any) -> None:
        self.original = original

    def write(self, text: str) -> int:
        printer = _PRINTER.get()
        if printer is None:
            written: int = self.original.write(text)
            return written
        printer.write(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)


class _Switch:
    """Puts the router in the place of the standard output as long as there is a call."""

    __slots__ = ("_lock", "_release", "_take", "calls", "router")

    def __init__(self) -> None:
        # Methods of the lock: a ``with`` of it takes twice as long.
        self._lock = threading.Lock()
        self._take, self._release = self._lock.acquire, self._lock.release
        self.calls = 0
        #: Kept between calls: most of them find the standard output that the last one left.
        self.router = _Router(sys.stdout)

    def on(self) -> None:
        self._take()
        try:
            self.calls += 1
            if self.calls == 1:
                if self.router.original is not sys.stdout:
                    self.router = _Router(sys.stdout)
                sys.stdout = self.router
        finally:
            self._release()

    def off(self) -> None:
        self._take()
        try:
            self.calls -= 1
            if not self.calls and sys.stdout is self.router:  # else somebody has put another one in its place
                sys.stdout = self.router.original
        finally:
            self._release()


_SWITCH = _Switch()


def call_aside(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function whose output goes to the log to its end, also when nobody waits for it any more."""
    _SWITCH.on()
    try:
        return function(*args, **kwargs)
    finally:
        _SWITCH.off()
