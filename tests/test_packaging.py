"""What ships: the wheel holds what the code looks for, and the public names are the ones that are listed."""

import ast
import pathlib
import subprocess
import sys
import zipfile

import pytest

import registry
from registry.resources import rules_folder, schema_folder

ROOT = pathlib.Path(__file__).parent.parent


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The content of a freshly built wheel, in a folder of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_works_without_the_checkout(unpacked, tmp_path):
    """Schemas and pages are found inside the installed package, and a file can be checked."""
    program = (
        "import registry.resources as r; from registry.cli import main;"
        "assert r.schema_folder().parent.name == r.rules_folder().parent.name == 'registry';"
        "assert main(['init']) == main(['check', '--strict']) == main(['explain', 'unknown-key']) == 0"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(unpacked), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stderr)


def test_the_wheel_holds_the_shipped_files(unpacked):
    """Every schema and page of the checkout, the typing marker and the licence are in the wheel."""
    for folder, inside in ((ROOT / "schemas", "schemas"), (ROOT / "docs" / "rules", "rules")):
        for path in folder.iterdir():
            assert path.read_bytes() == (unpacked / "registry" / inside / path.name).read_bytes()
    assert (unpacked / "registry" / "py.typed").exists()
    assert list(unpacked.glob("*.dist-info/licenses/LICENSE"))
    assert not (unpacked / "tests").exists()


def test_the_checkout_works_without_a_wheel():
    """In an editable install the folders of the checkout are used."""
    assert (ROOT / "schemas", ROOT / "docs" / "rules") == (schema_folder(), rules_folder())


def test_public_names_are_sorted_and_exist():
    """__all__ is what the lazy table has, sorted, and every name can be imported."""
    names = registry.__all__
    assert sorted(names) == list(names)
    assert set(names) == set(registry._HOMES)
    for name in names:
        assert getattr(registry, name) is not None
    assert set(names) <= set(dir(registry))


def test_type_checkers_see_every_public_name():
    """Each name of the lazy table is imported for type checkers from the module that the table names."""
    tree = ast.parse((ROOT / "registry" / "__init__.py").read_text("utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert {name: f"registry.{home}" for name, home in registry._HOMES.items()} == seen


def test_a_name_that_is_not_public_is_an_attribute_error():
    """Asking for another name fails as for any module."""
    with pytest.raises(AttributeError, match="nothing"):
        registry.nothing  # noqa: B018 - the access is what is tested


def test_importing_the_package_imports_nothing_heavy():
    """Neither the package nor `from registry import load` pulls in what only some uses need."""
    heavy = ["asyncio", "cattrs", "click", "httpx", "jsonschema", "mcp", "rich"]
    program = (
        "import sys, registry; from registry import load, Template;"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stdout


def test_the_changelog_knows_the_version():
    """The version of the package has its place in the changelog, released or not."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert "## [Unreleased]" in text or "## [0.1.0]" in text
