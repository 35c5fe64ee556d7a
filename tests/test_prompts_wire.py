"""Rendered prompts in the shapes of providers; with their SDKs at hand, also by their own types."""

from __future__ import annotations

import json

import pytest

from registry.exceptions import RenderError
from registry.prompts.rendered import RenderedPrompt

PNG = {"type": "image", "mime_type": "image/png", "data": b"png"}
PDF = {"type": "file", "mime_type": "application/pdf", "data": b"pdf", "name": "a.pdf"}
TXT = {"type": "file", "mime_type": "text/plain", "data": b"txt", "name": "a.txt"}
WEB = {"type": "image", "url": "https://example.org/a.png"}
WEB_FILE = {"type": "file", "url": "https://example.org/a.pdf"}
TEXT = {"type": "text", "text": "t"}
EMPTY = {"type": "text", "text": ""}


def call(arguments, **more):
    return {"id": "c1", "type": "function", "function": {"name": "python", "arguments": arguments}, **more}


CHAT = RenderedPrompt(
    [
        {"role": "system", "content": "One."},
        {"role": "developer", "content": "Two."},
        {"role": "user", "content": "a"},
        {"role": "user", "content": [TEXT, PNG, EMPTY]},
        {"role": "assistant", "content": None, "tool_calls": [call('{"code": "1"}')]},
        {"role": "tool", "content": "1", "tool_call_id": "c1"},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": "b"},
        {"role": "system", "content": [TEXT]},
        {"role": "tool", "content": "no id"},
    ]
)
PLAIN = RenderedPrompt([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
MEDIA = RenderedPrompt([{"role": "user", "content": [TEXT, PNG, PDF, TXT, WEB]}])


def test_openai_messages():
    """OpenAI takes the messages as they are; images and files get its own shapes."""
    assert PLAIN.to_openai() == list(PLAIN)
    assert CHAT.to_openai()[4:6] == [
        {"role": "assistant", "content": None, "tool_calls": [call('{"code": "1"}')]},
        {"role": "tool", "content": "1", "tool_call_id": "c1"},
    ]
    assert MEDIA.to_openai()[0]["content"] == [
        TEXT,
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,cGRm"}},
        {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,dHh0"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    ]


def test_openai_parts_of_the_caller_stay():
    """Parts that are in OpenAI's shape already are not touched."""
    own = [{"type": "file", "file": {"file_id": "f"}}, {"type": "input_audio", "input_audio": {}}]
    assert RenderedPrompt([{"role": "user", "content": own}]).to_openai()[0]["content"] == own


def test_openai_takes_no_file_by_its_address():
    """What cannot be said is refused, not dropped."""
    with pytest.raises(RenderError) as caught:
        RenderedPrompt([{"role": "user", "content": [WEB_FILE]}]).to_openai()
    assert caught.value.code == "wrong-type"


def test_anthropic_messages():
    """System messages go to the top, neighbours of one role are merged, tool calls become blocks."""
    assert PLAIN.to_anthropic() == {"messages": list(PLAIN)}
    source = {"type": "base64", "media_type": "image/png", "data": "cG5n"}
    assert CHAT.to_anthropic() == {
        "system": "One.\n\nTwo.\n\nt",
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "a"}, TEXT, {"type": "image", "source": source}],
            },
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c1", "name": "python", "input": {"code": "1"}}],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "1"}]}
                ],
            },
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "no id"},
        ],
    }


def test_anthropic_media():
    """Files are documents; a text file is sent as text, an address as an address."""
    own = {"type": "image", "source": {"type": "file", "file_id": "f"}}
    made = RenderedPrompt([{"role": "user", "content": [PDF, TXT, WEB, WEB_FILE, own, {"type": "other"}]}])
    blocks = made.to_anthropic()["messages"][0]["content"]
    assert [block.get("source") for block in blocks] == [
        {"type": "base64", "media_type": "application/pdf", "data": "cGRm"},
        {"type": "text", "media_type": "text/plain", "data": "txt"},
        {"type": "url", "url": "https://example.org/a.png"},
        {"type": "url", "url": "https://example.org/a.pdf"},
        own["source"],
        None,
    ]
    assert [block["type"] for block in blocks] == [
        "document",
        "document",
        "image",
        "document",
        "image",
        "other",
    ]


def test_gemini_contents():
    """System messages are the instruction; the assistant is the model; calls and answers keep their names."""
    assert PLAIN.to_gemini() == {
        "contents": [{"role": "user", "parts": [{"text": "a"}]}, {"role": "model", "parts": [{"text": "b"}]}]
    }
    answer = {"id": "c1", "name": "python", "response": {"output": "1"}}
    assert CHAT.to_gemini() == {
        "systemInstruction": {"parts": [{"text": "One.\n\nTwo.\n\nt"}]},
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "a"},
                    {"text": "t"},
                    {"inlineData": {"mimeType": "image/png", "data": "cG5n"}},
                ],
            },
            {
                "role": "model",
                "parts": [{"functionCall": {"id": "c1", "name": "python", "args": {"code": "1"}}}],
            },
            {"role": "user", "parts": [{"functionResponse": answer}]},
            {"role": "model", "parts": [{"text": "b"}]},
            {"role": "user", "parts": [{"text": "no id"}]},
        ],
    }


def test_gemini_names_and_addresses():
    """An answer whose call is not there takes the name that it has, or its id; an address stays one."""
    messages = [
        {"role": "tool", "content": "1", "tool_call_id": "c9", "name": "python"},
        {"role": "tool", "content": "2", "tool_call_id": "c9"},
        {"role": "user", "content": [WEB, {"functionCall": {}}]},
    ]
    (content,) = RenderedPrompt(messages).to_gemini()["contents"]
    assert [part["functionResponse"]["name"] for part in content["parts"][:2]] == ["python", "c9"]
    assert content["parts"][2:] == [
        {"fileData": {"fileUri": "https://example.org/a.png"}},
        {"functionCall": {}},
    ]


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("part", [PNG, TXT, WEB])
def test_system_messages_hold_text_only(role, part):
    """An image or file among the rules is refused by all whose rules are text, never left out silently."""
    made = RenderedPrompt([{"role": role, "content": [TEXT, part]}])
    for shape in (made.to_openai, made.to_anthropic, made.to_gemini):
        with pytest.raises(RenderError, match="can hold text only"):
            shape()
    assert len(made.to_mcp()["messages"]) == 2


PIXEL = {"type": "image", "mime_type": "image/png", "data": b"\x89PNG\r\n\x1a\n"}
PAGE = {"type": "file", "mime_type": "text/plain", "data": b"txt", "name": "a.txt"}


@pytest.mark.parametrize("part", [PIXEL, PAGE, WEB])
def test_parts_of_openai_become_those_of_other_providers(part):
    """A history in OpenAI's form is sent to others as if its images and files had been declared."""
    declared = RenderedPrompt([{"role": "user", "content": [TEXT, part]}])
    history = RenderedPrompt(declared.to_openai())
    assert history.to_openai() == declared.to_openai()
    assert history.to_anthropic() == declared.to_anthropic()
    assert history.to_gemini() == declared.to_gemini()
    assert history.to_mcp() == declared.to_mcp()


def test_parts_of_openai_that_are_broken_or_foreign():
    """An address that is none is an error; what refers to OpenAI's own store is passed on."""
    broken = RenderedPrompt(
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a.png"}}]}]
    )
    with pytest.raises(RenderError, match="the image of a message must be an http"):
        broken.to_anthropic()
    stored = {"type": "file", "file": {"file_id": "f"}}
    assert RenderedPrompt([{"role": "user", "content": [stored]}]).to_anthropic()["messages"][0][
        "content"
    ] == [stored]


def test_a_file_without_a_name_gets_one():
    """A name is wanted where files are sent, and a caller need not have one."""
    made = RenderedPrompt(
        [{"role": "user", "content": [{"type": "file", "mime_type": "text/plain", "data": b"x"}]}]
    )
    assert made.to_openai()[0]["content"][0]["file"]["filename"] == "file"
    assert made.to_mcp()["messages"][0]["content"]["resource"]["uri"] == "file:///file"


@pytest.mark.parametrize(
    "calls", ["x", 5, [{"id": "1"}], [{"function": {"name": 1}}], [{"function": "f"}], [3]]
)
def test_calls_of_another_form_are_refused(calls):
    """What is no tool call cannot be said in another provider's form."""
    made = RenderedPrompt([{"role": "assistant", "content": "", "tool_calls": calls}])
    for shape in (made.to_anthropic, made.to_gemini):
        with pytest.raises(RenderError, match="a tool call must be"):
            shape()


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ("{", {"arguments": "{"}),
        ({"a": 1}, {"a": 1}),
        ("", {}),
        ("[1]", {"arguments": [1]}),
        ("null", {"arguments": None}),
    ],
)
def test_arguments_of_calls(arguments, read):
    """Arguments are an object or its JSON; what is neither is kept under a name of its own."""
    made = RenderedPrompt([{"role": "assistant", "content": "", "tool_calls": [call(arguments)]}])
    assert made.to_anthropic()["messages"][0]["content"][0]["input"] == read


def test_mcp_messages():
    """Each part is a message of its own, said by the user or the assistant."""
    messages = CHAT.to_mcp()["messages"]
    assert messages[0] == {"role": "user", "content": {"type": "text", "text": "One."}}
    assert [message["role"] for message in messages].count("assistant") == 1
    contents = [
        message["content"]
        for message in RenderedPrompt(
            [{"role": "user", "content": [TEXT, PNG, PDF, TXT, WEB, WEB_FILE, {"type": "other"}]}]
        ).to_mcp()["messages"]
    ]
    pdf = {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": "cGRm"}
    txt = {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "txt"}
    web, file = WEB["url"], WEB_FILE["url"]
    assert contents == [
        TEXT,
        {"type": "image", "data": "cG5n", "mimeType": "image/png"},
        {"type": "resource", "resource": pdf},
        {"type": "resource", "resource": txt},
        {"type": "resource_link", "uri": web, "name": web, "mimeType": "image/*"},
        {"type": "resource_link", "uri": file, "name": file},
        {"type": "text", "text": '{"type": "other"}'},
    ]


def test_wire_shapes_are_new_json_data():
    """What is sent is plain JSON data of its own: changing it leaves the prompt as it was."""
    for made in (CHAT, MEDIA, PLAIN):
        before = repr(made)
        for shape in (made.to_openai(), made.to_anthropic(), made.to_gemini(), made.to_mcp()):
            json.dumps(shape)
            owner = shape if isinstance(shape, dict) else shape[0]
            owner.clear()
        assert repr(made) == before


def test_openai_sdk_takes_them():
    """The types of OpenAI's own library accept the messages."""
    chat = pytest.importorskip("openai.types.chat")
    pydantic = pytest.importorskip("pydantic")
    adapter = pydantic.TypeAdapter(list[chat.ChatCompletionMessageParam])
    for made in (CHAT, MEDIA, PLAIN):
        adapter.validate_python([m for m in made.to_openai() if m["role"] != "tool" or "tool_call_id" in m])


def test_anthropic_sdk_takes_them():
    """The types of Anthropic's own library accept the messages."""
    types = pytest.importorskip("anthropic.types")
    pydantic = pytest.importorskip("pydantic")
    adapter = pydantic.TypeAdapter(list[types.MessageParam])
    for made in (CHAT, MEDIA, PLAIN):
        adapter.validate_python(made.to_anthropic()["messages"])


def test_gemini_sdk_takes_them():
    """The types of Google's own library accept the contents."""
    types = pytest.importorskip("google.genai.types")
    for made in (CHAT, MEDIA, PLAIN):
        shape = made.to_gemini()
        for content in shape["contents"]:
            types.Content.model_validate(content)
        if "systemInstruction" in shape:
            types.Content.model_validate(shape["systemInstruction"])


def test_mcp_sdk_takes_them():
    """The types of the protocol's own library accept the result."""
    types = pytest.importorskip("mcp.types")
    for made in (CHAT, MEDIA, PLAIN):
        assert types.GetPromptResult.model_validate(made.to_mcp()).messages
