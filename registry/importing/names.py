"""Names of recipients made of names that others chose."""

from __future__ import annotations

import hashlib
import re

#: Most characters of a recipient's name.
LONGEST = 64
_MARK = 8
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def recipient_name(prefix: str, tool: str) -> str:
    """Return the name of the recipient for a tool: always one that a file may have.

    A name that is too long keeps its start and gets a mark of the whole, so that two long names stay two.
    """
    name = _FOREIGN.sub("_", prefix + tool)
    if not name or not (name[0].isalpha() or name[0] == "_"):
        name = f"_{name}"
    if len(name) <= LONGEST:
        return name
    mark = hashlib.sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
    return f"{name[: LONGEST - _MARK - 1]}_{mark}"
