"""Output kept at the source: head and tail of a stream, whatever its length."""

from __future__ import annotations

#: Bytes that continue a UTF-8 character; at most three follow the first.
_CONTINUATION = range(0x80, 0xC0)


class HeadTail:
    """Keeps the first and the last bytes of a stream; memory is bounded by the limit and one chunk."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        self.total += len(chunk)
        space = max(self.limit - len(self._head), 0)
        self._head += chunk[:space]
        if len(chunk) > space:
            self._tail += chunk[space:]
            # The head may hold the whole limit until something has to be cut: then half of it is kept.
            del self._tail[: max(len(self._tail) - self.limit, 0)]

    @property
    def truncated(self) -> bool:
        """Whether something was cut."""
        return self.total > self.limit

    def text(self) -> str:
        """Return what was kept, decoded; each byte that is no UTF-8 becomes U+FFFD."""
        if not self.truncated:
            return _decoded(bytes(self._head))
        half = self.limit // 2
        head = _without_broken_end(bytes(self._head[:half]))
        # The tail is what follows the kept half, as far as it is still known.
        tail = bytes((self._head[half:] + self._tail)[-(self.limit - half) :]) if self.limit else b""
        tail = _without_broken_start(tail)
        cut = self.total - len(head) - len(tail)
        return f"{_decoded(head)}\n[… {cut} bytes cut …]\n{_decoded(tail)}"


def cut_text(text: str, limit: int) -> tuple[str, bool]:
    """Return ``text`` within ``limit`` bytes of UTF-8, and whether something was cut."""
    kept = HeadTail(limit)
    kept.feed(text.encode("utf-8", "replace"))
    return kept.text(), kept.truncated


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _without_broken_end(data: bytes) -> bytes:
    """Drop a last character that was cut in two; bytes that were never UTF-8 stay."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte in _CONTINUATION:
            continue
        needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data[:-back] if needed > back else data
    return data


def _without_broken_start(data: bytes) -> bytes:
    """Drop the rest of a first character that was cut in two."""
    start = 0
    while start < min(3, len(data)) and data[start] in _CONTINUATION:
        start += 1
    return data[start:]
