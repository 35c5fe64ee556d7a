"""Words for what a dialect cannot express: they go into the description, so that the model still learns it.

Only constraints that are checked again at call time are moved here; nothing is dropped in silence.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from registry.exporters.schemas import Schema

#: Keyword -> sentence with the value's JSON text in place of {}.
NOTES = {
    "contentEncoding": "Encoding: {}.",
    "contentMediaType": "Media type: {}.",
    "default": "Default: {}.",
    "deprecated": "Deprecated: {}.",
    "enum": "One of: {}.",
    "examples": "Examples: {}.",
    "exclusiveMaximum": "Less than {}.",
    "exclusiveMinimum": "Greater than {}.",
    "format": "Format: {}.",
    "maxItems": "At most {} items.",
    "maxLength": "At most {} characters.",
    "maxProperties": "At most {} properties.",
    "maximum": "At most {}.",
    "minItems": "At least {} items.",
    "minLength": "At least {} characters.",
    "minProperties": "At least {} properties.",
    "minimum": "At least {}.",
    "multipleOf": "A multiple of {}.",
    "pattern": "Matches {}.",
    "readOnly": "Read-only: {}.",
    "uniqueItems": "No two items are equal: {}.",
    "writeOnly": "Write-only: {}.",
}
#: Keywords that say nothing about values and that no model needs.
SILENT = frozenset({"$anchor", "$comment", "$id", "$schema", "$vocabulary"})


def noted(schema: Schema, source: Schema, keywords: tuple[str, ...]) -> Schema:
    """Return the schema with a sentence for each of the keywords that its source has."""
    sentences = [NOTES[key].format(_text(source[key])) for key in keywords if key in source]
    if not sentences:
        return schema
    before = schema.get("description", "").rstrip()
    if before and before[-1] not in ".!?:;":
        before += "."
    return {**schema, "description": " ".join([before, *sentences]).strip()}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return text[1:-1] if isinstance(value, (list, tuple)) else text
