"""What tables name in other tables: recipients and servers must exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.loading.lint.scene import list_of
from registry.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from registry.diagnostics import Fault
    from registry.loading.lint.scene import Entry, Scene


def recipients(scene: Scene) -> Iterator[Fault]:
    """Refuse a prompt that goes with a recipient that does not exist."""
    if not scene.is_complete("recipients"):
        return
    names: frozenset[str] | None = None
    for entry in scene.prompts:
        for i, name in enumerate(list_of(entry.table, "recipients")):
            names = names or frozenset(recipient.name for recipient in scene.recipients)
            if isinstance(name, str) and name not in names and not scene.is_wrong(entry, "recipients", i):
                yield _unknown(entry, "recipient", name, names, "recipients", i)


def servers(scene: Scene) -> Iterator[Fault]:
    """Refuse a tool of a server that is not declared."""
    if not scene.is_complete("servers"):
        return
    names = frozenset(server.name for server in scene.servers)
    for entry in scene.recipients:
        name = entry.table.get("server")
        if isinstance(name, str) and name not in names and entry.table.get("kind") == "mcp":
            yield _unknown(entry, "server", name, names, "server")


def _unknown(entry: Entry, what: str, name: str, known: Iterable[str], *path: str | int) -> Fault:
    guess = nearest(name, known)
    hint = f"did you mean `{guess}`?" if guess else f"declare it under `{what}s`"
    return entry.fault(f"unknown-{what}", f"there is no {what} `{name}`", *path, hint=hint)
