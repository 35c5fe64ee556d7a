"""Tests of the loop between a chat and recipients."""

import asyncio
import json

import pytest
from stubs import declared, echo

from registry.conversation import Replay, Transcript
from registry.dispatch import Dispatcher
from registry.exceptions import ChatError
from registry.frozen import FrozenDict
from registry.kinds.declared import Declared
from registry.kinds.python import PythonRecipient
from registry.messages import Outcome, fence, reply_text

ANSWER = "27! + 8! = 10888869450418352160768040320"
CODE = "import math\nprint(math.factorial(27) + math.factorial(8))"


class Calculator(Declared):
    """Stands in for the python recipient: knows one sum."""

    def arguments_of(self, call):
        return {"code": call.text}

    async def acall(self, arguments):
        assert CODE == arguments["code"]
        return Outcome(fence("10888869450418352160768040320\n"))


def result(message, recipient="all", **more):
    """Return a result as the original's chatbot gave it."""
    return {
        "message": message,
        "conversation_id": "c",
        "parent_id": "p",
        "model": "m",
        "finish_details": None,
        "end_turn": recipient == "all",
        "recipient": recipient,
        **more,
    }


class Chatbot:
    """Speaks as the original's chatbot did: streams of results that grow, one for each turn of the script."""

    def __init__(self, *script):
        self.script = list(script)
        self.asked, self.posted = [], []

    def _next(self):
        return self.script.pop(0) if self.script else None

    async def ask(self, prompt):
        self.asked.append(prompt)
        for found in self._stream():
            yield found

    async def post_messages(self, messages):
        self.posted.append(messages)
        for found in self._stream():
            yield found

    def _stream(self):
        last = self._next()
        if last is not None:
            yield {
                **last,
                "message": last["message"][:3],
                "end_turn": True,
                "recipient": "all",
                "usage": None,
            }
            yield last


def converse(chat, recipients=None, prompt="What is it?", **options):
    return asyncio.run(Dispatcher(recipients or {"python": Calculator}).converse(chat, prompt, **options))


@pytest.mark.parametrize("recipient", [Calculator, PythonRecipient])
def test_the_original_conversation_is_completed(recipient):
    """The example of the original takes exactly one tool round, whose reply begins with a fence."""
    chat = Chatbot(result(CODE, "python"), result(ANSWER))
    shown = []
    transcript = converse(chat, {"python": recipient}, prompt="27! + 8!", on_result=shown.append)
    assert ("end_turn", 2, ANSWER) == (transcript.stop_reason, transcript.turns, transcript.text)
    assert ["27! + 8!"] == chat.asked
    ((posted,),) = chat.posted
    assert posted["content"]["parts"][0].startswith("```")
    assert "10888869450418352160768040320" in posted["content"]["parts"][0]
    assert (posted,) == transcript.replies
    assert ["user", "assistant", "tool", "assistant"] == [m["author"]["role"] for m in transcript.messages]
    assert 4 == len(shown)


async def async_value(value):
    return value


class Values:
    """Gives plain dicts, or whatever the test makes of them."""

    def __init__(self, make, *script):
        self.make, self.script = make, list(script)

    def ask(self, _prompt):
        return self.make(self.script.pop(0))

    def post_messages(self, _messages):
        return self.make(self.script.pop(0))


class Async(Values):
    async def ask(self, prompt):
        return super().ask(prompt)

    async def post_messages(self, messages):
        return super().post_messages(messages)


class Later:
    """An asynchronous iterator that is no generator."""

    def __init__(self, values):
        self.values = iter(values)

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return next(self.values)
        except StopIteration:
            raise StopAsyncIteration from None


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        (Values, lambda found: found),
        (Values, lambda found: iter([{"message": ""}, found])),
        (Values, lambda found: [found]),
        (Values, async_value),
        (Async, lambda found: found),
        (Async, lambda found: [found]),
        (Values, lambda found: Later([{"message": ""}, found])),
    ],
)
def test_a_chat_may_be_written_in_any_style(kind, make):
    """Both methods may give a value or several, at once or later."""
    transcript = converse(kind(make, result(CODE, "python"), {"message": ANSWER}))
    assert ("end_turn", 2, ANSWER) == (transcript.stop_reason, transcript.turns, transcript.text)


def test_a_conversation_has_an_end():
    """A chat that calls for ever is stopped; the last call is not made."""
    chat = Chatbot(*[result("x", "echo")] * 9)
    transcript = converse(chat, {"echo": declared(echo)}, max_turns=3)
    assert ("max_turns", 3, "") == (transcript.stop_reason, transcript.turns, transcript.text)
    assert 2 == len(chat.posted)
    assert 6 == len(chat.script)
    statuses = [reply["metadata"]["status"] for reply in transcript.replies]
    assert ["invalid-arguments", "invalid-arguments", "not-called"] == statuses
    assert "The call was not made: the limit of 3 turns is reached." == reply_text(transcript.replies[-1])


def test_a_chat_that_can_conclude_is_asked_to():
    """For its last answer such a chat is told that it is the last."""
    finals = []

    class Concluding(Values):
        CAN_CONCLUDE = True

        def ask(self, prompt, *, final=False):
            finals.append(final)
            return super().ask(prompt)

        def post_messages(self, messages, *, final=False):
            finals.append(final)
            return super().post_messages(messages)

    transcript = converse(
        Concluding(lambda found: found, result(CODE, "python"), result("so far")), max_turns=2
    )
    assert ([False, True], "so far") == (finals, transcript.text)


def test_every_message_is_told_as_it_comes():
    """What was said is known even when the chat breaks off."""
    told = []
    chat = Values(lambda found: found, result(CODE, "python"))
    with pytest.raises(IndexError):
        converse(chat, on_message=told.append)
    assert ["user", "assistant", "tool"] == [message["author"]["role"] for message in told]


@pytest.mark.parametrize(
    ("script", "reason", "turns", "text"),
    [
        ([], "no_answer", 0, ""),
        ([result("x", "nobody")], "no_answer", 1, ""),
        ([result("half", end_turn=False)], "incomplete", 1, "half"),
        ([result("done", None)], "incomplete", 1, "done"),
        ([{"message": None}], "no_answer", 0, ""),
    ],
)
def test_the_reason_of_the_end_is_told(script, reason, turns, text):
    """A broken answer and a chat that says nothing end the conversation as such."""
    chat = Chatbot(*script) if script != [{"message": None}] else Values(lambda _found: None, *script)
    transcript = converse(chat)
    assert (reason, turns, text) == (transcript.stop_reason, transcript.turns, transcript.text)


def test_unknown_recipients_are_answered():
    """A message to nobody we know is answered, so that the model can try again."""
    chat = Chatbot(result("x", "pyton"), result("sorry"))
    transcript = converse(chat)
    assert 'Did you mean "python"?' in reply_text(transcript.replies[0])


def test_an_answer_may_have_several_calls():
    """All calls of a result are dispatched, in order, and posted together; what was used is added up."""
    calls = [{"recipient": "echo", "arguments": {"n": n}, "id": str(n)} for n in range(3)]
    usage = {"input": 5, "cost": 0.5, "model": "m"}
    chat = Chatbot({"message": "", "calls": calls, "usage": usage}, {"message": "ok", "usage": {"input": 2}})
    transcript = converse(chat, {"echo": declared(echo)})
    assert ["n=0", "n=1", "n=2"] == [reply_text(message) for message in chat.posted[0]]
    assert ["0", "1", "2"] == [message["metadata"]["call_id"] for message in chat.posted[0]]
    assert {"input": 7, "cost": 0.5} == transcript.usage


@pytest.mark.parametrize("answer", [5, [5], "text"])
def test_what_is_no_result_is_an_error_of_the_chat(answer):
    """A chat that gives no dicts is told so."""
    with pytest.raises(ChatError, match="a chat must give dicts, not"):
        converse(Values(lambda found: found, answer))


@pytest.mark.parametrize("calls", [5, "text", {"recipient": "echo"}])
def test_calls_that_are_no_list_are_an_error_of_the_chat(calls):
    """A chat that gives its calls in another shape is told so."""
    with pytest.raises(ChatError, match='a chat must give "calls" as a list, not'):
        converse(Chatbot({"message": "", "calls": calls}))


def test_errors_of_the_chat_pass_through():
    """What the chat raises is for its owner."""

    def fail(_found):
        raise ConnectionError("down")

    with pytest.raises(ConnectionError):
        converse(Values(fail, None))


def test_a_transcript_never_changes():
    """Messages and usage are read-only."""
    transcript = converse(Chatbot(result("x", usage={"n": 1})))
    with pytest.raises(TypeError):
        transcript.messages[0]["author"]["role"] = "system"
    with pytest.raises(TypeError):
        transcript.usage["n"] = 2
    assert FrozenDict is type(transcript.messages[1])


def test_a_transcript_is_saved_and_replayed(tmp_path):
    """What is saved loads as equal, and replays against recipients of today."""
    transcript = converse(Chatbot(result(CODE, "python"), result(ANSWER, usage={"n": 1})))
    path = tmp_path / "talk.jsonl"
    transcript.save(path)
    assert all(json.loads(line) for line in path.read_text().splitlines())
    loaded = Transcript.load(path)
    assert transcript == loaded

    def changed(arguments):
        return async_value(f"changed: {arguments['code'][:6]}")

    code = {"type": "object", "properties": {"code": {"type": "string"}}}

    class Changed(declared(changed, "python", code)):
        def arguments_of(self, call):
            return {"code": call.text}

    again = converse(Replay(loaded), {"python": Changed})
    assert ANSWER == again.text
    assert ["changed: import"] == [reply_text(message) for message in again.replies]
    with pytest.raises(ChatError, match="no further answer"):
        converse(Replay(Transcript(loaded.messages[:2], 1, "max_turns")))


@pytest.mark.parametrize(
    "text",
    ["", "{", "5\n", "{}\n", '{"end": 5}', "[" * 100_000,
     '{"author": {"role": 5}}\n{"end": {"turns": 1, "stop_reason": "x", "usage": {}}}',
     '{"end": {"turns": "x", "stop_reason": "x", "usage": {}}}'],
)  # fmt: skip
def test_another_file_is_no_transcript(tmp_path, text):
    """A file that save did not write is an error that says so."""
    path = tmp_path / "talk.jsonl"
    path.write_text(text)
    with pytest.raises(ChatError, match="is no transcript"):
        Transcript.load(path)


def test_a_transcript_of_odd_values_is_saved(tmp_path):
    """What is no JSON is saved as text, and no character stops the saving."""
    path = tmp_path / "talk.jsonl"
    transcript = Transcript([{"author": {"role": "user"}, "x": {1}, "y": "\ud800\u2028"}], 0, "no_answer")
    transcript.save(path)
    assert "no_answer" == Transcript.load(path).stop_reason
