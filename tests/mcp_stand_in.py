# ruff: noqa: T201 - printing is part of how they misbehave
"""MCP servers that behave and misbehave, for the tests of the client side. The argument chooses which one."""

import asyncio
import itertools
import json
import os
import pathlib
import sys
import time

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

OPEN = {"type": "object", "properties": {"x": {"type": "integer", "default": None}}}
BASE64 = "AAEC"
MEDIA = [
    types.TextContent(type="text", text="one"),
    types.ImageContent(type="image", data=BASE64, mime_type="image/png"),
    types.AudioContent(type="audio", data=BASE64, mime_type="audio/wav"),
    types.EmbeddedResource(
        type="resource",
        resource=types.TextResourceContents(uri="x:text", mime_type="text/plain", text="inside"),
    ),
    types.EmbeddedResource(type="resource", resource=types.BlobResourceContents(uri="x:blob", blob=BASE64)),
    types.ResourceLink(type="resource_link", uri="x:link", name="link"),
    types.TextContent(type="text", text="two"),
]
counter = itertools.count(1)


def result(*content, **more):
    return types.CallToolResult(content=list(content), **more)


def text(value):
    return types.TextContent(type="text", text=str(value))


async def list_tools(context, params):
    """List the tools: the last one on a second page, one with another description every time."""
    page = params.cursor if params else None
    if page:
        return types.ListToolsResult(tools=[types.Tool(name="last", description="Last.", input_schema=OPEN)])
    names = ["pid", "media", "structured", "fail", "progress", "variable", "slow", "die", "refuse"]
    tools = [types.Tool(name=name, description=f"Does {name}.", input_schema=OPEN) for name in names]
    tools.append(types.Tool(name="moody", description=f"Listed {next(counter)} times.", input_schema=OPEN))
    tools.append(types.Tool(name="unsaid", input_schema=OPEN))
    tools.append(
        types.Tool(
            name="nullish",
            description="x",
            input_schema={"type": "object", "properties": {"y": {"const": {"z": None}}}},
        )
    )
    return types.ListToolsResult(tools=tools, next_cursor="2")


async def call_tool(context, params):  # noqa: C901, PLR0911 - one answer for each tool
    match params.name:
        case "pid":
            return result(text(os.getpid()))
        case "media":
            return result(*MEDIA)
        case "structured":
            return result(structured_content={"sum": 3})
        case "fail":
            return result(text("it broke"), is_error=True)
        case "progress":
            await context.session.report_progress(1, 2, "half")
            return result(text("done"))
        case "variable":
            return result(
                text(sorted(os.environ)), text(os.environ.get("STAND_IN", "unset")), text(pathlib.Path.cwd())
            )
        case "slow":
            await context.session.report_progress(0)
            await asyncio.sleep(60)
        case "die":
            print("dying of", os.environ.get("STAND_IN", "nothing"), file=sys.stderr, flush=True)
            os._exit(3)
        case "refuse" if params.arguments:
            raise MCPError(-32000, "quota used up")
        case "refuse":
            raise ValueError("no such luck")
    return result(text(f"{params.name} {params.arguments}"))


async def serve():
    server = Server("stand-in", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


NEWEST = "2026-07-28"
CACHING = {"ttlMs": 0, "cacheScope": "private"}


def newest_answer(message, *, greets):
    """Answer in the way of the newest revision, which has no handshake; ``greets`` even to a handshake."""
    match message["method"]:
        case "initialize" if greets:
            info = {"name": "stand-in", "version": "1"}
            return {"result": {"protocolVersion": NEWEST, "capabilities": {}, "serverInfo": info}}
        case "server/discover":
            return {"result": {"supportedVersions": [NEWEST], "capabilities": {"tools": {}}}}
        case "tools/list":
            return {"result": {"tools": [{"name": name, "inputSchema": OPEN} for name in ("tell", "ask")]}}
        case "tools/call" if message["params"]["name"] == "ask":
            form = {"message": "Who are you?", "mode": "form", "requestedSchema": OPEN}
            wanted = {"who": {"method": "elicitation/create", "params": form}}
            return {"result": {"resultType": "input_required", "inputRequests": wanted}}
        case "tools/call":
            return {"result": {"content": [{"type": "text", "text": "told"}]}}
    return {"error": {"code": types.METHOD_NOT_FOUND, "message": f"no {message['method']}"}}


def serve_newest(*, greets):
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer = newest_answer(message, greets=greets)
            if "result" in answer:
                answer["result"] = CACHING | {"resultType": "complete"} | answer["result"]
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)


def main(mode):
    if mode == "hang":
        time.sleep(600)
    elif mode == "crash":
        print("no module named sense", file=sys.stderr, flush=True)
        sys.exit(3)
    elif mode == "flood":
        while True:
            sys.stdout.write("this is no message\n")
    elif mode in {"newest", "newest-greeting"}:
        serve_newest(greets=mode == "newest-greeting")
    else:
        if mode == "noise":
            print("Welcome!\n{not json}\n[]", flush=True)
            print("warming up", file=sys.stderr, flush=True)
        asyncio.run(serve())


if __name__ == "__main__":
    main(sys.argv[1])
