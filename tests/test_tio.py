"""The tio backend against a stand-in server, which unmodified third-party clients work with too."""

import asyncio
import gzip
import importlib.util

import pytest
import tio_server

from registry.execution import tio_protocol
from registry.execution.interface import Limits
from registry.execution.tio import TioBackend, with_slash
from registry.specs import PythonOptions, TioOptions

WIRE = bytes.fromhex(
    "0bcb49cc4b67306428a82cc9c8cf336670d34bce4f49d52bc9cc673034622828cacc2bd13053d05230d70c0200"
)
FOUR_LINES = "import sys\nprint('hé')\nprint('E',file=sys.stderr)\nsys.exit(3)"
SEPARATOR = b"uJfldWWD6N70c1zn"
TRAILER = b"\nReal time: 0.036 s\nUser time: 0.036 s\nSys. time: 0.000 s\nCPU share: 99.00 %\nExit code: 0"
GOLDEN = SEPARATOR + b"h\xc3\xa9\n" + SEPARATOR + b"E\n" + TRAILER + SEPARATOR


def run(server, code, *, limits=Limits(), language="python3", **options):  # noqa: B008 - frozen
    """Run code on a server."""

    async def go():
        async with TioBackend(limits, TioOptions(url=server.url, language=language)) as backend:
            return await backend.run(code, **options)

    return asyncio.run(go())


def test_golden_request():
    """The request for a program is exactly the bytes of the protocol."""
    assert b"Vlang\x001\x00python3\x00F.code.tio\x0012\x00print(6 * 7)R" == tio_protocol.request(
        "print(6 * 7)"
    )
    assert tio_protocol.request("print(6 * 7)") == tio_protocol.inflate(WIRE)
    assert tio_protocol.request("é" * 9) == tio_protocol.inflate(
        tio_protocol.deflate(tio_protocol.request("é" * 9))
    )


def test_golden_request_with_everything():
    """Input, options, arguments and files are records of their own; lengths count bytes."""
    made = tio_protocol.request(
        FOUR_LINES, stdin="in", options=["-O"], arguments=["a", "b"], files={"d/x": b"\0\xff"}
    )
    assert (
        b"Vlang\x001\x00python3\x00F.code.tio\x0062\x00"
        + FOUR_LINES.encode()
        + b"F.input.tio\x002\x00inFd/x\x002\x00\x00\xffVTIO_OPTIONS\x001\x00-O\x00Vargs\x002\x00a\x00b\x00R"
        == made
    )


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_golden_response(pack):
    """A response, gzipped or not, is taken apart into stdout, stderr without trailer, and exit code."""
    assert tio_protocol.Response(b"h\xc3\xa9\n", b"E\n", 0) == tio_protocol.response(pack(GOLDEN))


def test_fake_trailer():
    """A program that prints a trailer of its own does not decide its exit code."""
    fake = TRAILER.replace(b"code: 0", b"code: 9")
    body = SEPARATOR + SEPARATOR + fake + b"\nmore" + TRAILER + SEPARATOR
    assert tio_protocol.Response(b"", fake + b"\nmore", 0) == tio_protocol.response(body)


def test_several_runs():
    """A response to several runs has all their outputs, then all their errors."""
    parts = [b"one", b"two", b"e", TRAILER, b"note\n"]
    found = tio_protocol.response(SEPARATOR + SEPARATOR.join(parts))
    assert tio_protocol.Response(b"onetwo", b"e", 0, ("note",)) == found


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "not that of a Tio server"),
        (b"short", "not that of a Tio server"),
        (b"<!DOCTYPE html><html>", "not that of a Tio server"),
        (b" " * 16 + b"x", "could not start its sandbox"),
        (b"\x1f\x8bnonsense", "cannot be inflated"),
        (gzip.compress(GOLDEN)[:-9], "cut short"),
        (gzip.compress(b"a" * (2 << 20)), "cut short, or more"),
    ],
)
def test_not_tio(body, why):
    """Bytes that are no answer of a Tio server are told from those that are."""
    with pytest.raises(tio_protocol.NotTio, match=why):
        tio_protocol.response(body)


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("https://tio.run/cgi-bin/run/api", "https://tio.run/cgi-bin/run/api/"),
        ("https://tio.run/cgi-bin/run/api/", "https://tio.run/cgi-bin/run/api/"),
        (f"https://tio.run/cgi-bin/run/api/{'0a' * 16}", f"https://tio.run/cgi-bin/run/api/{'0a' * 16}"),
    ],
)
def test_slash(url, wanted):
    """The address gets the slash without which the server takes its last part for a token."""
    assert wanted == with_slash(url)


def test_run():
    """Code is run on the server, with its output, its errors and its exit code."""
    with tio_server.TioServer() as server:
        result = run(server, FOUR_LINES)
        assert ("error", "hé\n", "E\n", 3) == (result.status, result.stdout, result.stderr, result.exit_code)
        assert [tio_protocol.deflate(tio_protocol.request(FOUR_LINES))] == server.received
        result = run(server, "print(input())", stdin="line")
        assert ("ok", "line\n", "", 0) == (result.status, result.stdout, result.stderr, result.exit_code)
        assert (False, "", None) == (result.truncated, result.note, result.error)


def test_server_time_limit():
    """The server's own time limit is a timeout, and what was printed before is kept."""
    with tio_server.TioServer(seconds=0.5) as server:
        result = run(server, "print('before', flush=True)\nwhile True: pass")
    assert ("timeout", "before\n", 124) == (result.status, result.stdout, result.exit_code)
    assert "time limit" in result.note


def test_own_time_limit():
    """Our time limit ends the wait for an answer."""
    with tio_server.TioServer(seconds=1) as server:
        result = run(server, "while True: pass", timeout=0.1)
    assert ("timeout", "timed out after 0.1 s", None) == (result.status, result.note, result.error)


def test_cut_by_server():
    """Output over the server's limit is marked as cut; stderr over it takes the exit code with it."""
    with tio_server.TioServer() as server:
        result = run(server, "print('x' * 200000)")
        assert ("ok", True, 131056) == (result.status, result.truncated, result.stdout_bytes)
        assert "truncated" in result.note
        result = run(server, "import sys\nsys.stderr.write('x' * 200000)")
        assert ("error", True, None) == (result.status, result.truncated, result.exit_code)
        assert "exit code is not known" in result.note


def test_unknown_language():
    """The server's message that nothing ran is an error, never program output."""
    with tio_server.TioServer() as server:
        result = run(server, "1", language="nope")
    assert ("error", "") == (result.status, result.stdout)
    assert "The language 'nope' could not be found on the server." in result.error.message


def test_lone_separator():
    """A server that could not read the request is an error."""
    with tio_server.TioServer(canned=(200, SEPARATOR)) as server:
        result = run(server, "1")
    assert ("error", "the Tio server refused: the server could not read the request") == (
        result.status,
        result.error.message,
    )


@pytest.mark.parametrize(
    "canned",
    [(502, b"bad gateway"), (200, b"<html>busy</html>"), (200, b"x"), (413, b""), (200, b"a" * (2 << 20))],
    ids=["502", "page", "short", "413", "long"],
)
def test_unavailable(canned):
    """Anything that is no answer of a Tio server is `unavailable` and never shown as output."""
    with tio_server.TioServer(canned=canned) as server:
        result = run(server, "1")
    assert ("unavailable", "", "TioError") == (result.status, result.stdout, result.error.type)


def test_nobody_there():
    """A server that cannot be reached is `unavailable`."""
    server = tio_server.TioServer()
    with server:
        pass
    assert "unavailable" == run(server, "1").status


def test_too_long():
    """Code that the server would refuse for its length is not sent."""
    with tio_server.TioServer() as server:
        noise = "".join(chr(0x4E00 + (index * 7919) % 20000) for index in range(900_000))
        result = run(server, noise)
        assert ("error", []) == (result.status, server.received)
    assert "longer than the server takes" in result.error.message


def test_protocol_of_backend():
    """The backend is made of a declaration, must be open to run, and keeps nothing."""
    backend = TioBackend.of(PythonOptions(tio=TioOptions(url="http://x/")), Limits())
    assert (True, False) == (TioBackend.probe()[0], backend.capabilities.offline)
    with pytest.raises(RuntimeError, match="async with"):
        asyncio.run(backend.run("1"))
    asyncio.run(backend.reset())
    asyncio.run(backend.__aexit__(None, None, None))


@pytest.mark.skipif(importlib.util.find_spec("pytio") is None, reason="pytio is not installed")
def test_pytio():
    """The third-party client pytio works with the stand-in server."""
    import pytio

    with tio_server.TioServer() as server:
        client = pytio.Tio(server.root)
        assert {"python3"} == client.query_languages()
        reply = client.send(pytio.TioRequest("python3", "print(6 * 7)"))
        assert "42\n" == (reply.result.decode() if isinstance(reply.result, bytes) else reply.result)


@pytest.mark.skipif(importlib.util.find_spec("async_tio") is None, reason="async-tio is not installed")
def test_async_tio(monkeypatch):
    """The third-party client async-tio works with the stand-in server."""
    import async_tio

    async def go(server):
        monkeypatch.setattr(async_tio.Tio, "API_URL", server.url)
        monkeypatch.setattr(async_tio.Tio, "LANGUAGES_URL", f"{server.root}/languages.json")
        async with async_tio.Tio() as client:
            return await client.execute(FOUR_LINES, language="python3")

    with tio_server.TioServer() as server:
        reply = asyncio.run(go(server))
    assert (3, True) == (int(reply.exit_status), reply.stdout.startswith("hé\nE\n"))


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (b"VPATH\x001\x00x\x00R", "The variable 'PATH' could not be declared."),
        (b"Vlang\x00x\x00", "'x' is not an unsigned decimal integer literal."),
        (b"Z", "The instruction 'Z' is not implemented."),
        (
            b"Vlang\x001\x00python3\x00F.code.tio\x0010\x00print('\xc3\xa9')R",
            "The instruction ')' is not implemented.",
        ),
    ],
)
def test_refusals(records, message):
    """The stand-in refuses what the real server refuses, in its words."""
    answer = tio_server.respond(tio_protocol.deflate(records), 60)
    assert message == tio_protocol.response(answer).refusal
    assert 16 == len(tio_server.respond(b"\xff", 60))
