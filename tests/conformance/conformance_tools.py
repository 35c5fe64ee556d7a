"""The tools that the conformance suite asks for, as functions."""

from __future__ import annotations

import base64
import time

from registry import Outcome, RecipientFailed, log, report_progress

#: One red pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
#: A sound without a single sample.
WAV = (
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"
    b"\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"
)
_PAUSE = 0.05
_IMAGE = {"type": "image", "mime_type": "image/png", "data": PNG}


def _resource(uri: str, mime_type: str, text: str) -> dict[str, str]:
    return {"type": "resource", "uri": uri, "mime_type": mime_type, "text": text}


def simple_text() -> str:
    return "This is a simple text response for testing."


def mirrored(region: str = "") -> str:
    return region


def anything(**arguments: object) -> dict[str, object]:
    return arguments


def image() -> Outcome:
    return Outcome("", parts=(_IMAGE,))


def audio() -> Outcome:
    return Outcome("", parts=({"type": "audio", "mime_type": "audio/wav", "data": WAV},))


def embedded_resource() -> Outcome:
    text = "This is an embedded resource content."
    return Outcome("", parts=(_resource("test://embedded-resource", "text/plain", text),))


def mixed() -> Outcome:
    resource = _resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return Outcome("Multiple content types test:", parts=(_IMAGE, resource))


def structured() -> Outcome:
    return Outcome('{"sum": 3}', metadata={"structured": {"sum": 3}})


def failing() -> str:
    raise RecipientFailed("This tool intentionally returns an error for testing")


def progress() -> str:
    for done in (0, 50, 100):
        report_progress(done, 100)
        time.sleep(_PAUSE)
    return "done"


def logging() -> str:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        log("info", text)
        time.sleep(_PAUSE)
    return "done"
