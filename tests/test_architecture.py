"""The layers, fences and sizes that keep the package a straight line."""

import ast
import pathlib

import pytest

PACKAGE = pathlib.Path(__file__).parent.parent / "registry"

#: Third parties and the only modules that may import them, at any level of nesting.
FENCES = {
    "anyio": {"serve", "mcp_client"},
    "cattrs": {"converter"},
    "click": {"cli"},
    "httpx": {"transports", "execution.tio", "chat"},
    "ipykernel": {"execution.jupyter"},
    "jsonschema": {"loading.problems"},
    "jsonschema_rs": {"loading.validators", "schema_check"},
    "jupyter_client": {"execution.jupyter"},
    "mcp": {"serve", "mcp_client"},
    "pydantic_monty": {"execution.monty"},
    "referencing": {"loading.problems"},
    "rich": {"cli"},
    "tomli": {"loading.parse"},
    "tomlkit": {"importing"},
    "watchfiles": {"cli.watching", "watcher"},
}

#: The stages of a load: none imports another one; the loader alone knows their order.
STAGES = ("read", "validate", "lint", "locate", "structure", "build")

#: What knows only values: it may import nothing of the package but these.
WORDS = {"codes", "diagnostics", "documents", "exceptions", "frozen", "resources", "specs", "suggest"}

LONGEST_FILE = 400
LONGEST_FUNCTION = 45


def name_of(path):
    """Return a module's name inside the package; its own is empty."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}


def imported(nodes):
    """Yield the full names of the modules that statements import."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}".removeprefix("registry.")
                yield (
                    f"registry.{inner}"
                    if node.module.startswith("registry") and inner in MODULES
                    else node.module
                )


def own_imports(name):
    """Return the modules of the package that a module imports when it is imported itself."""
    found = {
        one.removeprefix("registry").lstrip(".")
        for one in imported(TREES[name].body)
        if one.startswith("registry")
    }
    return found & MODULES.keys()


def rooms(name):
    """Say whether a module is one of those named, or inside one."""
    return lambda room: name == room or name.startswith(f"{room}.")


@pytest.mark.parametrize("name", MODULES)
def test_third_parties_stay_inside_their_fences(name):
    """Each third party is imported only in the modules that exist to wrap it."""
    for one in imported(ast.walk(TREES[name])):
        fence = FENCES.get(one.partition(".")[0])
        assert fence is None or any(map(rooms(name), fence)), one


def test_modules_import_each_other_in_no_circle():
    """The graph of imports has an order; what is imported later, inside functions, does not count."""
    order, path = {}, []

    def visit(name):
        assert name not in path, [*path, name]
        if name not in order:
            path.append(name)
            for other in own_imports(name):
                visit(other)
            order[path.pop()] = True

    for name in MODULES:
        visit(name)


@pytest.mark.parametrize("stage", STAGES)
def test_stages_do_not_know_each_other(stage):
    """A stage imports no other stage, not even inside a function."""
    others = {f"registry.loading.{other}" for other in STAGES if other != stage}
    for name, tree in TREES.items():
        if rooms(name)(f"loading.{stage}"):
            assert [] == [one for one in imported(ast.walk(tree)) if one in others]


@pytest.mark.parametrize("name", sorted(WORDS))
def test_words_import_only_words(name):
    """Values know nothing of what is done with them."""
    assert own_imports(name) <= WORDS


@pytest.mark.parametrize("name", [name for name in MODULES if not rooms(name)("cli") and name != "__main__"])
def test_nothing_imports_the_command_line(name):
    """The edge is the edge."""
    assert [] == [one for one in imported(ast.walk(TREES[name])) if one.startswith("registry.cli")]


@pytest.mark.parametrize("name", MODULES)
def test_files_and_functions_stay_small(name):
    """A file that grows past the limit holds two things; so does a function."""
    assert len(MODULES[name].read_text("utf-8").splitlines()) <= LONGEST_FILE
    for node in ast.walk(TREES[name]):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            docs = ast.get_docstring(node, clean=False) or ""
            length = node.end_lineno - node.lineno + 1 - len(docs.splitlines())
            assert length <= LONGEST_FUNCTION, node.name


def test_every_fence_is_needed():
    """A fence around what nobody imports any more is taken away."""
    seen = {one.partition(".")[0] for tree in TREES.values() for one in imported(ast.walk(tree))}
    assert FENCES.keys() - {"ipykernel", "referencing"} <= seen
