"""Tests of dispatching: whatever a recipient does, the answer is a message a model can read."""

import asyncio
import base64
import html
import json
import logging
import re
import threading
import urllib.parse

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stubs import declared, echo

from registry.cutting import clean, cut
from registry.dispatch import Dispatcher
from registry.examples import run_examples, select
from registry.exceptions import InvalidMessage, NoSuchRecipient, RecipientFailed
from registry.frozen import FrozenDict
from registry.manager import RecipientManager, RecipientSnapshot
from registry.messages import Outcome, reply_text
from registry.recipient import Recipient
from registry.redaction import hide, variables_of
from registry.specs import ExampleMessage, HttpOptions, McpOptions, ServerSpec

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
    "required": ["city"],
}


class Upper(Recipient):
    """An own recipient, as the original's were: it reads the text of a message."""

    def process(self, message):
        return {
            "id": self._uuid(),
            "author": {"role": "tool", "name": self.RECIPIENT_NAME},
            "content": {"content_type": "text", "parts": [message["message"].upper()]},
        }


def dispatch(recipient, message=None, **limits):
    """Send one message to a recipient registered as ``tool``."""
    given = {"arguments": {}} if message is None else message
    return Dispatcher({"tool": recipient}, **limits).dispatch({"recipient": "tool", **given})


def status_and_text(answer):
    return answer["metadata"]["status"], reply_text(answer)


def raising(error):
    async def fail(_arguments):
        await asyncio.sleep(0)
        raise error

    return declared(fail)


async def forever(_arguments):
    await asyncio.get_running_loop().create_future()


@pytest.mark.parametrize(
    "body",
    [
        {"arguments": {"city": "Oslo", "days": "2"}},
        {"arguments": '{"city": "Oslo", "days": 2}'},
        {"message": '{"city": "Oslo", "days": 2}'},
        {"content": {"content_type": "code", "text": '{"city": "Oslo", "days": 2.0}'}},
    ],
)
def test_a_call_is_bound_and_answered(body):
    """Arguments in any form are checked; the reply has the call's id and the registered name."""
    answer = dispatch(declared(echo, "other", CITY), {**body, "id": "c1"}, timeout=60)
    assert ("ok", "city=Oslo,days=2") == status_and_text(answer)
    assert {"role": "tool", "name": "tool"} == answer["author"]
    assert {"status": "ok", "call_id": "c1"} == answer["metadata"]


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({"arguments": "{"}, "invalid-arguments", "no valid JSON"),
        ({"arguments": [1]}, "invalid-arguments", "must be a JSON object, not a list"),
        ({"arguments": {}}, "invalid-arguments", 'Invalid arguments for "tool":\n- city: is required'),
        ({}, "invalid-message", 'a message needs "arguments"'),
        ({"message": 5}, "invalid-message", '"message" must be a string'),
    ],
)
def test_a_bad_call_never_reaches_the_recipient(body, status, text):
    """What is wrong with a message or its arguments is told, and nothing is called."""
    found = status_and_text(
        dispatch(raising(AssertionError("called")), body)
        if status == "invalid-message"
        else dispatch(declared(echo, schema=CITY), body)
    )
    assert status == found[0]
    assert text in found[1]


def test_invalid_arguments_have_their_code():
    """The reply says which of the three kinds of error it was."""
    assert "invalid-json" == dispatch(declared(echo, schema=CITY), {"message": "{"})["metadata"]["code"]


@pytest.mark.parametrize(
    "message", [None, 5, "x", [], {}, {"recipient": 5, "arguments": {}}, {"recipient": ""}]
)
def test_a_message_to_nobody_is_answered(message):
    """Even what is no message gets a reply, from the dispatcher."""
    answer = Dispatcher({}).dispatch(message)
    assert "invalid-message" == answer["metadata"]["status"]
    assert "dispatcher" == answer["author"]["name"]


@pytest.mark.parametrize(
    "make", [dict, RecipientSnapshot, lambda found: RecipientManager(RecipientSnapshot(found))]
)
def test_an_unknown_name_is_answered_with_the_nearest(make):
    """An unknown recipient is told with the names that were perhaps meant, and all there are."""
    recipients = make({"weather": declared(echo, "weather"), "python": declared(echo, "python")})
    answer = Dispatcher(recipients).dispatch({"recipient": "wether", "message": "x", "id": "c"})
    text = 'There is no recipient "wether". Did you mean "weather"? Available: weather, python.'
    assert ("unknown-recipient", text) == status_and_text(answer)
    assert "c" == answer["metadata"]["call_id"]
    assert "wether" == answer["author"]["name"]


def test_the_names_in_a_text_are_bounded():
    """Neither a long name nor many names make a long text."""
    many = {f"tool{i}": Upper for i in range(50)}
    answer = Dispatcher(many).dispatch({"recipient": "x" * 5_000, "message": "x"})
    assert "… (50 in all)" in reply_text(answer)
    assert len(str(answer)) < 1_000
    assert reply_text(Dispatcher({}).dispatch({"recipient": "a", "message": "x"})).endswith(
        "None is available."
    )


def test_a_manager_is_read_at_every_call():
    """Recipients that are added, replaced or removed count from the next call on."""
    manager = RecipientManager()
    dispatcher = Dispatcher(manager)
    message = {"recipient": "a", "arguments": {}}
    seen = [dispatcher.dispatch(message)]
    manager["a"] = declared(lambda _a: value_of("one"), "a")
    seen += [dispatcher.dispatch(message), dispatcher.dispatch(message)]
    del manager["a"]
    manager["a"] = declared(lambda _a: value_of("two"), "a")()
    seen.append(dispatcher.dispatch(message))
    assert ["unknown-recipient", "ok", "ok", "ok"] == [answer["metadata"]["status"] for answer in seen]
    assert ["one", "one", "two"] == [reply_text(answer) for answer in seen[1:]]


async def value_of(value):
    return value


class FatalError(BaseException):
    """What `except Exception` does not catch."""


class BrokenTextError(Exception):
    def __str__(self):
        raise ValueError("no text")


@pytest.mark.parametrize(
    ("error", "text", "kind"),
    [
        (ValueError("bad value"), "ValueError: bad value", "ValueError"),
        (KeyError("k"), "KeyError: 'k'", "KeyError"),
        (ZeroDivisionError(), "ZeroDivisionError", "ZeroDivisionError"),
        (RecipientFailed("no answer from server"), "no answer from server", "RecipientFailed"),
        (TimeoutError("socket"), "TimeoutError: socket", "TimeoutError"),
        (SystemExit(3), "SystemExit: 3", "SystemExit"),
        (BrokenTextError(), "BrokenTextError: (its text cannot be shown)", "BrokenTextError"),
        (ExceptionGroup("g", [ExceptionGroup("h", [OSError("disk")])]), "OSError: disk", "OSError"),
        (
            ExceptionGroup("g", [OSError(), ValueError()]),
            "ExceptionGroup: g (2 sub-exceptions)",
            "ExceptionGroup",
        ),
        (RuntimeError("x" * 5_000), f"RuntimeError: {'x' * 4_000}… (5000 characters)", "RuntimeError"),
        (RuntimeError("a\ud800b"), "RuntimeError: a\ufffdb", "RuntimeError"),
        (asyncio.CancelledError(), "CancelledError", "CancelledError"),
        (BaseExceptionGroup("g", [SystemExit(3)]), "SystemExit: 3", "SystemExit"),
        (BaseExceptionGroup("g", [asyncio.CancelledError()]), "CancelledError", "CancelledError"),
        (FatalError("f"), "FatalError: f", "FatalError"),
        (
            NoSuchRecipient("other", ()),
            "NoSuchRecipient: Recipient 'other' is not registered.",
            "NoSuchRecipient",
        ),
        (InvalidMessage("of another"), "InvalidMessage: of another", "InvalidMessage"),
    ],
)
def test_an_exception_is_answered_with_type_and_text(error, text, kind):
    """What a recipient raises becomes a reply without a traceback; also what is cancelled inside it."""
    answer = dispatch(raising(error))
    assert ("error", text) == status_and_text(answer)
    assert kind == answer["metadata"]["error"]
    assert "tool" == answer["author"]["name"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BaseExceptionGroup("g", [KeyboardInterrupt()])])
def test_the_end_of_the_program_passes_through(error):
    """Ctrl-C is no answer, alone or in a group."""
    steps = Dispatcher({"tool": raising(error)}).adispatch({"recipient": "tool", "arguments": {}})
    steps.send(None)
    with pytest.raises(type(error)):
        steps.send(None)


@pytest.mark.parametrize(
    ("timeout", "own", "told"), [(0.01, None, 0.01), (None, 0.02, 0.02), (60, 0.01, 0.01), (0.01, 60, 0.01)]
)
def test_time_runs_out(timeout, own, told):
    """A call that takes too long is stopped; the smaller of the dispatcher's and its own time counts."""
    answer = dispatch(declared(forever, timeout=own), timeout=timeout)
    assert ("timeout", f'"tool" did not answer within {told:g} seconds and was stopped.') == status_and_text(
        answer
    )


def test_time_runs_out_for_blocking_code():
    """A function that blocks its thread is answered for in time."""
    release = threading.Event()

    class Blocking(Recipient):
        def process(self, _message):
            release.wait()

    answer = dispatch(Blocking, {"message": "x"}, timeout=0.01)
    release.set()
    assert "timeout" == answer["metadata"]["status"]


def test_a_recipient_that_keeps_its_limits_gets_a_margin():
    """Such a recipient stops and cuts by itself: it can tell more about it."""

    async def late(_arguments):
        await asyncio.sleep(0.01)
        return "x" * 100

    recipient = declared(late, timeout=0.001, max_output=10)
    assert "timeout" == dispatch(recipient)["metadata"]["status"]
    recipient.KEEPS_LIMITS = True
    assert ("ok", "x" * 100) == status_and_text(dispatch(recipient))


@pytest.mark.parametrize(
    ("limits", "own"), [({"max_output": 100}, None), ({"max_output": 500}, 100), ({}, 100)]
)
def test_long_output_is_cut_in_the_middle(limits, own):
    """Head and tail of a long text are kept, with the true count of bytes; the smaller limit counts."""
    answer = dispatch(declared(lambda _a: value_of("é" * 10_000), max_output=own), **limits)
    text = reply_text(answer)
    assert text.startswith("éé")
    assert text.endswith("éé")
    assert len(text.encode()) <= 100
    assert f"{20_000 - 2 * text.count('é')} of 20000 bytes left out" in text
    assert {"status": "ok", "output_bytes": 20_000} == answer["metadata"]


def test_errors_are_cut_too():
    """The limit holds for every text, also for those of the dispatcher."""
    answer = Dispatcher({}, max_output=20).dispatch({"recipient": "x" * 70, "message": "x"})
    assert len(reply_text(answer)) <= 20


@pytest.mark.parametrize("most", [0, 1, 2, 3, 40, 45, 100, 349, 350])
def test_a_cut_text_fits(most):
    """However small the limit is, the text keeps to it and is valid."""
    text = "aé😀" * 50
    kept, total = cut(text, most)
    assert len(kept.encode()) <= most
    assert 350 == total
    assert (kept == text) == (most == 350)


def test_short_texts_are_not_cut():
    """A text within the limit is returned as it is."""
    assert ("é" * 50, 100) == cut("é" * 50, 100)
    assert ("ok", "x" * 50) == status_and_text(
        dispatch(declared(lambda _a: value_of("x" * 50)), max_output=50)
    )
    assert "ascii" == clean("ascii")
    assert "a😀\ufffdb" == clean("a\ud83d\ude00\udc00b")


class Original(Recipient):
    """Answers with what the test sets."""

    answer = None

    async def aprocess(self, message):
        return self.answer(message)


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [
        ("plain text", "ok", "plain text"),
        ({"content": {"parts": ["a", "b"]}, "metadata": {"status": "timeout"}}, "timeout", "a\nb"),
        ({"content": {"parts": ["a", {"type": "image", "data": b""}]}, "metadata": None}, "ok", "a"),
        (None, "error", "the recipient answered with null that is no message: no content.parts"),
        (
            {"content": "x"},
            "error",
            "the recipient answered with an object that is no message: no content.parts",
        ),
        (
            {"content": {"parts": "x"}},
            "error",
            "the recipient answered with an object that is no message: no content.parts",
        ),
    ],
)
def test_own_recipients_answer_in_their_way(answer, status, text):
    """The reply of an own recipient is taken with its status; what is no reply is an error."""
    recipient = type("Own", (Original,), {"answer": lambda _self, _message: answer})
    assert (status, text) == status_and_text(dispatch(recipient, {"message": "x"}))


@pytest.mark.parametrize(
    ("constants", "body", "text"),
    [
        ({}, {"message": "print"}, "message=print"),
        ({}, {"content": {"content_type": "code", "text": "x"}}, "message=x"),
        ({}, {"arguments": {"b": 1}}, 'arguments={\'b\': 1},message={"b": 1}'),
        ({}, {"arguments": '{"b": 1}'}, 'arguments={\'b\': 1},message={"b": 1}'),
        ({"REQUIRED_ARGS": ["b"]}, {"arguments": {"b": 1}}, 'arguments={\'b\': 1},message={"b": 1}'),
        ({"REQUIRED_ARGS": ["b", "c"]}, {"arguments": {"b": 1}}, '"tool":\n- c: is required'),
        ({"INPUT_SCHEMA": CITY}, {"message": '{"city": "Bonn"}'}, "arguments={'city': 'Bonn', 'days': 1}"),
        ({"INPUT_SCHEMA": CITY}, {"arguments": {"city": 5}}, "- city: must be a string (got 5)"),
    ],
)  # fmt: skip
def test_own_recipients_get_text_and_checked_arguments(constants, body, text):
    """An own recipient finds the text under `message`, whatever form it came in, and checked arguments."""

    def told(_self, message):
        return ",".join(f"{key}={message[key]}" for key in ("arguments", "message") if key in message)

    recipient = type("Own", (Original,), {"answer": told, **constants})
    assert text in reply_text(dispatch(recipient, body))


def test_sync_recipients_are_called_in_a_thread():
    """The original way to write a recipient works, and its author is the registered name."""
    answer = dispatch(Upper, {"message": "abc"})
    assert ("ok", "ABC") == status_and_text(answer)
    assert "tool" == answer["author"]["name"]
    assert "ABC" == reply_text(dispatch(Upper(), {"message": "abc"}))


def test_what_is_no_recipient_is_an_error():
    """A mapping with anything else in it is answered for, not crashed on."""
    text = "TypeError: 'tool' is registered but no recipient: it is a object"
    assert ("error", text) == status_and_text(dispatch(object(), {"message": "x"}))


def test_a_cancelled_call_stops_what_was_started():
    """Cancelling passes through the dispatcher to the recipient, which cleans up."""
    seen = []

    async def tidy(_arguments):
        try:
            await forever({})
        finally:
            seen.append("cleaned")

    async def main():
        dispatcher = Dispatcher({"tool": declared(tidy)}, timeout=3_600)
        task = asyncio.ensure_future(dispatcher.adispatch({"recipient": "tool", "arguments": {}}))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    assert asyncio.run(main())
    assert ["cleaned"] == seen


def test_dispatch_works_where_a_loop_is_running():
    """Code that is not async may dispatch from inside a running event loop."""

    async def main():
        return dispatch(declared(echo), {"arguments": {"a": 1}})

    assert "a=1" == reply_text(asyncio.run(main()))


def messages_to(*names):
    return [{"recipient": name, "arguments": {"n": number}} for number, name in enumerate(names)]


def test_many_calls_are_answered_in_order():
    """Replies stand in the order of the calls, whichever ends first; a thousand at once lose none."""

    async def backwards(arguments):
        for _ in range((1_000 - arguments["n"]) % 7):
            await asyncio.sleep(0)
        return str(arguments["n"])

    dispatcher = Dispatcher({"a": declared(backwards, "a")}, timeout=3_600)
    answers = asyncio.run(dispatcher.adispatch_many(messages_to(*["a"] * 1_000)))
    assert [str(number) for number in range(1_000)] == [reply_text(answer) for answer in answers]
    assert [] == asyncio.run(dispatcher.adispatch_many([]))


def test_a_recipient_that_is_not_parallel_is_a_barrier():
    """It runs alone: after all before it, before all behind it."""
    events = []

    async def note(arguments):
        events.append(("start", arguments["n"]))
        await asyncio.sleep(0)
        events.append(("end", arguments["n"]))
        return "x"

    recipients = {"a": declared(note, "a"), "b": declared(note, "b", parallel=False)}
    messages = [*messages_to("a", "a", "b", "a", "a"), {"recipient": 5}]
    answers = asyncio.run(Dispatcher(recipients).adispatch_many(messages))
    assert ["ok"] * 5 + ["invalid-message"] == [answer["metadata"]["status"] for answer in answers]
    order = [number for _what, number in events]
    assert [0, 1, 0, 1, 2, 2, 3, 4, 3, 4] == order


@pytest.mark.parametrize(("limits", "spec"), [({"max_concurrency": 2}, {}), ({}, {"parallel": False})])
def test_only_so_many_calls_run_at_a_time(limits, spec):
    """Concurrency is limited by the dispatcher, and to one where the recipient is not parallel."""
    running, most = set(), []

    async def note(arguments):
        running.add(arguments["n"])
        most.append(len(running))
        await asyncio.sleep(0)
        running.discard(arguments["n"])
        return "x"

    async def main():
        dispatcher = Dispatcher({"a": declared(note, "a", **spec)}, **limits)
        return await asyncio.gather(*map(dispatcher.adispatch, messages_to(*["a"] * 20)))

    assert 20 == len(asyncio.run(main()))
    assert limits.get("max_concurrency", 1) == max(most)


@pytest.mark.parametrize(("limits", "spec"), [({"max_concurrency": 1}, {}), ({}, {"parallel": False})])
@pytest.mark.parametrize("many", [1, 3])
def test_a_call_from_inside_another_does_not_wait_for_it(limits, spec, many):
    """A recipient may dispatch in turn, also to itself, though it has taken the only turn; limits hold."""
    running, most = set(), []

    async def again(arguments):
        left = arguments["left"]
        if not left:
            running.add(arguments["n"])
            most.append(len(running))
            await asyncio.sleep(0)
            running.discard(arguments["n"])
            return "end"
        calls = [{"recipient": "a", "arguments": {"left": left - 1, "n": n}} for n in range(many)]
        return "+".join(map(reply_text, await dispatcher.adispatch_many(calls)))

    dispatcher = Dispatcher({"a": declared(again, "a", **spec)}, **limits)
    answer = dispatcher.dispatch({"recipient": "a", "arguments": {"left": 2, "n": 0}})
    assert ("ok", "+".join(["end"] * many * many)) == status_and_text(answer)
    assert 1 == max(most)


def test_examples_of_a_recipient_that_is_not_parallel_run_alone():
    """Examples run several at a time, but not beside one whose recipient is not parallel; in order always."""
    running, seen = set(), []

    def noting(name):
        async def note(arguments):
            running.add((name, arguments["n"]))
            seen.append((name, len(running)))
            await asyncio.sleep(0)
            running.discard((name, arguments["n"]))
            return str(arguments["n"])

        return note

    def recipient(name, **spec):
        examples = tuple(ExampleMessage(arguments={"n": n}, replies=(str(n),)) for n in range(4))
        return declared(noting(name), name, example_messages=examples, **spec)

    recipients = {"a": recipient("a"), "b": recipient("b", parallel=False), "c": recipient("c")}
    results = list(run_examples(select(RecipientSnapshot(recipients)), jobs=4))
    assert [f"recipients.{name} example {n}" for name in "abc" for n in range(1, 5)] == [
        r.title for r in results
    ]
    assert all(result.passed for result in results)
    assert {1} == {together for name, together in seen if name == "b"}


def test_waiting_for_a_turn_takes_no_time_of_the_call():
    """The time of a call begins when it runs."""

    async def slow(_arguments):
        await asyncio.sleep(0.02)
        return "x"

    async def main():
        dispatcher = Dispatcher({"a": declared(slow, "a")}, max_concurrency=1, timeout=3_600)
        return await dispatcher.adispatch_many(messages_to("a", "a", "a"))

    assert ["ok"] * 3 == [answer["metadata"]["status"] for answer in asyncio.run(main())]


def test_a_limit_of_no_calls_is_refused():
    """A dispatcher that could never call is a mistake."""
    with pytest.raises(ValueError, match="max_concurrency must be at least 1, not 0"):
        Dispatcher({}, max_concurrency=0)


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [
        (True, "ok", "city=Bonn,days=1"),
        (False, "refused", 'The call of "tool" was refused.'),
        (None, "refused", 'The call of "tool" was refused.'),
        ("not on Sundays", "refused", 'The call of "tool" was refused: not on Sundays'),
    ],
)
@pytest.mark.parametrize("is_async", [True, False])
def test_a_call_may_need_approval(answer, status, text, is_async):
    """The hook sees the checked arguments and decides; only True lets a call pass."""
    seen = []

    def approve(call):
        seen.append(call)
        return value_of(answer) if is_async else answer

    found = dispatch(declared(echo, schema=CITY), {"message": '{"city": "Bonn"}', "id": "c"}, approve=approve)
    assert (status, text) == status_and_text(found)
    assert [("tool", {"city": "Bonn", "days": 1}, None, "c")] == [attrs.astuple(call) for call in seen]


def test_a_text_is_approved_as_it_is():
    """For a recipient that reads text the hook sees the text; a hook that fails lets nothing pass."""
    texts = []
    dispatch(Upper, {"message": "abc"}, approve=lambda call: texts.append(call.text) or True)
    assert ["abc"] == texts

    def broken(_call):
        raise ValueError("broken hook")

    assert ("error", "ValueError: broken hook") == status_and_text(
        dispatch(raising(KeyError()), approve=broken)
    )


SECRET = HttpOptions(url="https://x.example/", headers={"Authorization": "Bearer ${TOKEN_FOR_TEST}"})


def test_no_reply_shows_a_secret(monkeypatch):
    """Values of the environment variables that a recipient uses are kept out of texts and metadata."""
    monkeypatch.setenv("TOKEN_FOR_TEST", "se/cret")

    async def leak(arguments):
        if arguments:
            return Outcome("Bearer se/cret, se%2Fcret", metadata={"url": "x?se/cret", "n": 1})
        raise RecipientFailed("GET https://x.example/?t=se/cret failed")

    recipient = declared(leak, options=SECRET)
    assert "GET https://x.example/?t=[hidden] failed" == reply_text(dispatch(recipient))
    answer = dispatch(recipient, {"arguments": {"a": 1}})
    assert "Bearer [hidden], [hidden]" == reply_text(answer)
    assert {"url": "x?[hidden]", "n": 1, "status": "ok"} == answer["metadata"]


FORMS = {
    "line end": str.strip,
    "json": lambda value: json.dumps(value)[1:-1],
    "json with letters": lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    "json of php": lambda value: json.dumps(value)[1:-1].replace("/", "\\/"),
    "python": lambda value: repr(value)[1:-1],
    "html": html.escape,
    "path": urllib.parse.quote,
    "percent in lower case": lambda value: re.sub(
        "%..", lambda m: m[0].lower(), urllib.parse.quote_plus(value)
    ),
    "percent of a browser": lambda value: urllib.parse.quote(value, safe="!'()*"),
    "basic": lambda value: base64.b64encode(value.encode()).decode(),
    "basic with a user": lambda value: base64.b64encode(f"user:{value}".encode()).decode(),
    "basic of a url": lambda value: base64.urlsafe_b64encode(f"u:{value}".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("value", ['s3cr"et/\u00e9?+ <\\>k3y', "plain-token-123"])
def test_a_secret_is_hidden_in_every_form(monkeypatch, form, value):
    """No four characters of it are left, as whatever text an answer shows it."""
    monkeypatch.setenv("TOKEN_FOR_TEST", value + "\n")
    shown = form(value)
    text = hide(f"<<{shown}>>", frozenset({"TOKEN_FOR_TEST"}))
    assert "[hidden]" in text
    left = text.replace("[hidden]", "")
    # In base64 the same characters may stand for what was before it.
    assert not any(shown[at : at + 4] in left for at in range(8, len(shown) - 6))


@given(st.text("ab", min_size=4, max_size=20), st.text("ab ", max_size=30), st.integers(0, 60))
def test_no_cut_leaves_a_part_of_a_secret(value, around, at):
    """Wherever a text is cut, what is recognised of a value in it is masked at both sides of the cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOKEN_FOR_TEST", value)
        whole = around + value + around
        for part in (whole[:at], whole[at:]):
            text = hide(part, frozenset({"TOKEN_FOR_TEST"}))
            least = min(8, max(4, len(value) // 2))
            assert value not in text
            assert not any(text.endswith(value[:n]) for n in range(least, len(value)))
            assert not any(text.startswith(value[-n:]) for n in range(least, len(value)))


def test_a_secret_that_is_no_text_is_hidden(monkeypatch):
    """A value with bytes that are not UTF-8 is masked as Python and as JSON show it."""
    value = "odd\udcffbyte"
    monkeypatch.setenv("TOKEN_FOR_TEST", value)
    for text in (value, json.dumps(value), str(KeyError(value))):
        assert "odd" not in hide(text, frozenset({"TOKEN_FOR_TEST"}))


def test_parts_and_long_errors_show_no_secret(monkeypatch):
    """A secret is taken out of texts beside the reply's, and before a text is cut in the middle of it."""
    monkeypatch.setenv("TOKEN_FOR_TEST", "secret-of-a-test")

    async def leak(arguments):
        if arguments:
            return Outcome("", parts=({"type": "resource", "text": "a secret-of-a-test", "n": 1},))
        raise RecipientFailed("x" * 3_990 + "secret-of-a-test")

    recipient = declared(leak, options=SECRET)
    assert "x[hidden]" == reply_text(dispatch(recipient))[-9:]
    answer = dispatch(recipient, {"arguments": {"a": 1}})
    assert {"type": "resource", "text": "a [hidden]", "n": 1} == answer["content"]["parts"][1]


def test_short_values_are_no_secrets(monkeypatch):
    """A value that could stand anywhere is not masked, nor one that is not set."""
    monkeypatch.setenv("TOKEN_FOR_TEST", "1")
    assert "a1" == hide("a1", frozenset({"TOKEN_FOR_TEST", "UNSET_FOR_TEST"}))


def test_the_variables_of_a_declaration_are_found():
    """References stand in options of any shape, and in those of the server."""
    recipient = declared(echo, options=McpOptions("srv", "tool"))
    recipient.SERVERS = {
        "srv": ServerSpec("srv", ("run", "${A}"), {"K": "${B}"}, headers={"X": "${C}"}, timeout=1.0)
    }
    assert {"A", "B", "C"} == variables_of(recipient)
    assert {"TOKEN_FOR_TEST"} == variables_of(declared(echo, options=SECRET))
    assert frozenset() == variables_of(Upper)


def test_calls_are_logged_without_what_was_said(caplog):
    """One record a call: who, how it ended and how long it took; warnings for what is not ok."""
    caplog.set_level(logging.INFO, "registry.dispatch")
    dispatch(declared(echo), {"arguments": {"a": "private"}, "id": "c"})
    dispatch(raising(ValueError("private")))
    first, second = caplog.records
    assert ("tool", "c", "ok", logging.INFO, 9) == (
        first.recipient, first.call_id, first.status, first.levelno, first.characters,
    )  # fmt: skip
    assert ("error", logging.WARNING) == (second.status, second.levelno)
    assert first.seconds >= 0
    assert "private" not in caplog.text


def test_tracebacks_are_for_programmers_only(caplog, monkeypatch):
    """At level DEBUG an unexpected error is logged with its traceback, without secrets; others are not."""
    monkeypatch.setenv("TOKEN_FOR_TEST", "se/cret")
    caplog.set_level(logging.DEBUG, "registry.dispatch")

    async def leak(_arguments):
        raise ValueError("se/cret")

    dispatch(declared(leak, options=SECRET))
    assert "Traceback" in caplog.text
    assert "ValueError: [hidden]" in caplog.text
    caplog.clear()
    dispatch(declared(echo, schema=CITY))
    dispatch(raising(SystemExit(1)))
    Dispatcher({"a": 5}).dispatch({"recipient": "a", "message": "x"})
    assert ["SystemExit: 1", "TypeError"] == [
        next(word for word in ("SystemExit: 1", "TypeError", "InvalidArguments") if word in record.message)
        for record in caplog.records
        if record.levelno == logging.DEBUG and record.name == "registry.dispatch"
    ]


class Session(Recipient):
    """Counts calls between opening and closing, and notes what happens."""

    events = []

    def __init__(self):
        self.count = None

    async def aprocess(self, _message):
        self.count += 1
        return str(self.count)

    async def __aenter__(self):
        self.events.append("open")
        self.task = asyncio.current_task()
        self.count = 0
        return self

    async def __aexit__(self, *_details):
        assert self.task is asyncio.current_task()
        self.events.append("close")


@pytest.fixture
def session():
    return type("Own", (Session,), {"events": []})


MESSAGE = {"recipient": "s", "message": "x"}


def test_an_open_dispatcher_opens_once_and_closes_at_the_end(session):
    """Inside `async with` a recipient is opened at its first call and stays open, for all calls."""

    async def main():
        async with Dispatcher({"s": session}, timeout=60) as dispatcher:
            assert [] == session.events
            many = await dispatcher.adispatch_many([MESSAGE, MESSAGE])
            last = await dispatcher.adispatch(MESSAGE)
            assert ["open"] == session.events
            return [reply_text(answer) for answer in (*many, last)]

    assert ["1", "2", "3"] == asyncio.run(main())
    assert ["open", "close"] == session.events


def test_a_dispatcher_that_is_not_open_opens_for_each_call(session):
    """Nothing stays behind a call of a dispatcher that nobody will close."""
    dispatcher = Dispatcher({"s": session})
    assert ["1", "1"] == [reply_text(dispatcher.dispatch(MESSAGE)) for _ in range(2)]
    assert ["open", "close"] * 2 == session.events


def test_code_that_is_not_async_keeps_sessions_with_a_plain_with(session):
    """Inside `with` all calls share one loop in a thread, also those made where another loop is running."""

    async def inside(dispatcher):
        return reply_text(dispatcher.dispatch(MESSAGE))

    with Dispatcher({"s": session}) as dispatcher:
        assert ["1", "2"] == [reply_text(dispatcher.dispatch(MESSAGE)) for _ in range(2)]
        assert "3" == asyncio.run(inside(dispatcher))
    assert ["open", "close"] == session.events
    assert "1" == reply_text(dispatcher.dispatch(MESSAGE))


def test_instances_are_the_callers_own(session):
    """An instance is not opened or closed by the dispatcher: whoever made it does."""

    async def main():
        async with session() as opened, Dispatcher({"s": opened}) as dispatcher:
            return [reply_text(await dispatcher.adispatch(MESSAGE)) for _ in range(2)]

    assert ["1", "2"] == asyncio.run(main())
    assert ["open", "close"] == session.events


def test_other_loops_do_not_share_what_is_open(session):
    """What was opened in one loop is not used from another."""

    async def main():
        async with Dispatcher({"s": session}) as dispatcher:
            first = await dispatcher.adispatch(MESSAGE)
            inner = dispatcher.dispatch(MESSAGE)
            other = await asyncio.to_thread(dispatcher.dispatch, MESSAGE)
            return [reply_text(answer) for answer in (first, inner, other)]

    assert ["1", "1", "2"] == asyncio.run(main())


def test_a_replaced_recipient_is_closed_when_its_calls_have_ended(session):
    """After a reload old calls go on to their end; then the old recipient is closed."""
    gate = []

    class Waiting(session):
        async def aprocess(self, message):
            if message["message"] == "wait":
                await gate[0].wait()
            return await super().aprocess(message)

    async def main():
        gate.append(asyncio.Event())
        recipients = {"s": Waiting}
        async with Dispatcher(recipients) as dispatcher:
            slow = asyncio.ensure_future(dispatcher.adispatch({"recipient": "s", "message": "wait"}))
            for _ in range(5):
                await asyncio.sleep(0)
            recipients["s"] = type("New", (session,), {})
            assert "1" == reply_text(await dispatcher.adispatch(MESSAGE))
            assert ["open", "open"] == session.events
            gate[0].set()
            assert "1" == reply_text(await slow)
            recipients["s"] = type("Newer", (session,), {})
            await dispatcher.adispatch(MESSAGE)
            for _ in range(5):
                await asyncio.sleep(0)
            assert ["open", "open", "close", "close", "open"] == session.events

    asyncio.run(main())
    assert 3 == session.events.count("close")


@pytest.mark.parametrize("error", [OSError("no room"), FatalError("no room"), SystemExit("no room")])
def test_what_cannot_be_opened_is_tried_again(session, error):
    """An error of opening, whatever it is, is the answer of the call; the next call tries again."""
    errors = [error]

    class Failing(session):
        async def __aenter__(self):
            if errors:
                raise errors.pop()
            return await super().__aenter__()

    async def main():
        async with Dispatcher({"s": Failing}) as dispatcher:
            return [status_and_text(await dispatcher.adispatch(MESSAGE)) for _ in range(2)]

    assert [("error", f"{type(error).__name__}: no room"), ("ok", "1")] == asyncio.run(main())


async def given_up(dispatcher):
    """Begin a call, and give it up while the recipient opens."""
    call = asyncio.ensure_future(dispatcher.adispatch(MESSAGE))
    for _ in range(5):
        await asyncio.sleep(0)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    return call.cancelled()


def test_a_slow_opening_outlives_an_impatient_call(session):
    """A call that is given up while the recipient opens does not undo the opening."""
    gate = []

    class Slow(session):
        async def __aenter__(self):
            await gate[0].wait()
            return await super().__aenter__()

    async def main():
        gate.append(asyncio.Event())
        async with Dispatcher({"s": Slow}) as dispatcher:
            assert await given_up(dispatcher)
            gate[0].set()
            return status_and_text(await dispatcher.adispatch(MESSAGE))

    assert ("ok", "1") == asyncio.run(main())
    assert ["open", "close"] == session.events


def test_an_opening_that_nobody_waits_for_may_fail(session, caplog):
    """When the calls have given up, a failed opening harms nobody."""
    gate = []

    class Slow(session):
        async def __aenter__(self):
            await gate[0].wait()
            raise OSError("late")

    async def main():
        gate.append(asyncio.Event())
        async with Dispatcher({"s": Slow}) as dispatcher:
            assert await given_up(dispatcher)
            gate[0].set()
            await asyncio.sleep(0)

    asyncio.run(main())
    assert "" == caplog.text


def test_an_error_of_closing_is_logged(session, caplog, monkeypatch):
    """One recipient that cannot be closed keeps no other from being closed."""

    class Failing(session):
        async def __aexit__(self, *_details):
            raise OSError("stuck")

    async def main():
        async with Dispatcher({"s": Failing, "t": session}) as dispatcher:
            await dispatcher.adispatch(MESSAGE)
            await dispatcher.adispatch({**MESSAGE, "recipient": "t"})

    asyncio.run(main())
    assert ["open", "open", "close"] == session.events
    assert "closing s failed: OSError: stuck" in caplog.text


def test_a_loop_that_ends_first_is_no_error(session, caplog):
    """A dispatcher that was never closed leaves its recipients closed by the end of the loop."""

    async def main():
        dispatcher = await Dispatcher({"s": session}).__aenter__()
        await dispatcher.adispatch(MESSAGE)

    asyncio.run(main())
    assert ["open", "close"] == session.events
    assert "" == caplog.text


def test_closing_twice_is_no_error():
    """A dispatcher that is not open closes nothing."""

    async def main():
        dispatcher = Dispatcher({})
        await dispatcher.aclose()
        async with dispatcher:
            await dispatcher.aclose()

    asyncio.run(main())
    Dispatcher({}).__exit__(None, None, None)


def test_a_kind_that_binds_in_its_own_way_keeps_to_it():
    """Whatever a kind changes about binding is asked at every call."""

    class Texts(declared(echo, schema=CITY)):
        def arguments_of(self, call):
            return {"text": call.text}

    class Loose(declared(echo, schema=CITY)):
        @classmethod
        def bind_arguments(cls, raw):
            return {"raw": str(raw)}

    dispatcher = Dispatcher({"t": Texts, "l": Loose, "f": declared(echo, schema=FrozenDict(CITY))})
    for _ in range(2):
        assert "text=a" == reply_text(dispatcher.dispatch({"recipient": "t", "message": "a"}))
        assert "raw=a" == reply_text(dispatcher.dispatch({"recipient": "l", "message": "a"}))
        assert "city=a,days=1" == reply_text(
            dispatcher.dispatch({"recipient": "f", "arguments": {"city": "a"}})
        )


def test_structured_content_is_no_way_around_the_limits(monkeypatch):
    """What is cut, or holds a secret, has no structured form beside it."""
    monkeypatch.setenv("WEATHER_TOKEN", "s3cret-value")
    value = {"a": "x" * 100, "token": "s3cret-value"}

    def metadata_of(content, **limits):
        async def answer(_arguments):
            return Outcome(json.dumps(content), metadata={"structured": content})

        options = HttpOptions("https://a.example", headers=FrozenDict({"X": "${WEATHER_TOKEN}"}))
        return dispatch(declared(answer, options=options), **limits)["metadata"]

    assert metadata_of({"a": 1})["structured"] == {"a": 1}
    assert "structured" not in metadata_of(value)
    assert "structured" not in metadata_of({"a": "x" * 100}, max_output=50)
