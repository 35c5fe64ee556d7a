"""Requests over real connections on loopback."""

import asyncio
import gzip
import zlib

import httpx
import pytest
from local_server import answer, serving

from registry import transports
from registry.exceptions import TransportError
from registry.transports import Policy, Request, connections, fetch


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Loopback is reached directly, and without waiting between tries."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(transports, "BACKOFF", 0)


def run(*answers, request=None, twice=False, **policy):
    """Send a request (or change the one given by its URL's path) and return the response and the server."""

    async def go():
        async with serving(*answers) as server:
            sent = request(server.url) if request else Request("GET", server.url + "/")
            response = await fetch(sent, Policy(**policy))
            return response, server

    return asyncio.run(go())


def failure(*answers, **options):
    """Return the text of the error that the request ends in."""
    with pytest.raises(TransportError) as caught:
        run(*answers, **options)
    return str(caught.value)


def test_an_answer_is_read_whole():
    """Status, headers and body arrive."""
    response, _ = run(answer(b"\x00\xff", "418 Teapot", X_A="b"))
    assert (response.status, response.body, response.cut, response.headers["x-a"]) == (
        418,
        b"\x00\xff",
        False,
        "b",
    )


def test_a_body_is_cut_at_its_limit():
    """Reading stops there."""
    response, _ = run(answer(b"x" * 100_000), most=10)
    assert (response.body, response.cut) == (b"x" * 10, True)
    response, _ = run(answer(b"x" * 10), most=10)
    assert (response.body, response.cut) == (b"x" * 10, False)


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("identity", bytes)]
)
def test_a_packed_answer_is_unpacked_up_to_the_limit(encoding, pack):
    """A small answer that unpacks to a huge one takes no memory."""
    packed = answer(pack(b"x" * 10_000_000), Content_Encoding=encoding)
    response, _ = run(packed, most=1_000)
    assert (response.body, response.cut) == (b"x" * 1_000, True)


def test_what_cannot_be_unpacked_is_an_error():
    """Damaged or unknown packing is no text."""
    assert failure(answer(b"no", Content_Encoding="gzip")) == "the answer is packed in a damaged way"
    assert "not asked for" in failure(answer(b"no", Content_Encoding="br"))


@pytest.mark.parametrize("left", [1, 8, 15])
def test_a_packed_answer_that_ends_too_early_is_an_error(left):
    """Half a text is not passed off as the whole of it."""
    packed = gzip.compress(b"hello" * 100)[:-left]
    assert failure(answer(packed, Content_Encoding="gzip")) == "the answer is packed in a damaged way"


@pytest.mark.parametrize(
    ("packed", "wanted"),
    [
        (gzip.compress(b"one, ") + gzip.compress(b"two"), b"one, two"),
        (gzip.compress(b"one") + bytes(8), b"one"),
        (gzip.compress(b""), b""),
        (b"", b""),
    ],
    ids=["two", "padded", "empty", "nothing"],
)
def test_every_member_of_a_packed_answer_counts(packed, wanted):
    """What is behind them does not, and nothing at all is an empty answer."""
    assert run(answer(packed, Content_Encoding="gzip"))[0].body == wanted


@pytest.mark.parametrize(
    ("answers", "policy", "text"),
    [
        ([None], {"read": 0.05}, "was silent for 0.05 seconds"),
        ([b"SMTP ready\r\n"], {}, "broke off or did not speak HTTP (RemoteProtocolError)"),
        ([b""], {}, "broke off or did not speak HTTP (RemoteProtocolError)"),
        (
            [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nhalf"],
            {},
            "RemoteProtocolError",
        ),
    ],
)
def test_a_server_that_does_not_answer_is_an_error(answers, policy, text):
    """The text says what happened, and where."""
    found = failure(*answers, **policy)
    assert text in found
    assert found.startswith("127.0.0.1:")


def test_a_server_that_is_not_there_is_an_error():
    """A closed port is named."""

    async def go():
        async with serving() as server:
            url = server.url
        await fetch(Request("GET", url), Policy())

    with pytest.raises(TransportError, match=r"127\.0\.0\.1:[0-9]+ cannot be connected to"):
        asyncio.run(go())


def test_a_connection_that_takes_too_long_is_an_error():
    """The phase is told apart from a silent server."""
    text = transports._described(httpx.ConnectTimeout("x"), Request("GET", "http://h/"), Policy(connect=2))
    assert text == "h took no connection within 2 seconds"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://h/" + "x" * 70_000, "too long: 70009 characters, of at most 65536"),
        ("http://h:no/", "no URL"),
        ("http://h/\n", "no URL"),
        ("http://xn--zzzzz--9/", "no URL"),
    ],
)
def test_a_url_that_nobody_can_call_is_an_error(url, reason):
    """It is refused before anything is sent, and a model that made it too long is told so."""
    with pytest.raises(TransportError, match=reason):
        asyncio.run(fetch(Request("GET", url), Policy()))


# --- tries


@pytest.mark.parametrize("first", [answer("", "503 Busy"), answer("", "429 Slow", Retry_After="0"), b""])
def test_an_idempotent_request_is_tried_again(first):
    """A passing failure is overcome."""
    response, server = run(
        first, answer("ok"), request=lambda url: Request("GET", url, idempotent=True), retries=1
    )
    assert (response.body, len(server.sent)) == (b"ok", 2)


def test_tries_come_to_an_end():
    """The last failure is the outcome."""
    busy = answer("busy", "503 Busy")
    response, server = run(busy, request=lambda url: Request("GET", url, idempotent=True), retries=2)
    assert (response.status, len(server.sent)) == (503, 3)
    assert "broke off" in failure(b"", request=lambda url: Request("GET", url, idempotent=True), retries=2)


def test_other_requests_are_sent_once():
    """Nothing is repeated that may have had an effect."""
    response, server = run(answer("busy", "503 Busy"), request=lambda url: Request("POST", url), retries=2)
    assert (response.status, len(server.sent)) == (503, 1)


@pytest.mark.parametrize(("text", "wanted"), [("3", 3.0), ("soon", 0.0), ("999999", 0.0), ("", 0.0)])
def test_a_servers_wish_is_read(text, wanted):
    """Only seconds are understood."""
    response = transports.Response(503, httpx.Headers({"retry-after": text}), b"")
    assert transports._wished(response) == wanted


# --- redirects


def redirect(to, status="302 Found"):
    return answer("there", status, Location=to)


def post(url):
    headers = ((b"authorization", b"x"), (b"accept", b"*/*"), (b"content-type", b"text/plain"))
    return Request("POST", url + "/", headers, b"body")


def test_redirects_are_not_followed_unless_it_is_declared():
    """The redirect itself is the answer."""
    response, server = run(redirect("/b"))
    assert (response.status, len(server.sent)) == (302, 1)


def test_a_redirect_without_a_place_is_an_answer():
    """There is nothing to follow."""
    assert run(answer("", "302 Found"), redirects="same-host")[0].status == 302


@pytest.mark.parametrize(
    ("status", "line", "body", "content_type"),
    [
        ("302 Found", "GET /b HTTP/1.1", "", None),
        ("307 Temporary Redirect", "POST /b HTTP/1.1", "body", "text/plain"),
    ],
)
def test_a_redirect_to_the_same_host_is_followed(status, line, body, content_type):
    """The method is kept where HTTP says so."""
    response, server = run(redirect("/b", status), answer("ok"), request=post, redirects="same-host")
    second = server.sent[1]
    assert (response.body, second.line, second.body) == (b"ok", line, body)
    assert (second.header("Authorization"), second.header("Content-Type")) == ("x", content_type)


@pytest.mark.parametrize("place", ["http://127.0.0.1:1/", "http://localhost/", "file:///etc/passwd"])
def test_another_host_is_refused(place):
    """Another port is another server."""
    assert "another host" in failure(redirect(place), redirects="same-host")


def test_redirects_have_an_end():
    """A circle is an error."""
    assert "more than 5 times" in failure(redirect("/"), redirects="same-host")


@pytest.mark.parametrize("place", ["http://h:no/", "http://[x]/", "http://xn--zzzzz--9/"])
def test_a_redirect_to_what_is_no_url_is_an_error(place):
    """It is not followed."""
    assert "no URL" in failure(redirect(place), redirects="same-host")


# --- connections


def test_connections_are_closed_with_their_last_user():
    """Users of one loop share a pool; the last one closes it."""

    async def go():
        async with serving() as server:
            async with connections() as pool:
                async with connections() as same:
                    await fetch(Request("GET", server.url), Policy())
                shared = (same is pool, len(pool.transports))
                await fetch(Request("GET", server.url), Policy())
            return shared, len(pool.transports), server.connections

    assert asyncio.run(go()) == ((True, 1), 0, 1)


def test_each_loop_has_its_own_connections():
    """A pool does not cross loops."""

    async def go():
        async with connections() as pool:
            return pool

    first, second = asyncio.run(go()), asyncio.run(go())
    assert first is not second


@pytest.mark.parametrize(
    ("variables", "url", "wanted"),
    [
        ({}, "http://h/", None),
        ({"http_proxy": "http://p:3128"}, "http://h/", "http://p:3128"),
        ({"http_proxy": "p:3128"}, "http://h/", "http://p:3128"),
        ({"http_proxy": "http://p:3128"}, "https://h/", None),
        ({"all_proxy": "http://p:3128"}, "https://h/", "http://p:3128"),
        ({"http_proxy": "http://p:3128", "no_proxy": "h"}, "http://h/", None),
    ],
)
def test_the_environments_proxy_is_used(monkeypatch, variables, url, wanted):
    """As other programs do it."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert transports._proxy_for(httpx.URL(url)) == wanted


def test_nothing_of_a_request_is_in_its_repr():
    """URLs, headers and bodies may hold credentials."""
    assert (
        repr(Request("GET", "http://h/?k=hush", ((b"a", b"hush"),), b"hush"))
        == "Request(method='GET', idempotent=False)"
    )
