"""The command ``recipients``: one file per command, imported when it is used."""

from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from registry.exceptions import InvalidRegistry, RegistryError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Exit codes: nothing wrong, something wrong was found, the question could not be answered.
OK, FOUND, UNABLE = 0, 1, 2

#: Command -> its one-line help. The module has the command's name and defines `command`.
COMMANDS: dict[str, str] = {
    "chat": "Let a model talk to the recipients.",
    "check": "Check registry files: every fault at once, with its place.",
    "diff": "Say what changed between two registries, and what it breaks.",
    "doctor": "Say what works on this machine, and why the rest does not.",
    "explain": "Explain a diagnostic code.",
    "export": "Print the recipients as a provider's tools.",
    "import": "Write recipients for the tools of an MCP server.",
    "init": "Write a commented starter file.",
    "list": "List recipients and prompts.",
    "render": "Render a prompt.",
    "run": "Call a recipient.",
    "schema": "Print or install the JSON Schemas for editors.",
    "serve": "Serve recipients and prompts over MCP.",
    "show": "Show one recipient or prompt.",
    "test": "Run every example and compare.",
}

_CONTEXT = {"help_option_names": ["-h", "--help"]}


class _Commands(click.Group):
    """A group that knows its commands' names without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's name
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's name
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"registry.cli.{cmd_name}_").command
        command.context_settings = {**_CONTEXT, **command.context_settings}
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown name gets the nearest one as a hint."""
        from registry.suggest import close

        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and (near := close(name, COMMANDS)):
            raise click.UsageError(f"No such command {name!r}. Did you mean {near[0]!r}?", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's name
        """Write the list of commands from the table."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings=_CONTEXT)
@click.version_option(package_name="recipients", prog_name="recipients")
def group() -> None:
    """Declare language-model tools and prompts in TOML; check, run, export and serve them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 fine, 1 faults found, 2 could not do it."""
    _write_utf8()
    try:
        result: Any = group.main(
            None if arguments is None else list(arguments), "recipients", standalone_mode=False
        )
    except click.exceptions.Abort:
        click.echo("Aborted.", err=True)
        return 130
    except click.ClickException as error:
        error.show()
        return UNABLE
    except InvalidRegistry as error:
        from registry.cli.output import show_report

        show_report(error.report, err=True)
        return FOUND
    except RegistryError as error:
        from registry.cli.output import show_error

        show_error(error)
        return UNABLE
    except BrokenPipeError:
        _forget_stdout()
        return OK
    return result if isinstance(result, int) else OK


def _write_utf8() -> None:
    """Keep a narrow locale from turning a message into a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _forget_stdout() -> None:
    """Keep the interpreter from failing on its last flush after the reader of a pipe has gone."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
