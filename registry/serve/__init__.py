"""A registry as a server of the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.serve.stdio import serve_stdio

if TYPE_CHECKING:
    from registry.serve.http import serve_http

__all__ = ["serve_http", "serve_stdio"]


def __getattr__(name: str) -> object:
    if name == "serve_http":
        from registry.serve.http import serve_http

        return serve_http
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
