"""The mcp kind: tools of servers that behave, and of servers that do not."""

import asyncio
import contextlib
import gc
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest
import serve_http_program

from registry import Dispatcher, Outcome, mcp_client
from registry.exceptions import BackendUnavailable, MissingSecret, RecipientFailed, TransportError
from registry.frozen import freeze
from registry.importing import import_tools
from registry.kinds.mcp import outcome_of, target_of
from registry.loading.loader import loads
from registry.mcp_client import Target, Tool, call_tool, list_tools
from registry.mcp_client import link as link_module
from registry.mcp_client.pins import NotPortableError, pinned_description, pinned_schema
from registry.mcp_client.pool import Pool
from registry.progress import listening
from registry.specs import ServerSpec

TESTS = pathlib.Path(__file__).parent
STAND_IN = (sys.executable, str(TESTS / "mcp_stand_in.py"))
#: Seconds that suffice for a server to start, however busy the machine.
ENOUGH = 60


@pytest.fixture(autouse=True, scope="module")
def _closed_at_the_end():
    yield
    mcp_client.close_all()


def server(mode="good", **more):
    return ServerSpec("stand-in", (*STAND_IN, mode), **{"timeout": ENOUGH, **more})


@pytest.fixture(scope="module")
def declared():
    """A file with every tool of the well-behaved server."""
    spec = server()
    tools = asyncio.run(list_tools(target_of(spec, None), ENOUGH))
    return import_tools("version = 1\n", spec, [tool for tool in tools if tool.name != "nullish"]).text


def call(snapshot, name, **arguments):
    return asyncio.run(snapshot[name]().aprocess({"recipient": name, "arguments": arguments}))


def texts(reply):
    return [part for part in reply["content"]["parts"] if isinstance(part, str)]


# --- servers that behave


def test_every_tool_is_imported_and_called(declared):
    """Each tool of a server, on every page of its list, becomes a recipient that calls it."""
    snapshot = loads(declared)
    assert {"stand-in_pid", "stand-in_last", "stand-in_unsaid"} < set(snapshot)
    assert ["last {'x': 3}"] == texts(call(snapshot, "stand-in_last", x=3))
    assert "Tool unsaid of MCP server stand-in." == snapshot["stand-in_unsaid"].DESCRIPTION


def test_one_process_serves_all_recipients_threads_and_loops(declared):
    """All calls share one connection, whatever event loop or thread they come from."""
    snapshot = loads(declared)
    pids = {texts(call(snapshot, "stand-in_pid"))[0] for _ in range(3)}
    dispatcher = Dispatcher(snapshot)
    pids.add(dispatcher.dispatch({"recipient": "stand-in_pid", "arguments": {}})["content"]["parts"][0])
    assert 1 == len(pids)


def test_everything_a_tool_answers_comes_through(declared):
    """Texts become the text, everything else parts, a structured answer is kept, an error is one."""
    snapshot = loads(declared)
    parts = call(snapshot, "stand-in_media")["content"]["parts"]
    assert "one\ntwo" == parts[0]
    assert ["image", "audio", "resource", "resource", "resource_link"] == [part["type"] for part in parts[1:]]
    assert {"type": "image", "mime_type": "image/png", "data": "AAEC"} == parts[1]
    assert ("inside", "AAEC") == (parts[3]["text"], parts[4]["data"])
    structured = call(snapshot, "stand-in_structured")
    assert ['{"sum": 3}'] == texts(structured)
    assert {"sum": 3} == structured["metadata"]["structured"]
    failed = call(snapshot, "stand-in_fail")
    assert ("error", ["it broke"]) == (failed["metadata"]["status"], texts(failed))


def test_a_server_gets_a_clean_environment_and_what_is_declared(monkeypatch, tmp_path):
    """Of this process's variables a server sees the harmless ones and those that its declaration names."""
    monkeypatch.setenv("OUTER", "in ner")
    monkeypatch.setenv("PRIVATE", "nobody's business")
    spec = server(env={"STAND_IN": "<${OUTER}>"})
    result = asyncio.run(
        call_tool(target_of(spec, tmp_path), "variable", {}, check=lambda tool: None, limit=ENOUGH)
    )
    names, value, folder = (item["text"] for item in result["content"])
    assert ("<in ner>", str(tmp_path.resolve())) == (value, str(pathlib.Path(folder).resolve()))
    assert "PRIVATE" not in names


def test_an_unset_variable_is_named(monkeypatch):
    """A variable that a server needs and that is unset is an error that says which."""
    monkeypatch.delenv("OUTER", raising=False)
    with pytest.raises(MissingSecret, match="OUTER"):
        target_of(server(env={"STAND_IN": "${OUTER}"}), None)
    with pytest.raises(MissingSecret, match=r"servers\.s\.headers\.Authorization"):
        target_of(ServerSpec("s", url="http://x", headers={"Authorization": "Bearer ${OUTER}"}), None)


def test_progress_of_a_tool_reaches_the_callers_listener(declared):
    """What a tool reports is heard by whoever listens to the call; nobody has to."""
    heard = []

    class Ears:
        def progress(self, *report):
            heard.append(report)

    snapshot = loads(declared)
    call(snapshot, "stand-in_progress")
    with listening(Ears()):
        call(snapshot, "stand-in_progress")
    assert [(1, 2, "half")] == heard


# --- what is pinned


def test_a_tool_that_has_changed_is_refused(declared):
    """A tool whose description or schema is not the one in the file is not called."""
    snapshot = loads(declared)
    with pytest.raises(RecipientFailed, match=r"the description of tool 'moody' .* nothing was called"):
        call(snapshot, "stand-in_moody")
    changed = loads(declared.replace('{type = "integer"}', '{type = "string"}'))
    with pytest.raises(RecipientFailed, match="the input schema of tool 'last'"):
        call(changed, "stand-in_last")
    both = declared.replace('{type = "integer"}', '{type = "string"}').replace('"Last."', '"First."')
    with pytest.raises(RecipientFailed, match="the description and the input schema of tool 'last'"):
        call(loads(both), "stand-in_last")


def test_a_schema_that_cannot_be_pinned_has_changed(declared):
    """A schema that no file can hold is never the pinned one."""
    text = declared.replace('tool = "last"', 'tool = "nullish"').replace('"Last."', '"x"')
    with pytest.raises(RecipientFailed, match="the input schema of tool 'nullish'"):
        call(loads(text), "stand-in_last")


def test_a_change_can_be_only_a_warning(declared, caplog):
    """With on_change = "warn" the tool is called and the change is told in the log and the reply."""
    text = declared.replace('tool = "moody"', 'tool = "moody"\non_change = "warn"')
    reply = call(loads(text), "stand-in_moody")
    assert ["moody {}"] == texts(reply)
    assert "review it with `recipients import mcp stand-in`" in reply["metadata"]["warning"]
    assert reply["metadata"]["warning"] in caplog.text


def test_a_tool_that_is_gone_is_an_error(declared):
    """A tool that the server no longer has is named."""
    with pytest.raises(RecipientFailed, match="MCP server 'stand-in' has no tool 'later'"):
        call(loads(declared.replace('tool = "last"', 'tool = "later"')), "stand-in_last")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object"}, {"type": "object"}),
        ({"default": None, "title": None}, {}),
        ({"examples": [None, 1]}, {"examples": [1]}),
        ({"const": None}, {"allOf": [{"type": "null"}]}),
        ({"enum": [None]}, {"allOf": [{"type": "null"}]}),
        ({"enum": [1, None]}, {"allOf": [{"anyOf": [{"enum": [1]}, {"type": "null"}]}]}),
        (
            {"allOf": [True], "const": None},
            {"allOf": [True, {"type": "null"}]},
        ),
        ({"properties": {"default": {"default": None}}}, {"properties": {"default": {}}}),
        ({"items": [{"default": None}, True]}, {"items": [{}, True]}),
        ({"default": {"default": [1, "x"]}}, {"default": {"default": [1, "x"]}}),
        ({"default": {"a": [None]}, "examples": [{"a": None}, {"a": 1}]}, {"examples": [{"a": 1}]}),
        ({"description": "a\ud800b"}, {"description": "a?b"}),
        ({"properties": 3, "examples": 3, "enum": 3}, {"properties": 3, "examples": 3, "enum": 3}),
    ],
)
def test_a_schema_is_pinned_without_null(schema, expected):
    """What is pinned accepts the same and can stand in a file."""
    assert expected == pinned_schema(schema)


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"const": {"a": [None]}}, ("const", "a", 0)),
        ({"enum": [None, {"a": None}]}, ("enum", "a")),
        ({"properties": {"a": None}}, ("properties", "a")),
        ({"maximum": None}, ("maximum",)),
    ],
)
def test_a_null_that_cannot_be_said_otherwise_is_located(schema, path):
    """What no file can hold is an error that says where it is."""
    with pytest.raises(NotPortableError) as caught:
        pinned_schema(schema)
    assert path == caught.value.path


def test_a_description_is_pinned_as_a_file_can_hold_it():
    """A missing description is made up; a broken character is replaced."""
    assert "Tool t of MCP server s." == pinned_description(Tool("t", " \n", {}), "s")
    assert "a?" == pinned_description(Tool("t", "a\udfff", {}), "s")


def test_an_answer_without_content_is_empty():
    """Nothing comes of nothing."""
    assert Outcome("") == outcome_of({})
    assert Outcome("[1]", metadata={"structured": [1]}) == outcome_of({"structuredContent": [1]})


# --- servers that do not behave


def fails(mode, *, limit=ENOUGH, tool="pid", **more):
    """Call a tool of a misbehaving server and return the error."""
    with pytest.raises(RecipientFailed) as caught:
        asyncio.run(
            call_tool(target_of(server(mode, **more), None), tool, {}, check=lambda tool: None, limit=limit)
        )
    return caught.value


@pytest.mark.parametrize("mode", ["hang", "flood"])
def test_a_server_that_does_not_answer_ends_in_an_error(mode):
    """A server that hangs or only makes noise is given up in bounded time."""
    error = fails(mode, limit=0.5)
    assert isinstance(error, TransportError)
    assert "MCP server 'stand-in' took more than 0.5 seconds telling its tools" in str(error)


def test_a_server_that_dies_at_once_leaves_its_last_words():
    """A server that cannot start says why, as far as it said it."""
    error = fails("crash")
    assert isinstance(error, TransportError)
    assert str(error).endswith("its last words: no module named sense")


def test_a_server_that_is_not_there_is_an_error():
    """A command that does not exist, and a URL where nobody listens, are errors that name the server."""
    for target in (
        Target("ghost", ("/no/such/program",)),
        Target("ghost", url="http://127.0.0.1:9/mcp"),
        Target("ghost", ("a\0b",)),
    ):
        with pytest.raises(TransportError, match="MCP server 'ghost'"):
            asyncio.run(list_tools(target, ENOUGH))


def test_noise_before_and_between_messages_does_no_harm():
    """A server that prints greetings where messages are expected is understood all the same."""
    assert "pid" in [tool.name for tool in asyncio.run(list_tools(target_of(server("noise"), None), ENOUGH))]


def test_a_server_that_dies_in_a_call_is_an_error_and_comes_back():
    """A call that kills its server fails, without its secrets; the next call has a new server."""
    spec = server(env={"STAND_IN": "shame-4711", "EMPTY": ""})

    async def scenario():
        target = target_of(spec, None)
        with pytest.raises(TransportError) as caught:
            await call_tool(target, "die", {}, check=lambda tool: None, limit=ENOUGH)
        assert "closed the connection answering a call of 'die'" in str(caught.value)
        assert "dying of ***" in str(caught.value)
        return await call_tool(target, "pid", {}, check=lambda tool: None, limit=ENOUGH)

    assert asyncio.run(scenario())["content"]


def test_a_server_that_died_while_idle_is_replaced():
    """A connection found dead is opened again before the tool is called."""
    target = target_of(server(env={"STAND_IN": "idle"}), None)

    async def pid():
        result = await call_tool(target, "pid", {}, check=lambda tool: None, limit=ENOUGH)
        return int(result["content"][0]["text"])

    first = asyncio.run(pid())
    os.kill(first, signal.SIGKILL)
    assert first != asyncio.run(pid())


def test_a_replacement_that_fails_is_an_error(monkeypatch, tmp_path):
    """When a server has died and cannot start again, the call fails."""
    program = tmp_path / "server"
    program.write_text(f"#!/bin/sh\nexec {STAND_IN[0]} {STAND_IN[1]} good\n")
    program.chmod(0o755)
    target = Target("brief", (str(program),))

    async def pid():
        return await call_tool(target, "pid", {}, check=lambda tool: None, limit=ENOUGH)

    first = int(asyncio.run(pid())["content"][0]["text"])
    program.unlink()
    os.kill(first, signal.SIGKILL)
    with pytest.raises(TransportError, match="MCP server 'brief' cannot be reached"):
        asyncio.run(pid())


def test_a_slow_tool_is_given_up_and_its_server_kept(declared):
    """A call that lasts too long fails; the connection goes on."""
    before = texts(call(loads(declared), "stand-in_pid"))
    error = fails("good", limit=1, tool="slow")
    assert "took more than 1 seconds answering a call of 'slow'" in str(error)
    assert before == texts(call(loads(declared), "stand-in_pid"))


def test_the_smaller_limit_counts(declared):
    """A recipient's own timeout counts where it is smaller than its server's."""
    text = declared.replace('tool = "slow"', 'tool = "slow"\ntimeout = 0.5')
    with pytest.raises(TransportError, match=r"more than 0\.5 seconds"):
        call(loads(text), "stand-in_slow")


def test_a_cancelled_call_ends_at_once(declared):
    """Cancelling a call passes through to the connection."""
    snapshot = loads(declared)

    async def scenario():
        loop, begun = asyncio.get_running_loop(), asyncio.Event()

        class Ears:
            def progress(self, *report):
                loop.call_soon_threadsafe(begun.set)

        recipient = snapshot["stand-in_slow"]()
        with listening(Ears()):
            task = asyncio.create_task(recipient.aprocess({"recipient": "stand-in_slow", "arguments": {}}))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())


def test_what_a_server_refuses_is_told():
    """An error of the protocol is passed on with its text."""
    error = fails("good", tool="refuse")
    assert not isinstance(error, TransportError)
    assert "MCP server 'stand-in' failed answering a call of 'refuse'" in str(error)


def test_a_server_may_use_the_code_of_a_closed_connection():
    """Its own error is told, and the connection lives on."""
    target = target_of(server(env={"STAND_IN": "quota"}), None)

    async def ask(tool, arguments):
        return await call_tool(target, tool, arguments, check=lambda tool: None, limit=ENOUGH)

    async def scenario():
        before = await ask("pid", {})
        with pytest.raises(RecipientFailed, match="quota used up") as caught:
            await ask("refuse", {"x": 1})
        assert not isinstance(caught.value, TransportError)
        assert before == await ask("pid", {})

    asyncio.run(scenario())


def test_media_that_is_no_base64_is_an_error():
    """What cannot be read is not passed off as nothing."""
    with pytest.raises(TransportError, match="data of type image that is not base64"):
        outcome_of({"content": [{"type": "image", "data": "@@@@", "mimeType": "image/png"}]})


def test_an_unforeseen_error_of_the_client_is_an_error_of_the_transport(monkeypatch):
    """Whatever the SDK raises becomes an error that says what was being done."""

    async def broken(link):
        raise ZeroDivisionError("oh\n  no\nwhat\never")

    monkeypatch.setattr(mcp_client, "_all_tools", broken)
    with pytest.raises(TransportError, match=r"failed telling its tools: ZeroDivisionError: oh no what$"):
        asyncio.run(list_tools(Target("odd", (*STAND_IN, "good")), ENOUGH))


def test_a_missing_sdk_is_named_with_the_way_to_get_it(monkeypatch, declared):
    """Without the SDK the error says what to install."""
    snapshot = loads(declared)
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(BackendUnavailable, match=r'pip install "recipients\[mcp\]"'):
        call(snapshot, "stand-in_pid")


# --- connections


def test_a_server_is_reached_over_http(monkeypatch):
    """A server with a URL and a secret header is called like any other."""
    monkeypatch.setenv("STAND_IN_TOKEN", "open sesame")
    program = [sys.executable, serve_http_program.__file__, json.dumps({"token": "open sesame"})]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True) as process:
        try:
            url = process.stderr.readline().split()[-1]
            spec = ServerSpec(
                "web", url=url, headers={"Authorization": "Bearer ${STAND_IN_TOKEN}"}, timeout=ENOUGH
            )
            text = import_tools("", spec, asyncio.run(list_tools(target_of(spec, None)))).text
            assert "open sesame" not in text
            assert ["hi"] == texts(call(loads(text), "web_echo", text="hi"))
            wrong = Target("web", url=url)
            with pytest.raises(RecipientFailed, match="MCP server 'web'"):
                asyncio.run(list_tools(wrong, ENOUGH))
        finally:
            mcp_client.close_all()
            process.terminate()
            process.communicate(timeout=ENOUGH)


@pytest.mark.parametrize("mode", ["newest", "newest-greeting"])
def test_a_server_of_newer_revisions_only_is_reached(mode):
    """A server that refuses the handshake, or answers it with a revision without one, is called like any."""
    spec = server(mode)
    text = import_tools("", spec, asyncio.run(list_tools(target_of(spec, None)))).text
    assert ["told"] == texts(call(loads(text), "stand-in_tell"))


def test_a_tool_that_wants_to_ask_back_is_an_error():
    """There is nobody to answer: the error says what is missing."""
    spec = server("newest")
    text = import_tools("", spec, asyncio.run(list_tools(target_of(spec, None)))).text
    with pytest.raises(RecipientFailed, match=r"failed answering a call of 'ask': Elicitation not supported"):
        call(loads(text), "stand-in_ask")


def test_an_error_while_closing_is_nobodys(monkeypatch):
    """A connection that ends badly has ended all the same."""

    @contextlib.asynccontextmanager
    async def client(self, mode):
        yield "connected"
        raise OSError("badly")

    monkeypatch.setattr(link_module.Link, "_client", client)
    pool = Pool()

    async def used():
        link = pool.link(Target("bad", STAND_IN))
        assert "connected" == await link.client()
        link.close()
        await link.task
        return link.dead

    async def scenario():
        return await pool.submit(used())

    assert asyncio.run(scenario())
    pool.close()


def test_unused_connections_are_closed(monkeypatch):
    """A connection that nobody has used for a while ends, and its server with it."""
    monkeypatch.setattr(link_module, "IDLE", 0.01)
    pool = Pool()
    target = Target("idle", (*STAND_IN, "good"))

    async def scenario():
        async def used():
            link = pool.link(target)
            with link.in_use():
                await link.client()
            await link.task
            return link

        link = await pool.submit(used())
        assert link.dead

    asyncio.run(scenario())
    pool.close()


def test_a_connection_in_use_is_not_closed(monkeypatch):
    """Overlapping uses keep a connection open until the last of them has ended."""
    pool = Pool()
    target = Target("busy", (*STAND_IN, "good"))

    async def used():
        link = pool.link(target)
        with link.in_use():
            with link.in_use():
                await link.client()
            with link.in_use():
                assert pool.link(target) is link
        with link.in_use():
            return link.dead

    async def scenario():
        return await pool.submit(used())

    assert not asyncio.run(scenario())
    pool.close()
    pool.close()


def test_closing_while_connecting_is_told_to_those_who_wait():
    """Who waits for a connection that is given up meanwhile gets an error."""
    pool = Pool()

    async def waiting():
        link = pool.link(Target("never", (*STAND_IN, "hang")))
        asyncio.get_running_loop().call_soon(link.close)
        await link.client()

    async def scenario():
        await pool.submit(waiting())

    with pytest.raises(TransportError, match="the connection to MCP server 'never' was closed"):
        asyncio.run(scenario())
    pool.close()


def test_closing_the_pool_has_an_end(monkeypatch):
    """A connection that does not close does not keep the program from ending."""
    monkeypatch.setattr("registry.mcp_client.pool._FAREWELL", 0.01)
    pool = Pool()

    async def never(self):
        await asyncio.Event().wait()

    async def nothing():
        return 1

    monkeypatch.setattr(Pool, "_close_links", never)

    async def scenario():
        return await pool.submit(nothing())

    assert 1 == asyncio.run(scenario())
    pool.close()
    gc.collect()


def test_a_list_without_end_is_cut(monkeypatch):
    """A server whose list never ends is believed up to a number of tools."""
    monkeypatch.setattr(mcp_client, "_MOST_TOOLS", 3)
    tools = asyncio.run(list_tools(Target("long", (*STAND_IN, "good")), ENOUGH))
    assert "last" not in [tool.name for tool in tools]


# --- servers of others


def real(command, tool, arguments, tmp_path, expected):
    """Import a real server and call one of its tools."""
    program = shutil.which(
        command[0], path=os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    )
    if program is None:
        pytest.skip(f"{command[0]} is not installed")
    spec = ServerSpec("real", (program, *command[1:]), timeout=ENOUGH)
    text = import_tools("", spec, asyncio.run(list_tools(target_of(spec, tmp_path), ENOUGH))).text
    snapshot = loads(text, folder=tmp_path)
    reply = call(snapshot, f"real_{tool}", **arguments)
    assert "ok" == reply["metadata"]["status"]
    assert expected in texts(reply)[0]
    assert (
        freeze(pinned_schema(dict(snapshot[f"real_{tool}"].INPUT_SCHEMA)))
        == snapshot[f"real_{tool}"].INPUT_SCHEMA
    )


def test_the_time_server_tells_the_time(tmp_path):
    """mcp-server-time is imported and called."""
    real(
        ["mcp-server-time", "--local-timezone", "UTC"],
        "get_current_time",
        {"timezone": "UTC"},
        tmp_path,
        '"UTC"',
    )


def test_the_git_server_tells_the_status(tmp_path):
    """mcp-server-git is imported and called."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    real(
        ["mcp-server-git", "--repository", str(tmp_path)],
        "git_status",
        {"repo_path": str(tmp_path)},
        tmp_path,
        "Repository status",
    )


def test_the_everything_server_echoes(tmp_path):
    """The reference server is imported and called."""
    real(["mcp-server-everything", "stdio"], "echo", {"message": "hello"}, tmp_path, "Echo: hello")
