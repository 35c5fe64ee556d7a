"""Reply messages as MCP content."""

from __future__ import annotations

import base64
import json
import logging
from typing import TYPE_CHECKING, Any

from registry.jsontext import NotJsonError, json_data
from registry.messages import STRUCTURED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


logger = logging.getLogger("registry.serve")


def _base64(data: Any) -> str:
    return data if isinstance(data, str) else base64.b64encode(memoryview(data)).decode("ascii")


def _media(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": part["type"], "data": _base64(part["data"]), "mimeType": str(part["mime_type"])}


def _resource(part: Mapping[str, Any]) -> dict[str, Any]:
    resource: dict[str, Any] = {"uri": str(part["uri"])}
    if part.get("mime_type"):
        resource["mimeType"] = str(part["mime_type"])
    if part.get("text") is not None:
        resource["text"] = str(part["text"])
    else:
        resource["blob"] = _base64(part.get("data", ""))
    return {"type": "resource", "resource": resource}


def _link(part: Mapping[str, Any]) -> dict[str, Any]:
    uri = str(part["uri"])
    link = {"type": "resource_link", "uri": uri, "name": str(part.get("name") or uri)}
    if part.get("mime_type"):
        link["mimeType"] = str(part["mime_type"])
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
        return _text(_shown(part))


def _shown(part: Any) -> str:
    try:
        return json.dumps(json_data(part), ensure_ascii=False)
    except NotJsonError:
        return repr(part)


def result_of(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``tools/call`` answers with a recipient's reply message.

    An empty text beside other parts is left out. An object under ``structured`` in the metadata is the
    structured content, as far as it is JSON data. A status that is not ``ok`` makes it a result that the
    model reads as an error.
    """
    metadata = reply["metadata"]
    content = [_content(part) for part in reply["content"]["parts"]]
    if len(content) > 1:
        content = [item for item in content if item != _text("")]
    result: dict[str, Any] = {"content": content, "isError": metadata.get("status", "ok") != "ok"}
    if isinstance(metadata.get(STRUCTURED), dict):
        try:
            result["structuredContent"] = json_data(metadata[STRUCTURED])
        except NotJsonError:
            name = reply["author"]["name"]
            logger.warning("%s: its structured content is no JSON data, and is not sent", name)
    return result
