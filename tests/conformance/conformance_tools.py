"""The tools that the conformance suite asks for, as recipients."""

from __future__ import annotations

import base64
import time

from registry import Outcome, Recipient, RecipientFailed, reply
from registry.progress import log, report_progress

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


class _Answering(Recipient):
    """Answers every message with the same outcome."""

    OUTCOME = Outcome("")

    def process(self, message, **kwargs):
        return reply(self.RECIPIENT_NAME, self.OUTCOME)


class SimpleText(_Answering):
    OUTCOME = Outcome("This is a simple text response for testing.")


class Image(_Answering):
    OUTCOME = Outcome("", parts=(_IMAGE,))


class Audio(_Answering):
    OUTCOME = Outcome("", parts=({"type": "audio", "mime_type": "audio/wav", "data": WAV},))


class EmbeddedResource(_Answering):
    OUTCOME = Outcome(
        "",
        parts=(
            {
                "type": "resource",
                "uri": "test://embedded-resource",
                "mime_type": "text/plain",
                "text": "This is an embedded resource content.",
            },
        ),
    )


class Mixed(_Answering):
    OUTCOME = Outcome(
        "Multiple content types test:",
        parts=(
            _IMAGE,
            {
                "type": "resource",
                "uri": "test://mixed-content-resource",
                "mime_type": "application/json",
                "text": '{"test":"data","value":123}',
            },
        ),
    )


class Structured(_Answering):
    OUTCOME = Outcome('{"sum": 3}', metadata={"structured": {"sum": 3}})


class Failing(Recipient):
    def process(self, message, **kwargs):
        raise RecipientFailed("This tool intentionally returns an error for testing")


class Progress(Recipient):
    def process(self, message, **kwargs):
        for done in (0, 50, 100):
            report_progress(done, 100)
            time.sleep(_PAUSE)
        return reply("test_tool_with_progress", Outcome("done"))


class Logging(Recipient):
    def process(self, message, **kwargs):
        for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            log("info", text)
            time.sleep(_PAUSE)
        return reply("test_tool_with_logging", Outcome("done"))
