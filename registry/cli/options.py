"""Options that several commands have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

#: The registry file that commands read unless told otherwise.
DEFAULT_FILE = "recipients.toml"


def file_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--file``: the registry to read."""
    return click.option(
        "-f", "--file", default=DEFAULT_FILE, show_default=True, metavar="FILE", help="Registry to read."
    )(command)


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--format text|json``."""
    return click.option(
        "--format",
        "format_name",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="How to print.",
    )(command)
