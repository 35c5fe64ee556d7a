"""The layers and fences that keep the package a straight line."""

import ast
import pathlib

import pytest

PACKAGE = pathlib.Path(__file__).parent.parent / "registry"
MODULES = sorted(PACKAGE.rglob("*.py"))

#: Third parties and the only modules that may import them, at any level of nesting.
FENCES = {
    "cattrs": {"converter"},
    "click": {"cli"},
    "rich": {"cli"},
    "httpx": {"transports", "execution.tio", "chat"},
    "jsonschema": {"loading.problems"},
    "jsonschema_rs": {"loading.validators", "schema_check"},
    "mcp": {"serve", "mcp_client"},
    "tomli": {"loading.parse"},
    "tomlkit": {"importing"},
    "watchfiles": {"cli.watching", "watcher"},
}

#: Imported only when needed: a module that starts with one of these makes every start slow.
HEAVY = {"asyncio", "cattrs", "click", "httpx", "inspect", "jsonschema", "mcp", "rich"}

#: A module may import its own layer and those above it in this list (the first that matches decides).
LAYERS = (
    ("exceptions", "frozen", "suggest", "resources", "codes"),
    ("documents", "specs"),
    ("diagnostics",),
)


def name_of(path):
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_third_parties_stay_inside_their_fences(path):
    """Each third party is imported only in the modules that exist to wrap it."""
    name = name_of(path)
    for imported in imports_of(path):
        fence = FENCES.get(imported.partition(".")[0])
        if fence is not None:
            assert any(name == room or name.startswith(f"{room}.") for room in fence), imported
