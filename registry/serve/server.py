"""A `Service` as a server of the official SDK: for HTTP, and for revisions that have no handshake."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from registry.progress import LEVELS
from registry.serve.handshake import DEFAULT_LEVEL
from registry.serve.protocol import HANDSHAKE_VERSIONS, INVALID_PARAMS, LOG_LEVEL_KEY, ProtocolError
from registry.serve.service import version

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext
    from mcp.server.models import InitializationOptions
    from pydantic import BaseModel

    from registry.serve.service import Service
    from registry.serve.stdio import Writer

    Context = ServerRequestContext[Any, Any]

_PARAMS: dict[str, type[BaseModel]] = {
    "completion/complete": types.CompleteRequestParams,
    "prompts/get": types.GetPromptRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "tools/list": types.PaginatedRequestParams,
}
_EVENTS: dict[str, Callable[[], ServerEvent]] = {
    "notifications/tools/list_changed": ToolsListChanged,
    "notifications/prompts/list_changed": PromptsListChanged,
}
LISTEN = "subscriptions/listen"
#: Seconds a client may take to accept a notification that it did not ask for.
_PATIENCE = 5.0
#: Above every level: nothing is sent.
_SILENT = len(LEVELS)


class _Server(Server[Any]):
    """A server that says, over every transport, that its lists may change."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **kwargs: Any
    ) -> InitializationOptions:
        changes = notification_options or NotificationOptions(tools_changed=True, prompts_changed=True)
        return super().create_initialization_options(changes, *args, **kwargs)


class Handlers:
    """The SDK's server for a service, and the clients it knows. Lives on one event loop."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._loop = asyncio.get_running_loop()
        self._levels: weakref.WeakKeyDictionary[Connection, int] = weakref.WeakKeyDictionary()
        self._bus = InMemorySubscriptionBus()
        self._tasks: set[asyncio.Task[Any]] = set()
        #: Requests that last until their client hangs up; `ListenHandler.close` ends them.
        self.streams = ListenHandler(self._bus)
        hint = CacheHint()
        self.server = _Server(
            service.name,
            version=version(),
            cache_hints={"tools/list": hint, "prompts/list": hint},
            get_tool_input_schema=service.input_schema,
        )
        for method, params in _PARAMS.items():
            self.server.add_request_handler(method, params, self._answer)
        self.server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._set_level)
        self.server.add_request_handler(LISTEN, types.SubscriptionsListenRequestParams, self.streams)
        self.server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._greet
        )

    # --- requests

    async def _answer(self, context: Context, _params: Any) -> dict[str, Any]:
        outbox = _Outbox(context, self._least(context))
        sender = self._loop.create_task(outbox.send_all())
        try:
            answer = await self._service.answer(context.method, dict(context.params or {}), outbox)
            outbox.close()
            await sender
        except ProtocolError as error:
            raise MCPError(error.code, error.message) from error
        finally:
            sender.cancel()
        handshake = context.protocol_version in HANDSHAKE_VERSIONS
        return answer if handshake else {"resultType": "complete", **answer}

    async def _set_level(self, context: Context, params: Any) -> dict[str, Any]:
        if params.level not in LEVELS:
            raise MCPError(INVALID_PARAMS, f"unknown level {params.level!r}")
        self._levels[_connection(context)] = LEVELS.index(params.level)
        return {}

    def _least(self, context: Context) -> int:
        """Return the lowest level of what this request's client wants to be sent."""
        if context.protocol_version in HANDSHAKE_VERSIONS:
            return self._levels.setdefault(_connection(context), LEVELS.index(DEFAULT_LEVEL))
        wanted = (context.meta or {}).get(LOG_LEVEL_KEY)
        return LEVELS.index(wanted) if wanted in LEVELS else _SILENT

    # --- notifications

    async def _greet(self, context: Context, _params: Any) -> None:
        self._levels.setdefault(_connection(context), LEVELS.index(DEFAULT_LEVEL))

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification, from any thread, to all clients that want it."""
        self._loop.call_soon_threadsafe(self._notify, method, params)

    def _notify(self, method: str, params: dict[str, Any]) -> None:
        if method in _EVENTS:
            self._start(self._bus.publish(_EVENTS[method]()))
        level = LEVELS.index(params["level"]) if "level" in params else _SILENT
        for connection, least in list(self._levels.items()):
            if level >= least:
                self._start(_send(connection, method, params))

    def _start(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def serve_stream(self, reading: Any, writing: Any) -> None:
        """Serve the one client at the other end of two streams of messages."""
        await self.server.run(reading, writing, self.server.create_initialization_options())


async def _send(connection: Connection, method: str, params: dict[str, Any]) -> None:
    with anyio.move_on_after(_PATIENCE):
        await connection.notify(method, params)


def _connection(context: Context) -> Connection:
    # The SDK hands out no public way from a request to its client, who is to hear of changes later on.
    return context.session._connection  # noqa: SLF001


class _Outbox:
    """What a call reports, sent in order by one task beside it."""

    def __init__(self, context: Context, least: int) -> None:
        self._context = context
        self._least = least
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Callable[[], Awaitable[None]] | None] = asyncio.Queue()

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        self._put(lambda: self._context.session.report_progress(done, total, message))

    def log(self, level: str, data: Any, logger: str | None) -> None:
        if LEVELS.index(level) < self._least:
            return
        entry = types.LoggingMessageNotification.model_validate(
            {"params": {"level": level, "data": data, "logger": logger}}
        )
        request = self._context.request_id
        self._put(lambda: self._context.session.send_notification(entry, related_request_id=request))

    def _put(self, send: Callable[[], Awaitable[None]]) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, send)

    def close(self) -> None:
        """Let what was reported so far be the end."""
        self._loop.call_soon(self._queue.put_nowait, None)

    async def send_all(self) -> None:
        """Send what is reported until the end."""
        while (send := await self._queue.get()) is not None:
            await send()


class _Pending:
    """The requests of one client that are not answered yet."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()
        self._none = asyncio.Event()

    def received(self, message: Any) -> None:
        if isinstance(message, types.JSONRPCRequest) and message.method != LISTEN:
            self._ids.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._gone((message.params or {}).get("requestId"))

    def sent(self, message: Any) -> None:
        if isinstance(message, (types.JSONRPCResponse, types.JSONRPCError)):
            self._gone(message.id)

    def _gone(self, identifier: Any) -> None:
        self._ids -= {identifier}
        if not self._ids:
            self._none.set()

    async def finish(self, grace: float) -> None:
        """Wait until all requests are answered, at most ``grace`` seconds."""
        self._none.clear()
        if self._ids:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._none.wait(), grace)


async def serve_stream(
    service: Service, opening: list[bytes], lines: AsyncIterator[bytes], writer: Writer, grace: float
) -> None:
    """Serve the client that sent the opening lines and sends the others."""
    handlers, pending = Handlers(service), _Pending()
    to_server, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, from_server = anyio.create_memory_object_stream[SessionMessage](0)

    async def take(line: bytes) -> None:
        message = _message(line)
        if isinstance(message, SessionMessage):
            pending.received(message.message)
        await to_server.send(message)

    async def receive() -> None:
        async with to_server:
            for line in opening:
                await take(line)
            async for line in lines:
                await take(line)
            handlers.streams.close()
            await pending.finish(grace)

    async def send() -> None:
        async with from_server:
            async for item in from_server:
                writer.send_text(item.message.model_dump_json(by_alias=True, exclude_unset=True))
                pending.sent(item.message)

    unsubscribe = service.subscribe(handlers.notify)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(receive)
            group.start_soon(send)
            await handlers.serve_stream(reading, writing)
    finally:
        unsubscribe()


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error
