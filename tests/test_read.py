"""Laws of reading a root file, its includes and its template files."""

import os

import pytest

from registry.exceptions import UnreadableFile
from registry.loading.loader import check
from registry.loading.parse import MAX_BYTES
from registry.loading.read import read, read_bytes


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder, and a way to write files into it."""
    root = tmp_path / "base"
    root.mkdir()
    monkeypatch.chdir(root)
    return root


def write(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_toml", ".toml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def outcome(path="main.toml"):
    sources, faults = read(path)
    return [doc.name for doc in sources.documents], [
        (fault.code, fault.document.name, fault.path) for fault in faults
    ]


def test_a_missing_root_is_an_error(folder):
    """A root file that cannot be read raises UnreadableFile with the name and the reason."""
    with pytest.raises(UnreadableFile) as error:
        read("main.toml")
    assert ("main.toml", "No such file or directory") == (error.value.path, error.value.reason)
    with pytest.raises(UnreadableFile):
        read(folder)
    with pytest.raises(UnreadableFile):
        read("a\0b")


def test_includes_are_read_in_sorted_order(folder):
    """A pattern gives its files sorted; documents are named as the root is."""
    write(folder, main_toml='include = ["p/*.toml", "c.toml"]', p__b_toml="", p__a_toml="", c_toml="")
    assert (["main.toml", "p/a.toml", "p/b.toml", "c.toml"], []) == outcome()
    assert os.path.join("..", "base", "c.toml") in outcome("../base/main.toml")[0]  # noqa: PTH118


def test_includes_are_relative_to_the_file_that_has_them(folder):
    """An included file's own includes start at its folder."""
    write(folder, main_toml='include = ["p/a.toml"]', p__a_toml='include = ["b.toml"]', p__b_toml="")
    assert (["main.toml", "p/a.toml", "p/b.toml"], []) == outcome()


def test_a_file_reached_twice_is_read_once(folder):
    """Two ways to a file are no cycle and no duplicate."""
    write(
        folder,
        main_toml='include = ["a.toml", "b.toml"]',
        a_toml='include = ["c.toml"]',
        b_toml='include = ["c.toml"]',
        c_toml="",
    )
    assert (["main.toml", "a.toml", "c.toml", "b.toml"], []) == outcome()


def test_a_cycle_is_reported_once(folder):
    """Includes in a circle are reported where the root leads into it."""
    write(folder, main_toml='include = ["a.toml"]', a_toml='include = ["main.toml"]')
    assert (["main.toml", "a.toml"], [("include-cycle", "main.toml", ("include", 0))]) == outcome()
    write(folder, main_toml='include = ["main.toml"]')
    assert (["main.toml"], [("include-cycle", "main.toml", ("include", 0))]) == outcome()


def test_a_pattern_does_not_match_its_own_file(folder):
    """*.toml means the other files."""
    write(folder, main_toml='include = ["*.toml"]', a_toml="")
    assert (["main.toml", "a.toml"], []) == outcome()


@pytest.mark.parametrize("pattern", ["none/*.toml", "[", "**x/*.toml"])
def test_a_pattern_without_files_is_reported(folder, pattern):
    """A pattern that matches nothing is empty-include."""
    write(folder, main_toml=f"include = ['{pattern}']")
    assert (["main.toml"], [("empty-include", "main.toml", ("include", 0))]) == outcome()


def test_a_named_file_that_is_missing_is_reported(folder):
    """An include without wildcards that does not exist is missing-file; so is a folder."""
    write(folder, main_toml='include = ["none.toml", "dir"]', dir__x="")
    assert [("missing-file", "main.toml", ("include", i)) for i in (0, 1)] == outcome()[1]


def test_nothing_outside_the_root_folder_is_read(folder):
    """Absolute names, .. and symbolic links out of the folder are refused."""
    write(folder.parent, out_toml="", other__x_toml="")
    (folder / "link.toml").symlink_to(folder.parent / "out.toml")
    (folder / "far").symlink_to(folder.parent / "other")
    names = [
        "../out.toml",
        str(folder.parent / "out.toml"),
        "link.toml",
        "far/x.toml",
        "far/*.toml",
        "a\\u0000",
    ]
    listed = ", ".join(f'"{name}"' for name in names)
    write(folder, main_toml=f"include = [{listed}]")
    assert [("include-outside-root", "main.toml", ("include", i)) for i in range(6)] == outcome()[1]


def test_a_link_that_leads_to_itself_is_reported(folder):
    """A loop of symbolic links is a missing file, not a crash."""
    (folder / "loop.toml").symlink_to("loop.toml")
    write(folder, main_toml='include = ["loop.toml"]')
    assert "missing-file" == outcome()[1][0][0]


def test_a_special_file_is_not_opened(folder):
    """A named pipe would block the check; it is reported instead."""
    os.mkfifo(folder / "pipe.toml")
    write(folder, main_toml='include = ["pipe.toml"]')
    assert [("missing-file", "main.toml", ("include", 0))] == outcome()[1]


def test_a_faulty_include_does_not_hide_the_others(folder):
    """Every file is read, whatever is wrong with one of them."""
    write(folder, main_toml='include = ["a.toml", "b.toml"]', a_toml="x", b_toml="")
    names, faults = outcome()
    assert ["main.toml", "a.toml", "b.toml"] == names
    assert [("toml-syntax", "a.toml", ())] == faults


def test_data_of_the_wrong_shape_includes_nothing(folder):
    """What validation will refuse does not trouble the reader."""
    write(folder, main_toml="include = 3\nprompts = [1]")
    assert (["main.toml"], []) == outcome()
    write(
        folder,
        main_toml="include = [3]\n[prompts]\na = 1\n[prompts.b]\nmessages = 3\n[prompts.c]\nmessages = [4]",
    )
    assert (["main.toml"], []) == outcome()


TEMPLATES = """
[prompts.a]
template_file = "t/a.txt"
[[prompts.b.messages]]
template_file = "gone.txt"
[[prompts.b.messages]]
template_file = "bad.txt"
[[prompts.b.messages]]
template_file = 3
"""


def test_template_files_are_read_beside_the_document(folder):
    """A document knows the text of its template files; what cannot be read is reported where it is named."""
    write(folder, main_toml=TEMPLATES, **{"t__a.txt": "Hi\r\n{x}"})
    (folder / "bad.txt").write_bytes(b"\xff")
    sources, faults = read("main.toml")
    assert {"t/a.txt": "Hi\n{x}"} == {
        k: t.data for k, t in sources.root.templates.items() if t.text == t.data and k[0] == "t"
    }
    assert [
        ("missing-file", "main.toml", ("prompts", "b", "messages", 0, "template_file")),
        ("not-utf8", "bad.txt", ()),
    ] == [(fault.code, fault.document.name, fault.path) for fault in faults]


def test_a_template_file_that_is_too_large_is_one_fault(folder):
    """Nothing is said of the inputs that it may use."""
    prompt = '[prompts.p]\ndescription = "x"\nrole = "user"\ntemplate_file = "t.txt"\ninputs.x = {}\n'
    write(folder, main_toml=prompt)
    with (folder / "t.txt").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert ["file-too-large"] == [found.code for found in check("main.toml").diagnostics]


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ("gret.txt", "did you mean 'greet.txt'?"),
        ("Greet.TXT", "did you mean 'greet.txt'?"),
        ("gone/x.txt", "check the name"),
        ("other", "check the name"),
        ("t\\greet.txt", "write the path from this file's folder, with / between folders"),
        (".", "check the name"),
    ],
)
def test_a_missing_file_comes_with_the_name_that_was_meant(folder, wanted, hint):
    """A name of the same folder that is near is suggested, and how to write a path."""
    write(folder, main_toml=f"prompts.p.template_file = '{wanted}'", **{"greet.txt": "x"})
    (fault,) = read("main.toml")[1]
    assert ("missing-file", hint) == (fault.code, fault.hint)


@pytest.mark.parametrize(
    ("pattern", "hint"), [("p/*.toml", "correct the pattern"), ("p\\*.toml", "write / between folders")]
)
def test_an_include_that_matches_nothing_comes_with_advice(folder, pattern, hint):
    """Folders are parted as on every machine."""
    write(folder, main_toml=f"include = ['{pattern}']")
    (fault,) = read("main.toml")[1]
    assert ("empty-include", hint) == (fault.code, fault.hint)


def test_names_are_suggested_for_few_missing_files(folder):
    """Looking for other names does not take long, however many files are missing."""
    lines = [f"p{i}.template_file = 'gret.txt'\n" for i in range(30)]
    write(folder, main_toml="[prompts]\n" + "".join(lines), **{"greet.txt": "x"})
    hints = [fault.hint for fault in read("main.toml")[1]]
    assert ["did you mean 'greet.txt'?"] * 10 + ["check the name"] * 20 == hints


def test_text_without_a_folder_includes_nothing():
    """Text that came from no file cannot name files."""
    sources, faults = read_bytes(b'include = ["a.toml"]\n[prompts.a]\ntemplate_file = "x"', "<text>")
    assert ["missing-file", "missing-file"] == [fault.code for fault in faults]
    assert "<text>" == sources.root.name


def test_text_with_a_folder_includes_from_there(folder):
    """Text may stand for a file of a folder."""
    write(folder, a_toml="", t="T")
    raw = b'include = ["*.toml"]\n[prompts.a]\ntemplate_file = "t"'
    sources, faults = read_bytes(raw, "<text>", folder.resolve())
    assert ([], ["<text>", "a.toml"]) == (list(faults), [doc.name for doc in sources.documents])
    assert "T" == sources.root.templates["t"].text
