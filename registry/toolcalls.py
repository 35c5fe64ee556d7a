"""What providers make of messages: their tool calls in, their tool results out.

``tool_calls_from_…`` take a provider's response or the message in it, as plain data, and return plain-form
messages for a `Dispatcher`; ``tool_result_for_…`` take a reply and return what the provider wants back.
The two are tied together by the call's ``id``, which a reply has as ``metadata.call_id``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.exceptions import InvalidMessage
from registry.messages import json_type, reply_text

Message = dict[str, Any]


def _member(owner: Any, path: str, key: str, kind: Any = str) -> Any:
    """Return ``owner[key]``, which must be of the kind; ``path`` is where the owner stands."""
    value = owner.get(key) if isinstance(owner, Mapping) else None
    if not isinstance(value, kind):
        what = "a string" if kind is str else "an object"
        where = f"{path}.{key}"
        raise InvalidMessage(f"{where} must be {what}, not {json_type(value)}")
    return value


def _listed(owner: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Yield the items of the list ``owner[key]`` with their paths; an absent list is empty."""
    items = owner.get(key) if isinstance(owner, Mapping) else owner
    if items is None or isinstance(items, str):
        return  # a message of text only has no calls
    if not isinstance(items, Sequence):
        raise InvalidMessage(f"{key} must be a list, not {json_type(items)}")
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            raise InvalidMessage(f"{key}[{index}] must be an object, not {json_type(item)}")
        yield f"{key}[{index}]", item


def _plain(name: str, arguments: Any, call_id: str | None) -> Message:
    call: Message = {"recipient": name, "arguments": arguments}
    return call if call_id is None else {**call, "id": call_id}


def _openai_call(item: Mapping[str, Any], path: str) -> Message:
    call_id = _member(item, path, "id")
    if item.get("type") == "custom":
        custom = _member(item, path, "custom", Mapping)
        name, text = (_member(custom, f"{path}.custom", key) for key in ("name", "input"))
        return {"recipient": name, "message": text, "id": call_id}
    function = _member(item, path, "function", Mapping)
    name, arguments = (_member(function, f"{path}.function", key) for key in ("name", "arguments"))
    return _plain(name, arguments, call_id)


def tool_calls_from_openai(data: Any) -> tuple[Message, ...]:
    """Return the tool calls of a chat completion, or of the assistant message in one.

    Raises:
        InvalidMessage: a call is not as the provider documents it.
    """
    if isinstance(data, Mapping) and "choices" in data:
        data = next((item.get("message") for _path, item in _listed(data, "choices")), None) or {}
    return tuple(_openai_call(item, path) for path, item in _listed(data, "tool_calls"))


def tool_calls_from_openai_responses(data: Any) -> tuple[Message, ...]:
    """Return the tool calls of a response of the Responses API, or of its ``output`` list.

    Raises:
        InvalidMessage: a call is not as the provider documents it.
    """
    calls = []
    for path, item in _listed(data, "output"):
        if item.get("type") == "function_call":
            name, arguments, call_id = (_member(item, path, key) for key in ("name", "arguments", "call_id"))
            calls.append(_plain(name, arguments, call_id))
        elif item.get("type") == "custom_tool_call":
            name, text, call_id = (_member(item, path, key) for key in ("name", "input", "call_id"))
            calls.append({"recipient": name, "message": text, "id": call_id})
    return tuple(calls)


def tool_calls_from_anthropic(data: Any) -> tuple[Message, ...]:
    """Return the tool calls of a Messages response, or of its ``content`` list.

    Raises:
        InvalidMessage: a call is not as the provider documents it.
    """
    return tuple(
        _plain(_member(item, path, "name"), _member(item, path, "input", Mapping), _member(item, path, "id"))
        for path, item in _listed(data, "content")
        if item.get("type") == "tool_use"
    )


def tool_calls_from_gemini(data: Any) -> tuple[Message, ...]:
    """Return the function calls of a ``generateContent`` response, of a content, or of its ``parts``.

    Raises:
        InvalidMessage: a call is not as the provider documents it.
    """
    if isinstance(data, Mapping) and "candidates" in data:
        data = next((item.get("content") for _path, item in _listed(data, "candidates")), None) or {}
    calls = []
    for path, part in _listed(data, "parts"):
        found = part.get("functionCall", part.get("function_call"))
        if found is not None:
            name = _member(found, f"{path}.functionCall", "name")
            calls.append(_plain(name, found.get("args") or {}, found.get("id")))
    return tuple(calls)


def tool_calls_from_mcp(data: Any) -> tuple[Message, ...]:
    """Return the call of a ``tools/call`` request, or of its ``params``. It has no id: MCP replies in order.

    Raises:
        InvalidMessage: a call is not as the protocol documents it.
    """
    params = data.get("params", data) if isinstance(data, Mapping) else data
    name = _member(params, "params", "name")
    arguments = params.get("arguments")
    return (_plain(name, {} if arguments is None else arguments, None),)


def _call_id(reply: Mapping[str, Any]) -> str:
    call_id = reply["metadata"].get("call_id")
    if call_id is None:
        raise InvalidMessage("this reply answers no tool call: its metadata has no call_id")
    return str(call_id)


def _failed(reply: Mapping[str, Any]) -> bool:
    return bool(reply["metadata"]["status"] != "ok")


def _images(reply: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts = reply["content"]["parts"]
    return [part for part in parts if isinstance(part, Mapping) and part.get("type") == "image"]


def tool_result_for_openai(reply: Mapping[str, Any]) -> Message:
    """Return the ``tool`` message of the Chat Completions API. It takes text only: images are left out."""
    return {"role": "tool", "tool_call_id": _call_id(reply), "content": reply_text(reply)}


def tool_result_for_openai_responses(reply: Mapping[str, Any]) -> Message:
    """Return the ``function_call_output`` item of the Responses API."""
    text = reply_text(reply)
    images = [
        {"type": "input_image", "image_url": f"data:{image['mime_type']};base64,{image['data']}"}
        for image in _images(reply)
    ]
    output = [{"type": "input_text", "text": text}, *images] if images else text
    return {"type": "function_call_output", "call_id": _call_id(reply), "output": output}


def tool_result_for_anthropic(reply: Mapping[str, Any]) -> Message:
    """Return the ``tool_result`` block. All blocks that answer one message belong in one ``user`` message."""
    images = [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": image["mime_type"], "data": image["data"]},
        }
        for image in _images(reply)
    ]
    text = reply_text(reply)
    return {
        "type": "tool_result",
        "tool_use_id": _call_id(reply),
        "content": [{"type": "text", "text": text}, *images] if images else text,
        "is_error": _failed(reply),
    }


def tool_result_for_gemini(reply: Mapping[str, Any]) -> Message:
    """Return the ``functionResponse`` part, with ``output``, or ``error`` where the call failed."""
    key = "error" if _failed(reply) else "output"
    response: Message = {"name": reply["author"]["name"], "response": {key: reply_text(reply)}}
    call_id = reply["metadata"].get("call_id")
    return {"functionResponse": response if call_id is None else {"id": call_id, **response}}


def tool_result_for_mcp(reply: Mapping[str, Any]) -> Message:
    """Return the result of ``tools/call``."""
    images = [
        {"type": "image", "data": image["data"], "mimeType": image["mime_type"]} for image in _images(reply)
    ]
    return {"content": [{"type": "text", "text": reply_text(reply)}, *images], "isError": _failed(reply)}
