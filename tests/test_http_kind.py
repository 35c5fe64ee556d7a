"""Recipients that make a request: what goes out, and what comes back."""

import asyncio
import json
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_server import answer, serving

from registry.exceptions import MissingSecret, RecipientFailed, TransportError
from registry.frozen import freeze
from registry.kinds.http import HttpRecipient
from registry.kinds.http_request import build_request
from registry.kinds.http_response import pointed
from registry.loading.build import recipient_class
from registry.specs import HttpBody, HttpOptions, RecipientSpec


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    """Loopback is reached directly."""
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def spec(url, *, properties=(), timeout=None, max_output=None, idempotent=False, **options):
    schema = freeze({"type": "object", "properties": {name: {} for name in properties}})
    return RecipientSpec(
        "web", "http", "Asks.", HttpOptions(url, **options), schema, timeout=timeout, max_output=max_output,
        idempotent=idempotent,
    )  # fmt: skip


def url_of(url, arguments, **options):
    return build_request(spec(url, **options), arguments).url


def ask(arguments, *answers, path="/", calls=1, **options):
    """Return the outcome of a call to a server with these answers, and the server."""

    async def run():
        async with serving(*answers) as server:
            recipient = recipient_class(spec(server.url + path, **options), HttpRecipient)()
            async with recipient:
                for _ in range(calls):
                    outcome = await recipient.acall(arguments)
            return outcome, server

    return asyncio.run(run())


# --- the URL


@pytest.mark.parametrize(
    ("url", "arguments", "wanted"),
    [
        ("https://h/v1/{x}", {"x": "Paris"}, "https://h/v1/Paris"),
        ("https://h/v1/{x}/z", {"x": "../a/b?c#d"}, "https://h/v1/..%2Fa%2Fb%3Fc%23d/z"),
        ("https://h/{x}", {"x": "%2e%2e"}, "https://h/%252e%252e"),
        ("https://h/{x}", {"x": "é ;@:"}, "https://h/%C3%A9%20%3B%40%3A"),
        ("https://h/a{x}", {"x": ""}, "https://h/a"),
        ("https://h/{x}", {"x": 3}, "https://h/3"),
        ("https://h/ä b{x}", {"x": 3}, "https://h/%C3%A4%20b3"),
        ("https://h", {}, "https://h"),
        ("https://h:8080/a?b=c&d=%20#frag", {}, "https://h:8080/a?b=c&d=%20"),
        ("https://h/a#frag?b={x}", {"x": 1}, "https://h/a"),
        ("https://h/a?b={x}&c={y}&d=1", {"x": "1&e=2"}, "https://h/a?b=1%26e%3D2&d=1"),
        ("https://h/a?b={x}#{y}&z=1", {"x": "1"}, "https://h/a?b=1"),
        ("https://h/a?b={x}", {}, "https://h/a"),
        ("https://h/a?", {}, "https://h/a"),
        ("https://h/a?{#if x}b={x}&{/if}c=1", {"x": 2}, "https://h/a?b=2&c=1"),
        ("https://[::1]:80/{x}", {"x": "a"}, "https://[::1]:80/a"),
        ("HTTPS://h/{x}", {"x": "\ufdd20\ufdd3"}, "HTTPS://h/%EF%B7%920%EF%B7%93"),
    ],
)
def test_a_value_stays_where_it_is_put(url, arguments, wanted):
    """Values are percent-encoded whole; the structure of the URL is the file's."""
    assert url_of(url, arguments) == wanted


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_a_value_may_not_remove_or_climb_a_segment(value):
    """Such a path would be another one to the server."""
    with pytest.raises(RecipientFailed, match="part of the path"):
        url_of("https://h/a/{x}/b", {"x": value})
    with pytest.raises(RecipientFailed, match="part of the path"):
        url_of("https://h/a/{x}{x}{#if y}{/if}", {"x": value.replace("..", ".")})


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXTS.filter(lambda text: text not in ("", ".", "..")), TEXTS)
def test_no_value_leads_out_of_its_place(segment, parameter):
    """Read back, the URL has the values where the file put them, whatever they are."""
    url = url_of("https://h/a/{x}/b", {"x": segment, "q": parameter}, query={"q": "{q}"})
    parts = urllib.parse.urlsplit(url)
    assert (parts.scheme, parts.netloc, parts.fragment) == ("https", "h", "")
    assert [urllib.parse.unquote(part) for part in parts.path.split("/")] == ["", "a", segment, "b"]
    assert urllib.parse.parse_qsl(parts.query, keep_blank_values=True) == [("q", parameter)]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://{x}/a", "host"),
        ("https://h:{x}/a", "host"),
        ("https://h{x}", "host"),
        ("{x}://h/a", "does not start with"),
        ("ftp://h/a", "does not start with"),
        ("https:///a", "does not start with"),
        ("https://user@h/a", "does not start with"),
        ("https://h/{y}", "needs the argument y"),
        ("https://h/{x.y}", "reaches into"),
    ],
)
def test_a_url_that_cannot_be_made_is_an_error(url, reason):
    """The host is fixed, and the path complete."""
    with pytest.raises(RecipientFailed, match=reason):
        url_of(url, {"x": "evil.example"})


def test_the_environment_may_choose_the_host(monkeypatch):
    """The one who runs the program decides; its value is checked and, in the path, encoded."""
    monkeypatch.setenv("API", "api.example:81")
    assert url_of("https://${API}/${API}", {}) == "https://api.example:81/api.example%3A81"
    monkeypatch.setenv("API", "a.example/b")
    with pytest.raises(RecipientFailed, match="does not start with"):
        url_of("https://${API}/", {})


def test_the_query_leaves_out_what_is_absent_and_repeats_lists():
    """Optional arguments drop their parameter; a list gives one for each item."""
    query = {"a": "{x}", "b": "{y}", "c": "{z}", "d": "n{z!json}", "e f": "1"}
    url = url_of("https://h/?o=1", {"x": "1 2", "z": ["p", 3]}, query=query)
    assert url == "https://h/?o=1&a=1%202&c=p&c=3&d=n%5B%22p%22%2C3%5D&e%20f=1"


# --- headers and body


def headers_of(headers, arguments, **options):
    request = build_request(spec("https://h/", headers=headers, **options), arguments)
    return {name.decode(): value.decode() for name, value in request.headers}


def test_headers_are_filled_in(monkeypatch):
    """Absent ones are left out; nobody is told a packed answer is welcome."""
    monkeypatch.setenv("TOKEN", "s3cret\n")
    given = {"Authorization": "Bearer ${TOKEN}", "X-Name": " {x} ", "X-None": "{y}", "Accept": "text/csv"}
    assert headers_of(given, {"x": "é"}) == {
        "user-agent": "recipients",
        "accept": "text/csv",
        "authorization": "Bearer s3cret",
        "x-name": "é",
        "accept-encoding": "identity",
    }


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0b", "a\x7fb"])
def test_no_value_makes_another_header(value):
    """A line break in a header is an error that does not repeat the value."""
    with pytest.raises(
        RecipientFailed, match=r"recipients\.web\.headers\.X: the value has a line break"
    ) as caught:
        headers_of({"X": "<{x}>"}, {"x": value})
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    "place",
    [
        {"headers": {"X": "{x}"}},
        {"body": HttpBody(text="{x}")},
        {"query": {"q": "{x}"}},
        {"body": HttpBody(form={"f": "{x}"})},
    ],
)
def test_a_lone_surrogate_cannot_be_sent(place):
    """It is no character."""
    with pytest.raises(RecipientFailed, match="surrogate"):
        build_request(spec("https://h/", **place), {"x": "\ud800"})


def test_a_missing_secret_is_named():
    """The error says which variable and which key, before anything is sent."""
    with pytest.raises(MissingSecret, match=r"SURELY_UNSET_1.*recipients\.web\.headers\.X"):
        headers_of({"X": "${SURELY_UNSET_1}"}, {})


@pytest.mark.parametrize(
    ("body", "content", "media_type"),
    [
        (
            HttpBody(form=freeze({"a": "{x}", "b": "{y}", "l": "{l}"})),
            b"a=1%262&l=p&l=q",
            "application/x-www-form-urlencoded",
        ),
        (HttpBody(text="<{x}>"), b"<1&2>", "text/plain; charset=utf-8"),
        (HttpBody(text="a,b", content_type="text/csv"), b"a,b", "text/csv"),
        (HttpBody(json=True), b'{"l":["p","q"],"n":3}', "application/json"),
        (
            HttpBody(
                json=freeze(
                    {"a": "{x}!", "n": "{n}", "y": "{y}", "l": ["{l}", "{y}", "-{y}", 1, None], "t": True}
                )
            ),
            b'{"a":"1&2!","n":3,"l":[["p","q"],1,null],"t":true}',
            "application/json",
        ),
        (HttpBody(json="{y}"), b"null", "application/json"),
    ],
)
def test_the_body_has_three_forms(body, content, media_type):
    """A lone placeholder in JSON becomes the value itself; what is absent is left out."""
    arguments = {"x": "1&2", "l": ["p", "q"], "n": 3, "id": "7"}
    request = build_request(spec("https://h/{id}/{x}", method="POST", body=body), arguments)
    assert (request.body, dict(request.headers)[b"content-type"]) == (content, media_type.encode())


def test_a_declared_media_type_wins():
    """A content-type header is not set twice."""
    found = headers_of(
        {"Content-Type": "application/vnd.x+json"}, {"x": 1}, body=HttpBody(json=True), method="POST"
    )
    assert found["content-type"] == "application/vnd.x+json"


def test_a_body_needs_its_arguments():
    """A text without them would be another text."""
    with pytest.raises(RecipientFailed, match=r"recipients\.web\.body\.text needs the argument x"):
        build_request(spec("https://h/", body=HttpBody(text="{x}")), {})


# --- calls


def test_a_call_sends_the_request_and_returns_the_text():
    """The answer's text is the reply's text."""
    outcome, server = ask({"x": "a b"}, answer("Grüße"), path="/v1/{x}", query={"q": "{x}"})
    assert (outcome.text, outcome.status, outcome.metadata) == ("Grüße", "ok", {"http_status": 200})
    assert server.sent[0].line == "GET /v1/a%20b?q=a%20b HTTP/1.1"
    assert server.sent[0].header("Host") == server.url.removeprefix("http://")


def test_a_body_is_sent():
    """JSON goes out as JSON."""
    _, server = ask({"x": "é"}, method="POST", body=HttpBody(json=True))
    assert (server.sent[0].line, json.loads(server.sent[0].body.encode("latin-1"))) == (
        "POST / HTTP/1.1",
        {"x": "é"},
    )


def test_an_open_recipient_keeps_its_connection():
    """Calls share a connection, but no cookies."""
    _, server = ask({}, answer("a", Set_Cookie="id=1; Path=/"), calls=3)
    assert (server.connections, len(server.sent)) == (1, 3)
    assert [request.header("Cookie") for request in server.sent] == [None] * 3


def test_a_recipient_works_without_being_opened():
    """A single call opens and closes what it needs."""

    async def run():
        async with serving() as server:
            recipient = recipient_class(spec(server.url), HttpRecipient)()
            message = {"recipient": "web", "arguments": {}}
            texts = [(await recipient.aprocess(message))["content"]["parts"][0] for _ in range(2)]
            return texts, server.connections

    assert asyncio.run(run()) == (["ok", "ok"], 2)


def test_a_recipient_is_opened_once():
    """Opening twice is a mistake; closing twice is none."""

    async def run():
        recipient = recipient_class(spec("http://h"), HttpRecipient)()
        async with recipient:
            with pytest.raises(RecipientFailed, match="open already"):
                await recipient.__aenter__()
        await recipient.__aexit__(None, None, None)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        ("404 Not Found", "HTTP 404 Not Found\nsorry"),
        ("500 Oops", "HTTP 500 Internal Server Error\nsorry"),
        ("499 Odd", "HTTP 499\nsorry"),
        ("302 Found", "HTTP 302 Found; redirects of this kind are not followed\nsorry"),
    ],
)
def test_a_bad_status_is_an_error(status, wanted):
    """The model is told the status and the beginning of the body."""
    outcome, _ = ask({}, answer(" sorry\n", status, Location="/x"))
    assert (outcome.text, outcome.status, outcome.metadata["http_status"]) == (
        wanted,
        "error",
        int(status[:3]),
    )


def test_an_error_shows_the_beginning_of_a_long_body():
    """An error page is not passed on whole."""
    outcome, _ = ask({}, answer("x" * 5_000, "400 Bad Request"))
    assert outcome.text == "HTTP 400 Bad Request\n" + "x" * 1_000 + "…"
    outcome, _ = ask({}, answer("", "400 Bad Request"))
    assert outcome.text == "HTTP 400 Bad Request"


def test_a_long_text_is_cut_while_it_is_read(monkeypatch):
    """No more than the limit is kept, and the model is told."""
    monkeypatch.setattr("registry.kinds.http.MOST_TEXT", 10)
    outcome, _ = ask({}, answer("x" * 1_000_000), max_output=100)
    assert outcome.text == "x" * 100 + "\n… the answer is longer than 100 bytes …"
    assert outcome.metadata["truncated"] is True


@pytest.mark.parametrize(
    ("content_type", "body", "wanted"),
    [
        ("text/plain; charset=latin-1", b"\xe9", "é"),
        ('text/plain; charset="utf-8"; x=y', "\ufeffé".encode(), "é"),
        ("text/plain; charset=nope", "é".encode(), "é"),
        ("text/plain; charset=hex", "é".encode(), "é"),
        ("text/plain; charset=punycode", b"a-b", "a-b"),
        ("text/plain; charset=unicode_escape", rb"\x41", r"\x41"),
        ("text/plain", b"\xff", "\ufffd"),
    ],
)
def test_the_text_is_read_in_its_charset(content_type, body, wanted):
    """An unknown charset is read as UTF-8, and no bytes are an error."""
    assert ask({}, answer(body, Content_Type=content_type))[0].text == wanted


@pytest.mark.parametrize(
    ("select", "wanted"),
    [
        (None, '{"a/b":{"~":[1,{"t":"é"}]},"n":null}'),
        ("", '{"a/b":{"~":[1,{"t":"é"}]},"n":null}'),
        ("/a~1b/~0/1/t", "é"),
        ("/a~1b/~0/0", "1"),
        ("/n", "null"),
    ],
)
def test_json_is_selected_from(select, wanted):
    """A text is passed on as it is, everything else as JSON."""
    body = '{"a/b": {"~": [1, {"t": "\\u00e9"}]}, "n": null}'
    assert ask({}, answer(body), response="json", select=select)[0].text == wanted


@pytest.mark.parametrize(
    "pointer", ["/x", "/0", "/l/2", "/l/-1", "/l/01", "/l/²", "/l/x", "/l/" + "9" * 30, "/t/0"]
)
def test_a_pointer_to_nothing_is_an_error(pointer):
    """Nothing is ever made up."""
    with pytest.raises(LookupError):
        pointed({"l": [1, 2], "t": "text"}, pointer)
    outcome, _ = ask({}, answer('{"l": [1, 2], "t": "text"}'), select=pointer)
    assert outcome.status == "error"
    assert outcome.text.startswith(f"the answer has nothing at {pointer!r}\n")


@pytest.mark.parametrize("body", ["", "<html>", "[" * 100_000, '{"a": NaN}'])
def test_an_answer_that_is_no_json_is_an_error(body):
    """The model is told what came instead."""
    outcome, _ = ask({}, answer(body), response="json")
    assert (outcome.status, outcome.text[:21]) == ("error", "the answer is no JSON")


def test_json_is_not_cut(monkeypatch):
    """A part of JSON is none."""
    monkeypatch.setattr("registry.kinds.http.MOST_JSON", 10)
    outcome, _ = ask({}, answer("[" + "1," * 20 + "1]"), response="json")
    assert (outcome.text, outcome.status) == ("the answer is longer than 10 bytes", "error")


def test_the_time_of_a_call_is_limited():
    """A server that never answers ends in a timeout, not in an exception."""
    outcome, _ = ask({}, None, timeout=0.05, read_timeout=20, connect_timeout=20)
    assert (outcome.text, outcome.status) == ("no complete answer within 0.05 seconds", "timeout")


def test_secrets_are_hidden_in_what_comes_back(monkeypatch):
    """A server that repeats a credential does not show it to the model."""
    monkeypatch.setenv("TOKEN", "s3cret value")
    outcome, server = ask({}, answer("you sent s3cret value"), headers={"X-Key": "${TOKEN}"})
    assert server.sent[0].header("X-Key") == "s3cret value"
    assert outcome.text == "you sent [hidden]"


def test_no_part_of_a_secret_is_left_where_an_answer_is_cut(monkeypatch):
    """Neither at the end of an excerpt nor where reading stopped."""
    monkeypatch.setenv("TOKEN", "s3cret-s3cret-s3cret")
    monkeypatch.setattr("registry.kinds.http.MOST_TEXT", 12)
    headers = {"X-Key": "${TOKEN}"}
    outcome, _ = ask({}, answer("x s3cret-s3cret-s3cret"), headers=headers)
    assert outcome.text.startswith("x [hidden]\n… the answer is longer")
    monkeypatch.setattr("registry.kinds.http.MOST_TEXT", 2_000)
    outcome, _ = ask({}, answer("x" * 990 + "s3cret-s3cret-s3cret", "500 No"), headers=headers)
    assert outcome.text.endswith("x[hidden]")


def test_a_secret_that_an_answer_escapes_is_hidden(monkeypatch):
    """Also where a part of its JSON is written anew."""
    monkeypatch.setenv("TOKEN", "s3cret-\u00e9-value")
    escaped = '{"a": {"b": "s3\\u0063ret-\\u00e9-value"}}'
    for select in ("/a", "/a/b"):
        outcome, _ = ask({}, answer(escaped), headers={"X-Key": "k ${TOKEN}"}, select=select)
        assert outcome.text in {"[hidden]", '{"b":"[hidden]"}'}


def test_no_log_and_no_error_has_a_secret(monkeypatch, caplog):
    """Neither a URL nor a header is logged, and an error names the host only."""
    caplog.set_level("DEBUG")
    monkeypatch.setenv("TOKEN", "s3cret-value")
    options = {"query": {"key": "${TOKEN}"}, "headers": {"X-Key": "${TOKEN}"}}
    ask({}, answer("a"), **options)
    with pytest.raises(TransportError) as caught:
        ask({}, b"", **options)
    assert "s3cret" not in caplog.text + str(caught.value) + repr(
        build_request(spec("http://h", **options), {})
    )


def test_only_calls_without_a_second_effect_are_repeated(monkeypatch):
    """A POST is sent once unless it is declared idempotent."""
    monkeypatch.setattr("registry.transports.BACKOFF", 0)
    busy, fine = answer("busy", "503 Busy"), answer("fine")
    assert ask({}, busy, fine, retries=1)[0].text == "fine"
    assert ask({}, busy, fine, retries=1, method="POST")[0].status == "error"
    assert ask({}, busy, fine, retries=1, method="POST", idempotent=True)[0].text == "fine"
