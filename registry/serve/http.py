"""Serving over streamable HTTP, safe by default."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

from registry.exceptions import BackendUnavailable, RegistryError
from registry.serve.guard import MAX_REQUESTS, Guard, Rules, host_of, is_loopback
from registry.serve.reload import reloading
from registry.serve.service import Service

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from registry.manager import RecipientManager, RecipientSnapshot

#: Where the protocol is spoken.
PATH = "/mcp"
#: Bytes that the body of a request may have.
MAX_BODY = 4 * 1024 * 1024
#: Seconds that calls in flight may still take after the server was told to stop.
GRACE = 30.0

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def serve_http(
    source: RecipientManager | RecipientSnapshot,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    token: str | None = None,
    path: str | os.PathLike[str] | None = None,
    hosts: Iterable[str] = (),
    origins: Iterable[str] = (),
    grace: float = GRACE,
    max_requests: int = MAX_REQUESTS,
    max_body: int = MAX_BODY,
    started: Callable[[str], object] | None = None,
    **options: Any,
) -> None:
    """Serve the registry at ``http://HOST:PORT/mcp`` until SIGINT or SIGTERM; calls in flight are finished.

    Args:
        source: What is served; a manager's later content too.
        host: Address to listen at. Any but this machine's own needs a token.
        port: Port to listen at; 0 takes a free one.
        token: Text that clients must send as ``Authorization: Bearer``.
        path: File to watch; its edits are served as soon as they are good.
        hosts: Names, without port, by which clients reach the server from elsewhere.
        origins: Origins of web pages that may send requests.
        grace: Seconds that calls in flight may still take after the server was told to stop.
        max_requests: Requests that may be open at once; more are answered 503.
        max_body: Bytes that the body of a request may have; more is answered 413.
        started: Called with the URL once the server listens; by default it is printed to standard error.
        options: Passed to `registry.serve.service.Service`.

    Raises:
        BackendUnavailable: the SDK is not installed.
        ExportRefused: a recipient cannot be a tool of the protocol.
        RegistryError: the address is not this machine's own and there is no token, or it cannot be bound.
    """
    rules = _rules(host, token, hosts, origins)
    _need_sdk()
    service = Service(source, **options)
    with _bound(host, port) as listening:
        url = _url(host, listening.getsockname()[1])
        tell = started or _tell
        limits = (max_requests, max_body, grace)
        with reloading(service, path):
            asyncio.run(_serve(service, listening, rules, limits, lambda: tell(url)))


def _tell(url: str) -> None:
    sys.stderr.write(f"serving MCP at {url}\n")
    sys.stderr.flush()


def _rules(host: str, token: str | None, hosts: Iterable[str], origins: Iterable[str]) -> Rules:
    known = {host_of(_bracketed(name)) for name in hosts}
    if is_loopback(host):
        return Rules(token, frozenset({*_LOOPBACK, host.casefold(), *known}), frozenset(origins))
    if not token:
        raise RegistryError(
            f"{host} can be reached by others, so a token is needed: give one"
            " (recipients serve --token-env NAME) or bind to 127.0.0.1"
        )
    # A wildcard address says nothing about the name that clients use; the token keeps strangers out.
    if not _is_wildcard(host):
        known.add(host.strip("[]").casefold())
    return Rules(token, frozenset(known and {*known, *_LOOPBACK}), frozenset(origins))


def _is_wildcard(host: str) -> bool:
    return host.strip("[]") in {"", "0.0.0.0", "::"}  # noqa: S104 - compared, not bound


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _url(host: str, port: int) -> str:
    return f"http://{_bracketed(host)}:{port}{PATH}"


def _need_sdk() -> None:
    try:
        import mcp  # noqa: F401
    except ImportError as error:
        raise BackendUnavailable(
            'serving over HTTP needs the official MCP SDK: pip install "recipients[mcp]"'
        ) from error


@contextlib.contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    address = host.strip("[]")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address, port))
            listening.listen()
        except OSError as error:
            raise RegistryError(f"cannot listen at {host}:{port}: {error.strerror}") from error
        yield listening


async def _serve(
    service: Service,
    listening: socket.socket,
    rules: Rules,
    limits: tuple[int, int, float],
    tell: Callable[[], object],
) -> None:
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    from registry.serve.server import Handlers

    max_requests, max_body, grace = limits
    handlers = Handlers(service)
    app = handlers.server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=max_body,
        # The guard has checked host and origin before.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    guard = Guard(app, rules, max_requests)
    server = uvicorn.Server(
        uvicorn.Config(guard, log_config=None, access_log=False, timeout_graceful_shutdown=1)
    )
    # Signals are answered here: first the calls in flight, then the end.
    server.capture_signals = contextlib.nullcontext  # type: ignore[assignment,method-assign]
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    unsubscribe = service.subscribe(handlers.notify)
    try:
        async with service:
            running = asyncio.create_task(server.serve([listening]))
            tell()
            stopping = asyncio.create_task(stop.wait())
            await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            handlers.streams.close()
            await guard.close(grace)
            server.should_exit = True
            await running
    finally:
        unsubscribe()
