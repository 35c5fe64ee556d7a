"""One client of the protocol's handshake revisions, spoken without the SDK: loading that takes half a second.

Requests are tasks; whatever is sent goes through the loop's queue of callbacks, so that progress and log
messages, which may come from threads, keep their order and stand before the response they belong to.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from registry.progress import LEVELS
from registry.serve.protocol import (
    HANDSHAKE_VERSIONS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ProtocolError,
)
from registry.serve.service import CAPABILITIES, version

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.serve.service import Service

    Json = dict[str, Any]

#: What is sent of log messages until the client asks for more or less.
DEFAULT_LEVEL = "info"


class _Listener:
    """Turns what a recipient reports into notifications of its request."""

    def __init__(self, session: Session, params: Json) -> None:
        meta = params.get("_meta")
        self._session = session
        self._token = meta.get("progressToken") if isinstance(meta, dict) else None

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        if self._token is None:
            return
        params: Json = {"progressToken": self._token, "progress": done}
        params |= {key: item for key, item in (("total", total), ("message", message)) if item is not None}
        self._session.notify("notifications/progress", params)

    def log(self, level: str, data: Any, logger: str | None) -> None:
        params: Json = {"level": level, "data": data}
        self._session.notify("notifications/message", {**params, "logger": logger} if logger else params)


class Session:
    """Reads a client's messages and sends what they bring. Lives on one event loop."""

    def __init__(self, service: Service, send: Callable[[Json], None]) -> None:
        self._service = service
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._running: dict[str | int, asyncio.Task[None]] = {}
        self._ready = False
        self._level = LEVELS.index(DEFAULT_LEVEL)

    # --- out

    def _put(self, message: Json) -> None:
        self._loop.call_soon(self._send, {"jsonrpc": "2.0", **message})

    def notify(self, method: str, params: Json) -> None:
        """Send a notification, from any thread, to a client that is ready for it and asked for its level."""
        self._loop.call_soon_threadsafe(self._notify, method, params)

    def _notify(self, method: str, params: Json) -> None:
        if method == "notifications/message" and LEVELS.index(params["level"]) < self._level:
            return
        if self._ready:
            self._send({"jsonrpc": "2.0", "method": method, "params": params})

    # --- in

    def feed(self, line: bytes) -> None:
        """Take one line from the client."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._put({"id": None, "error": ProtocolError(PARSE_ERROR, "Parse error").wire()})
            return
        try:
            self._take(message)
        except ProtocolError as error:
            self._put({"id": _id_of(message), "error": error.wire()})

    def _take(self, message: Any) -> None:
        if not isinstance(message, dict) or not isinstance(message.get("method", ""), str):
            raise ProtocolError(INVALID_REQUEST, "Invalid request")
        if "method" not in message:
            return  # an answer: this side asks nothing
        params = message.get("params", {})
        if not isinstance(params, dict):
            raise ProtocolError(INVALID_PARAMS, '"params" must be an object')
        if "id" not in message:
            self._note(message["method"], params)
            return
        identifier = _id_of(message)
        if identifier is None or identifier in self._running:
            raise ProtocolError(INVALID_REQUEST, '"id" must be a string or an integer that is not in use')
        task = self._loop.create_task(self._respond(identifier, message["method"], params))
        self._running[identifier] = task
        task.add_done_callback(lambda _task: self._running.pop(identifier))

    def _note(self, method: str, params: Json) -> None:
        if method == "notifications/cancelled":
            identifier = _valid_id(params.get("requestId"))
            if identifier in self._running:
                self._running[identifier].cancel()

    async def _respond(self, identifier: str | int, method: str, params: Json) -> None:
        try:
            answer: Json = {"result": await self._answer(method, params)}
        except ProtocolError as error:
            answer = {"error": error.wire()}
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets an answer
            answer = {"error": {"code": INTERNAL_ERROR, "message": f"Internal error: {type(error).__name__}"}}
        self._put({"id": identifier, **answer})

    async def _answer(self, method: str, params: Json) -> Json:
        if method == "initialize":
            return self._initialize(params)
        if method == "ping":
            return {}
        if not self._ready:
            raise ProtocolError(INVALID_REQUEST, f"{method} before initialize")
        if method == "logging/setLevel":
            return self._set_level(params)
        return await self._service.answer(method, params, _Listener(self, params))

    def _initialize(self, params: Json) -> Json:
        wanted = params.get("protocolVersion")
        self._ready = True
        return {
            "protocolVersion": wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": CAPABILITIES,
            "serverInfo": {"name": self._service.name, "version": version()},
        }

    def _set_level(self, params: Json) -> Json:
        level = params.get("level")
        if level not in LEVELS:
            raise ProtocolError(INVALID_PARAMS, f'"level" must be one of {", ".join(LEVELS)}')
        self._level = LEVELS.index(level)
        return {}

    # --- the end

    async def finish(self, grace: float) -> None:
        """Wait until what is running is answered, at most ``grace`` seconds, then cancel the rest."""
        running = list(self._running.values())
        if running:
            _, late = await asyncio.wait(running, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await asyncio.sleep(0)  # lets what was put be sent


def _id_of(message: Any) -> str | int | None:
    return _valid_id(message.get("id")) if isinstance(message, dict) else None


def _valid_id(value: Any) -> str | int | None:
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None
