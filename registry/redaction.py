"""Keeps the values of environment variables that a declaration uses out of texts."""

from __future__ import annotations

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
    """Return the text with the variables' current values masked, percent-encoded ones too."""
    for name in variables:
        value = os.environ.get(name, "")
        if len(value) >= _SHORTEST:
            for form in (value, urllib.parse.quote(value, safe=""), urllib.parse.quote_plus(value)):
                text = text.replace(form, _MASK)
    return text
