"""``recipients import``."""

from __future__ import annotations

import asyncio
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING

import click

from registry.cli.options import DEFAULT_FILE
from registry.exceptions import UnreadableFile

if TYPE_CHECKING:
    from registry.specs import ServerSpec


@click.group("import")
def command() -> None:
    """Write recipients for the tools of a server into a registry file, to be reviewed like code."""


@command.command("mcp", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name")
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option("--url", help="Address of a server that is reached over HTTP.")
@click.option("-f", "--file", default=DEFAULT_FILE, show_default=True, metavar="FILE", help="File to write.")
@click.option("--prefix", help="What new recipients' names begin with; by default the server's name and '_'.")
@click.option("--dry-run", is_flag=True, help="Print the new text; write nothing.")
def import_mcp(
    name: str, argv: tuple[str, ...], url: str | None, file: str, prefix: str | None, dry_run: bool
) -> int:
    """Write one recipient for each tool of the MCP server NAME.

    The server is a COMMAND, a --url, or the one that FILE declares under that name. What FILE says already is
    kept, comments and layout included; done again, only what the server changed is changed.

    A tool that FILE could not declare without an error is left out, and the exit code is 1.
    """
    from registry.importing.mcp import fetch_tools, import_tools

    path = pathlib.Path(file)
    before = _text_of(path)
    server = _server(name, argv, url, before)
    folder = path.parent.resolve() if path.parent.is_dir() else pathlib.Path.cwd()
    tools = asyncio.run(fetch_tools(server, folder))
    done = import_tools(before, server, tools, prefix=prefix, file=file)
    if dry_run:
        click.echo(done.text, nl=False)
    else:
        if done.text != before or not path.exists():
            write_whole(path, done.text)
        for what in ("added", "updated", "unchanged", "gone"):
            names = getattr(done, what)
            if names:
                click.echo(f"{what}: {', '.join(names)}")
    for reason in done.left_out.values():
        click.echo(f"left out: {reason.message} [{reason.code}]", err=True)
    return 1 if done.left_out else 0


def _text_of(path: pathlib.Path) -> str:
    """Read the file as it is, line ends included; one that is not there begins empty."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return "version = 1\n"
    except (OSError, ValueError) as error:
        raise UnreadableFile(str(path), str(error)) from error


def _server(name: str, argv: tuple[str, ...], url: str | None, text: str) -> ServerSpec:
    from registry.importing.mcp import server_in
    from registry.specs import ServerSpec

    if argv and url:
        raise click.UsageError("give a COMMAND or a --url, not both")
    if argv or url:
        return ServerSpec(name, command=argv, url=url)
    declared = server_in(text, name)
    if declared is None:
        raise click.UsageError(f"give '-- COMMAND...' or --url: the file declares no server {name!r}")
    return declared


def write_whole(path: pathlib.Path, text: str) -> None:
    """Put a file in place at once: whatever happens meanwhile, it holds the old text or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
        out.write(text)
    pathlib.Path(temporary).chmod(path.stat().st_mode if path.exists() else 0o644)
    pathlib.Path(temporary).replace(path)
