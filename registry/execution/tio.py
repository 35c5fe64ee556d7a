"""Runs code on a Tio server: it leaves this machine and nothing is kept. Only taken when named."""
# ruff: noqa: ASYNC109 - the limit is the backend's to keep

from __future__ import annotations

import asyncio
import re
import time
from typing import TYPE_CHECKING, Self

from registry.execution import tio_protocol
from registry.execution.capture import HeadTail
from registry.execution.interface import Capabilities, ExecError, ExecResult, Limits
from registry.specs import TioOptions

if TYPE_CHECKING:
    from types import TracebackType

    import httpx

    from registry.execution.interface import Status
    from registry.specs import PythonOptions

_TOKEN = re.compile(r"/[0-9a-f]{32}\Z")


class TioBackend:
    """Sends code to a Tio server.

    Args:
        limits: What a run may take; memory is the server's own affair.
        options: Address and language.
    """

    name = "tio"
    capabilities = Capabilities(sandboxed=True, stateful=False, third_party=False, offline=False)

    def __init__(self, limits: Limits = Limits(), options: TioOptions = TioOptions()) -> None:  # noqa: B008 - frozen
        self._limits = limits
        self._language = options.language
        self._url = with_slash(options.url)
        self._client: httpx.AsyncClient | None = None

    @classmethod
    def of(cls, options: PythonOptions, limits: Limits) -> Self:
        """Return the backend that a declaration asks for."""
        return cls(limits, options.tio)

    @classmethod
    def probe(cls) -> tuple[bool, str]:
        """Return whether requests can be made; no server is asked."""
        return (
            True,
            "httpx is installed; code would leave this machine, so only when named; no server was asked",
        )

    async def __aenter__(self) -> Self:
        import httpx

        # Reading the certificates takes a while.
        self._client = await asyncio.to_thread(httpx.AsyncClient, timeout=None)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def reset(self) -> None:
        """Do nothing: no run leaves anything for the next."""

    async def run(self, code: str, *, stdin: str = "", timeout: float | None = None) -> ExecResult:
        """Run code on the server."""
        import httpx

        if self._client is None:
            raise RuntimeError("the backend is not open: use it inside `async with`")
        begun = time.monotonic()
        limit = self._limits.timeout if timeout is None else timeout
        body = tio_protocol.deflate(tio_protocol.request(code, language=self._language, stdin=stdin))
        if len(body) > tio_protocol.MAX_REQUEST:
            told = "the code is longer than the server takes (1,000,000 bytes deflated)"
            return _failed("error", told, begun)
        try:
            async with asyncio.timeout(limit):
                answer = await self._post(body)
            response = tio_protocol.response(answer)
        except TimeoutError:
            return _failed("timeout", f"timed out after {limit:g} s", begun)
        except (httpx.HTTPError, httpx.InvalidURL, tio_protocol.NotTio) as exc:
            return _failed("unavailable", f"the Tio server did not answer as it should: {exc}", begun)
        return self._result(response, begun)

    async def _post(self, body: bytes) -> bytes:
        """Return the body of the answer as it came over the wire.

        Raises:
            tio_protocol.NotTio: The status is not 200, or the body is too long.
        """
        assert self._client is not None  # noqa: S101 - `run` has looked
        headers = {"Content-Type": "application/octet-stream", "Accept-Encoding": "gzip"}
        received = bytearray()
        async with self._client.stream("POST", self._url, content=body, headers=headers) as response:
            if response.status_code != 200:
                raise tio_protocol.NotTio(f"HTTP status {response.status_code}")
            async for chunk in response.aiter_raw():
                received += chunk
                if len(received) > tio_protocol.MAX_RESPONSE:
                    raise tio_protocol.NotTio("the answer is too long")
        return bytes(received)

    def _result(self, response: tio_protocol.Response, begun: float) -> ExecResult:
        if response.refusal:
            return _failed("error", f"the Tio server refused: {response.refusal}", begun)
        stdout, stderr = HeadTail(self._limits.max_output), HeadTail(self._limits.max_output)
        stdout.feed(response.stdout)
        stderr.feed(response.stderr)
        status, note = _verdict(response)
        return ExecResult(
            status=status,
            backend=self.name,
            stdout=stdout.text(),
            stderr=stderr.text(),
            stdout_bytes=stdout.total,
            stderr_bytes=stderr.total,
            exit_code=response.exit_code,
            duration=time.monotonic() - begun,
            truncated=stdout.truncated or stderr.truncated or response.truncated,
            note=" ".join([note, *response.notices]).strip(),
        )


def with_slash(url: str) -> str:
    """Return the address as the server wants it: without a last slash it takes ``api`` for a token."""
    return url if url.endswith("/") or _TOKEN.search(url) else f"{url}/"


def _verdict(response: tio_protocol.Response) -> tuple[Status, str]:
    if response.timed_out:
        return "timeout", ""
    if response.exit_code is None:
        return "error", "the exit code is not known."
    return ("ok", "") if response.exit_code == 0 else ("error", f"exit code {response.exit_code}.")


def _failed(status: Status, message: str, begun: float) -> ExecResult:
    """Return the result of a run that gave no output."""
    error = None if status == "timeout" else ExecError("TioError", message)
    return ExecResult(
        status=status,
        backend=TioBackend.name,
        error=error,
        duration=time.monotonic() - begun,
        note=message if error is None else "",
    )
