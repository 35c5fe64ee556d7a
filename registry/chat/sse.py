"""Server-sent events: bytes in, events out, as the WHATWG describes the format."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Characters that one event may have.
MAX_EVENT = 16 << 20


class OversizedError(ValueError):
    """An event is larger than anything a provider sends."""


@attrs.frozen
class Event:
    """One event: its name (``message`` unless the server gives one) and its data."""

    name: str
    data: str


@attrs.define
class Decoder:
    """Takes bytes as they come, cut anywhere, and gives the events that are complete.

    Bytes that are no UTF-8 become replacement characters.
    """

    _text: codecs.IncrementalDecoder = attrs.field(
        factory=lambda: codecs.getincrementaldecoder("utf-8-sig")("replace")
    )
    _rest: str = ""
    _name: str = ""
    _data: list[str] = attrs.field(factory=list)
    _size: int = 0

    def feed(self, chunk: bytes, *, last: bool = False) -> Iterator[Event]:
        """Yield the events that end in this chunk; with the last one, also one that lacks its empty line.

        Raises:
            OversizedError: an event is too large.
        """
        text = self._rest + self._text.decode(chunk, last)
        # A carriage return at the end may be half of a line end.
        held = "\r" if text.endswith("\r") and not last else ""
        *lines, self._rest = text.removesuffix(held).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest += held
        for line in lines:
            yield from self._line(line)
        if self._size + len(self._rest) > MAX_EVENT:
            raise OversizedError
        if last:
            yield from self._line(self._rest)
            yield from self._line("")

    def _line(self, line: str) -> Iterator[Event]:
        if not line:
            if self._data:
                yield Event(self._name or "message", "\n".join(self._data))
            self._name, self._data, self._size = "", [], 0
            return
        field, _colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
            self._size += len(value)
        elif field == "event":
            self._name = value
