"""Calls to MCP servers through the official SDK: the only package that speaks with one.

There is one connection for each server, as it is declared and with the values that its environment has now.
It is opened by the first call, reopened when it is dead, and closed when nobody has used it for a while or
the program ends. Everything has a time limit.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import attrs

from registry.exceptions import BackendUnavailable, RecipientFailed, TransportError
from registry.mcp_client.pool import POOL
from registry.mcp_client.target import Target
from registry.progress import listener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from registry.mcp_client.link import Link
    from registry.progress import Listener

__all__ = ["Target", "Tool", "call_tool", "close_all", "list_tools", "require_sdk"]

#: Seconds to start a server and learn its tools, and to wait for an answer, where nothing is declared.
DEFAULT_TIMEOUT = 30.0
#: Tools of one server; more is not believed.
_MOST_TOOLS = 10_000
#: Characters of a foreign error that are repeated.
_LONGEST = 300
_LINES = 3
#: What the SDK says where a connection is closed.
_CLOSED = "Connection closed"


@attrs.frozen
class Tool:
    """A tool as its server describes it."""

    name: str
    description: str
    input_schema: dict[str, Any]


def require_sdk() -> None:
    """Import the SDK.

    Raises:
        BackendUnavailable: it is not installed.
    """
    try:
        import mcp  # noqa: F401
    except ImportError as error:
        raise BackendUnavailable(
            'talking to MCP servers needs the official SDK: pip install "recipients[mcp]"'
        ) from error


async def list_tools(target: Target, limit: float | None = None) -> tuple[Tool, ...]:
    """Ask a server for its tools; ``limit`` is in seconds.

    Raises:
        BackendUnavailable: the SDK is not installed.
        TransportError: the server does not answer, or not as it should.
    """
    require_sdk()
    found: tuple[Tool, ...] = await POOL.submit(_list(target, limit or DEFAULT_TIMEOUT))
    return found


async def call_tool(
    target: Target,
    name: str,
    arguments: Mapping[str, Any],
    *,
    check: Callable[[Tool], None],
    limit: float | None = None,
) -> dict[str, Any]:
    """Call a tool once ``check`` has accepted what the server says of it now; return the result as JSON data.

    ``limit`` seconds are allowed for reaching the server, and again for the call itself.

    Raises:
        BackendUnavailable: the SDK is not installed.
        RecipientFailed: the server has no such tool, or refuses the call.
        TransportError: the server does not answer, or not as it should.
    """
    require_sdk()
    call = _Call(name, dict(arguments), check, limit or DEFAULT_TIMEOUT, listener())
    result: dict[str, Any] = await POOL.submit(call.run(target))
    return result


def close_all() -> None:
    """Close every connection; servers that were started here are stopped."""
    POOL.close()


# --- everything below runs on the pool's loop


async def _list(target: Target, limit: float) -> tuple[Tool, ...]:
    _, tools = await _reach(target, limit)
    return tuple(tools.values())


@attrs.frozen
class _Call:
    name: str
    arguments: dict[str, Any]
    check: Callable[[Tool], None]
    limit: float
    reports: Listener | None

    async def run(self, target: Target) -> dict[str, Any]:
        link, tools = await _reach(target, self.limit)
        if self.name not in tools:
            raise RecipientFailed(f"MCP server {target.name!r} has no tool {self.name!r}")
        self.check(tools[self.name])
        with link.in_use(), _told(link, f"answering a call of {self.name!r}", self.limit):
            client = await link.client()
            result = await asyncio.wait_for(
                client.call_tool(self.name, self.arguments, progress_callback=self._progress),
                self.limit,
            )
            found: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
            return found

    async def _progress(self, progress: float, total: float | None, message: str | None) -> None:
        if self.reports is not None:
            self.reports.progress(progress, total, message)


async def _reach(target: Target, limit: float) -> tuple[Link, dict[str, Tool]]:
    """Return a living connection and what the server offers now; one that has died since is replaced once."""
    link = POOL.link(target)
    reused = link.used
    try:
        return link, await _tools(link, limit)
    except TransportError:
        if not (reused and link.dead):
            link.close()
            raise
    link = POOL.link(target)
    try:
        return link, await _tools(link, limit)
    except TransportError:
        link.close()
        raise


async def _tools(link: Link, limit: float) -> dict[str, Tool]:
    with link.in_use(), _told(link, "telling its tools", limit):
        return await asyncio.wait_for(_all_tools(link), limit)


async def _all_tools(link: Link) -> dict[str, Tool]:
    client = await link.client()
    found: dict[str, Tool] = {}
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        for tool in page.tools:
            found[tool.name] = Tool(tool.name, tool.description or "", tool.input_schema)
        cursor = page.next_cursor
        if not cursor or len(found) > _MOST_TOOLS:
            return found


@contextlib.contextmanager
def _told(link: Link, doing: str, limit: float) -> Iterator[None]:
    """Turn whatever goes wrong while the server is doing something into an error that says so."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED

    name = f"MCP server {link.target.name!r}"
    try:
        yield
    except TimeoutError as error:
        raise TransportError(f"{name} took more than {limit:g} seconds {doing}{link.last_words()}") from error
    except MCPError as error:
        # Servers have their own errors under the very code that the SDK gives to a closed connection.
        if (error.code, error.message) != (CONNECTION_CLOSED, _CLOSED):
            raise RecipientFailed(f"{name} failed {doing}: {error.message[:_LONGEST]}") from error
        link.bury()
        raise TransportError(f"{name} closed the connection {doing}{link.last_words()}") from error
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        raise TransportError(f"{name} cannot be reached: {what}{error.strerror or error}") from error
    except Exception as error:
        lines = f"{type(error).__name__}: {error}".splitlines()[:_LINES]  # what is wrong, where, and how
        text = " ".join(line.strip() for line in lines)[:_LONGEST]
        raise TransportError(f"{name} failed {doing}: {text}{link.last_words()}") from error
