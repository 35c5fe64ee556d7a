"""Messages in the shape that each provider wants. Pure functions over ``{"role", "content"}`` messages.

Messages that a caller put into a slot may carry tool calls in the form of OpenAI's chat completions
(``tool_calls`` of the assistant, ``tool_call_id`` of a tool message); they become the provider's own.
"""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from registry.exceptions import RenderError
from registry.frozen import thaw
from registry.prompts.rendered import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Json = dict[str, Any]

_SYSTEM = ("system", "developer")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _data_url(part: Mapping[str, Any]) -> str:
    return part.get("url") or f"data:{part['mime_type']};base64,{_base64(part['data'])}"


def _parts(message: Mapping[str, Any]) -> list[Json]:
    content = message["content"]
    if content is None or isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [_declared(thaw(part)) for part in content if part.get("type") != "text" or part["text"]]


def _declared(part: Json) -> Json:
    """Return an image or file in the form of OpenAI's chat completions in the form of a declared one."""
    kind = "image" if "image_url" in part else "file"
    source: Any = part.get("image_url" if kind == "image" else "file")
    address = source.get("url", source.get("file_data")) if isinstance(source, dict) else None
    if not isinstance(address, str):
        return part
    from registry.prompts.media import media_part

    try:
        made = media_part(kind, address)
    except ValueError as error:
        raise RenderError("wrong-type", f"the {kind} of a message {error}", ()) from None
    return {**made, "name": source.get("filename", "file")} if kind == "file" else made


def _system_text(message: Mapping[str, Any]) -> str:
    """Return the text of a system message.

    Raises:
        RenderError: It has an image or a file, which no provider takes there.
    """
    if any(part.get("type") != "text" for part in _parts(message)):
        text = (
            f"a message of role {message['role']!r} can hold text only: send images and files as the user's"
        )
        raise RenderError("wrong-type", text, ())
    return text_of(message["content"])


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield id, name and arguments of each tool call of a message.

    Raises:
        RenderError: A call is in another form than that of OpenAI's chat completions.
    """
    calls = message.get("tool_calls") or ()
    for call in calls if isinstance(calls, (list, tuple)) else (calls,):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise RenderError("wrong-type", "a tool call must be a table with a function that has a name", ())
        arguments = function.get("arguments") or "{}"
        if isinstance(arguments, str):
            with contextlib.suppress(ValueError):
                arguments = json.loads(arguments)
        if not isinstance(arguments, Mapping):
            arguments = {"arguments": arguments}
        yield str(call.get("id", "")), function["name"], thaw(arguments)


def openai(messages: Iterable[Mapping[str, Any]]) -> list[Json]:
    """Return the ``messages`` of OpenAI's chat completions."""
    return [_openai_message(message) for message in messages]


def _openai_message(message: Mapping[str, Any]) -> Json:
    if message["role"] in _SYSTEM:
        _system_text(message)
    whole: Json = {key: thaw(value) for key, value in message.items() if key != "content"}
    content: Any = message["content"]
    if content is not None and not isinstance(content, str):
        content = [_openai_part(part) for part in content]
    return {**whole, "content": content}


def _openai_part(part: Mapping[str, Any]) -> Json:
    own = "url" in part or "data" in part
    if own and part.get("type") == "image":
        return {"type": "image_url", "image_url": {"url": _data_url(part)}}
    if not own or part.get("type") != "file":
        whole: Json = thaw(part)
        return whole
    if "url" in part:
        raise RenderError("wrong-type", "OpenAI takes no file by its URL: give its bytes or its path", ())
    return {"type": "file", "file": {"filename": part.get("name", "file"), "file_data": _data_url(part)}}


def anthropic(messages: Iterable[Mapping[str, Any]]) -> Json:
    """Return ``system`` and ``messages`` of Anthropic's messages interface.

    System messages go to the top level, joined by a blank line; neighbours of one role become one message.
    """
    system: list[str] = []
    merged: list[Json] = []
    for message in messages:
        if message["role"] in _SYSTEM:
            system.append(_system_text(message))
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = _anthropic_blocks(message)
        if blocks and merged and merged[-1]["role"] == role:
            merged[-1]["content"] += blocks
        elif blocks:
            merged.append({"role": role, "content": blocks})
    for message in merged:
        if len(message["content"]) == 1 and message["content"][0]["type"] == "text":
            message["content"] = message["content"][0]["text"]
    return {**_joined_system(system), "messages": merged}


def _joined_system(texts: list[str]) -> Json:
    text = "\n\n".join(text for text in texts if text)
    return {"system": text} if text else {}


def _anthropic_blocks(message: Mapping[str, Any]) -> list[Json]:
    blocks = [_anthropic_part(part) for part in _parts(message)]
    if message["role"] == "tool" and message.get("tool_call_id"):
        return [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": blocks}]
    calls = _calls(message)
    return blocks + [
        {"type": "tool_use", "id": id_, "name": name, "input": value} for id_, name, value in calls
    ]


def _anthropic_part(part: Json) -> Json:
    kind = {"image": "image", "file": "document"}.get(part.get("type", ""))
    if kind is None:
        return part
    if "url" in part:
        return {"type": kind, "source": {"type": "url", "url": part["url"]}}
    if "data" not in part:
        return part
    if part["mime_type"] == "text/plain":
        source = {"type": "text", "media_type": "text/plain", "data": part["data"].decode()}
    else:
        source = {"type": "base64", "media_type": part["mime_type"], "data": _base64(part["data"])}
    return {"type": kind, "source": source}


def gemini(messages: Iterable[Mapping[str, Any]]) -> Json:
    """Return ``systemInstruction`` and ``contents`` of Gemini's generateContent; neighbours are merged."""
    system: list[str] = []
    contents: list[Json] = []
    names: dict[str, str] = {}
    for message in messages:
        if message["role"] in _SYSTEM:
            system.append(_system_text(message))
            continue
        role = "model" if message["role"] == "assistant" else "user"
        parts = _gemini_parts(message, names)
        if parts and contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        elif parts:
            contents.append({"role": role, "parts": parts})
    instruction = _joined_system(system)
    if instruction:
        instruction = {"systemInstruction": {"parts": [{"text": instruction["system"]}]}}
    return {**instruction, "contents": contents}


def _gemini_parts(message: Mapping[str, Any], names: dict[str, str]) -> list[Json]:
    call_id = message.get("tool_call_id")
    if message["role"] == "tool" and call_id:
        name = message.get("name") or names.get(call_id, call_id)
        response = {"output": text_of(message["content"])}
        return [{"functionResponse": {"id": call_id, "name": name, "response": response}}]
    parts = [_gemini_part(part) for part in _parts(message)]
    for id_, name, arguments in _calls(message):
        names[id_] = name
        parts.append({"functionCall": {"id": id_, "name": name, "args": arguments}})
    return parts


def _gemini_part(part: Json) -> Json:
    if "url" in part:
        return {"fileData": {"fileUri": part["url"]}}
    if "data" in part:
        return {"inlineData": {"mimeType": part["mime_type"], "data": _base64(part["data"])}}
    return {"text": part["text"]} if part.get("type") == "text" else part


def mcp(messages: Iterable[Mapping[str, Any]]) -> Json:
    """Return the result of MCP's ``prompts/get``."""
    found = []
    for message in messages:
        role = "assistant" if message["role"] == "assistant" else "user"
        found += [{"role": role, "content": _mcp_part(part)} for part in _parts(message)]
    return {"messages": found}


def _mcp_part(part: Json) -> Json:
    kind = part.get("type")
    if "url" in part:
        link = {"type": "resource_link", "uri": part["url"], "name": part["url"]}
        return {**link, "mimeType": "image/*"} if kind == "image" else link
    if "data" not in part:
        text = part["text"] if kind == "text" else json.dumps(part, ensure_ascii=False, default=str)
        return {"type": "text", "text": text}
    if kind == "image":
        return {"type": "image", "data": _base64(part["data"]), "mimeType": part["mime_type"]}
    resource = {"uri": f"file:///{part.get('name', 'file')}", "mimeType": part["mime_type"]}
    if part["mime_type"] == "text/plain":
        return {"type": "resource", "resource": {**resource, "text": part["data"].decode()}}
    return {"type": "resource", "resource": {**resource, "blob": _base64(part["data"])}}
