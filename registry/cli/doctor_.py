"""``recipients doctor``."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from registry.cli.options import json_option
from registry.cli.output import show_json, show_table

#: Extra -> the distributions it brings, as the user would install them.
EXTRAS: dict[str, tuple[str, ...]] = {
    "jupyter": ("jupyter-client", "ipykernel"),
    "mcp": ("mcp", "tomlkit"),
    "monty": ("pydantic-monty",),
    "watch": ("watchfiles",),
}


@click.command("doctor")
@json_option
def command(format_name: str) -> int:
    """Say which ways to run Python work here, why the others do not, and which extras are there."""
    from registry.execution import probe_all

    backends = {name: {"ok": ok, "reason": reason} for name, (ok, reason) in probe_all().items()}
    extras = {name: _versions(names) for name, names in EXTRAS.items()}
    if format_name == "json":
        show_json({"python": sys.version.split()[0], "backends": backends, "extras": extras})
    else:
        click.echo(
            f"recipients {version('recipients')}, Python {sys.version.split()[0]}, {platform.platform()}"
        )
        rows = [(name, "works" if b["ok"] else "does not", str(b["reason"])) for name, b in backends.items()]
        show_table("python backends", ("backend", "here", "why"), rows)
        show_table("extras", ("extra", "installed"), [(name, _line(found)) for name, found in extras.items()])
    return 0 if any(backend["ok"] for backend in backends.values()) else 1


def _versions(names: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, str | None] = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def _line(found: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {number or 'is missing'}" for name, number in found.items())
