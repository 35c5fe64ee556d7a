"""Every form a message takes: how one is addressed, and how it is answered.

Three forms address a recipient:

* the original stream result, ``{"message": text, "recipient": name}``;
* the ChatGPT form, ``{"recipient": name, "content": {"content_type": "code" | "text", …}}`` with the text in
  ``text`` or in ``parts``;
* the plain form, ``{"recipient": name, "arguments": object or JSON text}``.

Each may have an ``id``, which comes back as ``call_id`` in the reply's metadata.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

import attrs

from registry.exceptions import InvalidMessage
from registry.frozen import FrozenDict

#: Key of a reply's metadata under which an object stands that the text says as JSON.
STRUCTURED = "structured"
_CONTENT_TYPES = ("code", "text")
_BACKTICKS = re.compile("`+")
#: In this order: a boolean is an integer to Python.
_TYPE_NAMES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "null"),
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a number"),
    (str, "a string"),
    ((list, tuple), "a list"),
    (Mapping, "an object"),
)
#: Where the text of a UUID has its 32 hex digits, and where those of its version and its variant.
_DIGIT_PLACES = (*range(8), *range(9, 13), *range(14, 18), *range(19, 23), *range(24, 36))
_VERSION_PLACE, _VARIANT_PLACE, _UUID_LENGTH = 14, 19, 36
#: A hex digit with its two high bits set to those of the variant.
_VARIANT = bytes.maketrans(b"0123456789abcdef", b"89ab" * 4)


@attrs.define
class Call:
    """What an addressed message asks for: exactly one of ``arguments`` and ``text`` is given.

    Not frozen, nor is `Outcome`: every call makes both, and to make a frozen one takes thrice as long.
    """

    recipient: str
    #: An object or JSON text, not yet checked.
    arguments: Any = None
    text: str | None = None
    id: str | None = None

    @property
    def raw(self) -> Any:
        """What an input schema is to be checked against: the arguments, or the text as JSON."""
        return self.arguments if self.text is None else self.text

    @property
    def body(self) -> str:
        """What the message says as one text: for recipients that read text."""
        if self.text is not None:
            return self.text
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False, default=str)


@attrs.define
class Outcome:
    """What a call came to, before it is a message.

    ``parts`` are further content parts such as ``{"type": "image", "mime_type": …, "data": bytes}``.
    """

    text: str
    status: str = "ok"
    metadata: Mapping[str, Any] = FrozenDict()
    parts: tuple[Mapping[str, Any], ...] = ()


def _text_of_content(content: Any) -> str:
    if not isinstance(content, Mapping):
        raise InvalidMessage(f'"content" must be an object, not {json_type(content)}')
    kind = content.get("content_type", "text")
    if kind not in _CONTENT_TYPES:
        raise InvalidMessage('"content.content_type" must be "code" or "text"')
    if isinstance(text := content.get("text"), str):
        return text
    parts = content.get("parts")
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, str) for part in parts):
        raise InvalidMessage('"content" needs "text" (a string) or "parts" (a list of strings)')
    return "\n".join(parts)


def _text_of_message(message: Mapping[str, Any]) -> str:
    if "message" in message:
        text = message["message"]
        if not isinstance(text, str):
            raise InvalidMessage(f'"message" must be a string, not {json_type(text)}')
        return text
    if "content" in message:
        return _text_of_content(message["content"])
    raise InvalidMessage('a message needs "arguments", "message" or "content"; this one has none of them')


def address(message: Mapping[str, Any]) -> Call:
    """Read whom a message is addressed to and what it says, in any of the three forms.

    Raises:
        InvalidMessage: the message has none of the forms.
    """
    if type(message) is not dict and not isinstance(message, Mapping):
        raise InvalidMessage(f"a message must be an object, not {json_type(message)}")
    name = message.get("recipient")
    if type(name) is not str or not name:
        raise InvalidMessage('a message needs "recipient", the name of the recipient it is addressed to')
    call_id = message.get("id")
    if call_id is not None and type(call_id) is not str:
        raise InvalidMessage(f'"id" must be a string, not {json_type(call_id)}')
    if "arguments" in message:
        return Call(name, message["arguments"], None, call_id)
    return Call(name, None, _text_of_message(message), call_id)


def json_type(value: Any) -> str:
    """Return what JSON calls the type of a value, with its article: ``a list``, ``null``."""
    for kind, name in _TYPE_NAMES:
        if isinstance(value, kind):
            return name
    return f"a value of type {type(value).__name__}"


def new_id() -> str:
    """Return a random identifier: the text of a version 4 UUID, at a fraction of the cost of `uuid.uuid4`."""
    try:
        return _IDS.pop()
    except IndexError:
        last, *more = _new_ids()
        _IDS.extend(more)
        return last


def _new_ids() -> list[str]:
    """Make a batch of identifiers, one place of all of them after the other: fewer steps than one by one."""
    digits = os.urandom(16 * _BATCH).hex().encode()
    text = bytearray(b"-" * (_UUID_LENGTH * _BATCH))
    for nth, place in enumerate(_DIGIT_PLACES):
        text[place::_UUID_LENGTH] = digits[nth::32]
    text[_VERSION_PLACE::_UUID_LENGTH] = b"4" * _BATCH
    text[_VARIANT_PLACE::_UUID_LENGTH] = text[_VARIANT_PLACE::_UUID_LENGTH].translate(_VARIANT)
    whole = text.decode()
    return [whole[start : start + _UUID_LENGTH] for start in range(0, len(whole), _UUID_LENGTH)]


#: Identifiers made in advance: asking for random bytes takes longer than all the rest.
_IDS: list[str] = []
_BATCH = 256
# A forked child must not use those of its parent. (Where nothing forks, nothing is called.)
getattr(os, "register_at_fork", dict)(after_in_child=_IDS.clear)


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a content part as JSON data: bytes become base64 text."""
    data = part.get("data")
    if not isinstance(data, (bytes, bytearray, memoryview)):
        return dict(part)
    import base64

    return {**part, "data": base64.b64encode(data).decode("ascii")}


def reply(name: str, outcome: Outcome, call_id: str | None = None) -> dict[str, Any]:
    """Return the reply message of the recipient called ``name``.

    Its ``metadata`` has what the outcome adds, the status, and ``call_id`` where the call had one. With
    further parts ``content_type`` is ``multimodal_text`` and the parts follow the text, bytes as base64.
    """
    metadata = {**outcome.metadata, "status": outcome.status}
    if call_id is not None:
        metadata["call_id"] = call_id
    parts: list[Any] = [outcome.text]
    if outcome.parts:
        parts += map(_part, outcome.parts)
    return {
        "id": new_id(),
        "author": {"role": "tool", "name": name},
        "content": {"content_type": "multimodal_text" if outcome.parts else "text", "parts": parts},
        "metadata": metadata,
    }


def reply_text(message: Mapping[str, Any]) -> str:
    """Return the text of a reply: all its text parts, one per line."""
    return "\n".join(part for part in message["content"]["parts"] if isinstance(part, str))


def fence(text: str, label: str = "output") -> str:
    """Return the text inside a Markdown fence that is longer than any run of backticks in it."""
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    body = text if not text or text.endswith("\n") else f"{text}\n"
    return f"{ticks}{label}\n{body}{ticks}"
