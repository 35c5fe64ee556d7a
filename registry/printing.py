"""What functions print goes to the log: the standard output may carry an answer or a protocol."""

from __future__ import annotations

import contextvars
import logging
import sys
import threading
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG = logging.getLogger("registry.function")
#: Characters of a line that has no end yet.
_LONGEST = 8_192
#: Held while a printer's text is changed; threads of one call share a printer.
_WRITING = threading.Lock()
_PRINTER: contextvars.ContextVar[_Printer | None] = contextvars.ContextVar("printer", default=None)


class _Printer:
    """Collects the output of one call, line by line. Made for every call, so it costs next to nothing."""

    __slots__ = ("name", "rest")

    def __init__(self, name: str) -> None:
        self.name = name
        self.rest = ""

    def write(self, text: str) -> None:
        with _WRITING:
            *lines, self.rest = (self.rest + text).split("\n")
            if len(self.rest) > _LONGEST:
                lines.append(self.rest)
                self.rest = ""
        for line in lines:
            _LOG.info("%s: %s", self.name, line)

    def close(self) -> None:
        if self.rest:
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


@attrs.define(eq=False)
class _Switch:
    """Puts the router in the place of the standard output as long as there is a call."""

    lock: Any = attrs.field(factory=threading.Lock)
    calls: int = 0
    router: _Router | None = None

    def on(self) -> None:
        with self.lock:
            self.calls += 1
            if self.router is None:
                self.router = sys.stdout = _Router(sys.stdout)

    def off(self) -> None:
        with self.lock:
            self.calls -= 1
            if not self.calls and self.router is not None:
                if sys.stdout is self.router:  # else somebody has put another one in its place since
                    sys.stdout = self.router.original
                self.router = None


_SWITCH = _Switch()


def call_aside(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function whose output goes to the log to its end, also when nobody waits for it any more."""
    _SWITCH.on()
    try:
        return function(*args, **kwargs)
    finally:
        _SWITCH.off()


class printing_to_log:  # noqa: N801 - used as a function
    """Send what is printed in this context, and in threads that inherit it, to the log."""

    __slots__ = ("_printer", "_token")

    def __init__(self, name: str) -> None:
        self._printer = _Printer(name)

    def __enter__(self) -> None:
        _SWITCH.on()
        self._token = _PRINTER.set(self._printer)

    def __exit__(self, *_error: object) -> None:
        _PRINTER.reset(self._token)
        _SWITCH.off()
        self._printer.close()
