"""``recipients serve``."""

from __future__ import annotations

import os
from typing import Any

import click

from registry.cli.options import file_option
from registry.loading.loader import load
from registry.manager import RecipientManager


@click.command("serve")
@file_option
@click.option(
    "--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP at /mcp; port 0 picks one."
)
@click.option("--reload", "reload_", is_flag=True, help="Serve edits of the file as soon as they are good.")
@click.option(
    "--token-env", metavar="NAME", help="Environment variable with the bearer token that clients send."
)
def command(file: str, address: str | None, reload_: bool, token_env: str | None) -> int:
    """Serve the recipients and prompts of a registry over MCP: on standard input and output, or over HTTP.

    HTTP binds to loopback unless a token is set. Needs the extra mcp: pip install 'recipients[mcp]'.
    """
    manager = RecipientManager(load(file))
    options: dict[str, Any] = {"path": file if reload_ else None}
    if address is None:
        from registry.serve import serve_stdio

        serve_stdio(manager, **options)
        return 0
    from registry.serve import serve_http

    host, port = split_address(address)
    serve_http(manager, host, port, token=token_of(token_env), **options)
    return 0


def split_address(address: str) -> tuple[str, int]:
    """Split ``HOST:PORT``, also ``[::1]:8000`` and ``:8000``.

    Raises:
        click.UsageError: it is no address.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise click.UsageError(f"--http needs HOST:PORT, not {address!r}")
    return host.strip("[]") or "127.0.0.1", int(port)


def token_of(variable: str | None) -> str | None:
    """Read the bearer token from an environment variable.

    Raises:
        click.UsageError: the variable is not set.
    """
    if variable is None:
        return None
    token = os.environ.get(variable)
    if not token:
        raise click.UsageError(f"the environment variable {variable} (--token-env) is not set")
    return token
