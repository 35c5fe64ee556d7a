"""What every HTTP request must pass before it reaches the protocol: plain ASGI, nothing but headers."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import json
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import attrs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Requests that may be open at once.
MAX_REQUESTS = 256

_LOOPBACK_NAMES = ("localhost",)
_START = "http.response.start"


def is_loopback(host: str) -> bool:
    """Say whether a host, without port, is this machine for sure."""
    if host.casefold() in _LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_of(authority: str) -> str:
    """Return the host of an authority such as ``[::1]:8000``, in lower case; empty when it is none."""
    try:
        parts = urlsplit(f"//{authority}")
        port_is_number = parts.port is None or parts.port >= 0
    except ValueError:
        return ""
    plain = parts.netloc == authority and "@" not in authority and port_is_number
    return (parts.hostname or "") if plain else ""


@attrs.frozen
class Rules:
    """Who may come in."""

    #: The text that must follow ``Bearer``; None lets everyone in.
    token: str | None = attrs.field(default=None, repr=False)
    #: Hosts that a request may be addressed to, without port; empty for any.
    hosts: frozenset[str] = frozenset()
    #: Origins of web pages that may send requests, besides those of the hosts themselves.
    origins: frozenset[str] = frozenset()

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Return the status and text that refuse a request with these headers; None lets it in."""
        named: dict[str, list[str]] = {}
        for name, value in headers:
            named.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if any(len(named.get(name, ())) > 1 for name in ("host", "origin", "authorization")):
            return 400, "a header is given twice"
        host = host_of(named.get("host", [""])[0])
        if not self._knows(host):
            return 421, "this server is not the host that the request names"
        origin = named.get("origin", [None])[0]
        if origin is not None and not self._trusts(origin, host):
            return 403, "requests from this origin are not accepted"
        if self.token is not None and not self._fits(named.get("authorization", [""])[0]):
            return 401, "a bearer token is needed"
        return None

    def _knows(self, host: str) -> bool:
        return bool(host) and (not self.hosts or host in self.hosts)

    def _trusts(self, origin: str, host: str) -> bool:
        if origin in self.origins:
            return True
        scheme, separator, authority = origin.partition("://")
        found = host_of(authority)
        return bool(separator) and scheme in {"http", "https"} and (found == host or found in self.hosts)

    def _fits(self, header: str) -> bool:
        scheme, _, token = header.partition(" ")
        expected = (self.token or "").encode()
        return scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode("latin-1"), expected)


class Guard:
    """Lets requests through to an ASGI application by rules, up to a number at once, until told to close."""

    def __init__(self, app: App, rules: Rules, most: int = MAX_REQUESTS) -> None:
        self._app = app
        self._rules = rules
        self._most = most
        self._open = 0
        self._calls = 0
        self._closing = asyncio.Event()
        self._idle = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or whatever else the HTTP server has to say."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # White space around a value is no part of it; not every HTTP server takes it away.
        scope = {**scope, "headers": [(name, value.strip(b" \t")) for name, value in scope["headers"]]}
        refusal = self._rules.refusal(scope["headers"])
        refusal = refusal or self._no_room(scope["method"])
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        call = scope["method"] == "POST"
        self._open += 1
        self._calls += call
        try:
            if call:
                await self._app(scope, receive, send)
            else:
                await self._stream(scope, receive, send)
        finally:
            self._open -= 1
            self._calls -= call
            if not self._calls:
                self._idle.set()

    def _no_room(self, method: str) -> tuple[int, str] | None:
        if self._closing.is_set() and method != "DELETE":  # which ends a session, and is welcome
            return 503, "the server is closing"
        return (503, "too many requests at once") if self._open >= self._most else None

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a stream of events, which the server ends properly when it closes."""
        unfinished = False

        async def noting(message: MutableMapping[str, Any]) -> None:
            nonlocal unfinished
            unfinished = message["type"] == _START or message.get("more_body", False)
            await send(message)

        await self._app(scope, partial(self._until_closing, receive), noting)
        if unfinished and self._closing.is_set():
            await send({"type": "http.response.body", "body": b""})

    async def _until_closing(self, receive: Receive) -> MutableMapping[str, Any]:
        """Receive what the client sends; once the server closes, it is as if the client had hung up."""
        closing = asyncio.ensure_future(self._closing.wait())
        received = asyncio.ensure_future(receive())
        try:
            await asyncio.wait({closing, received}, return_when=asyncio.FIRST_COMPLETED)
            return received.result() if received.done() else {"type": "http.disconnect"}
        finally:
            closing.cancel()
            received.cancel()

    async def close(self, grace: float) -> None:
        """Let nothing in any more and wait, at most ``grace`` seconds, for the calls in flight."""
        self._closing.set()
        self._idle.clear()
        if self._calls:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), grace)


async def _refuse(send: Send, status: int, text: str) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": text}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status == 503:
        headers.append((b"retry-after", b"1"))
    await send({"type": _START, "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
