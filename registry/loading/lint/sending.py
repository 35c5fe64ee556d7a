"""What recipients and servers send, text by text: placeholders, variables, URLs and credentials."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from registry.loading.lint.calls import SECRET_HEADER, SECRET_QUERY
from registry.loading.lint.texts import Text, bad_references, server_texts, tool_texts, without_environment
from registry.suggest import nearest
from registry.template import renamed, scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.diagnostics import Fault
    from registry.loading.lint.scene import Entry

_URL = re.compile(r"(?P<scheme>[^/?#]*?)(?P<slashes>://)(?P<host>[^/?#]*)(?P<rest>.*)\Z", re.DOTALL)
#: Scheme and host, or what stands in their place.
_ORIGIN = re.compile(r"(?:[^/?#]*://)?[^/?#]*")
#: Letters, digits, dots and dashes are all that is left when these are taken away.
_HOST = re.compile(r"(?:[^\x00-,/:-@\[-`{-\x7f]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?\Z")
#: Credentials that are known by their looks.
_SECRET_VALUE = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|AKIA[0-9A-Z]{16}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{35}|glpat-[A-Za-z0-9_-]{20})"
)
#: Stands for the dash of a name, in as many characters: a letter that no file has in a name.
_DASH = "\ua7f7"
_SCHEMES = re.compile(r"(?:bearer|basic|token|digest|apikey)?\s*\Z", re.IGNORECASE)


def tool(entry: Entry, declared: Any) -> Iterator[Fault]:
    """Check the texts of a recipient; ``declared`` are its arguments, None if unknown."""
    for text in tool_texts(entry):
        if "{" in text.value or "}" in text.value:
            yield from _placeholders(entry, text, declared)
            yield from _environment(entry, text)
        if text.key == "url":
            yield from _url(entry, text)
        if text.path == ("argv", 0):
            yield from _program(entry, text)
        yield from _secret(entry, text)


def server(entry: Entry) -> Iterator[Fault]:
    """Check the texts of a server."""
    for text in server_texts(entry):
        yield from _environment(entry, text)
        yield from _secret(entry, text)
        if text.key == "url":
            yield from _url(entry, text)


def address(entry: Entry, value: str, *path: str) -> Iterator[Fault]:
    """Check a URL of a recipient that has no placeholders."""
    yield from _url(entry, Text(path, value, "url"))


def _program(entry: Entry, text: Text) -> Iterator[Fault]:
    for use in scan(without_environment(text.value)).placeholders:
        yield entry.fault(
            "wrong-value",
            "which program is started cannot come from an argument",
            *text.path,
            within=(use.start, use.end),
            hint="write the program out",
        )


def _placeholders(entry: Entry, text: Text, declared: Any) -> Iterator[Fault]:
    plain, names = without_environment(text.value), dict.fromkeys(declared or ())
    for name in [name for name in names if "-" in name]:
        # Such an argument may stand in braces too; the template grammar knows identifiers only.
        names[alias := name.replace("-", _DASH)] = None
        plain = renamed(plain, name, alias)
    found = scan(plain)
    fixed = _fixed_length(text)
    # No placeholder may stand there, whatever else is wrong with it; that is reported by itself.
    misplaced = {use.start for use in found.placeholders if use.start < fixed}
    for problem in found.problems:
        if problem.start not in misplaced:
            yield entry.fault(
                problem.code,
                problem.message,
                *text.path,
                within=(problem.start, problem.end),
                hint=problem.hint,
                severity=problem.severity,
            )
    for use in found.placeholders:
        if use.start in misplaced or declared is None or use.name in names:
            continue
        if use.role in {"value", "if", "each"}:
            guess = nearest(use.name, declared)
            yield entry.fault(
                "undeclared-argument",
                f"`{use.name}` is no argument of this recipient",
                *text.path,
                within=(use.start, use.end),
                hint=f"did you mean `{guess}`?" if guess else "declare it under `parameters`",
            )


def _fixed_length(text: Text) -> int:
    """Return how much of a text, from its start, cannot come from an argument."""
    if text.path == ("argv", 0):
        return len(text.value)
    found = _ORIGIN.match(without_environment(text.value)) if text.key == "url" else None
    return found.end() if found else 0


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
    use = next(iter(scan(url[: _fixed_length(text)]).placeholders), None)
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
        bad = bool(SECRET_HEADER.match(name)) and not _SCHEMES.match(value)
    elif literal and text.key == "query":
        bad = len(value) >= 12 and bool(SECRET_QUERY.search(name))
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
