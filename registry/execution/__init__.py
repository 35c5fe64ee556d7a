"""Running Python code: one interface, several backends.

Start reading at `interface` (what a backend is), then `choose` (which one is taken), then `process` (the
default).
"""

from __future__ import annotations

from registry.execution.choose import BACKENDS, get_backend, probe_all

__all__ = ["BACKENDS", "get_backend", "probe_all"]
