"""Declarations made from what others offer, to be reviewed like code."""

from __future__ import annotations

from registry.importing.mcp import Imported, fetch_tools, import_tools, server_in

__all__ = ["Imported", "fetch_tools", "import_tools", "server_in"]
