"""The documentation is true: files in it are written, commands in it are run, code in it is executed.

In a page, a ``toml`` block whose first line is ``# NAME.toml`` is a file; a ``console`` block that starts
with ``$ recipients`` holds commands and what they print (a line ``...`` stands for any lines, ``...`` inside
a line for any text); a ``python`` block is a program that must not fail. Blocks of a page share one folder,
in order.
"""

import pathlib
import re
import shlex

import pytest

from registry.cli import main

ROOT = pathlib.Path(__file__).parent.parent
PAGES = [path for path in sorted((ROOT / "docs").glob("*.md")) if path.stem != "performance"]
BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (?P<name>[\w./-]+\.toml)\n")
#: Pages whose commands need a network, an editor or an installed program.
SHOWN_ONLY = {"ci", "editors"}


def commands_of(body):
    """Yield the words of each command of a console block and the output shown under it."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        line, _, output = part.partition("\n")
        yield shlex.split(line), output


def pattern_of(output):
    """Turn output with ``...`` into a regular expression."""
    lines = [re.escape(line).replace(r"\.\.\.", ".*") for line in output.splitlines()]
    return "\n".join("(?s:.*)" if line == ".*" else line for line in lines) + "\n?"


@pytest.mark.parametrize("page", [p for p in PAGES if p.stem not in SHOWN_ONLY], ids=lambda p: p.stem)
def test_a_page_is_true(page, tmp_path, monkeypatch, capsys):
    """Every file, command and program of a page does what the page says."""
    monkeypatch.chdir(tmp_path)
    for block in BLOCK.finditer(page.read_text("utf-8")):
        kind, body = block["kind"], block["body"]
        if kind == "toml" and (name := FILE_NAME.match(body)):
            (tmp_path / name["name"]).write_text(body.removeprefix(name.group()), "utf-8")
        elif kind == "python":
            exec(compile(body, f"{page.name}", "exec"), {"__name__": "page"})
        elif kind == "console" and body.startswith("$ recipients"):
            for words, output in commands_of(body):
                main(words[1:])
                printed = "".join(capsys.readouterr())
                assert re.fullmatch(pattern_of(output), printed), printed


def test_readme_commands_are_one_line_each():
    """README has the sections Run and Test, each with one command line."""
    text = (ROOT / "README.md").read_text("utf-8")
    for part in ("Run", "Test"):
        section = text.split(f"\n## {part}\n")[1].split("\n## ")[0]
        (block,) = [found for found in BLOCK.finditer(section) if found["kind"] == "sh"]
        assert 1 == len(block["body"].splitlines())


def test_every_page_is_linked_from_the_readme():
    """A reader finds each page of the documentation from the README."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert [] == [page.name for page in PAGES if f"docs/{page.name}" not in text]
