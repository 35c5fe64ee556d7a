"""What recipients and servers send: whether there may be something to report, decided quickly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from registry.loading.lint.scene import table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.diagnostics import Fault
    from registry.loading.lint.scene import Entry, Scene

_SIMPLE = re.compile(r"(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
#: A URL that is certainly right.
_PLAIN_URL = re.compile(
    r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,4})?(?:[/?#](?:[!#-;=?-\[\]^-z|~]|\{[A-Za-z_][A-Za-z0-9_]*\})*)?\Z"
)
#: Headers and parameters of a query that are made for credentials.
SECRET_HEADER = re.compile(
    r"(?:proxy-)?authorization\Z|(?:.*[-_])?(?:api|access|auth|subscription|secret|private|x)[-_]?(?:key|token|secret)\Z"
    r"|(?:.*[-_])?(?:apikey|password|passwd|secret)\Z|cookie\Z",
    re.IGNORECASE,
)
SECRET_QUERY = re.compile(
    r"(?:api|access|auth|secret)[-_]?(?:key|token)\Z|(?:apikey|password|token)\Z", re.IGNORECASE
)
#: How credentials begin that are known by their looks.
_SECRET_STARTS = ("sk-", "gh", "AKIA", "xox", "AIza", "glpat-")


def calls(scene: Scene) -> Iterator[Fault]:
    """Check every text that is filled in when a tool is called or a server is started."""
    for entry in scene.recipients:
        kind = entry.table.get("kind")
        if kind == "http" or kind == "command":  # noqa: PLR1714 - a misshapen kind cannot be looked up in a set
            declared = declared_arguments(scene, entry)
            if not _is_plain(entry.table, declared):
                from registry.loading.lint import sending

                yield from sending.tool(entry, declared)
        elif kind == "python" and "tio" in entry.table:
            url = table_of(entry.table, "tio").get("url")
            if isinstance(url, str):
                from registry.loading.lint import sending

                yield from sending.address(entry, url, "tio", "url")
    for entry in scene.servers:
        from registry.loading.lint import sending

        yield from sending.server(entry)


def _is_plain(table: dict[str, Any], declared: Any) -> bool:
    """Say whether there is certainly nothing to report: the usual case, decided in a few steps."""
    try:
        texts = _harmless(table)
        if declared is None or texts is None or not _PLAIN_URL.match(texts[0]):
            return False
        joined = "\n".join(texts)
    except (AttributeError, KeyError, TypeError):  # no http recipient, or a misshapen one
        return False
    found = _SIMPLE.findall(joined)
    braces = len(found) + (len(_SECRET.findall(joined)) if "$" in joined else 0)
    if not braces == joined.count("{") == joined.count("}"):
        return False
    for name in found:
        if name not in declared:
            return False
    for start in _SECRET_STARTS:  # noqa: SIM110 - faster than any()
        if start in joined:
            return False
    return True


def _harmless(table: dict[str, Any]) -> list[str] | None:
    """Return the texts of an http recipient, the URL first; None where one of them may be a credential."""
    if "body" in table:
        return None
    texts = [table["url"]]
    if "query" in table:
        query = table["query"]
        texts += query.values()
        for name, value in query.items():
            if "{" not in value and SECRET_QUERY.search(name):
                return None
    for name, value in table["headers"].items() if "headers" in table else ():
        if "${" not in value and SECRET_HEADER.match(name):
            return None
        texts.append(value)
    return texts


def declared_arguments(scene: Scene, entry: Entry) -> frozenset[str] | dict[str, Any] | None:
    """Return the names of a recipient's arguments; None when they cannot be told."""
    table = entry.table
    if "parameters" in table:
        parameters = table["parameters"]
        return parameters if isinstance(parameters, dict) else None
    schema = table.get("input_schema")
    if schema is None:
        return None if scene.lacks(entry, "parameters", "input_schema") else frozenset()
    if not isinstance(schema, dict) or scene.is_wrong(entry, "input_schema"):
        return None
    open_ = {"additionalProperties", "unevaluatedProperties", "patternProperties", "$ref", "$dynamicRef"}
    if any(schema.get(key, False) is not False for key in open_):
        return None
    branches = [schema]
    for key in ("allOf", "anyOf", "oneOf"):
        branches += [branch for branch in schema.get(key, ()) if isinstance(branch, dict)]
    if any("$ref" in branch for branch in branches):
        return None
    return frozenset(name for branch in branches for name in table_of(branch, "properties"))
