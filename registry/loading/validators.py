"""The engine that decides by a schema: fast, linear in any pattern, and never online."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import jsonschema_rs

from registry.loading import schemas

if TYPE_CHECKING:
    from jsonschema_rs import Validator

    from registry.diagnostics import Path


@functools.cache
def validator(name: str = "registry") -> Validator:
    """Return the compiled validator of a shipped schema."""
    return _compiled(schemas.schema(name))


@functools.cache
def pattern_validator(pattern: str) -> Validator:
    """Return the compiled validator of texts with a pattern that stands in a shipped schema."""
    return _compiled({"pattern": pattern})


def _compiled(schema: dict[str, Any]) -> Validator:
    return jsonschema_rs.Draft202012Validator(
        schema, pattern_options=jsonschema_rs.RegexOptions(), validate_formats=False, offline=True
    )


def place_of_fault(data: Any) -> Path:
    """Return where the first fault is in a document that the validator refuses."""
    try:
        validator().validate(data)
    except jsonschema_rs.ValidationError as error:
        return tuple(error.instance_path)
    return ()
