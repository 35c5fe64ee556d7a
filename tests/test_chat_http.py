"""What goes wrong between a chat and its provider, and what is tried again."""

import asyncio
import email.utils

import attrs
import httpx
import pytest
from model_server import (
    ModelServer,
    Reply,
    completion,
    completion_events,
    message,
    message_events,
    stream,
    whole,
)

from registry.chat import AnthropicChat, OpenAIChat, Retry, http
from registry.chat.http import words_of
from registry.exceptions import ChatError

NOW = 1_000_000.0


@attrs.define
class Clock:
    """Notes how long it was told to wait, and does not."""

    waits: list = attrs.field(factory=list)

    async def sleep(self, seconds):
        self.waits.append(seconds)

    def retry(self, **options):
        return Retry(**{"sleep": self.sleep, "now": lambda: NOW, "chance": lambda: 0.0, **options})


def ask(replies, *, made=OpenAIChat, path="/v1", clock=None, transport=None, **options):
    """Ask a stand-in that gives the replies, and return the answer's text and the requests that came."""
    clock = clock or Clock()
    client = None if transport is None else httpx.AsyncClient(transport=httpx.MockTransport(transport))

    async def text(url):
        chat = made("m", base_url=url, api_key="key-of-mine", retry=clock.retry(**options), client=client)
        return [result async for result in chat.ask("hello")][-1]["message"]

    with ModelServer(replies) as server:
        return asyncio.run(text(server.url + path)), server.sent


def failure(replies, **options):
    """Return the text of the error that asking ends in."""
    with pytest.raises(ChatError) as caught:
        ask(replies, **options)
    text = str(caught.value)
    assert "key-of-mine" not in text
    return text.partition(" ")[2]


UNDOCUMENTED = "did not answer as the API is documented"
GOOD = whole(completion("fine"))


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
def test_what_may_pass_is_tried_again(status):
    """Too many requests and faults of the server are tried again, each wait twice the one before."""
    clock = Clock()
    bad = whole({}, status)
    text, sent = ask([bad, bad, bad, GOOD], clock=clock)
    assert (text, len(sent), clock.waits) == ("fine", 4, [0.5, 1.0, 2.0])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_will_not_pass_is_not_tried_again(status):
    """Faults of the request are told at once."""
    clock = Clock()
    text = failure([whole({"error": {"message": "no"}}, status), GOOD], clock=clock)
    assert text.startswith(f"answered {status}: no")
    assert clock.waits == []


def test_trying_again_ends():
    """After the last attempt the provider's words are told, and how often it was tried."""
    clock = Clock()
    assert failure([whole({"error": {"message": "busy"}}, 503)], clock=clock, attempts=3) == (
        "answered 503: busy (tried 3 times)"
    )
    assert clock.waits == [0.5, 1.0]


@pytest.mark.parametrize(
    ("asked", "waited"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        (email.utils.formatdate(NOW + 9, usegmt=True), 9.0),
        (email.utils.formatdate(NOW - 9, usegmt=True), 0.0),
        ("soon", 0.5),
        ("²", 0.5),
        ("", 0.5),
    ],
)
def test_what_the_server_asks_to_wait_is_waited(asked, waited):
    """Retry-After counts, in seconds or as a date; what cannot be read is passed over."""
    assert Clock().retry().seconds(1, 429, {"retry-after": asked}) == waited


def test_a_server_that_asks_for_too_long_is_given_up():
    """A wait beyond the limit is not made."""
    clock = Clock()
    text = failure([whole({}, 429, **{"retry-after": "3600"}), GOOD], clock=clock)
    assert (text, clock.waits) == ("answered 429", [])


def test_waits_are_bounded_and_vary():
    """No wait is longer than the limit, and up to a quarter of it is left to chance."""
    assert Clock().retry(attempts=99).seconds(50, None, {}) == 60.0
    assert Clock().retry(chance=lambda: 1.0).seconds(1, None, {}) == 0.375


def test_the_default_retry_really_waits():
    """Without a clock of one's own the event loop's is used."""
    asyncio.run(Retry().sleep(0))


def test_a_server_that_is_not_there_is_tried_again():
    """Where nobody listens, the error says so after the last attempt."""
    with ModelServer([GOOD]) as server:
        gone = server.url
    clock = Clock()

    async def ask_it():
        return [result async for result in OpenAIChat("m", base_url=gone, retry=clock.retry()).ask("x")]

    with pytest.raises(
        ChatError, match=r"127.0.0.1:\d+ cannot be reached \(ConnectError\) \(tried 4 times\)"
    ):
        asyncio.run(ask_it())
    assert len(clock.waits) == 3


def test_a_connection_that_comes_back_is_used():
    """A failure to connect is forgotten when the next attempt succeeds."""
    attempts = []

    def flaky(_request):
        attempts.append(1)
        if len(attempts) < 3:
            raise httpx.ReadTimeout("slow")
        return httpx.Response(200, json=completion("fine"))

    assert ask([GOOD], transport=flaky)[0] == "fine"


def raising(error):
    def answer(_request):
        raise error

    return answer


@pytest.mark.parametrize(
    "error", [httpx.InvalidURL("bad key-of-mine"), httpx.UnsupportedProtocol("x"), ValueError("x")]
)
def test_what_cannot_be_sent_is_not_tried_again(error):
    """An address or header that cannot be sent is told at once, without the key."""
    clock = Clock()
    assert failure([GOOD], transport=raising(error), clock=clock).startswith("cannot be asked: ")
    assert clock.waits == []


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (
            whole({"error": {"message": "Incorrect key: key-of-mine"}}, 401),
            "answered 401: Incorrect key: [hidden]; check the API key",
        ),
        (
            whole({"error": {"message": "no\nsuch\x1b[31mmodel"}}, 404),
            "answered 404: no such [31mmodel; check the base URL and the model's name",
        ),
        (Reply(400, b"<html>"), "answered 400"),
        (whole({"error": "flat"}, 400), "answered 400: flat"),
        (whole({"error": {"type": "invalid"}}, 400), "answered 400: invalid"),
        (whole({"detail": "missing"}, 400), "answered 400: missing"),
        (whole([1], 400), "answered 400"),
        (whole({"error": {"message": "x" * 999}}, 400), f"answered 400: {'x' * 300}…"),
        (Reply(400, b"x" * 100_000), "answered 400"),
        (Reply(400, b"x", {}, end=False), "answered 400"),
        (
            Reply(302, b"", {"location": "http://elsewhere.example"}),
            "answered 302; redirects are not followed: give the final base URL",
        ),
        (Reply(200, b"<html>"), "did not answer in JSON; check the base URL"),
        (Reply(200, b"[" * 100_000), "did not answer in JSON; check the base URL"),
        (Reply(200, b"{", {}, end=False), "broke off its answer (RemoteProtocolError)"),
        (whole([]), UNDOCUMENTED),
        (whole({"choices": []}), UNDOCUMENTED),
        (
            whole({"choices": [{"message": {"tool_calls": [{"function": {}}]}}]}),
            f"{UNDOCUMENTED} (tool_calls[0].function.name must be a string, not null)",
        ),
        (whole({"error": {"message": "key-of-mine"}}), "the provider broke off: [hidden]"),
        (stream({"error": {}}), "the provider broke off: it did not say why"),
        (stream([]), UNDOCUMENTED),
        (stream(), "broke off its answer"),
        (stream(*completion_events("ab")[:1], done=False), "broke off its answer"),
        (
            stream(*completion_events("ab"), end=False, done=False),
            "broke off its answer (RemoteProtocolError)",
        ),
        (
            Reply(200, b"data: x\n\n", {"content-type": "text/event-stream"}),
            "did not answer in JSON; check the base URL",
        ),
    ],
)
def test_every_failure_is_told_in_safe_words(reply, text):
    """Whatever a server answers, the error says what is wrong on one line, without the key."""
    found = failure([reply], attempts=1)
    assert text in {found, f"the {found}"}


@pytest.mark.parametrize(
    ("made", "reply", "text"),
    [
        (
            AnthropicChat,
            stream({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, done=False),
            "busy",
        ),
        (AnthropicChat, stream(*message_events("ab")[:-2], done=False), "broke off its answer"),
        (
            AnthropicChat,
            whole(message("x") | {"content": [{"type": "text"}]}),
            "not answer as the API is documented",
        ),
        (
            AnthropicChat,
            stream({"type": "content_block_delta", "index": 3, "delta": {}}, done=False),
            "as the API is documented",
        ),
    ],
)
def test_failures_of_messages(made, reply, text):
    """Errors in the stream and answers that are not as documented are told."""
    assert text in failure([reply], made=made, attempts=1)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (stream({"type": "error", "message": "busy"}, done=False), "busy"),
        (stream({"type": "response.failed", "response": {"error": {"message": "x"}}}, done=False), ": x"),
        (stream({"type": "response.created"}, done=False), "broke off its answer"),
    ],
)
def test_failures_of_responses(reply, text):
    """The same for the Responses API."""

    def made(*arguments, **options):
        return OpenAIChat(*arguments, api="responses", **options)

    assert text in failure([reply], made=made, attempts=1)


def test_an_answer_without_end_is_given_up(monkeypatch):
    """Answers and events beyond the limits are not read on."""
    monkeypatch.setattr(http, "_MAX_ANSWER", 10)
    assert failure([GOOD]) == "sent more than 0 MiB"
    monkeypatch.undo()
    monkeypatch.setattr("registry.chat.sse.MAX_EVENT", 10)
    endless = Reply(200, b"data: " + b"x" * 99, {"content-type": "text/event-stream"})
    assert failure([endless]) == "sent an event that is too large"


def test_a_stream_may_end_without_its_empty_line():
    """The last event counts where the server leaves out the empty line, and so does the mark of the end."""
    events = stream(*completion_events("ab"), done=False)
    for end in (b"", b"data: [DONE]"):
        body = events.body + end if end else events.body.rstrip(b"\n")
        assert ask([Reply(200, body, events.headers)])[0] == "ab"


@pytest.mark.parametrize("before", [b"", b": hello\n\n", b"event: x\n"])
@pytest.mark.parametrize("kind", ["text/plain", "application/json", None])
def test_events_are_known_without_their_content_type(kind, before):
    """Events are read as such whatever content type the server gives them."""
    headers = {} if kind is None else {"content-type": kind}
    assert "ab" == ask([Reply(200, before + stream(*completion_events("ab")).body, headers)])[0]


def test_a_host_alone_may_lack_the_version():
    """Where a base URL has no path, the version that all providers have is tried second, and remembered."""

    def strict(sent):
        return GOOD if sent.path.startswith("/v1/") else whole({}, 404)

    async def twice(url):
        chat = OpenAIChat("m", base_url=url)
        for _ in range(2):
            [_result async for _result in chat.ask("x")]

    with ModelServer([strict]) as server:
        asyncio.run(twice(server.url))
    assert [sent.path for sent in server.sent] == [
        "/chat/completions",
        "/v1/chat/completions",
        "/v1/chat/completions",
    ]


def test_the_query_of_a_base_url_is_kept():
    """What a base URL says after its path is sent along."""
    _text, sent = ask([GOOD], path="/deployments/x?api-version=1")
    assert sent[0].path == "/deployments/x/chat/completions?api-version=1"


def test_text_that_no_encoding_has_is_sent_all_the_same():
    """A lone surrogate in what the user says is replaced, not an error."""

    async def say(url):
        return [result async for result in OpenAIChat("m", base_url=url).ask("a\ud800b")]

    with ModelServer([GOOD]) as server:
        asyncio.run(say(f"{server.url}/v1"))
    assert server.sent[0].body["messages"][0]["content"] == "a?b"


def test_a_short_key_hides_no_letters():
    """A key of few letters, as servers of one's own take, does not blank them out of every text."""
    place = http.Http("http://a.example", {}, "x", 1, Retry())
    assert place.safe("xylophone") == "xylophone"


def test_words_of_data_that_is_no_error():
    """Data without an error says nothing."""
    assert words_of(None) == ""
