"""Recipients in the shape that a provider or protocol wants.

Pure functions. A target is one line of `EXPORTERS`; its dialect of JSON Schema has a file of its own.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from registry.diagnostics import Report
from registry.exceptions import ExportRefused
from registry.exporters import anthropic, gemini, json_schema, mcp, openai
from registry.exporters.exporter import Exporter, Tool
from registry.exporters.problems import Problem, Problems
from registry.exporters.schemas import MAX_DEPTH, too_deep, types_of
from registry.frozen import thaw

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.exporters.schemas import Schema
    from registry.recipient import Recipient

#: Target -> exporter.
EXPORTERS: dict[str, Exporter] = {
    "anthropic": anthropic.EXPORTER,
    "gemini": gemini.EXPORTER,
    "json-schema": json_schema.EXPORTER,
    "mcp": mcp.EXPORTER,
    "openai": openai.CHAT,
    "openai-responses": openai.RESPONSES,
    "openai-strict": openai.STRICT,
}


def export(recipients: Mapping[str, type[Recipient] | Recipient], target: str) -> Any:
    """Return the recipients as new JSON data in the target's shape, in their order.

    Raises:
        ValueError: there is no such target.
        ExportRefused: something cannot be said in the target's dialect; the report has every problem.
    """
    exported, problems = export_with_problems(recipients, target)
    if problems:
        raise ExportRefused(
            Report([problem.diagnostic() for problem in problems], recipients=len(recipients))
        )
    return exported


def export_with_problems(
    recipients: Mapping[str, type[Recipient] | Recipient], target: str
) -> tuple[Any, tuple[Problem, ...]]:
    """Return what `export` does, or None and every problem: for callers that know the places in the files.

    Raises:
        ValueError: there is no such target.
    """
    if target not in EXPORTERS:
        raise ValueError(f"unknown target {target!r}: choose one of {', '.join(EXPORTERS)}")
    exporter = EXPORTERS[target]
    found = _problems_of_all(recipients, exporter, target)
    tools = {}
    for name, recipient in recipients.items():
        problems = Problems(name, recipient.SPEC.source if recipient.SPEC is not None else "")
        tools[name] = _tool(name, recipient, exporter, problems, target)
        found += problems.found
    return (None, tuple(found)) if found else (exporter.whole(tools), ())


def _problems_of_all(recipients: Mapping[str, Any], exporter: Exporter, target: str) -> list[Problem]:
    problems = Problems()
    if exporter.most is not None and len(recipients) > exporter.most:
        problems.add(
            "too-many-tools",
            f"{target} takes at most {exporter.most} tools, these are {len(recipients)}",
            hint="export fewer recipients",
        )
    found = problems.found
    seen: dict[str, str] = {}
    for name in recipients:
        first = seen.setdefault(unicodedata.normalize("NFC", name), name)
        if first != name:
            clash = Problems(name)
            clash.add(
                "name-collision", f"{name!r} and {first!r} are the same name to a reader", hint="rename one"
            )
            found += clash.found
    return found


def _tool(
    name: str, recipient: type[Recipient] | Recipient, exporter: Exporter, problems: Problems, target: str
) -> Any:
    if not exporter.names.fullmatch(name):
        problems.add(
            "name-not-portable",
            f"{target} takes no tool called {name!r}",
            hint="use 1 to 64 ASCII letters, digits, dashes and underscores, a letter first",
        )
    schema = _rooted(recipient, problems)
    if problems.found:
        return None
    spec = recipient.SPEC
    dialect = exporter.dialect(schema, problems)
    return exporter.tool(Tool(name, recipient.DESCRIPTION, dialect, spec is not None and spec.idempotent))


def _schema_of(recipient: type[Recipient] | Recipient) -> Schema:
    """Return a recipient's own schema, or one made of the names it requires."""
    if recipient.INPUT_SCHEMA is not None:
        return dict(recipient.INPUT_SCHEMA)
    names = list(recipient.REQUIRED_ARGS)
    schema: Schema = {"type": "object", "properties": {name: {} for name in names}}
    return {**schema, "required": names} if names else schema


def _rooted(recipient: type[Recipient] | Recipient, problems: Problems) -> Schema:
    """Return a copy of the schema whose root says that arguments are an object, as every target wants it."""
    schema = _schema_of(recipient)
    if too_deep(schema):
        problems.unsupported(f"the schema has more than {MAX_DEPTH} levels", (), "make it flatter")
        return {}
    if recipient.SPEC is None and not _is_sound(schema, problems):
        return {}
    kinds = types_of({"type": schema["type"]}) if "type" in schema else ["object"]
    if "object" not in kinds:
        problems.unsupported("the arguments of a call are an object", ("type",), 'write type = "object"')
    done: Schema = thaw({"type": "object", **schema})
    return {**done, "type": "object"}


def _is_sound(schema: Schema, problems: Problems) -> bool:
    """Check a schema that was not declared in a file, where it would have been checked at load."""
    from registry.schema_check import compile as compile_schema

    try:
        compile_schema(schema)
    except ValueError as error:
        problems.unsupported(str(error), (), "calls of this recipient would fail too")
        return False
    return True
