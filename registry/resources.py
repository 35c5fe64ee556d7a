"""Where the files that ship beside the code are.

In a wheel they are inside the package, in a checkout at the top level.
"""

from __future__ import annotations

import pathlib

_PACKAGE = pathlib.Path(__file__).parent


def _folder(packaged: str, checkout: str) -> pathlib.Path:
    inside = _PACKAGE / packaged
    return inside if inside.is_dir() else _PACKAGE.parent / checkout


def schema_folder() -> pathlib.Path:
    """Return the folder of the JSON Schemas."""
    return _folder("schemas", "schemas")


def rules_folder() -> pathlib.Path:
    """Return the folder of the pages on diagnostic codes."""
    return _folder("rules", "docs/rules")
