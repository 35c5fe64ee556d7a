"""HTTP, for calls that a file declares: the one place of the package's own requests.

Neither cookies nor credentials are shared or remembered, no URL is logged, and nothing is read beyond its
limit. Connections are pooled for each event loop and closed with their last user.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import urllib.parse
import urllib.request
import weakref
import zlib
from typing import TYPE_CHECKING

import attrs
import httpx

from registry.exceptions import TransportError

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator

Headers = tuple[tuple[bytes, bytes], ...]

#: Answers after which the same request may fare better.
_PASSING = frozenset({429, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 5
#: Characters of a URL that HTTP clients take.
LONGEST_URL = 65_536
#: Seconds before the second try; each further wait is twice as long.
BACKOFF = 0.2
#: Seconds that a server's wish for a later try is honoured at most.
LONGEST_WAIT = 5.0


@attrs.frozen
class Request:
    """One request, complete but for what HTTP itself adds."""

    method: str
    url: str = attrs.field(repr=False)
    headers: Headers = attrs.field(default=(), repr=False)
    body: bytes | None = attrs.field(default=None, repr=False)
    #: Whether it may be sent again after a failure.
    idempotent: bool = False


@attrs.frozen
class Policy:
    """How a request is carried out."""

    #: Seconds for each phase.
    connect: float = 30.0
    read: float = 30.0
    #: Bytes of the answer's body, unpacked, that are read at most.
    most: int = 1 << 20
    #: ``never`` or ``same-host``: the same scheme, host and port.
    redirects: str = "never"
    #: How often an idempotent request is tried again.
    retries: int = 0

    @property
    def timeout(self) -> dict[str, float]:
        """The limits in the transport's words."""
        return {"connect": self.connect, "read": self.read, "write": self.read, "pool": self.connect}


@attrs.frozen
class Response:
    """An answer: its body is cut where it exceeds the limit."""

    status: int
    headers: httpx.Headers = attrs.field(repr=False)
    body: bytes = attrs.field(repr=False)
    #: Whether there was more.
    cut: bool = False


# --- connections


@attrs.define(eq=False)
class _Pool:
    """The connections of one event loop: direct ones, and those through each proxy."""

    users: int = 0
    transports: dict[str | None, httpx.AsyncHTTPTransport] = attrs.field(factory=dict)

    def transport(self, url: httpx.URL) -> httpx.AsyncHTTPTransport:
        proxy = _proxy_for(url)
        if proxy not in self.transports:
            self.transports[proxy] = httpx.AsyncHTTPTransport(verify=_trust(), proxy=proxy)
        return self.transports[proxy]

    async def aclose(self) -> None:
        transports, self.transports = list(self.transports.values()), {}
        for transport in transports:
            await transport.aclose()


_POOLS: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Pool] = weakref.WeakKeyDictionary()


@functools.cache
def _trust() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def _proxy_for(url: httpx.URL) -> str | None:
    """Return the proxy that the environment names for a URL, if any."""
    proxies = urllib.request.getproxies_environment()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or urllib.request.proxy_bypass(url.host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


@contextlib.asynccontextmanager
async def connections() -> AsyncIterator[_Pool]:
    """Keep the running loop's pool open; it is closed when nobody keeps it open any more."""
    loop = asyncio.get_running_loop()
    pool = _POOLS.setdefault(loop, _Pool())
    pool.users += 1
    try:
        yield pool
    finally:
        pool.users -= 1
        if not pool.users:
            await pool.aclose()


# --- requests


async def fetch(request: Request, policy: Policy) -> Response:
    """Send a request and read its answer, whatever its status.

    Raises:
        TransportError: there was no answer, or it cannot be read. The text names the host and nothing else.
    """
    tries = 1 + (policy.retries if request.idempotent else 0)
    wait = BACKOFF
    async with connections() as pool:
        for left in reversed(range(tries)):
            try:
                response = await _follow(pool, request, policy)
            except httpx.TransportError as error:
                if not left:
                    raise TransportError(_described(error, request, policy)) from None
            else:
                if not left or response.status not in _PASSING:
                    return response
                wait = max(wait, _wished(response))
            await asyncio.sleep(min(wait, LONGEST_WAIT))
            wait *= 2
    raise AssertionError


async def _follow(pool: _Pool, request: Request, policy: Policy) -> Response:
    for _ in range(MOST_REDIRECTS + 1):
        response = await _send(pool, request, policy)
        location = response.headers.get("location")
        if response.status not in _REDIRECTS or location is None or policy.redirects == "never":
            return response
        request = _redirected(request, response.status, location)
    raise TransportError(f"{_host(request)} redirects more than {MOST_REDIRECTS} times")


async def _send(pool: _Pool, request: Request, policy: Policy) -> Response:
    try:
        sent = httpx.Request(
            request.method,
            request.url,
            headers=list(request.headers),
            content=request.body,
            extensions={"timeout": policy.timeout},
        )
    except (httpx.InvalidURL, UnicodeError, ValueError) as error:
        if len(request.url) > LONGEST_URL:
            raise TransportError(
                f"the URL is too long: {len(request.url)} characters, of at most {LONGEST_URL}"
            ) from None
        raise TransportError(f"this is no URL that can be called: {type(error).__name__}") from None
    response = await pool.transport(sent.url).handle_async_request(sent)
    try:
        body, cut = await _read(response, policy.most)
    finally:
        await response.aclose()
    return Response(response.status_code, response.headers, body, cut)


async def _read(response: httpx.Response, most: int) -> tuple[bytes, bool]:
    unpacker = _unpacker(response.headers.get("content-encoding", "identity"))
    body = bytearray()
    assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - an async transport has no other
    try:
        async for chunk in response.stream:
            body += chunk if unpacker is None else unpacker.unpack(chunk, most + 1 - len(body))
            if len(body) > most:
                return bytes(body[:most]), True
        if unpacker is not None:
            unpacker.end()
    except zlib.error:
        raise TransportError("the answer is packed in a damaged way") from None
    return bytes(body), False


_GZIP = b"\x1f\x8b"


class _Unpacker:
    """Unpacks gzip, which may have several members, or deflate."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(32 + zlib.MAX_WBITS)
        self._begun = False

    def unpack(self, data: bytes, most: int) -> bytes:
        """Return what the next bytes hold; what is behind the last member is nothing."""
        done = b""
        while data and len(done) < most:
            if self._member.eof:
                if not data.startswith(_GZIP[: len(data)]):
                    break
                self._member = zlib.decompressobj(32 + zlib.MAX_WBITS)
            self._begun = True
            done += self._member.decompress(data, most - len(done))
            data = self._member.unused_data
        return done

    def end(self) -> None:
        """Raise zlib.error where the answer ends before its last member does."""
        if self._begun and not self._member.eof:
            raise zlib.error


def _unpacker(encoding: str) -> _Unpacker | None:
    """Return what unpacks an encoding. None was asked for; some servers pack all the same."""
    name = encoding.strip().lower()
    if name in ("identity", ""):
        return None
    if name not in ("gzip", "x-gzip", "deflate"):
        raise TransportError("the answer is packed in a way that was not asked for")
    return _Unpacker()


def _redirected(request: Request, status: int, location: str) -> Request:
    """Return the request that a redirect asks for; it stays with the same scheme, host and port."""
    try:
        url = httpx.URL(request.url).join(location)
        same = _origin(url) == _origin(httpx.URL(request.url))
    except (httpx.InvalidURL, UnicodeError):  # the latter: its host is no name
        raise TransportError(f"{_host(request)} redirects to what is no URL") from None
    if not same:
        raise TransportError(f"{_host(request)} redirects to another host, which is never followed")
    if status in (307, 308) or request.method in ("GET", "HEAD"):
        return attrs.evolve(request, url=str(url))
    headers = tuple(header for header in request.headers if not header[0].lower().startswith(b"content-"))
    return attrs.evolve(request, method="GET", url=str(url), headers=headers, body=None)


def _origin(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme, 0)


def _wished(response: Response) -> float:
    """Return the seconds that a server asks to be left alone for."""
    text = response.headers.get("retry-after", "")
    return float(text) if text.isdecimal() and len(text) < 6 else 0.0


def _host(request: Request) -> str:
    return urllib.parse.urlsplit(request.url).netloc.rpartition("@")[2] or "the server"


def _described(error: httpx.TransportError, request: Request, policy: Policy) -> str:
    host = _host(request)
    if isinstance(error, (httpx.ConnectTimeout, httpx.PoolTimeout)):
        return f"{host} took no connection within {policy.connect:g} seconds"
    if isinstance(error, httpx.TimeoutException):
        return f"{host} was silent for {policy.read:g} seconds"
    if isinstance(error, httpx.ConnectError):
        return f"{host} cannot be connected to: {str(error)[:200]}"
    return f"{host} broke off or did not speak HTTP ({type(error).__name__})"
