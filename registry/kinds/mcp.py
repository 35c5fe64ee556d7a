"""The ``mcp`` kind: one tool of a declared MCP server."""

from __future__ import annotations

import base64
import json
import logging
from typing import TYPE_CHECKING, Any

import attrs

from registry.exceptions import RecipientFailed, TransportError
from registry.kinds.declared import Declared
from registry.messages import STRUCTURED, Outcome

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Mapping

    from registry.mcp_client import Target, Tool
    from registry.specs import McpOptions, ServerSpec

logger = logging.getLogger("registry.mcp")


@attrs.define(slots=False, eq=False)
class McpRecipient(Declared):
    """Calls the tool; the server is started or connected to by the first call and shared from then on.

    What the server says of the tool is compared with what the file says, before every call: the description
    that a model reads and the schema that arguments are checked by are those that were reviewed.
    """

    async def acall(self, arguments: dict[str, Any]) -> Outcome:
        """Call the tool and return all that it answers.

        Raises:
            BackendUnavailable: the SDK is not installed.
            MissingSecret: an environment variable that the server needs is unset.
            RecipientFailed: the tool has changed since it was reviewed, or the server refuses the call.
            TransportError: the server does not answer, or not as it should.
        """
        from registry.mcp_client import call_tool

        options: McpOptions = self.SPEC.options  # type: ignore[assignment]
        server = self.SERVERS[options.server]
        changes: list[str] = []

        def check(tool: Tool) -> None:
            changes.extend(_changes(tool, server.name, self.SPEC.description, self.INPUT_SCHEMA))
            if changes and options.on_change == "refuse":
                raise RecipientFailed(
                    f"{_changed(self.RECIPIENT_NAME, options, changes)}; nothing was called"
                )

        limits = [limit for limit in (self.SPEC.timeout, server.timeout) if limit is not None]
        result = await call_tool(
            target_of(server, self.FOLDER),
            options.tool,
            arguments,
            check=check,
            limit=min(limits, default=None),
        )
        outcome = outcome_of(result)
        if not changes:
            return outcome
        warning = _changed(self.RECIPIENT_NAME, options, changes)
        logger.warning("%s", warning)
        return attrs.evolve(outcome, metadata={**outcome.metadata, "warning": warning})


def target_of(server: ServerSpec, folder: pathlib.Path | None) -> Target:
    """Return the server to connect to, with the values that its environment variables have now.

    Raises:
        MissingSecret: one of them is unset.
    """
    from registry.mcp_client import Target
    from registry.secrets import expand

    where = f"servers.{server.name}"
    return Target(
        server.name,
        server.command,
        tuple((key, expand(text, f"{where}.env.{key}")) for key, text in server.env.items()),
        server.url,
        tuple((key, expand(text, f"{where}.headers.{key}")) for key, text in server.headers.items()),
        folder,
    )


def _changes(tool: Tool, server: str, description: str, schema: Mapping[str, Any] | None) -> list[str]:
    """Say what of the tool is no longer as it is pinned."""
    from registry.mcp_client.pins import NotPortableError, pinned_description, pinned_schema

    found = []
    if pinned_description(tool, server) != description:
        found.append("description")
    try:
        same = pinned_schema(tool.input_schema) == schema
    except NotPortableError:
        same = False
    return found if same else [*found, "input schema"]


def _changed(name: str, options: McpOptions, changes: list[str]) -> str:
    return (
        f"the {' and the '.join(changes)} of tool {options.tool!r} at MCP server {options.server!r} is not"
        f" what the file says of recipient {name!r}: review it with `recipients import mcp {options.server}`"
    )


def outcome_of(result: Mapping[str, Any]) -> Outcome:
    """Return what a ``tools/call`` result comes to: its texts as one, everything else as parts.

    Raises:
        TransportError: data in it is not base64.
    """
    texts: list[str] = []
    parts: list[dict[str, Any]] = []
    for item in result.get("content", ()):
        if item["type"] == "text":
            texts.append(item["text"])
        else:
            parts.append(_part(item))
    structured = result.get("structuredContent")
    if structured is not None and not texts and not parts:
        texts.append(json.dumps(structured, ensure_ascii=False))
    return Outcome(
        "\n".join(texts),
        "error" if result.get("isError") else "ok",
        {} if structured is None else {STRUCTURED: structured},
        tuple(parts),
    )


def _part(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return one piece of content in the words that replies use."""
    source = item["resource"] if item["type"] == "resource" else item
    part: dict[str, Any] = {"type": item["type"]}
    part |= {key: source[key] for key in ("uri", "name", "text") if key in source}
    if "mimeType" in source:
        part["mime_type"] = source["mimeType"]
    encoded = source.get("data", source.get("blob"))
    if encoded is not None:
        try:
            part["data"] = base64.b64decode(encoded, validate=True)
        except ValueError:
            raise TransportError(f"the server sent data of type {item['type']} that is not base64") from None
    return part
