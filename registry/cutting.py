"""Cuts long texts: head and tail are kept, and the reader is told how much there was."""

from __future__ import annotations


def clean(text: str) -> str:
    """Return the text with U+FFFD for lone surrogates, which no encoding has."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def cut(text: str, most: int) -> tuple[str, int]:
    """Return the text in at most so many bytes of UTF-8, and how many the whole has.

    What is left out of the middle is replaced by a line that says how much it was, where that line fits.
    """
    data = text.encode()
    total = len(data)
    if total <= most:
        return text, total
    room = most - len(_note(total, total).encode())
    noted = room > 0
    room = room if noted else most
    head = _decoded(data[: room - room // 2])
    tail = _decoded(data[total - room // 2 :])
    left_out = total - len(head.encode()) - len(tail.encode())
    return head + (_note(left_out, total) if noted else "") + tail, total


def _note(left_out: int, total: int) -> str:
    return f"\n… {left_out} of {total} bytes left out …\n"


def _decoded(data: bytes) -> str:
    """Decode a piece of valid UTF-8 whose ends may have cut a character."""
    return data.decode(errors="ignore")
