"""The bytes a Tio server is sent and answers with. No I/O.

A request is a list of records, deflated without a header: ``V`` sets a variable, ``F`` gives a file, ``R``
runs. A response starts with 16 random characters, which then separate its parts: stdout, stderr with a
trailer of times and the exit code, and notices. A response of one part is a message about why nothing ran.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Bytes of a request body that the server takes.
MAX_REQUEST = 1_000_000
#: Bytes of a response after inflating: two streams of 128 KiB and notices, with room for another server.
MAX_RESPONSE = 1 << 20
TIMEOUT_EXIT_CODE = 124

_SEPARATOR = 16
_SEPARATOR_FORM = re.compile(rb"[A-Za-z0-9+/]{16}")
_NEVER_STARTED = b" " * _SEPARATOR
_GZIP = b"\x1f\x8b"
_TRAILER = re.compile(
    rb"\nReal time: [^\n]*\nUser time: [^\n]*\nSys\. time: [^\n]*\nCPU share: [^\n]*\nExit code: (\d{1,5})\Z"
)


class NotTio(ValueError):  # noqa: N818 - says what the bytes are
    """The bytes are no answer of a Tio server."""


@attrs.frozen
class Response:
    """What a server answered."""

    stdout: bytes = b""
    stderr: bytes = b""
    #: None when it was lost, which happens when stderr is longer than the server keeps.
    exit_code: int | None = None
    notices: tuple[str, ...] = ()
    #: Why nothing ran; empty when something did.
    refusal: str = ""

    @property
    def timed_out(self) -> bool:
        """Whether the server ended the program because of its own time limit."""
        return self.exit_code == TIMEOUT_EXIT_CODE and any("time limit" in notice for notice in self.notices)

    @property
    def truncated(self) -> bool:
        """Whether the server cut a stream."""
        return any("truncated" in notice for notice in self.notices)


def request(
    code: str,
    *,
    language: str = "python3",
    stdin: str = "",
    options: Sequence[str] = (),
    arguments: Sequence[str] = (),
    files: Mapping[str, bytes] | None = None,
) -> bytes:
    """Return the records of a request, not yet deflated. Lengths count bytes, not characters."""
    parts = [variable("lang", [language]), file(".code.tio", _utf8(code))]
    if stdin:
        parts.append(file(".input.tio", _utf8(stdin)))
    parts += [file(name, data) for name, data in (files or {}).items()]
    if options:
        parts.append(variable("TIO_OPTIONS", options))
    if arguments:
        parts.append(variable("args", arguments))
    return b"".join([*parts, b"R"])


def variable(name: str, values: Sequence[str]) -> bytes:
    """Return the record of a variable: its name, how many values, the values."""
    return b"".join(part.encode() + b"\0" for part in (f"V{name}", str(len(values)), *values))


def file(name: str, data: bytes) -> bytes:
    """Return the record of a file: its name, how many bytes, the bytes."""
    return b"F%s\0%d\0%s" % (name.encode(), len(data), data)


def deflate(data: bytes) -> bytes:
    """Return raw deflated bytes: no zlib header, no checksum."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def inflate(data: bytes) -> bytes:
    """Return what raw deflated bytes hold.

    Raises:
        NotTio: They are no such bytes.
    """
    return _inflated(data, -zlib.MAX_WBITS, 16 * MAX_REQUEST)


def response(body: bytes) -> Response:
    """Return what a response body says, whether it is still gzipped or not.

    Raises:
        NotTio: It is no answer of a Tio server, for example a page about an error.
    """
    if body.startswith(_GZIP):
        body = _inflated(body, zlib.MAX_WBITS | 16, MAX_RESPONSE)
    separator = body[:_SEPARATOR]
    if separator == _NEVER_STARTED:
        raise NotTio("the server could not start its sandbox")
    if not _SEPARATOR_FORM.fullmatch(separator):
        raise NotTio("the answer is not that of a Tio server")
    parts = body[_SEPARATOR:].split(separator)
    runs = len(parts) // 2
    if not runs:
        text = parts[0].decode("utf-8", "replace").strip()
        return Response(refusal=text or "the server could not read the request")
    stderr, exit_code = _without_trailer(b"".join(parts[runs : 2 * runs]))
    notices = b"".join(parts[2 * runs :]).decode("utf-8", "replace").splitlines()
    return Response(b"".join(parts[:runs]), stderr, exit_code, tuple(filter(None, notices)))


def _without_trailer(stderr: bytes) -> tuple[bytes, int | None]:
    """Split the server's trailer off; a program may have printed others before, so only the end counts."""
    found = _TRAILER.search(stderr, max(stderr.rfind(b"\nReal time: "), 0))
    return (stderr[: found.start()], int(found[1])) if found else (stderr, None)


def _inflated(data: bytes, window: int, most: int) -> bytes:
    unpacker = zlib.decompressobj(window)
    try:
        found = unpacker.decompress(data, most)
    except zlib.error as exc:
        raise NotTio(f"the bytes cannot be inflated: {exc}") from exc
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise NotTio("the bytes are cut short, or more than a Tio server sends")
    return found


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
