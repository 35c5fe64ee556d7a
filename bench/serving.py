"""An MCP server over standard input and output: from spawn to the first list of tools, and calls a second."""

from __future__ import annotations

import asyncio
import pathlib
import statistics
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from bench.measure import Row, show

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOOL = """
[recipients.tool_{n}]
kind = "function"
description = "Add two numbers, variant {n}."
call = "bench.calling:add"
required_args = ["a", "b"]
parameters = {{ a = {{ type = "integer" }}, b = {{ type = "integer" }} }}
"""
_FASTMCP = """
from fastmcp import FastMCP
server = FastMCP("bench")
async def add(a: int, b: int) -> int:
    return a + b
for n in range(100):
    server.tool(add, name=f"tool_{n}", description=f"Add two numbers, variant {n}.")
server.run(show_banner=False)
"""


def _servers(folder: pathlib.Path) -> dict[str, list[str]]:
    file = folder / "recipients.toml"
    file.write_text("version = 1\n" + "".join(_TOOL.format(n=n) for n in range(100)))
    peer = folder / "peer.py"
    peer.write_text(_FASTMCP)
    return {
        "recipients serve": [sys.executable, "-m", "registry", "serve", "--file", str(file)],
        "fastmcp": [sys.executable, str(peer)],
    }


async def _session(command: list[str], calls: int) -> tuple[float, float]:
    """Return the seconds from spawn to the first list, and calls a second."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(command=command[0], args=command[1:], env={"PYTHONPATH": "."})
    start = time.perf_counter()
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        listed = await session.list_tools()
        spent = time.perf_counter() - start
        assert len(listed.tools) == 100
        start = time.perf_counter()
        for number in range(calls):
            await session.call_tool(f"tool_{number % 100}", {"a": 1, "b": 2})
        return spent, calls / (time.perf_counter() - start) if calls else 0.0


def _measured(servers: Mapping[str, list[str]]) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in servers}
    for _ in range(7):
        for name, command in servers.items():
            found[name].append(asyncio.run(_session(command, 300)))
    return found


def run() -> None:
    try:
        import fastmcp  # noqa: F401 - the server that is compared runs in a process of its own
    except ImportError:
        print("fastmcp is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        found = _measured(_servers(pathlib.Path(folder)))
    starts = {name: statistics.median(start for start, _ in times) for name, times in found.items()}
    speeds: dict[str, Any] = {name: statistics.median(s for _, s in times) for name, times in found.items()}
    bars = {"recipients serve": "<= 0.6"}
    show(
        "MCP over stdio: spawn to first list of 100 tools",
        [Row(name, value, value / starts["fastmcp"], bars.get(name, "")) for name, value in starts.items()],
    )
    print("\n### MCP over stdio: calls a second\n\n| server | calls a second | ratio |\n|---|---|---|")
    for name, value in speeds.items():
        print(f"| {name} | {value:.0f} | {value / speeds['fastmcp']:.2f} |")
