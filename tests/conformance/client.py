"""The client, for the suite to watch: imports the tools of a server and calls them, as a user would.

The suite appends the server's URL to the command line, and says in the environment which calls it wants to
see where that matters. Exits 0 when what could be imported was imported and called without an error.
"""

# ruff: noqa: T201 - it reports to whoever runs it
from __future__ import annotations

import asyncio
import json
import os
import pathlib
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import registry
from registry.cli import OK, UNABLE
from registry.cli import main as recipients

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = "suite"
#: A value for each type that an argument may have.
VALUES = {"string": "x", "integer": 5, "number": 5, "boolean": True, "object": {}, "array": []}


def calls(snapshot: registry.RecipientSnapshot) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield recipients and arguments: those that the suite asks for, else each one once."""
    wanted = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")).get("toolCalls")
    if wanted:
        yield from ((f"{SERVER}_{call['name']}", call["arguments"]) for call in wanted)
        return
    echo = f"{SERVER}_json_schema_echo"
    if echo in snapshot:
        yield echo, {"schema": registry.thaw(snapshot[f"{SERVER}_json_schema_2020_12_tool"].INPUT_SCHEMA)}
        return
    for name, kind in snapshot.items():
        properties = (kind.INPUT_SCHEMA or {}).get("properties", {})
        yield name, {argument: VALUES.get(part.get("type"), "x") for argument, part in properties.items()}


async def call_all(file: pathlib.Path) -> bool:
    """Make the calls; say whether all of them were answered without an error."""
    snapshot = registry.load(file)
    good = True
    async with registry.Dispatcher(snapshot) as dispatcher:
        for name, arguments in calls(snapshot):
            reply = await dispatcher.adispatch({"recipient": name, "arguments": arguments})
            print(name, reply["metadata"]["status"], *reply["content"]["parts"])
            good = good and reply["metadata"]["status"] == "ok"
    return good


def main() -> int:
    """Import, then call."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "recipients.toml"
        if recipients(["import", "mcp", SERVER, "--url", sys.argv[-1], "--file", str(file)]) == UNABLE:
            return UNABLE
        print(file.read_text("utf-8"))
        return OK if asyncio.run(call_all(file)) else UNABLE


if __name__ == "__main__":
    sys.exit(main())
