"""Which server is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    import pathlib


@attrs.frozen
class Target:
    """A server to connect to, with all values filled in; equal targets share a connection."""

    name: str
    command: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)
    url: str | None = attrs.field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)
    #: Where a command is started.
    folder: pathlib.Path | None = None
