"""Keeps the values of environment variables that a declaration uses out of texts."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from registry.recipient import Recipient

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")
#: Shorter values are no secrets, and would be found in any text.
_SHORTEST = 4
#: Bytes; what fewer are in base64 is too short to be told from other texts.
_SHORTEST_IN_BASE64 = 6
#: Characters by which a part of a value is recognised.
_LONG_ENOUGH = 8
_ESCAPE = re.compile("%[0-9A-F]{2}")
_MASK = "[hidden]"


def _texts(value: Any) -> Iterator[str]:
    """Yield every text inside specs, mappings and lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            yield from _texts(getattr(value, field.name))


def variables_of(recipient: type[Recipient]) -> frozenset[str]:
    """Return the names of the environment variables that a declared recipient, or its server, refers to."""
    spec = recipient.SPEC
    if spec is None:
        return frozenset()
    server = getattr(recipient, "SERVERS", {}).get(getattr(spec.options, "server", None))
    return frozenset(name for text in _texts((spec.options, server)) for name in _REFERENCE.findall(text))


def hide(text: str, variables: frozenset[str]) -> str:
    """Return the text with the variables' current values masked, in every form that an answer may have.

    Where a text was cut in the middle of a value, what is left of it at the text's beginning or end goes too.
    """
    for name in variables:
        # A request is made without the white space around a value, such as the line end of a file.
        value = os.environ.get(name, "").strip()
        if len(value) < _SHORTEST:
            continue
        for form in _forms(value):
            text = _without_rest(text.replace(form, _MASK), form)
    return text


def _forms(value: str) -> list[str]:
    """Return a value as it is, as JSON, Python, HTML and URLs write it, and in base64; longest first."""
    forms = {value, repr(value)[1:-1], html.escape(value)}
    for plain in (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        forms |= {plain, plain.replace("/", "\\/")}
    data = value.encode("utf-8", "surrogateescape")
    quotes = (urllib.parse.quote(data, safe=safe) for safe in ("", "/", "!'()*"))
    for quoted in (*quotes, urllib.parse.quote_plus(data)):
        forms |= {quoted, _ESCAPE.sub(lambda found: found[0].lower(), quoted)}
    if len(data) >= _SHORTEST_IN_BASE64:
        for shift in range(3):
            text = base64.b64encode(bytes(shift) + data).decode()
            # Without the characters that hold bits of what stands beside it.
            whole = text[-(-shift * 8 // 6) : (shift + len(data)) * 8 // 6]
            forms |= {whole, whole.replace("+", "-").replace("/", "_")}
    return sorted(forms, key=lambda form: (-len(form), form))


def _without_rest(text: str, form: str) -> str:
    """Mask the first part of a form at the end of a text, and the last part of it at the beginning."""
    least = min(max(_SHORTEST, len(form) // 2), _LONG_ENOUGH)
    at = text.find(form[:least], max(0, len(text) - len(form)))
    while at >= 0 and not form.startswith(text[at:]):
        at = text.find(form[:least], at + 1)
    if at >= 0:
        text = text[:at] + _MASK
    at = text.rfind(form[-least:], 0, len(form))
    while at >= 0 and not form.endswith(text[: at + least]):
        at = text.rfind(form[-least:], 0, at + least - 1)
    return text if at < 0 else _MASK + text[at + least :]
