"""Tests of every form a message takes, and of what providers make of them."""

import json
import uuid

import hypothesis
import hypothesis.strategies as st
import pytest

from registry import toolcalls
from registry.exceptions import InvalidMessage
from registry.messages import Call, Outcome, address, fence, json_type, new_id, reply, reply_text

PNG = {"type": "image", "mime_type": "image/png", "data": b"\x89PNG"}
REPLY = reply("w", Outcome("sunny"), "call_1")
FAILED = reply("w", Outcome("no", "error"), "call_1")
SHOWN = reply("w", Outcome("see", parts=(PNG,)), "call_1")


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ({"message": "print(1)", "recipient": "python"}, Call("python", None, "print(1)")),
        (
            {"message": "x", "recipient": "p", "end_turn": False, "conversation_id": None, "id": "7"},
            Call("p", None, "x", "7"),
        ),
        ({"recipient": "p", "content": {"content_type": "code", "text": "1"}}, Call("p", None, "1")),
        (
            {"recipient": "p", "content": {"content_type": "text", "parts": ["a", "b"]}},
            Call("p", None, "a\nb"),
        ),
        ({"recipient": "p", "content": {"parts": []}}, Call("p", None, "")),
        ({"recipient": "p", "arguments": {"a": 1}, "id": "c"}, Call("p", {"a": 1}, None, "c")),
        ({"recipient": "p", "arguments": '{"a": 1}'}, Call("p", '{"a": 1}')),
        ({"recipient": "p", "arguments": None, "id": None}, Call("p")),
    ],
)
def test_three_forms_address_a_recipient(message, call):
    """The stream result, the ChatGPT form and the plain form are all read."""
    assert call == address(message)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ([], "a message must be an object, not a list"),
        ("x", "not a string"),
        ({}, '"recipient"'),
        ({"recipient": ""}, '"recipient"'),
        ({"recipient": 5, "arguments": {}}, '"recipient"'),
        ({"recipient": "a", "arguments": {}, "id": 5}, '"id" must be a string, not an integer'),
        ({"recipient": "a"}, "none of them"),
        ({"recipient": "a", "message": None}, '"message" must be a string, not null'),
        ({"recipient": "a", "content": "x"}, '"content" must be an object, not a string'),
        ({"recipient": "a", "content": {"content_type": "image", "parts": []}}, "content_type"),
        ({"recipient": "a", "content": {"content_type": "text", "parts": [1]}}, "list of strings"),
        ({"recipient": "a", "content": {"content_type": "code"}}, "list of strings"),
    ],
)
def test_a_message_of_no_form_is_an_error_that_says_why(message, text):
    """A message that addresses nobody raises InvalidMessage with what is wrong."""
    with pytest.raises(InvalidMessage) as caught:
        address(message)
    assert text in str(caught.value)


def test_a_call_is_read_as_arguments_or_as_text():
    """`raw` is what a schema checks and `body` what is read as text, whatever form the message had."""
    assert "x" == Call("a", None, "x").raw == Call("a", None, "x").body
    assert {"b": "é"} == Call("a", {"b": "é"}).raw
    assert '{"b": "é"}' == Call("a", {"b": "é"}).body == Call("a", '{"b": "é"}').body


def test_a_reply_has_the_original_shape():
    """A reply has an id, the tool as author, one text part, and its status."""
    message = reply("python", Outcome("42", "timeout", {"exit_code": 1}))
    assert 4 == uuid.UUID(message.pop("id")).version
    assert {
        "author": {"role": "tool", "name": "python"},
        "content": {"content_type": "text", "parts": ["42"]},
        "metadata": {"exit_code": 1, "status": "timeout"},
    } == message


def test_parts_of_a_reply_are_json():
    """Further parts follow the text, their bytes as base64, and what is JSON is kept."""
    message = reply("a", Outcome("x", parts=(PNG, {"type": "file", "name": "f"})), "c")
    assert "multimodal_text" == message["content"]["content_type"]
    assert [
        "x",
        {"type": "image", "mime_type": "image/png", "data": "iVBORw=="},
        {"type": "file", "name": "f"},
    ] == json.loads(json.dumps(message))["content"]["parts"]
    assert "x" == reply_text(message)
    assert "c" == message["metadata"]["call_id"]


def test_ids_are_random_uuids():
    """Every id is the canonical text of a version 4 UUID, and none comes twice."""
    ids = [new_id() for _ in range(500)]
    parsed = [uuid.UUID(text) for text in ids]
    assert ids == [str(found) for found in parsed]
    assert {(4, uuid.RFC_4122)} == {(found.version, found.variant) for found in parsed}
    assert 500 == len(set(ids))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"), (True, "a boolean"), (1, "an integer"), (1.5, "a number"), ("", "a string"),
        ([], "a list"), ((), "a list"), ({}, "an object"), ({1}, "a value of type set"),
    ],
)  # fmt: skip
def test_json_has_a_name_for_every_type(value, name):
    """Types are named as JSON names them."""
    assert name == json_type(value)


@pytest.mark.parametrize(
    ("text", "fenced"),
    [
        ("42", "```output\n42\n```"),
        ("42\n", "```output\n42\n```"),
        ("", "```output\n```"),
        ("```\nx\n```", "````output\n```\nx\n```\n````"),
        ("a `b`", "```output\na `b`\n```"),
    ],
)
def test_a_fence_is_labelled(text, fenced):
    """A fence is labelled and its text stands on lines of its own."""
    assert fenced == fence(text)


@hypothesis.given(st.text(st.sampled_from("`\n a"), max_size=30))
def test_no_text_closes_its_fence(text):
    """No run of backticks inside a fence is as long as the fence."""
    first, *lines = fence(text, "x").split("\n")
    ticks = first.removesuffix("x")
    assert lines[-1] == ticks
    assert ticks not in "\n".join(lines[:-1])


OPENAI = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "w", "arguments": '{"a": 1}'}},
        {"id": "call_2", "type": "custom", "custom": {"name": "python", "input": "print(1)"}},
    ],
}
OPENAI_CALLS = (
    {"recipient": "w", "arguments": '{"a": 1}', "id": "call_1"},
    {"recipient": "python", "message": "print(1)", "id": "call_2"},
)
RESPONSES = [
    {"type": "reasoning"},
    {"type": "function_call", "id": "fc", "call_id": "call_1", "name": "w", "arguments": '{"a": 1}'},
    {"type": "custom_tool_call", "call_id": "call_2", "name": "python", "input": "print(1)"},
]
ANTHROPIC = [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "t", "name": "w", "input": {"a": 1}}]
GEMINI = [
    {"text": "x"},
    {"functionCall": {"name": "w", "args": {"a": 1}, "id": "g"}},
    {"function_call": {"name": "v"}},
]


@pytest.mark.parametrize(
    ("convert", "data", "calls"),
    [
        (toolcalls.tool_calls_from_openai, OPENAI, OPENAI_CALLS),
        (toolcalls.tool_calls_from_openai, {"choices": [{"message": OPENAI}]}, OPENAI_CALLS),
        (toolcalls.tool_calls_from_openai, {"choices": []}, ()),
        (toolcalls.tool_calls_from_openai, {"role": "assistant", "content": "x"}, ()),
        (toolcalls.tool_calls_from_openai_responses, RESPONSES, OPENAI_CALLS),
        (toolcalls.tool_calls_from_openai_responses, {"output": RESPONSES}, OPENAI_CALLS),
        (
            toolcalls.tool_calls_from_anthropic,
            ANTHROPIC,
            ({"recipient": "w", "arguments": {"a": 1}, "id": "t"},),
        ),
        (toolcalls.tool_calls_from_anthropic, {"content": "just text"}, ()),
        (
            toolcalls.tool_calls_from_gemini,
            {"candidates": [{"content": {"parts": GEMINI}}]},
            (
                {"recipient": "w", "arguments": {"a": 1}, "id": "g"},
                {"recipient": "v", "arguments": {}},
            ),
        ),
        (toolcalls.tool_calls_from_gemini, {"candidates": [{}]}, ()),
        (
            toolcalls.tool_calls_from_mcp,
            {"method": "tools/call", "params": {"name": "w", "arguments": {"a": 1}}},
            ({"recipient": "w", "arguments": {"a": 1}},),
        ),
        (toolcalls.tool_calls_from_mcp, {"name": "w"}, ({"recipient": "w", "arguments": {}},)),
    ],
)
def test_tool_calls_of_providers_become_plain_messages(convert, data, calls):
    """A response or the message in it gives its calls, in order, with the ids they are answered under."""
    assert calls == convert(data)
    for call in calls:
        assert call["recipient"] == address(call).recipient


@pytest.mark.parametrize(
    ("convert", "data", "text"),
    [
        (toolcalls.tool_calls_from_openai, {"tool_calls": {}}, "tool_calls must be a list, not an object"),
        (toolcalls.tool_calls_from_openai, {"tool_calls": [1]}, "tool_calls[0] must be an object"),
        (toolcalls.tool_calls_from_openai, {"tool_calls": [{"id": "a"}]}, "tool_calls[0].function must be"),
        (
            toolcalls.tool_calls_from_openai,
            {"tool_calls": [{"id": "a", "function": {"name": "w", "arguments": {}}}]},
            "tool_calls[0].function.arguments must be a string, not an object",
        ),
        (toolcalls.tool_calls_from_anthropic, [{"type": "tool_use", "name": 1}], "content[0].name"),
        (toolcalls.tool_calls_from_gemini, [{"functionCall": 1}], "parts[0].functionCall.name"),
        (toolcalls.tool_calls_from_mcp, [], "params.name must be a string"),
    ],
)
def test_malformed_tool_calls_are_told_by_their_path(convert, data, text):
    """A call that is not as documented raises InvalidMessage with the path of what is wrong."""
    with pytest.raises(InvalidMessage) as caught:
        convert(data)
    assert text in str(caught.value)


IMAGE = "iVBORw=="


@pytest.mark.parametrize(
    ("convert", "message", "result"),
    [
        (
            toolcalls.tool_result_for_openai,
            REPLY,
            {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
        ),
        (
            toolcalls.tool_result_for_openai_responses,
            REPLY,
            {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
        ),
        (
            toolcalls.tool_result_for_openai_responses,
            SHOWN,
            {
                "type": "function_call_output",
                "call_id": "call_1",
                "output": [
                    {"type": "input_text", "text": "see"},
                    {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}"},
                ],
            },
        ),
        (
            toolcalls.tool_result_for_anthropic,
            FAILED,
            {"type": "tool_result", "tool_use_id": "call_1", "content": "no", "is_error": True},
        ),
        (
            toolcalls.tool_result_for_anthropic,
            SHOWN,
            {
                "type": "tool_result",
                "tool_use_id": "call_1",
                "content": [
                    {"type": "text", "text": "see"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": IMAGE},
                    },
                ],
                "is_error": False,
            },
        ),
        (
            toolcalls.tool_result_for_gemini,
            REPLY,
            {"functionResponse": {"id": "call_1", "name": "w", "response": {"output": "sunny"}}},
        ),
        (
            toolcalls.tool_result_for_gemini,
            reply("w", Outcome("no", "error")),
            {"functionResponse": {"name": "w", "response": {"error": "no"}}},
        ),
        (
            toolcalls.tool_result_for_mcp,
            SHOWN,
            {
                "content": [
                    {"type": "text", "text": "see"},
                    {"type": "image", "data": IMAGE, "mimeType": "image/png"},
                ],
                "isError": False,
            },
        ),
    ],
)
def test_replies_become_what_providers_want_back(convert, message, result):
    """A reply becomes the provider's tool result, tied to the call by its id."""
    assert result == convert(message)


def test_a_reply_to_no_call_is_no_tool_result():
    """Providers that match results by id get none without one."""
    with pytest.raises(InvalidMessage):
        toolcalls.tool_result_for_openai(reply("w", Outcome("x")))
