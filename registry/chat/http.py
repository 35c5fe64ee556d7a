"""Requests to a provider: one POST, answered by JSON or by server-sent events."""

from __future__ import annotations

import contextlib
import json
import re
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit, urlunsplit

import attrs

from registry.chat.sse import Decoder, OversizedError
from registry.exceptions import ChatError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    import httpx

    from registry.chat.retry import Retry

#: Bytes of an answer, and of the text of an error, that are read.
_MAX_ANSWER, _MAX_ERROR = 64 << 20, 64 << 10
#: Seconds that connecting may take.
_CONNECT = 10.0
#: Characters of a provider's own words that an error repeats.
_MAX_WORDS = 300
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SHORTEST_SECRET = 4
#: How events begin: some servers, and what stands before them, give another content type.
_EVENTS = (b"data:", b"event:", b": ")
#: What the sender of a request can do about some answers.
_HINTS = {401: "check the API key", 403: "check the API key", 404: "check the base URL and the model's name"}


@attrs.frozen
class Piece:
    """A part of an answer: one event's data, None for the mark at the end, or with ``whole`` all at once."""

    data: Any
    whole: bool = False


@attrs.frozen
class Http:
    """Where requests go, and with what."""

    base_url: str
    headers: Mapping[str, str] = attrs.field(repr=False)
    #: What no text may show.
    secret: str = attrs.field(repr=False)
    #: Seconds without a byte after which an answer is given up.
    timeout: float
    retry: Retry
    client: httpx.AsyncClient | None = attrs.field(default=None, repr=False)
    #: The address that answered, of those that a path may stand for.
    _known: dict[str, str] = attrs.field(init=False, factory=dict, repr=False)

    @property
    def place(self) -> str:
        """Host and port, for texts: an address may have a password in it."""
        parts = urlsplit(self.base_url)
        return parts.netloc.rpartition("@")[2]

    def addresses(self, path: str) -> list[str]:
        """Return the addresses that a path may stand for, the likeliest first.

        A base URL of a host alone may lack the version that all providers put before the path.
        """
        parts = urlsplit(self.base_url)
        base = parts.path.rstrip("/")
        found = [base + path] if base else [path, f"/v1{path}"]
        return [urlunsplit(parts._replace(path=item, fragment="")) for item in dict.fromkeys(found)]

    async def post(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[Piece, None]:
        """Send a request and yield the answer piece by piece.

        Raises:
            ChatError: the provider cannot be reached, refuses, or breaks off.
        """
        import httpx

        content = json.dumps(body, ensure_ascii=False, default=str).encode("utf-8", "replace")
        client = self.client or httpx.AsyncClient()
        try:
            response = await self._opened(client, path, content)
            try:
                async with contextlib.aclosing(self._pieces(response)) as pieces:
                    async for piece in pieces:
                        yield piece
            except httpx.HTTPError as error:
                raise ChatError(f"{self.place} broke off its answer ({type(error).__name__})") from None
            finally:
                await response.aclose()
        finally:
            if client is not self.client:
                await client.aclose()

    async def _opened(self, client: httpx.AsyncClient, path: str, content: bytes) -> httpx.Response:
        """Return a response whose body can be read; failures that may pass are tried again."""
        import httpx

        urls = [self._known[path]] if path in self._known else self.addresses(path)
        attempt = 1
        while True:
            status, headers, words = None, httpx.Headers(), ""
            try:
                response = await self._sent(client, urls[0], content)
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                words = f"cannot be reached ({type(error).__name__})"
                if isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol, ValueError)):
                    self._fail(f"cannot be asked: {error}")
            else:
                if response.is_success:
                    self._known[path] = urls[0]
                    return response
                status, headers = response.status_code, response.headers
                words = await self._refusal(response)
                if status in {404, 405} and len(urls) > 1:
                    urls = urls[1:]
                    continue
            seconds = self.retry.seconds(attempt, status, headers)
            if seconds is None:
                self._fail(words if attempt == 1 else f"{words} (tried {attempt} times)")
            await self.retry.sleep(seconds)
            attempt += 1

    async def _sent(self, client: httpx.AsyncClient, url: str, content: bytes) -> httpx.Response:
        import httpx

        headers = {
            **self.headers,
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
        }
        timeout = httpx.Timeout(self.timeout, connect=min(self.timeout, _CONNECT))
        request = client.build_request("POST", url, headers=headers, content=content, timeout=timeout)
        return await client.send(request, stream=True)

    async def _refusal(self, response: httpx.Response) -> str:
        """Say how a provider refused: its status and its own words, cut and without the key."""
        import httpx

        status = response.status_code
        body = b""
        try:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _MAX_ERROR:
                    break
        except httpx.HTTPError:
            pass  # the status says enough
        finally:
            await response.aclose()
        hint = f"; {_HINTS[status]}" if status in _HINTS else ""
        if response.is_redirect:
            hint = "; redirects are not followed: give the final base URL"
        said = words_of(body)
        return f"answered {status}{f': {said}' if said else ''}{hint}"

    async def _pieces(self, response: httpx.Response) -> AsyncGenerator[Piece, None]:
        decoder = Decoder()
        chunks = self._chunks(response)
        if "text/event-stream" not in response.headers.get("content-type", ""):
            body = b"".join([chunk async for chunk in chunks])
            if not body.lstrip().startswith(_EVENTS):
                yield Piece(self._json(body), whole=True)
                return
            chunks = _once(body)
        try:
            async for chunk in chunks:
                for event in decoder.feed(chunk):
                    if event.data == "[DONE]":
                        yield Piece(None)
                        return
                    yield Piece(self._json(event.data))
            for event in decoder.feed(b"", last=True):
                yield Piece(None if event.data == "[DONE]" else self._json(event.data))
        except OversizedError:
            self._fail("sent an event that is too large")

    async def _chunks(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        size = 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > _MAX_ANSWER:
                self._fail(f"sent more than {_MAX_ANSWER >> 20} MiB")
            yield chunk

    def _json(self, text: str | bytes) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            self._fail("did not answer in JSON; check the base URL")

    def _fail(self, words: str) -> NoReturn:
        raise ChatError(self.safe(f"{self.place} {words}")) from None

    def safe(self, text: str) -> str:
        """Return a text without the key and on one line."""
        if len(self.secret) >= _SHORTEST_SECRET:
            text = text.replace(self.secret, "[hidden]")
        return _CONTROL.sub(" ", text)


async def _once(body: bytes) -> AsyncGenerator[bytes, None]:
    yield body


def words_of(body: Any) -> str:
    """Return what a provider says in an error: its message, cut; empty where it says none."""
    if isinstance(body, bytes):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            return ""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error.get("type")
    text = error if isinstance(error, str) else ""
    return text if len(text) <= _MAX_WORDS else f"{text[:_MAX_WORDS]}…"
