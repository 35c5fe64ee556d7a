"""The engine that decides by a schema: fast, linear in any pattern, and never online."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import jsonschema_rs
from jsonschema_rs import ValidationError

from registry.loading.schemas import schema

if TYPE_CHECKING:
    from jsonschema_rs import Validator

__all__ = ["ValidationError", "validator"]


@functools.cache
def validator(name: str = "registry") -> Validator:
    """Return the compiled validator of a shipped schema."""
    return jsonschema_rs.Draft202012Validator(
        schema(name), pattern_options=jsonschema_rs.RegexOptions(), validate_formats=False, offline=True
    )
