"""Content digests: what makes two declarations the same, whatever their layout."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.recipient import Recipient


def _plain(value: Any) -> Any:
    """Turn specs into JSON-like data, field by field; what names a place takes no part."""
    if attrs.has(type(value)):
        fields = (field for field in attrs.fields(type(value)) if field.eq)
        return {field.name: _plain(getattr(value, field.name)) for field in fields}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return {"nothing": None} if value is attrs.NOTHING else value


def digest_of(value: Any) -> str:
    """Return the SHA-256, in hex, of a spec or of JSON-like data.

    ``1``, ``1.0``, ``true`` and ``"1"`` differ, and so do lists in another order; the order of keys does not
    count.
    """
    text = json.dumps(_plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=repr)
    return digest_of_texts((text,))


def digest_of_texts(texts: Iterable[str]) -> str:
    """Return the SHA-256, in hex, of texts one after the other."""
    found = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        found.update(len(data).to_bytes(8, "big"))
        found.update(data)
    return found.hexdigest()


def digest_of_recipient(recipient: Recipient | type[Recipient]) -> str:
    """Return the digest of a recipient: of its declaration, or of its class and constants."""
    kind = recipient if isinstance(recipient, type) else type(recipient)
    if kind.SPEC is not None and isinstance(recipient, type):
        return digest_of(kind.SPEC)
    own = "" if isinstance(recipient, type) else id(recipient)
    return digest_of(
        [
            kind.__module__,
            kind.__qualname__,
            kind.DESCRIPTION,
            kind.API_DOCS,
            kind.REQUIRED_ARGS,
            kind.EXAMPLE_MESSAGES,
            kind.INPUT_SCHEMA,
            own,
        ]
    )
