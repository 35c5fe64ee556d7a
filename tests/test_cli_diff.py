"""The command ``diff``: registries in files and in revisions of git."""

import json
import os
import shutil
import subprocess

import pytest

from registry.cli import main
from registry.exceptions import UnreadableFile
from registry.revisions import spec_of

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

TOOL = """version = 1
include = ["parts/*.toml"]
[recipients.tool]
kind = "python"
description = "{description}"
[recipients.tool.parameters]
code = {{ type = "{kind}" }}
"""
PROMPT = """[prompts.ask]
role = "user"
template_file = "ask.txt"
inputs.a = { type = "string" }
"""


def tool(description="d", kind="string"):
    return TOOL.format(description=description, kind=kind)


def write(folder, **files):
    """Write files; ``parts__ask_toml`` is parts/ask.toml."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, "utf-8")


def git(folder, *arguments):
    """Run git as a person who exists, whatever the machine's own settings are."""
    known = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "core.autocrlf=false")
    subprocess.run(
        ["git", *who, *arguments], cwd=folder, env={**os.environ, **known}, check=True, capture_output=True
    )


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "Change")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Be in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def repository(here):
    """Be in a repository with one commit of a registry, a part of it and a template."""
    write(here, recipients_toml=tool(), parts__ask_toml=PROMPT, parts__ask_txt="Hi {a}")
    git(here, "init")
    commit(here)
    return here


def simple(description="d", kind="string"):
    return tool(description, kind).replace('include = ["parts/*.toml"]\n', "")


def test_changes_are_listed_the_worst_first(here, capsys):
    """Each change is a line with its effect; the last line counts them."""
    write(here, old_toml=simple(), new_toml=simple("other", "integer"))
    assert main(["diff", "old.toml", "new.toml"]) == 0
    expected = (
        'breaking    recipients.tool.parameters.code.type: type changed from "string" to "integer"\n'
        "text        recipients.tool.description: changed\n"
        "1 breaking, 0 compatible, 1 text\n"
    )
    assert expected == capsys.readouterr().out


@pytest.mark.parametrize(("kind", "code"), [("string", 0), ("integer", 1)])
def test_the_exit_code_tells_of_breaking_changes_when_asked(here, capsys, kind, code):
    """With --exit-code a breaking change exits with 1, and nothing else does."""
    write(here, old_toml=simple(), new_toml=simple("other", kind))
    assert code == main(["diff", "--exit-code", "old.toml", "new.toml"])


def test_no_change_is_said(here, capsys):
    """Of equal registries the output says so."""
    write(here, old_toml=simple(), new_toml=simple() + "# a comment\n")
    assert main(["diff", "--exit-code", "old.toml", "new.toml"]) == 0
    assert capsys.readouterr().out == "no changes\n"


def test_json_has_the_changes_and_their_count(here, capsys):
    """With --format json a program can read the changes."""
    write(here, old_toml=simple(), new_toml=simple("other"))
    assert main(["diff", "--format", "json", "old.toml", "new.toml"]) == 0
    expected = {
        "changes": [{"effect": "text", "path": "recipients.tool.description", "message": "changed"}],
        "summary": {"breaking": 0, "compatible": 0, "text": 1},
    }
    assert expected == json.loads(capsys.readouterr().out)


def test_colours_on_a_terminal(here, capsys, monkeypatch):
    """On a terminal the effects are coloured."""
    monkeypatch.setattr("registry.cli.diff_.colour_wanted", lambda: True)
    write(here, old_toml=simple(), new_toml=simple("other"))
    assert main(["diff", "old.toml", "new.toml"]) == 0


def test_a_faulty_registry_cannot_be_compared(here, capsys):
    """The faults of a registry are reported, and the exit code is that of a question without an answer."""
    write(here, old_toml=simple(), new_toml="version = 1\nsurprise = 1\n")
    assert main(["diff", "--exit-code", "old.toml", "new.toml"]) == 2
    assert "unknown-key" in capsys.readouterr().err


def test_a_missing_file_cannot_be_compared(here, capsys):
    """A file that is not there is an error that names it."""
    write(here, old_toml=simple())
    assert main(["diff", "old.toml", "absent.toml"]) == 2
    assert capsys.readouterr().err.startswith("error: absent.toml: cannot be read")


def test_a_file_with_a_colon_in_its_name_is_a_file(here):
    """What exists as a file is one, colon or not."""
    (here / "a:b.toml").write_text(simple(), "utf-8")
    assert spec_of("a:b.toml").recipients[0].name == "tool"


@needs_git
def test_a_revision_is_read_with_what_it_includes(repository, capsys):
    """Includes and template files come from the revision, whatever is in the folder now."""
    write(repository, recipients_toml=simple(), parts__ask_txt="Ho {a}")
    (repository / "parts" / "ask.toml").unlink()
    assert main(["diff", "HEAD:recipients.toml", "recipients.toml"]) == 0
    assert capsys.readouterr().out == "breaking    prompts.ask: removed\n1 breaking, 0 compatible, 0 text\n"


@needs_git
def test_two_revisions_can_be_compared(repository, capsys):
    """Both sides may be revisions; a template file's text is a change of text."""
    write(repository, parts__ask_txt="Ho {a}")
    commit(repository)
    assert main(["diff", "--exit-code", "HEAD~1:recipients.toml", "HEAD:recipients.toml"]) == 0
    assert capsys.readouterr().out.startswith("text        prompts.ask.template: changed\n")


@needs_git
def test_paths_of_a_revision_start_at_the_top_or_here(repository, monkeypatch):
    """As for git, a path starts at the top of the repository, and at the current folder with ``./``."""
    monkeypatch.chdir(repository / "parts")
    expected = spec_of("../recipients.toml")
    assert expected == spec_of("HEAD:recipients.toml")
    assert expected == spec_of("HEAD:../recipients.toml")
    assert spec_of("HEAD:./ask.toml").prompts == spec_of("HEAD:parts/ask.toml").prompts


@needs_git
def test_links_of_a_revision_are_followed_inside_it(repository):
    """A symbolic link inside the registry's folder is followed; one that leads out is not."""
    (repository / "linked.toml").symlink_to("recipients.toml")
    (repository / "out.toml").symlink_to("/etc/hostname")
    commit(repository)
    assert spec_of("HEAD:linked.toml") == spec_of("HEAD:recipients.toml")
    with pytest.raises(UnreadableFile, match="the revision has no such file"):
        spec_of("HEAD:out.toml")


@needs_git
def test_submodules_are_left_out(repository):
    """A commit of another repository inside the tree is no file."""
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{head},parts/sub")
    git(repository, "commit", "-m", "Add a submodule")
    assert spec_of("HEAD:recipients.toml").prompts


@needs_git
def test_faults_of_a_revision_are_shown_with_its_name(repository, capsys):
    """A diagnostic names the file as the user did."""
    write(repository, recipients_toml="version = 1\nsurprise = 1\n")
    commit(repository)
    assert main(["diff", "HEAD:recipients.toml", "HEAD~1:recipients.toml"]) == 2
    assert "HEAD:recipients.toml:2:1" in capsys.readouterr().err


WRONG = {
    "HEAD:../../../absent.toml": "absent.toml: cannot be read",
    "absent:recipients.toml": "no revision 'absent'",
    "HEAD:absent.toml": "the revision has no such file",
    "HEAD:": "a file of a revision is written REV:path",
    ":recipients.toml": "a file of a revision is written REV:path",
    "--output=x:recipients.toml": "a file of a revision is written REV:path",
}


@needs_git
@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_file_of_a_revision(repository, name):
    """A revision or file that is not there is an error, and none is taken for an option of git."""
    with pytest.raises(UnreadableFile, match=WRONG[name]):
        spec_of(name)


@needs_git
def test_outside_a_repository(here):
    """Outside a repository git's own words say so."""
    with pytest.raises(UnreadableFile, match="not a git repository"):
        spec_of("HEAD:recipients.toml")


def test_without_git(here, monkeypatch):
    """Without git the error says that it cannot be started."""
    monkeypatch.setenv("PATH", str(here))
    with pytest.raises(UnreadableFile, match="git cannot be started"):
        spec_of("HEAD:recipients.toml")
