"""What the tests of serving serve: one recipient of each sort, and a program that serves them."""

import asyncio
import json
import os
import subprocess
import sys
import threading

from registry import Outcome, Recipient, RecipientFailed, RecipientManager, RecipientSnapshot, reply
from registry.loading.loader import loads
from registry.progress import log, report_progress

PROMPTS = """
version = 1

[prompts.greet]
description = "Greets."
role = "user"
template = "Hello {name}, {{age {age}, loud {loud}}}"
inputs.name = { type = "string", description = "Who", enum = ["Ann", "Anton", "Bob"] }
inputs.age = { type = "integer", minimum = 0, default = 30 }
inputs.loud = { type = "boolean", default = false }

[prompts.plain]
description = "Says what it says."
role = "system"
template = "Be kind."
"""


class Echo(Recipient):
    RECIPIENT_NAME = "echo"
    DESCRIPTION = "Says what it is told."
    INPUT_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

    async def aprocess(self, message, **kwargs):
        return reply("echo", Outcome(message["arguments"]["text"]))


class Noisy(Recipient):
    RECIPIENT_NAME = "noisy"
    DESCRIPTION = "Prints in every way there is."

    def process(self, message, **kwargs):
        print("from print")  # noqa: T201 - that is what it is for
        os.write(1, b"from descriptor 1\n")
        subprocess.run(["/bin/echo", "from a child"], check=True)
        return reply("noisy", Outcome(sys.stdin.read() or "stdin is empty"))


class Reporting(Recipient):
    RECIPIENT_NAME = "reporting"
    DESCRIPTION = "Says how far it is."

    def process(self, message, **kwargs):
        report_progress(1, 2)
        log("debug", "not told unless asked")
        log("warning", {"half": True}, logger="halves")
        report_progress(2, message="done")
        return reply("reporting", Outcome("reported"))


class Failing(Recipient):
    RECIPIENT_NAME = "failing"
    DESCRIPTION = "Fails."

    async def aprocess(self, message, **kwargs):
        raise RecipientFailed("it does not work today")


class Waiting(Recipient):
    """Waits until it is cancelled, until it is released, or until there is a file ``until``."""

    RECIPIENT_NAME = "waiting"
    DESCRIPTION = "Waits."
    started = threading.Event()
    cancelled = threading.Event()
    released = threading.Event()

    async def aprocess(self, message, **kwargs):
        self.started.set()
        report_progress(0)
        until = message["arguments"].get("until", "/no/such/file")
        try:
            # An event of threads, for tests of programs that have a loop of their own.
            while not (self.released.is_set() or os.path.exists(until)):  # noqa: ASYNC110, ASYNC240, PTH110
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return reply("waiting", Outcome("released"))

    @classmethod
    def reset(cls):
        for event in (cls.started, cls.cancelled, cls.released):
            event.clear()


def snapshot():
    recipients = {kind.RECIPIENT_NAME: kind for kind in (Echo, Noisy, Reporting, Failing, Waiting)}
    return RecipientSnapshot(recipients, loads(PROMPTS).prompts)


def manager():
    return RecipientManager(snapshot())


#: What a client says first.
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def request(identifier, method, **params):
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def line(message):
    return json.dumps(message).encode() + b"\n"
