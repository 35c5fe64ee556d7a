"""Finds the JSON Schemas and keeps them read."""

from __future__ import annotations

import functools
import json
from typing import Any

from registry.resources import schema_folder

#: By which the schemas of arguments are checked.
METASCHEMA = "https://json-schema.org/draft/2020-12/schema"


@functools.cache
def schema(name: str = "registry") -> dict[str, Any]:
    """Return a shipped schema: of a whole file (``registry``), a ``recipient``, a ``prompt`` or a ``server``.

    Where an editor is shown the usual keywords of JSON Schema, this one has all of them: the schemas of
    arguments are checked by the metaschema, in the same pass as everything else. Not to be changed.
    """
    return _read(name, {"$ref": METASCHEMA})


@functools.cache
def outline() -> dict[str, Any]:
    """Return the schema of a whole file that leaves the schemas of arguments open. Not to be changed."""
    return _read("registry", True)


def _read(name: str, arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((schema_folder() / f"{name}.schema.json").read_text("utf-8"))
    if "json_schema" in found["$defs"]:
        found["$defs"]["json_schema"] = arguments
    return found
