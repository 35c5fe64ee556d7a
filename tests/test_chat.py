"""Whole conversations with stand-ins of the providers, on 127.0.0.1."""

import asyncio
import json

import httpx
import pytest
from model_server import (
    ModelServer,
    completion,
    completion_events,
    message,
    message_events,
    response,
    response_events,
    stream,
    whole,
)
from stubs import declared, echo

from registry.chat import AnthropicChat, OpenAIChat, Recorder, Retry
from registry.dispatch import Dispatcher
from registry.exceptions import ChatError, ExportRefused, InvalidMessage
from registry.manager import RecipientManager
from registry.messages import Outcome, reply
from registry.prompts.rendered import RenderedPrompt

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


async def forbidden(_arguments):
    raise AssertionError("this call must not be made")


async def add(arguments):
    return str(arguments["a"] + arguments["b"])


RECIPIENTS = {"add": declared(add, "add", SCHEMA), "sub": declared(add, "sub", SCHEMA)}
CALL = ("call_1", "add", '{"a": 1, "b": 2}')


async def no_sleep(_seconds):
    """Do not wait."""


def chat_with(api, url, recipients=RECIPIENTS, **options):
    """Return a chat with the stand-in over one of the three APIs."""
    options = {"api_key": "key-of-mine", "retry": Retry(sleep=no_sleep), **options}
    if api == "anthropic":
        return AnthropicChat("m", recipients, base_url=url, **options)
    return OpenAIChat("m", recipients, base_url=f"{url}/v1", api=api, **options)


#: API -> a whole answer, the same in events, and the way its requests take.
APIS = {
    "chat": (completion, completion_events, "/v1/chat/completions"),
    "responses": (response, response_events, "/v1/responses"),
    "anthropic": (message, message_events, "/v1/messages"),
}
each_api = pytest.mark.parametrize("api", APIS)


def answers(api, *answers, streamed=True):
    """Script answers, each given as arguments of the API's maker."""
    made, events, _path = APIS[api]
    if streamed:
        return ModelServer([stream(*events(*answer), done=api == "chat") for answer in answers])
    return ModelServer([whole(made(*answer)) for answer in answers])


def converse(chat, prompt="what is 1 + 2?", recipients=RECIPIENTS, **options):
    return asyncio.run(Dispatcher(recipients).converse(chat, prompt, **options))


def ask(chat, prompt="hello"):
    """Ask a chat and return its results."""

    async def results():
        return [result async for result in chat.ask(prompt)]

    return asyncio.run(results())


@each_api
@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_a_loop_of_two_turns(api, streamed):
    """The model calls, gets the reply, and answers; tokens and turns are counted."""
    recorder = Recorder()
    with answers(api, (None, [CALL]), ("it is 3",), streamed=streamed) as server:
        chat = chat_with(api, server.url, stream=streamed)
        transcript = converse(chat, on_message=recorder.add)
    assert recorder.transcript() == transcript
    assert (transcript.text, transcript.stop_reason, transcript.turns) == ("it is 3", "end_turn", 2)
    assert transcript.usage == {"input_tokens": 6, "output_tokens": 10}
    assert [entry["metadata"]["call_id"] for entry in transcript.replies] == ["call_1"]
    assert [APIS[api][2]] * 2 == [sent.path for sent in server.sent]
    assert len(chat.history) == {"chat": 4, "responses": 6, "anthropic": 4}[api]


def test_what_is_sent_to_chat_completions():
    """Requests have the model, the system message, the tools, and the results of calls with their ids."""
    with answers("chat", (None, [CALL]), ("3",)) as server:
        converse(chat_with("chat", server.url, system="Be brief.", max_tokens=9, options={"temperature": 0}))
    first, second = server.sent
    assert first.headers["authorization"] == "Bearer key-of-mine"
    assert first.body["tools"][0]["function"]["name"] == "add"
    assert {
        key: first.body[key] for key in ("model", "max_tokens", "temperature", "stream", "stream_options")
    } == {
        "model": "m",
        "max_tokens": 9,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    call = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": CALL[2]}}
    assert second.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "what is 1 + 2?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "3"},
    ]


def test_what_is_sent_to_responses():
    """What the model gave goes back as it came, thoughts too, with the output of its calls."""
    with answers("responses", (None, [CALL]), ("3",)) as server:
        converse(chat_with("responses", server.url, system="Be brief.", max_tokens=9))
    first, second = server.sent
    assert (first.body["instructions"], first.body["max_output_tokens"]) == ("Be brief.", 9)
    assert first.body["tools"][0]["name"] == "add"
    assert second.body["input"] == [
        {"role": "user", "content": "what is 1 + 2?"},
        *response(None, [CALL])["output"],
        {"type": "function_call_output", "call_id": "call_1", "output": "3"},
    ]


def test_what_is_sent_to_messages():
    """What the model gave goes back as it came, thoughts and signatures too; results are one user message."""
    calls = [CALL, ("call_2", "sub", '{"a": 2, "b": 2}')]
    with answers("anthropic", ("So:", calls), ("3",)) as server:
        converse(chat_with("anthropic", server.url, system="Be brief."))
    first, second = server.sent
    assert (first.headers["x-api-key"], first.headers["anthropic-version"]) == ("key-of-mine", "2023-06-01")
    assert (first.body["system"], first.body["max_tokens"]) == ("Be brief.", 4096)
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    results = [
        {"type": "tool_result", "tool_use_id": f"call_{n}", "content": text, "is_error": False}
        for n, text in ((1, "3"), (2, "4"))
    ]
    assert second.body["messages"] == [
        {"role": "user", "content": "what is 1 + 2?"},
        {"role": "assistant", "content": [thought, *message("So:", calls)["content"]]},
        {"role": "user", "content": results},
    ]


@each_api
def test_results_grow_and_the_last_is_whole(api):
    """Each result has the text so far; the last one says why the model stopped."""
    with answers(api, ("abcd",)) as server:
        results = ask(chat_with(api, server.url))
    assert [result["message"] for result in results] == ["ab", "abcd", "abcd"]
    assert [result["end_turn"] for result in results] == [False, False, True]
    assert results[-1]["finish_details"]["type"] in {"stop", "completed", "end_turn"}


@each_api
def test_parallel_calls_are_answered_together(api):
    """Several calls in one answer are all made, and their replies go back in one request."""
    with answers(api, (None, [CALL, ("call_2", "sub", '{"a": 2, "b": 2}')]), ("ok",)) as server:
        transcript = converse(chat_with(api, server.url))
    assert [entry["content"]["parts"][0] for entry in transcript.replies] == ["3", "4"]
    assert len(server.sent) == 2


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_malformed_arguments_are_answered_and_not_executed(api, streamed):
    """A call whose arguments are no JSON gets an error as its result, and the talk goes on."""
    with answers(api, (None, [("call_1", "add", '{"a": 1,')]), ("sorry",), streamed=streamed) as server:
        transcript = converse(chat_with(api, server.url))
    assert transcript.replies[0]["metadata"]["code"] == "invalid-json"
    assert transcript.text == "sorry"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ('{"a": 1,', "invalid-json"),
        ('{"a": 1, "b": 2, "a": 3}', "invalid-json"),
        ('{"a": 1, "b": NaN}', "invalid-json"),
        ("[1]", "not-an-object"),
    ],
)
def test_malformed_arguments_of_messages(raw, code):
    """Arguments that are no JSON are answered with an error; in the history an object stands for them."""
    with answers("anthropic", ("", [("call_1", "add", "{}")]), ("sorry",)) as server:
        events = message_events("", [("call_1", "add", "{}")])
        for event in events:
            if event.get("delta", {}).get("type") == "input_json_delta":
                event["delta"]["partial_json"] = raw
        server.replies[0] = stream(*events, done=False)
        transcript = converse(chat_with("anthropic", server.url))
    assert transcript.replies[0]["metadata"]["code"] == code
    assert server.sent[1].body["messages"][1]["content"][1]["input"] == {}


def test_empty_arguments_of_messages_may_be_left_out():
    """A call without arguments is one whose arguments are empty."""
    recipients = {"ping": declared(echo, "ping", {"type": "object"})}
    calls = [{"type": "tool_use", "id": "x", "name": "ping"}]
    with ModelServer([whole(message() | {"content": calls}), whole(message("ok"))]) as server:
        transcript = converse(chat_with("anthropic", server.url, recipients), recipients=recipients)
    assert "ok" == transcript.replies[0]["metadata"]["status"]
    assert {} == server.sent[1].body["messages"][1]["content"][0]["input"]


@pytest.mark.parametrize("kept", [slice(0, -1), slice(0, None)])
def test_messages_end_with_a_reason_or_with_the_mark_of_the_end(kept):
    """An answer is whole when either has come."""
    events = message_events("ab")
    if kept.stop is None:
        del events[-2]
    with ModelServer([stream(*events[kept], done=False)]) as server:
        transcript = converse(chat_with("anthropic", server.url))
    assert ("end_turn", "ab") == (transcript.stop_reason, transcript.text)


@each_api
def test_the_last_turn_calls_nobody(api):
    """When one more turn is left, the model may not call; the talk ends with its text."""
    with answers(api, (None, [CALL]), ("enough",)) as server:
        transcript = converse(chat_with(api, server.url), max_turns=2)
    assert (transcript.stop_reason, transcript.text) == ("end_turn", "enough")
    assert "tool_choice" not in server.sent[0].body
    if api == "anthropic":
        assert server.sent[1].body["tool_choice"] == {"type": "none"}
        assert server.sent[1].body["tools"] == server.sent[0].body["tools"]
    else:
        assert "tools" not in server.sent[1].body


@each_api
def test_a_model_that_never_stops_calling_is_stopped(api):
    """At the limit the last calls are not made, and each has a reply that says so."""
    with answers(api, (None, [CALL])) as server:
        transcript = converse(chat_with(api, server.url), max_turns=3)
    assert (transcript.stop_reason, transcript.turns, len(server.sent)) == ("max_turns", 3, 3)
    assert [entry["metadata"]["status"] for entry in transcript.replies] == ["ok", "ok", "not-called"]


@each_api
def test_open_calls_are_closed_before_the_next_question(api):
    """Calls that nobody answered are answered as cancelled when the user speaks again."""
    with answers(api, (None, [CALL, ("call_2", "sub", "{}")]), ("ok",)) as server:
        chat = chat_with(api, server.url)
        ask(chat)
        ask(chat, "never mind")
    said = json.dumps(server.sent[1].body)
    assert said.count("The call was not made") == 2
    assert len(server.sent) == 2


@each_api
def test_a_missing_reply_is_filled_in(api):
    """Where one of two calls has no reply, it is answered as cancelled beside the other."""
    with answers(api, (None, [CALL, ("call_2", "sub", "{}")]), ("ok",)) as server:
        chat = chat_with(api, server.url)
        ask(chat)

        async def post():
            return [result async for result in chat.post_messages([reply("add", Outcome("3"), "call_1")])]

        assert asyncio.run(post())[-1]["message"] == "ok"
    assert json.dumps(server.sent[1].body).count("The call was not made") == 1


def test_a_reply_to_no_call_is_refused():
    """A reply without the id of a call cannot be sent."""
    chat = chat_with("chat", "http://127.0.0.1:9")

    async def post():
        return [result async for result in chat.post_messages([reply("add", Outcome("3"))])]

    with pytest.raises(InvalidMessage, match="answers no tool call"):
        asyncio.run(post())


@each_api
def test_a_failed_question_leaves_no_trace(api):
    """After an error the history is as it was, and the question can be asked again."""
    with answers(api, ("one",), ("two",)) as server:
        good = server.replies
        server.replies = [whole({"error": {"message": "bad"}}, 400), *good]
        chat = chat_with(api, server.url)
        with pytest.raises(ChatError, match="answered 400: bad"):
            ask(chat, "first")
        assert chat.history == []
        ask(chat, "second")
    assert "first" not in json.dumps(server.sent[1].body)


def test_being_cancelled_leaves_the_history_in_order():
    """A question whose answer is not waited for leaves no trace."""
    with answers("chat", ("abcd",)) as server:
        chat = chat_with("chat", server.url)

        async def leave():
            results = chat.ask("hello")
            await anext(results)
            await results.aclose()

        asyncio.run(leave())
    assert chat.history == []


@each_api
def test_the_next_question_does_not_wait_for_the_end_of_the_last(api):
    """Whoever stops reading an answer, in whatever way, can ask on: the history has the new question only."""
    with answers(api, ("abcd",)) as server:
        chat = chat_with(api, server.url)

        def stop(_result):
            raise ZeroDivisionError

        async def ask_on():
            async for _result in chat.ask("one"):
                break
            unread = chat.ask("two")
            await anext(unread)
            try:
                await Dispatcher({}).converse(chat, "three", on_result=stop)
            except ZeroDivisionError:
                transcript = await Dispatcher({}).converse(chat, "four")
            await unread.aclose()
            return transcript

        assert "abcd" == asyncio.run(ask_on()).text
    assert "four" == chat.history[0]["content"]
    assert ["user", "assistant"] == [item["role"] for item in chat.history if "role" in item]


def test_being_cancelled_in_a_call_leaves_a_clean_transcript():
    """When a talk is cancelled while a recipient works, the recorded call has a reply that says so."""
    recorder = Recorder()

    async def hang(_arguments):
        task.cancel()
        await asyncio.Event().wait()

    async def talk():
        nonlocal task
        task = asyncio.current_task()
        slow = {"add": declared(hang, "add", SCHEMA)}
        await Dispatcher(slow).converse(chat, "add", on_message=recorder.add)

    task = None
    with answers("chat", (None, [CALL]), ("fine",)) as server:
        chat = chat_with("chat", server.url)
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(talk())
        assert recorder.transcript("cancelled").replies[0]["metadata"]["status"] == "not-called"
        converse(chat, "and now?", on_message=recorder.add)
    transcript = recorder.transcript()
    assert [entry["author"]["role"] for entry in transcript.messages] == [
        "user",
        "assistant",
        "tool",
        "user",
        "assistant",
    ]
    assert (transcript.turns, transcript.usage) == (2, {"input_tokens": 6, "output_tokens": 10})
    assert [entry["role"] for entry in chat.history] == ["user", "assistant", "tool", "user", "assistant"]


def test_a_recorder_knows_calls_in_the_original_form():
    """A result that itself addresses a recipient is a call; without messages there is none."""
    assert Recorder().transcript().messages == ()
    recorder = Recorder()
    recorder.add({"author": {"role": "assistant"}, "message": "x", "recipient": "python"})
    assert recorder.transcript().replies[0]["author"]["name"] == "python"


def test_the_recipients_of_a_manager_are_those_of_the_moment():
    """Each request has the tools that the manager has then."""
    manager = RecipientManager()
    with answers("chat", ("one",), ("two",)) as server:
        chat = chat_with("chat", server.url, manager)
        ask(chat)
        manager["add"] = RECIPIENTS["add"]
        ask(chat)
    assert ["tools" in sent.body for sent in server.sent] == [False, True]


def test_what_cannot_be_exported_is_told_at_once():
    """A recipient that the provider cannot be told about is an error when the chat is made."""
    with pytest.raises(ExportRefused):
        chat_with(
            "anthropic", "http://127.0.0.1:9", {"a": declared(add, "a", {"type": "object", "anyOf": [{}]})}
        )


PROMPT = RenderedPrompt(
    [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "Be kind."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image", "mime_type": "image/png", "data": b"x"},
                {"type": "file", "mime_type": "text/plain", "data": b"y", "name": "n.txt"},
            ],
        },
        {"role": "assistant", "content": "nice"},
    ]
)


@each_api
def test_a_prompt_begins_a_conversation(api):
    """System messages go where the provider wants them, the others before the question."""
    with answers(api, ("hello",)) as server:
        chat = chat_with(api, server.url)
        chat.begin(PROMPT)
        ask(chat, "and?")
    body = server.sent[0].body
    system = {"chat": lambda: body["messages"][0]["content"], "responses": lambda: body["instructions"]}
    assert system.get(api, lambda: body["system"])() == "Be brief.\n\nBe kind."
    items = body["input" if api == "responses" else "messages"]
    assert [item["role"] for item in items if item["role"] != "system"] == ["user", "assistant", "user"]
    kinds = {
        "chat": ["text", "image_url", "file"],
        "responses": ["input_text", "input_image", "input_file"],
        "anthropic": ["text", "image", "document"],
    }
    looked = next(item for item in items if item["role"] == "user")
    assert kinds[api] == [part["type"] for part in looked["content"]]


@pytest.mark.parametrize(
    ("api", "answer", "reason"),
    [
        ("chat", ("cut", (), "length"), "length"),
        ("responses", ("cut", (), "incomplete"), "max_output_tokens"),
        ("anthropic", ("cut", (), "max_tokens"), "max_tokens"),
    ],
)
def test_an_answer_that_was_cut_is_incomplete(api, answer, reason):
    """An answer that ran out of tokens ends the talk as incomplete."""
    with answers(api, answer) as server:
        transcript = converse(chat_with(api, server.url))
    assert (transcript.stop_reason, transcript.text) == ("incomplete", "cut")
    assert transcript.messages[-1]["finish_details"] == {"type": reason}


@pytest.mark.parametrize(
    ("api", "reply"),
    [
        ("chat", stream(*completion_events(None, [("x", "ping", "")])[:2], done=False)),
        (
            "chat",
            whole(
                {
                    "choices": [
                        {
                            "message": completion(None, [("x", "ping", "{}")])["choices"][0]["message"],
                            "finish_reason": "length",
                        }
                    ]
                }
            ),
        ),
        ("responses", whole(response(None, [("x", "ping", "")], "incomplete"))),
        ("anthropic", whole(message(None, [("x", "ping", "{}")]) | {"stop_reason": "max_tokens"})),
    ],
)
def test_a_call_that_was_cut_before_its_arguments_is_not_made(api, reply):
    """A call at the end of an answer that was cut has lost its arguments: it is not made without them."""
    recipients = {"ping": declared(forbidden, "ping", {"type": "object"})}
    good = whole(APIS[api][0]("sorry"))
    with ModelServer([reply, good]) as server:
        transcript = converse(chat_with(api, server.url, recipients), recipients=recipients)
    assert [("invalid-arguments", "x")] == [
        (told["metadata"]["status"], told["metadata"]["call_id"]) for told in transcript.replies
    ]
    assert ("end_turn", "sorry") == (transcript.stop_reason, transcript.text)


@pytest.mark.parametrize(("done", "reason"), [(True, "end_turn"), (False, "incomplete")])
def test_a_stream_that_just_ends_was_broken_off(done, reason):
    """Without a reason, only the mark at the end of the stream tells that the answer is whole."""
    with ModelServer([stream({"choices": [{"delta": {"content": "so"}}]}, done=done)]) as server:
        transcript = converse(chat_with("chat", server.url))
    assert (reason, "so") == (transcript.stop_reason, transcript.text)


def test_text_in_parts_is_text():
    """Where a server gives content as parts, those that are text count, and others are passed over."""
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "an"}, {"type": "text"}]
    for given in (
        stream({"choices": [{"delta": {"content": parts}}]}, {"choices": [{"delta": {"content": "swer"}}]}),
        whole({"choices": [{"message": {"content": [*parts, {"type": "text", "text": "swer"}]}}]}),
    ):
        with ModelServer([given]) as server:
            assert "answer" == ask(chat_with("chat", server.url))[-1]["message"]


def test_an_empty_answer_is_no_item():
    """An answer without any content ends the talk; nothing empty is sent back."""
    with ModelServer([whole(message(""))]) as server:
        chat = chat_with("anthropic", server.url)
        assert ask(chat)[-1]["end_turn"] is True
        assert len(chat.history) == 1
    with ModelServer([whole(completion(None))]) as server:
        chat = chat_with("chat", server.url)
        assert ask(chat)[-1]["message"] == ""
        assert len(chat.history) == 1


def _chunk(*calls, **delta):
    return {"choices": [{"delta": {"tool_calls": list(calls), **delta}}]}


ODD_CALLS = {
    "no index": [
        _chunk({"id": "x", "function": {"name": "add", "arguments": '{"a": 1,'}}),
        _chunk({"function": {"arguments": ' "b": 2}'}}),
    ],
    "one index for all": [
        _chunk({"index": 0, "id": "x", "function": {"name": "add", "arguments": "{}"}}),
        _chunk({"index": 0, "id": "y", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}),
    ],
    "no index, by turns": [
        _chunk(
            {"id": "x", "function": {"name": "add", "arguments": '{"a": 5,'}},
            {"id": "y", "function": {"name": "add", "arguments": '{"a": 1,'}},
        ),
        _chunk(
            {"id": "x", "function": {"arguments": ' "b": 6}'}},
            {"id": "y", "function": {"arguments": ' "b": 2}'}},
        ),
    ],
    "no index and no id": [
        _chunk({"function": {"name": "add", "arguments": '{"a": 5, "b": 6}'}}),
        _chunk({"function": {"name": "add", "arguments": '{"a": 1'}}),
        _chunk({"function": {"name": "add", "arguments": ', "b": 2}'}}),
    ],
    "arguments as an object": [
        _chunk({"index": 0, "id": "x", "function": {"name": "add", "arguments": {"a": 1, "b": 2}}}),
    ],
    "no id": [_chunk({"index": 0, "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}})],
    "an object": [
        _chunk(),
        {"choices": [{"delta": {"refusal": ""}}]},
        _chunk({"index": 0, "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}),
    ],
}


@pytest.mark.parametrize("chunks", ODD_CALLS.values(), ids=ODD_CALLS)
def test_calls_that_servers_stream_in_their_own_ways(chunks):
    """Calls without an index, with one index for all, or without an id are put together all the same."""
    with ModelServer([stream(*chunks), whole(completion("3"))]) as server:
        transcript = converse(chat_with("chat", server.url))
    assert transcript.replies[-1]["content"]["parts"] == ["3"]
    assert all(told["metadata"]["call_id"] for told in transcript.replies)
    assert "" not in [told["author"]["name"] for told in transcript.replies]
    assert "no valid JSON" not in str(transcript.replies)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [({"a": 1, "b": 2}, "ok"), ("", "invalid-arguments"), (None, "invalid-arguments")],
)
def test_arguments_that_servers_give_in_their_own_ways(arguments, status):
    """Arguments as an object are taken as one; none at all are none."""
    with ModelServer([whole(completion(None, [("x", "add", arguments)])), whole(completion("3"))]) as server:
        transcript = converse(chat_with("chat", server.url))
    assert transcript.replies[0]["metadata"]["status"] == status
    assert transcript.replies[0]["metadata"].get("code") != "invalid-json"


def test_a_call_of_a_custom_tool_is_text():
    """A call that is text addresses its recipient with that text."""
    call = {"id": "x", "type": "custom", "custom": {"name": "add", "input": "text"}}
    answer = {
        "choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}]
    }
    with ModelServer([whole(answer)]) as server:
        assert ask(chat_with("chat", server.url))[-1]["calls"] == [
            {"recipient": "add", "message": "text", "id": "x"}
        ]


def test_text_at_the_start_of_a_block_counts():
    """Text that comes with the start of a block is text; what is not known is passed over."""
    events = [
        {"type": "message_start", "message": {"usage": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {}}},
        {"type": "surprise"},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    ]
    with ModelServer([stream(*events, done=False)]) as server:
        results = ask(chat_with("anthropic", server.url))
    assert [result["message"] for result in results] == ["a", "a"]
    assert results[-1]["usage"] == {}


def test_the_base_url_of_messages_may_have_the_version():
    """The version is put at the end of the base URL where it is missing, and only there."""
    with ModelServer([whole(message("a"))]) as server:
        for url in (server.url, f"{server.url}/", f"{server.url}/v1", f"{server.url}/v1/"):
            ask(chat_with("anthropic", url))
    assert {sent.path for sent in server.sent} == {"/v1/messages"}


def test_a_client_of_ones_own_is_used_and_left_open():
    """An httpx client that is given makes the requests and stays open."""
    client = httpx.AsyncClient(
        transport=httpx.MockTransport(lambda _request: httpx.Response(200, json=completion("a")))
    )
    assert ask(chat_with("chat", "http://model.example", client=client))[-1]["message"] == "a"
    assert not client.is_closed


def test_a_chat_shows_no_key():
    """The text of a chat names model and place, and neither key nor password."""
    chat = OpenAIChat("m", base_url="http://user:word@model.example:8000/v1", api_key="key-of-mine")
    assert repr(chat) == "<OpenAIChat with 'm' at model.example:8000, 0 items>"
    assert "key-of-mine" not in repr(vars(chat))


def test_keys_come_from_the_environment(monkeypatch):
    """Each provider has its variable; without a key its own address cannot be asked, and others can."""
    for made, variable in ((OpenAIChat, "OPENAI_API_KEY"), (AnthropicChat, "ANTHROPIC_API_KEY")):
        monkeypatch.delenv(variable, raising=False)
        with pytest.raises(ChatError, match=f"set {variable}"):
            made("m")
        monkeypatch.setenv(variable, " key-of-mine\n")
        assert repr(made("m", {})).startswith(f"<{made.__name__} with 'm' at api.")
        monkeypatch.delenv(variable)
        with ModelServer([whole(completion("a") | message("a"))]) as server:
            ask(made("m", base_url=server.url))
        assert not {"authorization", "x-api-key"} & server.sent[0].headers.keys()


def test_no_key_means_no_header_for_responses():
    """The Responses API of a server of one's own is asked without a key, too."""
    with answers("responses", ("a",)) as server:
        ask(chat_with("responses", server.url, api_key=""))
    assert "authorization" not in server.sent[0].headers


@pytest.mark.parametrize("key", ["a b", "é", "a\nb"])
def test_a_key_that_cannot_be_one_is_refused_unseen(key):
    """A key that no header can carry is an error that does not show it."""
    with pytest.raises(ChatError, match="characters that no key has") as caught:
        OpenAIChat("m", api_key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["", "model.example", "ftp://model.example", "http://", "http://a:b", "http://[", "http://a:0"]
)
def test_a_base_url_that_cannot_be_one_is_refused(url):
    """A base URL is an http or https address with a host."""
    if url:
        with pytest.raises(ChatError, match="must be an http or https address"):
            OpenAIChat("m", base_url=url, api_key="k")
    else:
        assert "api.openai.com" in repr(OpenAIChat("m", base_url=url, api_key="k"))


def test_an_api_that_is_not_there_is_refused():
    """There are two APIs, and no third."""
    with pytest.raises(ValueError, match="there is no API 'x'; there are: chat, responses"):
        OpenAIChat("m", api="x", api_key="k")
