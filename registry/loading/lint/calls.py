"""What an http or command recipient sends: placeholders, environment variables, URLs and secrets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from registry.loading.lint.scene import table_of
from registry.loading.lint.texts import Text, bad_references, server_texts, tool_texts, without_environment
from registry.suggest import nearest
from registry.template import scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.diagnostics import Fault
    from registry.loading.lint.scene import Entry, Scene

_SIMPLE = re.compile(r"(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")
#: A URL that is certainly right.
_PLAIN_URL = re.compile(
    r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,4})?(?:[/?#](?:[!#-;=?-\[\]^-z|~]++|\{[A-Za-z_][A-Za-z0-9_]*\})*+)?\Z"
)
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,4})?(?:[/?#][!-z|~]*)?\Z")
_URL = re.compile(r"(?P<scheme>[^/?#]*?)(?P<slashes>://)(?P<host>[^/?#]*)(?P<rest>.*)\Z", re.DOTALL)
_HOST = re.compile(r"(?:[A-Za-z0-9.\-\u0080-\U0010ffff]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?\Z")
_SECRET_HEADER = re.compile(
    r"(?:proxy-)?authorization\Z|(?:.*[-_])?(?:api|access|auth|subscription|secret|private|x)[-_]?(?:key|token|secret)\Z"
    r"|(?:.*[-_])?(?:apikey|password|passwd|secret)\Z|cookie\Z",
    re.IGNORECASE,
)
_SECRET_QUERY = re.compile(
    r"(?:api|access|auth|secret)[-_]?(?:key|token)\Z|(?:apikey|password|token)\Z", re.IGNORECASE
)
#: Credentials that are known by their looks.
_SECRET_VALUE = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|AKIA[0-9A-Z]{16}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{35}|glpat-[A-Za-z0-9_-]{20})"
)
_SECRET_STARTS = ("sk-", "gh", "AKIA", "xox", "AIza", "glpat-")
_SCHEMES = re.compile(r"(?:bearer|basic|token|digest|apikey)?\s*\Z", re.IGNORECASE)


def calls(scene: Scene) -> Iterator[Fault]:
    """Check every text that is filled in when a tool is called or a server is started."""
    for entry in scene.recipients:
        kind = entry.table.get("kind")
        if kind == "http" or kind == "command":  # noqa: PLR1714 - a misshapen kind cannot be looked up in a set
            declared = declared_arguments(scene, entry)
            if not _is_plain(entry.table, declared):
                yield from _tool(entry, declared)
        elif kind == "python" and "tio" in entry.table:
            url = table_of(entry.table, "tio").get("url")
            if isinstance(url, str):
                yield from _url(entry, Text(("tio", "url"), url, "url"))
    for entry in scene.servers:
        for text in server_texts(entry):
            yield from _environment(entry, text)
            yield from _secret(entry, text)
            if text.key == "url":
                yield from _url(entry, text)


def _tool(entry: Entry, declared: Any) -> Iterator[Fault]:
    for text in tool_texts(entry):
        if "{" in text.value or "}" in text.value:
            yield from _placeholders(entry, text, declared)
            yield from _environment(entry, text)
        if text.key == "url":
            yield from _url(entry, text)
        if text.path == ("argv", 0):
            yield from _program(entry, text)
        yield from _secret(entry, text)


def _program(entry: Entry, text: Text) -> Iterator[Fault]:
    for use in scan(without_environment(text.value)).placeholders:
        yield entry.fault(
            "wrong-value",
            "which program is started cannot come from an argument",
            *text.path,
            within=(use.start, use.end),
            hint="write the program out",
        )


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
    if not len(found) == joined.count("{") == joined.count("}"):
        return False
    for sign, name in found:
        if not sign and name not in declared:
            return False
    return not any(map(joined.__contains__, _SECRET_STARTS))


def _harmless(table: dict[str, Any]) -> list[str] | None:
    """Return the texts of an http recipient, the URL first; None where one of them may be a credential."""
    if "body" in table:
        return None
    texts = [table["url"]]
    if "query" in table:
        query = table["query"]
        texts += query.values()
        for name, value in query.items():
            if "{" not in value and _SECRET_QUERY.search(name):
                return None
    for name, value in table["headers"].items() if "headers" in table else ():
        if "${" not in value and _SECRET_HEADER.match(name):
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


def _placeholders(entry: Entry, text: Text, declared: Any) -> Iterator[Fault]:
    plain, names = without_environment(text.value), dict.fromkeys(declared or ())
    for name in [name for name in names if "-" in name]:
        # Such an argument may stand in braces too; the template grammar knows identifiers only.
        names[alias := name.replace("-", "_")] = None
        plain = re.sub(rf"(?<!\{{)\{{{re.escape(name)}(?=[}}:!])", f"{{{alias}", plain)
    found = scan(plain)
    for problem in found.problems:
        yield entry.fault(
            problem.code,
            problem.message,
            *text.path,
            within=(problem.start, problem.end),
            hint=problem.hint,
            severity=problem.severity,
        )
    for use in found.placeholders:
        if declared is not None and use.role in {"value", "if", "each"} and use.name not in names:
            guess = nearest(use.name, declared)
            yield entry.fault(
                "undeclared-argument",
                f"`{use.name}` is no argument of this recipient",
                *text.path,
                within=(use.start, use.end),
                hint=f"did you mean `{guess}`?" if guess else "declare it under `parameters`",
            )


def _environment(entry: Entry, text: Text) -> Iterator[Fault]:
    for start, end, name in bad_references(text.value):
        yield entry.fault(
            "bad-environment-name",
            f"`{name}` is no name of an environment variable"
            if name
            else "`${` names no environment variable",
            *text.path,
            within=(start, end),
            hint="write `${NAME}`: letters, digits and `_`, not starting with a digit",
        )


def _url(entry: Entry, text: Text) -> Iterator[Fault]:
    url = without_environment(text.value)
    match = _URL.match(url)
    use = next(iter(scan(url[: match.end("host") if match else None]).placeholders), None)
    if use is not None and entry.section == "recipients":
        yield entry.fault(
            "host-placeholder",
            "a placeholder stands in the scheme or host of the URL",
            *text.path,
            within=(use.start, use.end),
            hint="a caller must not choose the server; write the host out",
        )
        return
    reason = _bad_url(url)
    if reason:
        hint = "write it as https://host/path"
        yield entry.fault("bad-url", f"this is no URL to call: {reason}", *text.path, hint=hint)


def _bad_url(url: str) -> str:
    match = _URL.match(url)
    if not match or match["scheme"].lower() not in {"http", "https"}:
        return "it does not start with http:// or https://"
    host = match["host"]
    if not host:
        return "it has no host"
    if "@" in host:
        return "a user name or password may not stand in it"
    named = _HOST.match(host)
    if not named or int(named["port"] or 0) > 65535:
        return "its host or port is malformed"
    if re.search(r"[\x00-\x20\x7f\\]", match["rest"]):
        return "it has a space, a backslash or a control character in it"
    return ""


def _secret(entry: Entry, text: Text) -> Iterator[Fault]:
    value, name = text.value, str(text.path[-1])
    literal = "{" not in value
    bad = False
    if literal and text.key == "headers":
        bad = bool(_SECRET_HEADER.match(name)) and not _SCHEMES.match(value)
    elif literal and text.key == "query":
        bad = len(value) >= 12 and bool(_SECRET_QUERY.search(name))
    if bad or (len(value) >= 14 and _SECRET_VALUE.search(value)):
        variable = re.sub(r"\W+", "_", entry.name).upper() + "_TOKEN"
        yield entry.fault(
            "secret-in-file",
            f"`{name}` holds a credential in plain text"
            if bad
            else "this looks like a credential in plain text",
            *text.path,
            hint=f"put it into an environment variable and write ${{{variable}}}",
        )
