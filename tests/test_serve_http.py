"""Serving over HTTP: who may come in, how much at once, and how it ends."""

import asyncio
import contextlib
import json
import pathlib
import signal
import socket
import subprocess
import sys

import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_registry import INITIALIZE, request, snapshot

import registry.serve
from registry.exceptions import BackendUnavailable, ExportRefused, RegistryError
from registry.manager import RecipientSnapshot
from registry.serve import http
from registry.serve.guard import Guard, Rules, host_of, is_loopback

TESTS = pathlib.Path(__file__).parent
PROGRAM = [sys.executable, str(TESTS / "serve_http_program.py")]
PATIENCE = 60
HEADERS = {"accept": "application/json, text/event-stream"}


# --- who may come in


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("LOCALHOST", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("localhost.evil.example", False),
        ("10.0.0.1", False),
    ],
)
def test_only_this_machine_is_loopback(host, expected):
    """An address is this machine's own only if it can be nothing else."""
    assert expected == is_loopback(host)


@pytest.mark.parametrize(
    ("authority", "expected"),
    [
        ("localhost:80", "localhost"),
        ("LocalHost", "localhost"),
        ("[::1]:80", "::1"),
        ("127.0.0.1", "127.0.0.1"),
        ("", ""),
        ("user@localhost", ""),
        ("localhost:port", ""),
        ("localhost:99999", ""),
        ("[::1", ""),
        ("localhost/path", ""),
        ("localhost?x", ""),
    ],
)
def test_a_host_is_read_strictly(authority, expected):
    """What is no host and port has no host."""
    assert expected == host_of(authority)


def refusal(rules, **headers):
    pairs = [
        (name.encode(), value.encode("latin-1"))
        for name, values in headers.items()
        for value in ([values] if isinstance(values, str) else values)
    ]
    found = rules.refusal(pairs)
    return found and found[0]


LOCAL = Rules(hosts=frozenset({"localhost", "127.0.0.1", "::1"}))


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"host": "localhost:1"}, None),
        ({"host": "[::1]:1"}, None),
        ({}, 421),
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:80"}, 421),
        ({"host": "localhost.evil.example"}, 421),
        ({"host": ["localhost", "localhost"]}, 400),
        ({"host": "localhost", "origin": "http://localhost:3000"}, None),
        ({"host": "localhost", "origin": "https://127.0.0.1"}, None),
        ({"host": "localhost", "origin": "http://evil.example"}, 403),
        ({"host": "localhost", "origin": "http://localhost.evil.example"}, 403),
        ({"host": "localhost", "origin": "null"}, 403),
        ({"host": "localhost", "origin": ""}, 403),
        ({"host": "localhost", "origin": "ftp://localhost"}, 403),
        ({"host": "localhost", "origin": "localhost"}, 403),
        ({"host": "localhost", "origin": ["http://localhost", "http://localhost"]}, 400),
    ],
)
def test_a_request_must_name_this_host_and_a_page_of_it(headers, expected):
    """A web page of another site can reach the server under no name."""
    assert expected == refusal(LOCAL, **headers)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Bearer secret", None),
        ("bearer  secret", None),
        ("Bearer Secret", 401),
        ("Bearer secret2", 401),
        ("Bearer", 401),
        ("Basic secret", 401),
        ("secret", 401),
        ("", 401),
        ("Bearer sécret", 401),
    ],
)
def test_a_token_must_be_the_token(header, expected):
    """With a token set, nothing but the token lets a request in."""
    rules = Rules("secret", LOCAL.hosts)
    assert expected == refusal(rules, host="localhost", authorization=header)
    assert 401 == refusal(rules, host="localhost")
    assert "secret" not in repr(rules)


def test_origins_can_be_trusted_and_any_host_allowed():
    """Named origins may come in; without named hosts any host does."""
    rules = Rules(origins=frozenset({"https://app.example"}))
    assert refusal(rules, host="any.example", origin="https://app.example") is None
    assert refusal(rules, host="any.example", origin="https://any.example") is None
    assert 403 == refusal(rules, host="any.example", origin="https://other.example")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "10.0.0.1", "api.example"])
@pytest.mark.parametrize("token", [None, ""])
def test_nobody_is_served_elsewhere_without_a_token(host, token):
    """Bound to an address that others can reach, the server refuses to start without a token."""
    with pytest.raises(RegistryError, match="--token-env"):
        http.serve_http(snapshot(), host, token=token)


@pytest.mark.parametrize(
    ("host", "hosts", "expected"),
    [
        ("127.0.0.1", (), {"localhost", "127.0.0.1", "::1"}),
        ("127.0.0.5", ("Dev.example",), {"localhost", "127.0.0.1", "::1", "127.0.0.5", "dev.example"}),
        ("0.0.0.0", (), set()),
        ("0.0.0.0", ("api.example",), {"localhost", "127.0.0.1", "::1", "api.example"}),
        ("10.0.0.1", (), {"localhost", "127.0.0.1", "::1", "10.0.0.1"}),
        ("[fe80::1]", ("fe80::2",), {"localhost", "127.0.0.1", "::1", "fe80::1", "fe80::2"}),
    ],
)
def test_hosts_follow_from_the_address(host, hosts, expected):
    """The names by which a server may be addressed are its own and those that are given."""
    assert expected == http._rules(host, "t", hosts, ()).hosts


# --- how much at once


async def asked(guard, *, method="POST", headers=((b"host", b"localhost"),)):
    """Send a request through the guard and return the status of its answer."""
    sent = []

    async def receive():
        return {"type": "http.request"}

    async def send(message):
        sent.append(message)

    await guard({"type": "http", "method": method, "headers": list(headers)}, receive, send)
    return sent[0]["status"] if sent else None


def answering(seen=None):
    async def app(scope, receive, send):
        if seen is not None:
            seen.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    return app


def test_a_refusal_never_reaches_the_protocol():
    """What the rules refuse is answered with its status; the rest goes through, headers trimmed."""

    async def scenario():
        seen = []
        guard = Guard(answering(seen), LOCAL)
        assert 421 == await asked(guard, headers=[(b"host", b"evil.example")])
        assert [] == seen
        assert 200 == await asked(guard, headers=[(b"host", b" localhost\t"), (b"mcp-name", b"  x ")])
        assert (b"mcp-name", b"x") in seen[0]["headers"]
        await guard({"type": "lifespan"}, None, lambda message: asyncio.sleep(0))
        assert "lifespan" == seen[1]["type"]

    asyncio.run(scenario())


def test_more_requests_than_allowed_are_told_to_wait():
    """Beyond the limit a request is answered 503 at once, and let in again when there is room."""

    async def scenario():
        release = asyncio.Event()

        async def app(scope, receive, send):
            await release.wait()
            await answering()(scope, receive, send)

        guard = Guard(app, LOCAL, most=1)
        first = asyncio.create_task(asked(guard))
        await asyncio.sleep(0)
        assert 503 == await asked(guard)
        release.set()
        assert 200 == await first
        assert 200 == await asked(guard)

    asyncio.run(scenario())


def test_closing_waits_for_calls_and_ends_streams():
    """At the end calls in flight are finished, open streams end, and nothing new comes in."""

    async def scenario():
        release, ended = asyncio.Event(), []

        async def app(scope, receive, send):
            if scope["method"] == "DELETE":
                await answering()(scope, receive, send)
                await send({"type": "http.response.body", "body": b""})
            elif scope["method"] == "GET":
                assert "http.request" == (await receive())["type"]
                await send({"type": "http.response.start", "status": 200})
                ended.append((await receive())["type"])
            else:
                await release.wait()
                await answering()(scope, receive, send)

        messages = asyncio.Queue()
        messages.put_nowait({"type": "http.request"})
        guard = Guard(app, LOCAL)
        scope = {"type": "http", "method": "GET", "headers": [(b"host", b"localhost")]}
        sent = []

        async def send(message):
            sent.append(message)

        stream = asyncio.create_task(guard(scope, messages.get, send))
        calls = [asyncio.create_task(asked(guard)) for _ in range(2)]
        await asyncio.sleep(0)
        closing = asyncio.create_task(guard.close(PATIENCE))
        await stream
        assert ["http.disconnect"] == ended
        assert {"type": "http.response.body", "body": b""} == sent[-1]
        assert not closing.done()
        assert 503 == await asked(guard)
        assert 200 == await asked(guard, method="DELETE")
        release.set()
        await closing
        assert [200, 200] == [await call for call in calls]
        await guard.close(PATIENCE)

    asyncio.run(scenario())


def test_closing_has_an_end():
    """Calls that last too long do not keep a server from closing."""

    async def scenario():
        async def app(scope, receive, send):
            await asyncio.Event().wait()

        guard = Guard(app, LOCAL)
        call = asyncio.create_task(asked(guard))
        await asyncio.sleep(0)
        await guard.close(0.01)
        call.cancel()

    asyncio.run(scenario())


# --- a process of its own


@contextlib.contextmanager
def serving(**options):
    """Serve in a process and yield the URL and the process."""
    with subprocess.Popen([*PROGRAM, json.dumps(options)], stderr=subprocess.PIPE, text=True) as server:
        try:
            started = server.stderr.readline()
            assert started.startswith("serving MCP at http://"), started + server.stderr.read()
            yield started.split()[-1], server
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=PATIENCE)


def post(url, message, **headers):
    return httpx.post(url, json=message, headers={**HEADERS, **headers}, timeout=PATIENCE)


@contextlib.asynccontextmanager
async def connected(url, mode="legacy", **options):
    """Yield the official client for a URL."""
    async with (
        httpx2.AsyncClient(timeout=PATIENCE) as http_client,
        Client(streamable_http_client(url, http_client=http_client), mode=mode, **options) as client,
    ):
        yield client


def test_the_official_client_is_served_over_http():
    """The SDK's own client lists and calls in either era."""

    async def scenario(url, mode):
        async with connected(url, mode) as client:
            assert "echo" in [tool.name for tool in (await client.list_tools()).tools]
            assert "x" == (await client.call_tool("echo", {"text": "x"})).content[0].text

    with serving() as (url, _):
        for mode in ("legacy", "auto"):
            asyncio.run(scenario(url, mode))


def test_requests_are_checked_before_all_else():
    """Wrong hosts, foreign pages, wrong tokens and too large bodies are refused."""
    with serving(token="open sesame", max_body=1000) as (url, _):
        good = {"authorization": "Bearer open sesame"}
        assert 200 == post(url, INITIALIZE, **good).status_code
        denied = post(url, INITIALIZE)
        assert (401, "Bearer") == (denied.status_code, denied.headers["www-authenticate"])
        assert 421 == post(url, INITIALIZE, **good, host="evil.example").status_code
        assert 403 == post(url, INITIALIZE, **good, origin="http://evil.example").status_code
        assert 413 == post(url, {**INITIALIZE, "x": "y" * 1000}, **good).status_code
        assert 404 == post(url.replace("/mcp", "/other"), INITIALIZE, **good).status_code


def test_an_address_is_bound_as_it_is_given():
    """IPv6 works; an address in use, or of someone else, is an error that says so."""
    if socket.has_ipv6:
        with serving(host="::1") as (url, _):
            assert url.startswith("http://[::1]:")
            assert 200 == post(url, INITIALIZE).status_code
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(RegistryError, match=f"cannot listen at 127.0.0.1:{port}: "):
            http.serve_http(snapshot(), port=port)
    with pytest.raises(RegistryError, match=r"cannot listen at no\.such\.host\.invalid:0: "):
        http.serve_http(snapshot(), "no.such.host.invalid", token="t")


def test_calls_in_flight_are_finished_when_the_server_stops(tmp_path):
    """A server that is told to stop answers the calls it has begun, and ends open streams."""

    async def scenario():
        begun = asyncio.Event()

        async def progress(*report):
            begun.set()

        with serving() as (url, server):
            async with connected(url) as client:
                await client.list_tools()
                until = tmp_path / "until"
                arguments = {"until": str(until)}
                call = asyncio.create_task(client.call_tool("waiting", arguments, progress_callback=progress))
                await begun.wait()
                server.send_signal(signal.SIGTERM)
                until.touch()
                assert "released" == (await call).content[0].text
            assert 0 == await asyncio.to_thread(server.wait, PATIENCE)

    asyncio.run(scenario())


def test_a_file_is_followed_over_http(tmp_path):
    """A good edit is served to clients that are connected."""
    text = 'version = 1\n[recipients.{}]\nkind = "function"\ncall = "os:getcwd"\ndescription = "Where."\n'
    path = tmp_path / "recipients.toml"
    path.write_text(text.format("first"))

    async def scenario():
        heard = asyncio.Event()

        async def note(message):
            if type(message).__name__ == "ToolListChangedNotification":
                heard.set()

        with serving(path=str(path)) as (url, _):
            async with connected(url, message_handler=note) as client:
                assert ["first"] == [tool.name for tool in (await client.list_tools()).tools]
                other = path.with_suffix(".new")
                other.write_text(text.format("second"))
                other.replace(path)
                await asyncio.wait_for(heard.wait(), PATIENCE)
                assert ["second"] == [tool.name for tool in (await client.list_tools()).tools]

    asyncio.run(scenario())


def test_what_cannot_be_served_is_said_before_anything_is_bound():
    """A registry that is none for the protocol, and a missing SDK, are errors at the start."""
    with pytest.raises(ExportRefused):
        http.serve_http(RecipientSnapshot({"no name": snapshot()["echo"]}))


def test_a_missing_sdk_is_named_with_the_way_to_get_it(monkeypatch):
    """Without the SDK the error says what to install."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(BackendUnavailable, match=r'pip install "recipients\[mcp\]"'):
        http.serve_http(snapshot())


def test_the_rooms_names():
    """The package has its two functions and no other names."""
    assert http.serve_http is registry.serve.serve_http
    assert callable(registry.serve.serve_stdio)
    with pytest.raises(AttributeError, match="nothing"):
        _ = registry.serve.nothing


def test_a_server_can_tell_where_it_listens(monkeypatch):
    """The URL is told once the server listens; a server that cannot run ends."""
    told = []

    async def serve(service, listening, rules, limits, tell):
        tell()

    monkeypatch.setattr(http, "_serve", serve)
    http.serve_http(snapshot(), started=told.append)
    assert told[0].startswith("http://127.0.0.1:")
    assert request(1, "ping")["method"] == "ping"
