"""Laws of dispatching, for any message and any answer of a recipient."""

import asyncio
import json

import hypothesis
import hypothesis.strategies as st
import strategies
from stubs import declared, echo

from registry.cutting import cut
from registry.dispatch import Dispatcher
from registry.messages import Outcome, reply_text

STATUSES = {"ok", "error", "timeout", "invalid-message", "invalid-arguments", "unknown-recipient"}


async def fail(arguments):
    raise ValueError(arguments)


async def leave(arguments):
    raise SystemExit(1)


RECIPIENTS = {
    "echo": declared(echo, "echo"),
    "fail": declared(fail, "fail"),
    "quit": declared(leave, "quit"),
    "alone": declared(echo, "alone", parallel=False),
}


def check_reply(message, answer):
    """Whatever was sent, this is a reply that can be sent on."""
    assert {"id", "author", "content", "metadata"} == answer.keys()
    assert "tool" == answer["author"]["role"]
    assert all(isinstance(part, str) for part in answer["content"]["parts"])
    assert answer["metadata"]["status"] in STATUSES
    json.dumps(answer, ensure_ascii=False).encode()
    if isinstance(message, dict) and message.get("recipient") in RECIPIENTS:
        assert message["recipient"] == answer["author"]["name"]
        if isinstance(message.get("id"), str):
            assert message["id"] == answer["metadata"].get("call_id")


@hypothesis.given(st.lists(strategies.call_messages, max_size=6))
def test_every_message_is_answered_in_its_place(messages):
    """As many replies as messages, in their order, and each as if it had been sent alone."""
    dispatcher = Dispatcher(RECIPIENTS, timeout=3_600)
    answers = asyncio.run(dispatcher.adispatch_many(messages))
    assert len(messages) == len(answers)
    for message, answer in zip(messages, answers, strict=True):
        check_reply(message, answer)
        alone = dispatcher.dispatch(message)
        assert alone["content"] == answer["content"]
        assert alone["metadata"] == answer["metadata"]


@hypothesis.given(st.text(), st.integers(0, 100))
def test_every_text_of_a_recipient_is_valid_and_fits(text, most):
    """Any text, lone surrogates too, is sent on as valid text within the limit."""

    async def say(_arguments):
        return Outcome(text)

    answer = Dispatcher({"a": declared(say)}, max_output=most).dispatch({"recipient": "a", "arguments": {}})
    assert len(reply_text(answer).encode()) <= most


@hypothesis.given(st.text(st.sampled_from("aé漢😀\n"), max_size=300), st.integers(0, 400))
def test_a_cut_text_is_head_and_tail(text, most):
    """What is kept is the beginning and the end, the count is true, and what fits is not touched."""
    kept, total = cut(text, most)
    assert len(text.encode()) == total
    assert len(kept.encode()) <= most
    if total <= most:
        assert text == kept
    elif " bytes left out …\n" in kept:
        head, rest = kept.split("\n… ", 1)
        note, tail = rest.split(" …\n", 1)
        assert text.startswith(head)
        assert text.endswith(tail)
        left_out = total - len(head.encode()) - len(tail.encode())
        assert f"{left_out} of {total} bytes left out" == note
