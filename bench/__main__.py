"""``python -m bench [PART...]``: run the named parts, or all of them."""

from __future__ import annotations

import importlib
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

PARTS = ("loading", "checking", "rendering", "calling", "executing", "serving", "growth", "fuzz")
PACKAGES = (
    "recipients",
    "attrs",
    "cattrs",
    "tomli",
    "jsonschema",
    "jsonschema-rs",
    "check-jsonschema",
    "taplo",
    "tombi",
    "jinja2",
    "langchain-core",
    "banks",
    "dotpromptz",
    "fastmcp",
    "pydantic-ai-slim",
    "mcp",
    "pydantic-monty",
)


def versions() -> str:
    found = [f"Python {platform.python_version()}", platform.platform()]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def main(parts: list[str]) -> None:
    unknown = set(parts) - set(PARTS)
    if unknown:
        sys.exit(f"no such part: {', '.join(sorted(unknown))}; there are: {', '.join(PARTS)}")
    print(versions())
    for part in parts or PARTS:
        importlib.import_module(f"bench.{part}").run()


main(sys.argv[1:])
