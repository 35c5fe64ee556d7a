"""The JSON Schemas and the one engine that decides by them: fast, linear in any pattern, never online."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, NoReturn

import jsonschema_rs

from registry.resources import schema_folder

if TYPE_CHECKING:
    from jsonschema_rs import Validator

_METASCHEMA = "https://json-schema.org/draft/2020-12/schema"


@functools.cache
def schema(name: str = "registry") -> dict[str, Any]:
    """Return a shipped schema: of a whole file (``registry``), a ``recipient``, a ``prompt`` or a ``server``.

    Where an editor is shown the usual keywords of JSON Schema, this one has all of them: arguments are
    checked by the metaschema, in the same pass as everything else. Not to be changed by the caller.
    """
    text = (schema_folder() / f"{name}.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    if "json_schema" in found["$defs"]:
        found["$defs"]["json_schema"] = {"$ref": _METASCHEMA}
    return found


@functools.cache
def validator(name: str = "registry") -> Validator:
    """Return the compiled validator of a shipped schema."""
    return compiled(schema(name))


def compiled(found: dict[str, Any]) -> Validator:
    """Compile a schema; its patterns are matched in linear time and nothing is fetched.

    Raises:
        ValueError: the schema is not valid.
        jsonschema_rs.ReferencingError: a reference leads nowhere.
    """
    return jsonschema_rs.Draft202012Validator(
        found, pattern_options=jsonschema_rs.RegexOptions(), validate_formats=False, retriever=_refuse
    )


def pattern_fault(pattern: str) -> str:
    """Say why a pattern cannot be used; empty when it can."""
    try:
        compiled({"pattern": pattern})
    except ValueError:
        return "it is not a regular expression that is matched in linear time"
    return ""


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is not fetched")
