"""Reply messages as MCP content."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from registry.messages import STRUCTURED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _base64(data: Any) -> str:
    return data if isinstance(data, str) else base64.b64encode(bytes(data)).decode("ascii")


def _media(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": part["type"], "data": _base64(part["data"]), "mimeType": part["mime_type"]}


def _resource(part: Mapping[str, Any]) -> dict[str, Any]:
    resource: dict[str, Any] = {"uri": part["uri"]}
    if part.get("mime_type"):
        resource["mimeType"] = part["mime_type"]
    if part.get("text") is not None:
        resource["text"] = part["text"]
    else:
        resource["blob"] = _base64(part.get("data", ""))
    return {"type": "resource", "resource": resource}


def _link(part: Mapping[str, Any]) -> dict[str, Any]:
    link = {"type": "resource_link", "uri": part["uri"], "name": part.get("name") or part["uri"]}
    if part.get("mime_type"):
        link["mimeType"] = part["mime_type"]
    return link


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


_SHAPES: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "audio": _media,
    "image": _media,
    "resource": _resource,
    "resource_link": _link,
    "text": lambda part: _text(str(part["text"])),
}


def _content(part: Any) -> dict[str, Any]:
    """Return one part of a reply as content; what has no shape of its own is shown as JSON text."""
    if isinstance(part, str):
        return _text(part)
    try:
        return _SHAPES[part["type"]](part)
    except (KeyError, TypeError):
        return _text(json.dumps(part, ensure_ascii=False, default=str))


def result_of(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``tools/call`` answers with a recipient's reply message.

    An empty text beside other parts is left out. An object under ``structured`` in the metadata is the
    structured content. A status that is not ``ok`` makes it a result that the model reads as an error.
    """
    metadata = reply["metadata"]
    content = [_content(part) for part in reply["content"]["parts"]]
    if len(content) > 1:
        content = [item for item in content if item != _text("")]
    result: dict[str, Any] = {"content": content, "isError": metadata.get("status", "ok") != "ok"}
    if isinstance(metadata.get(STRUCTURED), dict):
        result["structuredContent"] = metadata[STRUCTURED]
    return result
