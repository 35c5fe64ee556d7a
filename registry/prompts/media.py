"""Images and files that are sent along with a prompt: what they may be, and how they are read.

A value is bytes, a path object, or a text that is an ``https``, ``http`` or ``data`` URL. A plain text is
never taken for a path, so that an untrusted value cannot name a file of this machine. Nothing is fetched.
"""

from __future__ import annotations

import base64
import binascii
import os
import pathlib
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

#: Most bytes of an image or file.
MAX_MEDIA = 20 * 1024 * 1024

#: How the images that every provider takes begin.
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def media_part(kind: str, value: Any) -> dict[str, Any]:
    """Return the content part of an ``image`` or ``file``: with ``data`` and ``mime_type``, or with ``url``.

    Raises:
        ValueError: The value is no such thing, of no type that providers take, or too large.
    """
    if isinstance(value, str):
        if not value.startswith("data:"):
            return {"type": kind, "url": _web_address(kind, value)}
        data, name = _of_data_url(value), ""
    elif isinstance(value, (bytes, bytearray, memoryview)):
        data, name = bytes(value), ""
    elif isinstance(value, os.PathLike):
        path = pathlib.Path(value)
        data, name = _read(path), path.name
    else:
        what = type(value).__name__
        raise ValueError(f"must be bytes, a path object or a URL, not {what}")  # noqa: TRY004  # a fault of data
    if not 0 < len(data) <= MAX_MEDIA:
        raise ValueError(f"must have 1 to {MAX_MEDIA:,} bytes")
    part = {"type": kind, "mime_type": _type_of(kind, data), "data": data}
    return {**part, "name": name or "file"} if kind == "file" else part


def _web_address(kind: str, value: str) -> str:
    try:
        address = urlsplit(value)
        sound = address.scheme in ("http", "https") and bool(address.hostname) and value.isprintable()
    except ValueError:
        sound = False
    if not sound or " " in value:
        raise ValueError(
            f"must be an http(s) or data URL when it is text; give the path of a {kind} as pathlib.Path"
        )
    return value


def _of_data_url(value: str) -> bytes:
    if len(value) > 2 * MAX_MEDIA:
        raise ValueError(f"must have 1 to {MAX_MEDIA:,} bytes")
    header, comma, body = value.partition(",")
    if not comma:
        raise ValueError("is a data URL without a comma")
    if not header.endswith(";base64"):
        return unquote_to_bytes(body)
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is a data URL whose base64 is broken") from None


def _read(path: pathlib.Path) -> bytes:
    try:
        if not path.is_file():
            raise ValueError(f"names no file: {path}")
        with path.open("rb") as file:
            return file.read(MAX_MEDIA + 1)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from None


def _type_of(kind: str, data: bytes) -> str:
    if kind == "image":
        for start, mime_type in _IMAGES:
            if data.startswith(start):
                return mime_type
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return "image/webp"
        raise ValueError("must be a PNG, JPEG, GIF or WebP image")
    if data.startswith(b"%PDF-"):
        return "application/pdf"
    try:
        if "\0" not in data.decode():
            return "text/plain"
    except UnicodeDecodeError:
        pass
    raise ValueError("must be a PDF or a text in UTF-8")
