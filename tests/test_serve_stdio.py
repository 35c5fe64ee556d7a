"""Serving over standard input and output, in the small loop and through the SDK."""

import asyncio
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

import mcp_registry
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.subscriptions import ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_registry import INITIALIZE, Waiting, line, request

from registry.serve import stdio
from registry.serve.handshake import Session
from registry.serve.service import Service

TESTS = pathlib.Path(__file__).parent
PROGRAM = [sys.executable, str(TESTS / "serve_stdio_program.py")]
#: Seconds after which a test that hangs is a failed one.
PATIENCE = 60
#: The envelope of a request without handshake.
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture(autouse=True)
def _waiting_is_reset():
    Waiting.reset()


# --- the small loop, message by message


async def conversed(*lines, service=None, grace=5.0, then=None):
    """Feed lines to a session and return all that it sends."""
    sent = []
    session = Session(service or Service(mcp_registry.manager()), sent.append)
    for item in lines:
        session.feed(item if isinstance(item, bytes) else line(item))
    if then is not None:
        await then(session, sent)
    await session.finish(grace)
    return sent


def converse(*lines, **options):
    return asyncio.run(conversed(*lines, **options))


def test_the_handshake_agrees_on_a_revision():
    """A known revision is taken, of an unknown one the newest known is offered."""
    (answer,) = converse(INITIALIZE)
    assert ("2.0", 0) == (answer["jsonrpc"], answer["id"])
    assert "2025-06-18" == answer["result"]["protocolVersion"]
    assert {"tools", "prompts", "completions", "logging"} == answer["result"]["capabilities"].keys()
    (answer,) = converse(request(1, "initialize", protocolVersion="1999-01-01"))
    assert "2025-11-25" == answer["result"]["protocolVersion"]


@pytest.mark.parametrize(
    ("sent", "code", "identifier"),
    [
        (b"{", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"\xff\n", -32700, None),
        ([], -32600, None),
        ({"id": 1, "method": 2}, -32600, 1),
        ({"id": True, "method": "ping"}, -32600, None),
        ({"id": None, "method": "ping"}, -32600, None),
        ({"id": 1, "method": "ping", "params": []}, -32602, 1),
        (request(1, "tools/list"), -32600, 1),
    ],
)
def test_what_is_no_proper_message_is_told_so(sent, code, identifier):
    """Every faulty message is answered with an error, and never ends the session."""
    faulty, ping = converse(sent, request("p", "ping"))
    assert (code, identifier) == (faulty["error"]["code"], faulty["id"])
    assert {"jsonrpc": "2.0", "id": "p", "result": {}} == ping


def test_answers_and_unknown_notifications_are_taken_in_silence():
    """What needs no answer gets none."""
    silent = [
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
    ]
    assert [] == converse(*silent)


def test_an_identifier_in_use_is_refused():
    """Two requests of one identifier cannot run at a time."""

    async def release(session, sent):
        Waiting.released.set()

    call = request(1, "tools/call", name="waiting")
    answers = converse(INITIALIZE, call, call, then=release)
    assert ["error", "result"] == sorted(
        key for a in answers if a["id"] == 1 for key in a.keys() - {"jsonrpc", "id"}
    )


def test_reports_stand_before_their_answer():
    """Progress and log messages of a call are sent in order, before its answer and at the level asked for."""
    call = request(5, "tools/call", name="reporting", _meta={"progressToken": "t"})
    level = request(4, "logging/setLevel", level="debug")
    kinds = [message.get("method", message.get("id")) for message in converse(INITIALIZE, level, call)]
    progress, message = "notifications/progress", "notifications/message"
    assert [0, 4, progress, message, message, progress, 5] == kinds
    heard = converse(INITIALIZE, call)
    assert [0, progress, message, progress, 5] == [m.get("method", m.get("id")) for m in heard]
    assert {"progressToken": "t", "progress": 1, "total": 2} == heard[1]["params"]
    assert {"level": "warning", "data": {"half": True}, "logger": "halves"} == heard[2]["params"]
    assert {"progressToken": "t", "progress": 2, "message": "done"} == heard[3]["params"]


@pytest.mark.parametrize("meta", [None, {}, []])
def test_progress_is_told_only_to_who_asked(meta):
    """Without a token there is no progress."""
    heard = converse(INITIALIZE, request(5, "tools/call", name="reporting", _meta=meta))
    assert [0, "notifications/message", 5] == [m.get("method", m.get("id")) for m in heard]


def test_an_unknown_level_is_refused():
    """A log level that there is none of is an error."""
    assert -32602 == converse(INITIALIZE, request(1, "logging/setLevel", level="loud"))[1]["error"]["code"]


def test_a_cancelled_call_is_stopped_and_never_answered():
    """A cancellation stops the recipient and brings no answer."""

    async def cancel(session, sent):
        await until(Waiting.started.is_set)
        session.feed(
            line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        )

    answers = converse(INITIALIZE, request(1, "tools/call", name="waiting"), then=cancel)
    assert [0] == [answer["id"] for answer in answers]
    assert Waiting.cancelled.is_set()


def test_calls_that_outlast_the_grace_are_stopped():
    """At the end calls in flight have some time, then they are stopped."""
    answers = converse(INITIALIZE, request(1, "tools/call", name="waiting"), grace=0.05)
    assert [0] == [answer["id"] for answer in answers]
    assert Waiting.cancelled.is_set()


def test_changes_are_told_once_the_client_is_there():
    """Announcements reach a client that has introduced itself, and no other."""

    async def announce(session, sent):
        session.notify("notifications/tools/list_changed", {})
        await asyncio.sleep(0)
        session.feed(line(INITIALIZE))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        session.notify("notifications/tools/list_changed", {})

    sent = converse(then=announce)
    assert [0, "notifications/tools/list_changed"] == [m.get("method", m.get("id")) for m in sent]


def test_an_unforeseen_error_is_an_answer_too():
    """Whatever breaks inside, the client is told that it did, and no more."""
    service = Service(mcp_registry.manager())
    service.answer = None
    answer = converse(INITIALIZE, request(1, "tools/list"), service=service)[1]
    assert {"code": -32603, "message": "Internal error: TypeError"} == answer["error"]


# --- one process, pipes at its ends


@contextlib.contextmanager
def piped(*lines):
    """Yield a stream with these lines, and a file to write to with what returns its content."""
    reading, filling = os.pipe()
    emptying, writing = os.pipe()
    with os.fdopen(reading, "rb") as incoming, os.fdopen(writing, "wb") as outgoing:
        with os.fdopen(filling, "wb") as client:
            client.write(b"".join(lines))
        with os.fdopen(emptying, "rb") as result:
            yield incoming, outgoing, lambda: (outgoing.close(), result.read())[1]


def served(*lines, grace=5.0):
    """Serve these lines in this process and return the messages that come back, by identifier."""

    async def scenario(incoming, outgoing):
        writer = stdio.Writer(outgoing)
        async with service:
            await stdio.serve_lines(service, stdio.Lines(incoming), writer, grace)
        writer.close(5)

    service = Service(mcp_registry.manager())
    with piped(*lines) as (incoming, outgoing, content):
        asyncio.run(scenario(incoming, outgoing))
        messages = [json.loads(item) for item in content().splitlines()]
    assert {} == service._subscribers
    return messages


def test_calls_in_flight_are_answered_after_the_last_line():
    """A client that closes its end at once still gets every answer."""
    calls = [line(request(n, "tools/call", name="echo", arguments={"text": f"é{n}"})) for n in range(1, 20)]
    noise = [b"\n", b"no json\n", line({"jsonrpc": "2.0", "method": "notifications/initialized"})]
    answers = served(*noise, line(INITIALIZE), *calls)
    texts = {a["id"]: a["result"]["content"][0]["text"] for a in answers if a.get("id")}
    assert {n: f"é{n}" for n in range(1, 20)} == texts


def test_nothing_is_asked_and_nothing_is_said():
    """A client that says nothing, or nothing that needs an answer, hears nothing."""
    assert [] == served()
    assert [] == served(line({"jsonrpc": "2.0", "method": "notifications/initialized"}))


def test_a_request_with_an_envelope_is_answered_by_the_sdk():
    """A client of a newer revision is served too; its calls in flight are answered after its last line."""
    answers = served(
        line(request(1, "server/discover", _meta=META)),
        line(request(2, "tools/call", _meta=META, name="echo", arguments={"text": "hi"})),
        b"no json\n",
        line(request(3, "subscriptions/listen", _meta=META, notifications={"toolsListChanged": True})),
        line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}),
        line(request(4, "tools/call", _meta=META, name="nope")),
    )
    by_id = {answer["id"]: answer for answer in answers if "id" in answer}
    assert ["2026-07-28"] == by_id[1]["result"]["supportedVersions"]
    assert "hi" == by_id[2]["result"]["content"][0]["text"]
    assert "result" in by_id[3]
    assert -32602 == by_id[4]["error"]["code"]


def test_the_sdk_too_stops_calls_that_outlast_the_grace():
    """At the end a call through the SDK has some time, then it is stopped."""
    (answer,) = served(line(request(2, "tools/call", _meta=META, name="waiting")), grace=0.2)
    assert "Connection closed" == answer["error"]["message"]
    assert Waiting.cancelled.is_set()


def test_without_the_sdk_newer_revisions_are_declined(monkeypatch):
    """Where the SDK is missing, a newer client is told to open with a handshake, and then served."""
    monkeypatch.setitem(sys.modules, "registry.serve.server", None)
    declined, agreed = served(line(request(1, "server/discover", _meta=META)), line(INITIALIZE))
    assert -32600 == declined["error"]["code"]
    assert "2025-06-18" == agreed["result"]["protocolVersion"]


def test_every_line_is_utf8():
    """Also where a client's own words, which an answer repeats, are none: JSON has an escape for them."""
    _, answer = served(
        line(INITIALIZE),
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"tools/call","params":{"name":"\\udfff"}}\n',
    )
    assert ("\ud800", "Unknown tool: \udfff") == (answer["id"], answer["error"]["message"])


def test_a_client_that_is_gone_ends_the_writing():
    """Writing to a client that has hung up fails in silence."""

    async def scenario(outgoing):
        writer = stdio.Writer(outgoing)
        writer.send({"a": 1})
        writer.close(5)

    reading, writing = os.pipe()
    os.close(reading)
    outgoing = os.fdopen(writing, "wb", buffering=0)
    asyncio.run(scenario(outgoing))
    outgoing.close()


def test_lines_after_the_end_of_the_loop_are_nobodys():
    """A reader whose loop has ended stops by itself."""
    reading, writing = os.pipe()

    async def scenario(incoming):
        return stdio.Lines(incoming)

    with os.fdopen(reading, "rb") as incoming, os.fdopen(writing, "wb") as client:
        lines = asyncio.run(scenario(incoming))
        client.write(b"late\n")
        client.flush()
        client.close()
        lines.thread.join(PATIENCE)
        assert not lines.thread.is_alive()


# --- a process of its own


def run(*arguments, stdin=b"", **options):
    return subprocess.run(
        [*PROGRAM, *arguments], input=stdin, capture_output=True, timeout=PATIENCE, check=True, **options
    )


def test_nothing_but_messages_is_on_standard_output():
    """Whatever a recipient and its children print goes to standard error; they find nothing to read."""
    call = line(request(1, "tools/call", name="noisy"))
    done = run("plain", stdin=line(INITIALIZE) + call)
    *messages, after = done.stdout.decode().splitlines()
    answers = [json.loads(text) for text in messages]
    assert [0, 1] == [answer["id"] for answer in answers]
    assert "stdin is empty" == answers[1]["result"]["content"][0]["text"]
    assert "after" == after
    for text in ("from print", "from descriptor 1", "from a child"):
        assert text in done.stderr.decode()


def test_a_signal_ends_the_server_after_its_calls():
    """A server that is told to stop answers what it has begun."""
    with subprocess.Popen(
        [*PROGRAM, "plain", "0.1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        server.stdin.write(line(INITIALIZE))
        server.stdin.flush()
        assert 0 == json.loads(server.stdout.readline())["id"]
        server.send_signal(signal.SIGTERM)
        assert b"after\n" == server.stdout.read()
        assert 0 == server.wait(PATIENCE)


def client(mode, *arguments, **options):
    parameters = StdioServerParameters(
        command=PROGRAM[0], args=[PROGRAM[1], *arguments], env=dict(os.environ)
    )
    return Client(stdio_client(parameters), mode=mode, read_timeout_seconds=PATIENCE, **options)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_is_served(mode):
    """The SDK's own client lists, calls, gets, completes and hears reports, in either era."""

    async def scenario():
        heard = []

        async def progress(done, total, message):
            heard.append((done, total, message))

        async def logged(params):
            heard.append((params.level, params.data))

        async with client(mode, "plain", logging_callback=logged, log_level="info") as session:
            tools = (await session.list_tools()).tools
            assert ["echo", "noisy", "reporting", "failing", "waiting"] == [tool.name for tool in tools]
            result = await session.call_tool("reporting", progress_callback=progress)
            assert ("reported", False) == (result.content[0].text, result.is_error)
            assert (await session.call_tool("failing")).is_error
            with pytest.raises(MCPError, match="Unknown tool: nope"):
                await session.call_tool("nope")
            prompt = await session.get_prompt("greet", {"name": "Bob"})
            assert "Hello Bob, {age 30, loud false}" == prompt.messages[0].content.text
        return heard

    heard = asyncio.run(scenario())
    # Clients hear the two sorts apart from each other; each sort is in order.
    assert [(1, 2, None), (2, None, "done")] == [item for item in heard if len(item) == 3]
    assert [("warning", {"half": True})] == [item for item in heard if len(item) == 2]


FILE = """
version = 1

[recipients.{name}]
kind = "function"
call = "textwrap:shorten"
description = "Shortens."
parameters = {{ text = {{ type = "string" }}, width = {{ type = "integer" }} }}
"""


def replace(path, text):
    """Write a file at once, as editors do."""
    other = path.with_suffix(".new")
    other.write_text(text, "utf-8")
    other.replace(path)


async def until(condition):
    """Wait for a condition without hurry, but not for ever."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - the condition may be in another thread
            await asyncio.sleep(0.01)


async def names(session):
    return [tool.name for tool in (await session.list_tools(cache_mode="bypass")).tools]


def test_a_file_is_followed_for_clients_of_the_handshake(tmp_path):
    """Good edits are served and announced; of bad ones the client hears why, and the old tools stay."""
    path = tmp_path / "recipients.toml"
    replace(path, FILE.format(name="first"))

    async def scenario():
        heard, logged = [], []

        async def note(message):
            heard.append(type(message).__name__)

        async def hear(params):
            logged.append(params.data)

        async with client(
            "legacy", "file", str(path), message_handler=note, logging_callback=hear
        ) as session:
            assert ["first"] == await names(session)
            replace(path, FILE.format(name="second"))
            await until(lambda: "ToolListChangedNotification" in heard)
            assert ["second"] == await names(session)
            replace(path, FILE.format(name="third") + "oops = 1\n")
            await until(lambda: logged)
            assert "unknown-key" in logged[0]["diagnostics"][0]
            assert ["second"] == await names(session)
            result = await session.call_tool("second", {"text": "so long", "width": 99})
            assert "so long" == result.content[0].text

    asyncio.run(scenario())


def test_a_file_is_followed_for_clients_without_handshake(tmp_path):
    """A client that listens for changes hears of them."""
    path = tmp_path / "recipients.toml"
    replace(path, FILE.format(name="first"))

    async def scenario():
        async with client("auto", "file", str(path)) as session:
            assert ["first"] == await names(session)
            async with session.listen(tools_list_changed=True) as events:
                replace(path, FILE.format(name="second"))
                async for event in events:
                    assert ToolsListChanged() == event
                    break
            assert ["second"] == await names(session)

    asyncio.run(scenario())


def test_no_list_is_torn_and_no_reply_lost_while_reloading():
    """With a reload every ten milliseconds every list is one of the two, and every call is answered."""
    calls = int(os.environ.get("MCP_SOAK_CALLS", "200"))
    wholes = {("echo",), ("echo", "noisy", "reporting", "failing", "waiting")}

    async def scenario():
        async with client("legacy", "swap") as session:
            seen = set()
            answers = []
            for start in range(0, calls, 20):
                batch = [
                    session.call_tool("echo", {"text": str(n)}) for n in range(start, min(start + 20, calls))
                ]
                *answered, tools = await asyncio.gather(*batch, session.list_tools())
                answers += [result.content[0].text for result in answered]
                seen.add(tuple(tool.name for tool in tools.tools))
            assert [str(n) for n in range(calls)] == answers
            assert seen <= wholes

    asyncio.run(scenario())
