"""One connection to one server, from opening to closing in a task of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING, Any

from registry.exceptions import TransportError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from mcp.client.client import Client

    from registry.mcp_client.target import Target

#: Seconds after which an unused connection is closed.
IDLE = 300.0
#: Bytes kept of what a server writes to standard error, and characters of it that are repeated.
_KEPT, _REPEATED = 4096, 300
#: Seconds to connect; waiting for an answer has the limit of the call.
_CONNECT = 10.0
#: Seconds that a stream of events may be silent.
_SILENCE = 300.0


class Link:
    """A connection, and the server process at its other end if there is one."""

    def __init__(self, target: Target) -> None:
        self.target = target
        #: Whether it has worked before.
        self.used = False
        #: Whether it has ended or is about to.
        self.dead = False
        self._users = 0
        self._idle: asyncio.TimerHandle | None = None
        self._words = _LastWords()
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[Client] = self._loop.create_future()
        self._end = asyncio.Event()
        self.task = self._loop.create_task(self._run())

    async def client(self) -> Client:
        """Return the SDK's client once it is connected; raise what keeps it from that."""
        client = await asyncio.shield(self._ready)
        self.used = True
        return client

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the connection from being closed as unused."""
        self._users += 1
        if self._idle is not None:
            self._idle.cancel()
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                self._idle = self._loop.call_later(IDLE, self.close)

    def bury(self) -> None:
        """Take note that the other end is gone."""
        self.dead = True
        self._end.set()

    def close(self) -> None:
        """Begin to close; the server process gets some seconds to end by itself."""
        if self._idle is not None:
            self._idle.cancel()
        self.bury()
        if not self._ready.done():
            self.task.cancel()

    def last_words(self) -> str:
        """Return the last line a server process wrote to standard error, as an addition to an error."""
        return self._words.text(value for _, value in self.target.env)

    async def _run(self) -> None:
        try:
            async with contextlib.AsyncExitStack() as stack:
                self._ready.set_result(await self._open(stack))
                await self._end.wait()
        except BaseException as error:  # noqa: BLE001 - told to those who wait, and to nobody else
            if not self._ready.done():
                self._ready.set_exception(_told_by(error, self.target.name))
                self._ready.exception()  # nobody may be waiting any more
        finally:
            self.dead = True

    async def _open(self, stack: contextlib.AsyncExitStack) -> Client:
        """Connect in the way of the newest revision that both ends know.

        Over HTTP the SDK asks for the revisions first. A process is greeted with the handshake first: some
        older ones end when they are asked for anything else.
        """
        if self.target.url is not None:
            return await stack.enter_async_context(self._client("auto"))
        try:
            return await stack.enter_async_context(self._client("legacy"))
        except Exception as error:
            if not _knows_no_handshake(_first(error)):
                raise
        return await stack.enter_async_context(self._client("auto"))

    @contextlib.asynccontextmanager
    async def _client(self, mode: str) -> AsyncIterator[Client]:
        from mcp.client.client import Client

        async with contextlib.AsyncExitStack() as stack:
            if self.target.url is None:
                transport = await self._stdio(stack)
            else:
                transport = await self._http(stack, self.target.url)
            client = await stack.enter_async_context(Client(transport, mode=mode, cache=None))
            yield client

    async def _stdio(self, stack: contextlib.AsyncExitStack) -> Any:
        from mcp.client.stdio import StdioServerParameters, stdio_client

        command, *arguments = self.target.command
        parameters = StdioServerParameters(
            command=command,
            args=arguments,
            env=dict(self.target.env),
            cwd=self.target.folder,
            encoding_error_handler="replace",
        )
        return stdio_client(parameters, errlog=await self._words.listen(stack))

    async def _http(self, stack: contextlib.AsyncExitStack, url: str) -> Any:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        http = httpx2.AsyncClient(
            headers=dict(self.target.headers), timeout=httpx2.Timeout(_CONNECT, read=_SILENCE)
        )
        return streamable_http_client(url, http_client=await stack.enter_async_context(http))


def _first(error: BaseException) -> BaseException:
    """Return the error itself, or the first one inside a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _knows_no_handshake(error: BaseException) -> bool:
    """Tell whether this is what the handshake with a server comes to that has only newer revisions."""
    from mcp_types import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION

    if isinstance(error, RuntimeError):  # of the SDK: the server's revision has no handshake
        return True
    return getattr(error, "code", None) in {METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION}


def _told_by(error: BaseException, name: str) -> BaseException:
    if isinstance(error, asyncio.CancelledError):
        return TransportError(f"the connection to MCP server {name!r} was closed")
    return _first(error)


class _LastWords(asyncio.Protocol):
    """Keeps the end of what a server process writes to standard error."""

    def __init__(self) -> None:
        self._kept = b""

    async def listen(self, stack: contextlib.AsyncExitStack) -> Any:
        """Return a file for a process to write to; both ends of the pipe close with the stack."""
        reading, writing = os.pipe()
        file = stack.enter_context(os.fdopen(writing, "wb", buffering=0))
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: self, os.fdopen(reading, "rb", buffering=0))
        stack.callback(transport.close)
        return file

    def data_received(self, data: bytes) -> None:
        """Keep the end."""
        self._kept = (self._kept + data)[-_KEPT:]

    def text(self, secrets: Iterator[str]) -> str:
        """Return the last line, without these texts."""
        lines = self._kept.decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        for secret in secrets:
            if secret:
                last = last.replace(secret, "***")
        return f"; its last words: {last[-_REPEATED:]}" if last else ""
