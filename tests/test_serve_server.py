"""A service as a server of the official SDK, talked to in this process."""

import asyncio
import contextlib

import mcp_registry
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_registry import Waiting

from registry import RecipientManager
from registry.serve.server import Handlers, _message
from registry.serve.service import Service

PATIENCE = 60


@pytest.fixture(autouse=True)
def _waiting_is_reset():
    Waiting.reset()


@contextlib.asynccontextmanager
async def connected(mode="legacy", *, manager=None, **options):
    """Yield a client and the service it talks to."""
    service = Service(mcp_registry.manager() if manager is None else manager)
    handlers = Handlers(service)
    unsubscribe = service.subscribe(handlers.notify)
    try:
        async with service, Client(handlers.server, mode=mode, **options) as client:
            yield client, service
    finally:
        unsubscribe()


async def until(condition):
    """Wait for a condition without hurry, but not for ever."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - the condition may be in another thread
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_every_request_is_answered(mode):
    """Tools, prompts and completion work in both eras."""

    async def scenario():
        async with connected(mode) as (client, service):
            tools = (await client.list_tools()).tools
            assert list(service.manager) == [tool.name for tool in tools]
            assert mcp_registry.Echo.INPUT_SCHEMA == tools[0].input_schema
            assert "x" == (await client.call_tool("echo", {"text": "x"})).content[0].text
            assert (await client.call_tool("failing")).is_error
            assert ["greet", "plain"] == [p.name for p in (await client.list_prompts()).prompts]
            prompt = await client.get_prompt("greet", {"name": "Ann"})
            assert "Hello Ann, {age 30, loud false}" == prompt.messages[0].content.text
            with pytest.raises(MCPError, match="Unknown prompt: gret"):
                await client.get_prompt("gret")

    asyncio.run(scenario())


def test_lists_that_change_are_said_to_change():
    """The server declares that its lists may change, whatever the transport."""

    async def scenario():
        async with connected() as (client, _):
            assert client.server_capabilities.tools.list_changed
            assert client.server_capabilities.prompts.list_changed

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("mode", "level", "expected"),
    [
        ("legacy", None, ["warning"]),
        ("legacy", "debug", ["debug", "warning"]),
        ("legacy", "error", []),
        ("2026-07-28", None, []),
        ("2026-07-28", "debug", ["debug", "warning"]),
        ("2026-07-28", "warning", ["warning"]),
    ],
)
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_log_messages_come_at_the_level_asked_for(mode, level, expected):
    """Each era has its way to ask for a level; reports stand before their answer."""

    async def scenario():
        heard, progressed = [], []

        async def logged(params):
            heard.append(params.level)

        async def progress(done, total, message):
            progressed.append((done, total, message))

        modern = level if mode != "legacy" else None
        async with connected(mode, logging_callback=logged, log_level=modern) as (client, _):
            if level and mode == "legacy":
                await client.set_logging_level(level)
            result = await client.call_tool("reporting", progress_callback=progress)
            assert "reported" == result.content[0].text
            await until(lambda: len(progressed) == 2)
            assert expected == heard
            assert [(1, 2, None), (2, None, "done")] == progressed

    asyncio.run(scenario())


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_changes_and_failures_reach_clients_of_the_handshake():
    """A client that has introduced itself hears of changed lists and of refused edits."""

    async def scenario():
        heard = []

        async def note(message):
            heard.append(type(message).__name__)

        async def logged(params):
            heard.append(params.level)

        async with connected(message_handler=note, logging_callback=logged) as (client, service):
            await client.list_tools()
            service.replace(mcp_registry.snapshot().without("echo"))
            service.announce("notifications/message", {"level": "debug", "data": "no one asked"})
            service.announce("notifications/message", {"level": "error", "data": "bad"})
            await until(lambda: "error" in heard)
            assert "ToolListChangedNotification" in heard
            assert "debug" not in heard

    asyncio.run(scenario())


def test_a_cancelled_call_is_stopped():
    """A client that gives a call up stops the recipient."""

    async def scenario():
        async with connected() as (client, _):
            call = asyncio.create_task(client.call_tool("waiting"))
            await until(Waiting.started.is_set)
            call.cancel()
            await until(Waiting.cancelled.is_set)

    asyncio.run(scenario())


def test_only_known_levels_can_be_set():
    """A level that there is none of is refused, by the SDK or here."""

    async def scenario():
        handlers = Handlers(Service(mcp_registry.manager()))
        entry = handlers.server.get_request_handler("logging/setLevel")
        params = entry.params_type.model_construct(level="loud")
        with pytest.raises(MCPError, match="unknown level 'loud'"):
            await entry.handler(None, params)

    asyncio.run(scenario())


def test_a_line_that_is_no_message_is_an_error_to_pass_on():
    """What cannot be read as a message goes to the SDK as the error it is."""
    assert isinstance(_message(b"no json\n"), ValueError)


def test_a_changed_manager_is_served_at_once():
    """What is registered in code while serving is listed and callable."""

    async def scenario():
        manager = RecipientManager()
        async with connected(manager=manager) as (client, _):
            assert [] == (await client.list_tools(cache_mode="bypass")).tools
            manager["echo"] = mcp_registry.Echo
            assert ["echo"] == [t.name for t in (await client.list_tools(cache_mode="bypass")).tools]
            assert "x" == (await client.call_tool("echo", {"text": "x"})).content[0].text

    asyncio.run(scenario())
