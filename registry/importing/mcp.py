"""``recipients import mcp``: the tools of an MCP server as recipients in a file.

Asking the server and writing the file are apart: `import_tools` is a function from text to text. It changes
what it must and leaves all the rest, comments and layout included, as it is; done again, it changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from registry.diagnostics import Report
from registry.exceptions import BackendUnavailable, InvalidRegistry, RegistryError
from registry.importing.names import recipient_name
from registry.importing.tools import Wanted, fault, offer
from registry.specs import ServerSpec

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterable, Iterator, Mapping

    from registry.diagnostics import Diagnostic
    from registry.mcp_client import Tool

_OTHER_NAMES = "choose other names with a prefix, or rename the recipient"
_BY_HAND = (
    "declare one of them under a name of your own, with kind, server, tool and description, and import again:"
    " names in the file are kept"
)


@attrs.frozen
class Imported:
    """The new text of the file, and what became of each recipient of the server, by name."""

    text: str
    added: tuple[str, ...] = ()
    #: Their description or schema was not what the server says now.
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    #: The server has no such tool; they were left in the file.
    gone: tuple[str, ...] = ()
    #: Tools that cannot be declared, and why. What the file says of them already was left as it is.
    left_out: Mapping[str, Diagnostic] = attrs.field(factory=dict)


async def fetch_tools(server: ServerSpec, folder: pathlib.Path | None = None) -> tuple[Tool, ...]:
    """Ask a server for its tools; a command is started in the folder.

    Raises:
        BackendUnavailable: the SDK is not installed.
        MissingSecret: an environment variable that the server needs is unset.
        TransportError: the server does not answer, or not as it should.
    """
    from registry.kinds.mcp import target_of
    from registry.mcp_client import list_tools

    return await list_tools(target_of(server, folder), server.timeout)


def server_in(text: str, name: str) -> ServerSpec | None:
    """Return the server of this name that a file declares; None when it declares none."""
    table = _tables(_parsed(text, "").unwrap(), "servers").get(name)
    if table is None:
        return None
    given = {key: item for key, item in table.items() if key in attrs.fields_dict(ServerSpec)}
    if "command" in given:
        given["command"] = tuple(given["command"])
    return ServerSpec(**{**given, "name": name})


def import_tools(
    text: str,
    server: ServerSpec,
    tools: Iterable[Tool],
    *,
    prefix: str | None = None,
    file: str = "recipients.toml",
) -> Imported:
    """Return a file's text with one recipient for each tool of the server, and the server itself.

    A recipient of the file that already calls a tool keeps its name and whatever else was written there; only
    its description and input schema become what the server says. New recipients are called
    ``SERVER_TOOL``, or ``PREFIXTOOL`` with a prefix. A tool that no file could declare without an error, such
    as one whose schema refers to another host, is left out.

    Args:
        text: What the file says now; may be empty.
        server: The server, which is written down where the file does not have it so.
        tools: What the server offers.
        prefix: What new names begin with; by default the server's name and ``_``.
        file: Shown name of the file.

    Raises:
        BackendUnavailable: tomlkit is not installed.
        InvalidRegistry: a name is taken, or the text is no TOML; has every fault.
    """
    recipients = _tables(_parsed(text, file).unwrap(), "recipients")
    tools = tuple(tools)
    offered = offer(tools, server.name, file)
    wanted, faults = offered.wanted, []
    ours = _ours(recipients, server.name)
    start = f"{server.name}_" if prefix is None else prefix
    new: dict[str, Wanted] = {}
    for item in wanted:
        if item.tool in ours:
            continue
        name = recipient_name(start, item.tool)
        if name in recipients or name in new:
            taken = name in recipients
            owner = "in the file" if taken else f"made of tool {new[name].tool!r}"
            message = f"tool {item.tool!r} would be recipient {name!r}, which is {owner}"
            hint = _OTHER_NAMES if taken else _BY_HAND
            faults.append(fault("name-collision", message, file, hint=hint))
        new.setdefault(name, item)
    if faults:
        raise InvalidRegistry(Report(faults))
    # Tables are easier to read, but not every layout takes one: no file is ever damaged by an unforeseen one.
    for inline in (False, True):
        done = _written(text, server, wanted, (ours, new), inline=inline)
        if _says(done.text, server.name, wanted):
            return attrs.evolve(done, gone=_gone(ours, tools), left_out=offered.left_out)
    names = ", ".join(done.updated)
    raise RegistryError(f"{file} cannot be edited in place: write each of {names} as a table of its own")


def _written(
    text: str,
    server: ServerSpec,
    wanted: tuple[Wanted, ...],
    names: tuple[dict[str, list[str]], dict[str, Wanted]],
    *,
    inline: bool,
) -> Imported:
    from registry.importing import write

    ours, new = names
    document = _parsed(text, "")
    updated: list[str] = []
    unchanged: list[str] = []
    for item in wanted:
        for name in ours.get(item.tool, ()):
            table = document["recipients"][name]
            changed = write.update_recipient(table, item.description, item.schema, inline=inline)
            (updated if changed else unchanged).append(name)
    blocks = write.update_server(document, server)
    blocks += [
        write.recipient_block(name, server.name, item.tool, item.description, item.schema)
        for name, item in new.items()
    ]
    return Imported(write.joined(document, text, blocks), tuple(new), tuple(updated), tuple(unchanged))


def _gone(ours: dict[str, list[str]], tools: tuple[Tool, ...]) -> tuple[str, ...]:
    """Return the recipients whose tool the server no longer has."""
    offered = {tool.name for tool in tools}
    return tuple(name for tool, names in ours.items() if tool not in offered for name in names)


def _says(text: str, server: str, wanted: tuple[Wanted, ...]) -> bool:
    """Say whether the text declares every tool as it is wanted."""
    recipients = _tables(_parsed(text, "").unwrap(), "recipients")
    ours = _ours(recipients, server)
    return all(
        item.tool in ours and all(_tells(recipients[name], item) for name in ours[item.tool])
        for item in wanted
    )


def _tells(table: dict[str, Any], item: Wanted) -> bool:
    return (table.get("description"), table.get("input_schema")) == (item.description, item.schema)


def _parsed(text: str, file: str) -> Any:
    try:
        import tomlkit
        from tomlkit.exceptions import ParseError
    except ImportError as error:
        raise BackendUnavailable('importing needs tomlkit: pip install "recipients[mcp]"') from error
    try:
        return tomlkit.parse(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except ParseError as error:
        found = fault("toml-syntax", str(error), file, error.line, error.col)
        raise InvalidRegistry(Report([found])) from error


def _tables(data: Any, section: str) -> dict[str, dict[str, Any]]:
    found = data.get(section)
    tables = found.items() if isinstance(found, dict) else ()
    return {name: table for name, table in tables if isinstance(table, dict)}


def _ours(recipients: dict[str, dict[str, Any]], server: str) -> dict[str, list[str]]:
    """Return the recipients that call a tool of the server, by tool."""
    found: dict[str, list[str]] = {}
    for name, tool in _calls(recipients, server):
        found.setdefault(tool, []).append(name)
    return found


def _calls(recipients: dict[str, dict[str, Any]], server: str) -> Iterator[tuple[str, str]]:
    for name, table in recipients.items():
        tool = table.get("tool")
        if table.get("kind") == "mcp" and table.get("server") == server and isinstance(tool, str):
            yield name, tool
