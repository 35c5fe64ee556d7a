"""Serving one client over standard input and output.

The client's first request decides who speaks with it: a handshake is answered by the small loop beside this
module, a request of a newer revision by the official SDK, which is loaded only then.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, BinaryIO

from registry.serve.handshake import Session
from registry.serve.protocol import VERSION_KEY
from registry.serve.reload import reloading
from registry.serve.service import Service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from registry.manager import RecipientManager, RecipientSnapshot

#: Seconds that calls in flight may still take after the client has closed its end.
GRACE = 10.0


def serve_stdio(
    source: RecipientManager | RecipientSnapshot,
    *,
    path: str | os.PathLike[str] | None = None,
    grace: float = GRACE,
    **options: Any,
) -> None:
    """Serve the registry to the client at standard input and output until it closes its end.

    Nothing but protocol messages is written to standard output: what recipients and the programs they start
    print there goes to standard error.

    Args:
        source: What is served; a manager's later content too.
        path: File to watch; its edits are served as soon as they are good.
        grace: Seconds that calls in flight may still take after the client has closed its end.
        options: Passed to `registry.serve.service.Service`.

    Raises:
        ExportRefused: a recipient cannot be a tool of the protocol.
    """
    service = Service(source, **options)
    with claimed_stdio() as (incoming, outgoing):
        asyncio.run(_serve(service, incoming, outgoing, path, grace))


@contextlib.contextmanager
def claimed_stdio() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Take standard input and output away from everyone else in this process and its children.

    Meanwhile descriptor 0 is empty and descriptor 1 is standard error.
    """
    sys.stdout.flush()
    private = [os.dup(0), os.dup(1)]
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    # Not closed at the end: the thread that reads may still be waiting in one of them.
    files = os.fdopen(private[0], "rb", closefd=False), os.fdopen(private[1], "wb", closefd=False)
    try:
        yield files
    finally:
        sys.stdout.flush()
        os.dup2(private[0], 0)
        os.dup2(private[1], 1)


class Lines:
    """The lines of a stream, read by a thread of their own; ends with the stream or when told to."""

    def __init__(self, stream: BinaryIO) -> None:
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self.thread = threading.Thread(target=self._read, args=(stream,), daemon=True, name="stdin")
        self.thread.start()

    def _read(self, stream: BinaryIO) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            for line in stream:
                self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
            self._loop.call_soon_threadsafe(self.end)

    def end(self) -> None:
        """Let the lines end here."""
        self._queue.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (line := await self._queue.get()) is not None:
            if line.strip():
                yield line


class Writer:
    """Writes messages in a thread of its own, so that a client that does not read never stops the loop."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, daemon=True, name="stdout")
        self._thread.start()

    def send(self, message: dict[str, Any]) -> None:
        """Write a message as one line of JSON, in ASCII where UTF-8 has no characters for it."""
        try:
            self.send_text(json.dumps(message, ensure_ascii=False, separators=(",", ":")))
        except UnicodeEncodeError:
            self.send_text(json.dumps(message, separators=(",", ":")))

    def send_text(self, text: str) -> None:
        """Write a line."""
        self._queue.put(text.encode() + b"\n")

    def _write(self) -> None:
        with contextlib.suppress(OSError):  # the client is gone
            while (data := self._queue.get()) is not None:
                self._stream.write(data)
                self._stream.flush()

    def close(self, patience: float) -> None:
        """Write what is left, as far as the client takes it within ``patience`` seconds."""
        self._queue.put(None)
        self._thread.join(patience)


async def _serve(
    service: Service,
    incoming: BinaryIO,
    outgoing: BinaryIO,
    path: str | os.PathLike[str] | None,
    grace: float,
) -> None:
    lines, writer = Lines(incoming), Writer(outgoing)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, lines.end)
    try:
        async with service:
            with reloading(service, path):
                await serve_lines(service, lines, writer, grace)
    finally:
        writer.close(grace)


async def serve_lines(service: Service, lines: Lines, writer: Writer, grace: float) -> None:
    """Serve the client whose lines these are."""
    stream = aiter(lines)
    opening: list[bytes] = []
    async for line in stream:
        opening.append(line)
        if _is_request(line):
            break
    if opening and _is_modern(opening[-1]) and (serve := _modern()) is not None:
        await serve(service, opening, stream, writer, grace)
        return
    session = Session(service, writer.send)
    unsubscribe = service.subscribe(session.notify)
    try:
        for line in opening:
            session.feed(line)
        async for line in stream:
            session.feed(line)
        await session.finish(grace)
    finally:
        unsubscribe()


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _is_request(line: bytes) -> bool:
    return {"id", "method"} <= _parsed(line).keys()


def _is_modern(line: bytes) -> bool:
    """Say whether a request has the envelope of a revision without handshake."""
    message = _parsed(line)
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return message.get("method") != "initialize" and isinstance(meta, dict) and VERSION_KEY in meta


def _modern() -> Callable[..., Any] | None:
    """Return what speaks the newer revisions; None without the SDK: clients then open with a handshake."""
    try:
        from registry.serve.server import serve_stream
    except ImportError:
        return None
    return serve_stream
