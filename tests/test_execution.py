"""The parts that all backends share: cleaning, capture, folders, sizes, and the choice of a backend."""

import contextlib
import errno
import os
import pathlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.exceptions import BackendUnavailable
from registry.execution import BACKENDS, choose, folder, get_backend, probe_all, watch
from registry.execution.capture import HeadTail, cut_text
from registry.execution.cleaning import clean
from registry.execution.interface import Limits, parse_size
from registry.execution.monty import MontyBackend
from registry.execution.process import ProcessBackend
from registry.specs import PythonOptions

CODE = "x = 1\nprint(x)"


@pytest.mark.parametrize("label", ["", "py", "python", "python3", "Python", 'python title="x"', "{python}"])
@pytest.mark.parametrize("mark", ["```", "````", "~~~"])
def test_fence(mark, label):
    """A fence of any kind and label is taken off, closed or not, with the lines around it."""
    for closing in (f"\n{mark}", f"\n{mark}\n", f"\n  {mark}\n\n", ""):
        assert CODE == clean(f"{mark}{label}\n{CODE}{closing}")
    assert CODE == clean(f"\n\n{mark} {label}\n{CODE}\n{mark}\n")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("\ufeffprint(1)", "print(1)"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\ufeff```py\r\nprint(1)\r\n```\r\n", "print(1)"),
        ("    a\n    b", "a\nb"),
        ("\n    a\n\n      b\n", "\na\n\n  b\n"),
        ("\ta\n\tb", "a\nb"),
        ("    a\nb", "    a\nb"),
        ("python\nprint(1)", "print(1)"),
        ("Python3 \nprint(1)", "print(1)"),
        ("python", "python"),
        ("python = 1", "python = 1"),
        ("`print(1)`", "print(1)"),
        ("```print(1)```", "print(1)"),
        ("Here it is:\n```py\na\n```\nDone.", "a"),
        ("```py\na\n```\nthen\n```py\nb\n```\ngives\n```output\nc\n```", "a\nb"),
        ("```\n```py\na\n```", "```py\na"),
        ("````\n```\nb\n````", "```\nb"),
        ('x = """\n```py\na\n```\n"""', 'x = """\n```py\na\n```\n"""'),
        ("x = '''\n~~~\n'''", "x = '''\n~~~\n'''"),
        ("```py\n    a\n    b\n```", "a\nb"),
        ("~~~5\nx", "x"),
        ("", ""),
        ("  \n ", "  \n "),
        ("x = 1  # ```", "x = 1  # ```"),
        ('"""\n    indented\n"""', '"""\n    indented\n"""'),
        ("'\x0c\u2028'", "'\x0c\u2028'"),
    ],
)
def test_clean(given, wanted):
    """Code as models send it becomes the code they mean, and what is code already stays."""
    assert wanted == clean(given)


@given(st.text())
def test_clean_total(text):
    """Cleaning takes any text and leaves no carriage return."""
    assert "\r" not in clean(text)


@given(st.lists(st.binary(max_size=40), max_size=8), st.integers(0, 60))
def test_capture(chunks, limit):
    """Whatever is captured is within the limit and a line, valid, and has the true total."""
    kept = HeadTail(limit)
    for chunk in chunks:
        kept.feed(chunk)
    whole = b"".join(chunks)
    assert len(whole) == kept.total
    assert (len(whole) > limit) == kept.truncated
    kept.text().encode()
    if not kept.truncated:
        assert whole.decode("utf-8", "replace") == kept.text()
    assert len(kept._head) + len(kept._tail) <= 2 * limit


@given(st.text(alphabet="aé😀", max_size=100), st.integers(0, 50))
def test_capture_keeps_characters_whole(text, limit):
    """A cut never goes through a character: what is kept are the text's own ends."""
    data = text.encode()
    kept = HeadTail(limit)
    for index in range(0, len(data), 7):
        kept.feed(data[index : index + 7])
    if kept.truncated:
        head, _, rest = kept.text().partition("\n[… ")
        cut, _, tail = rest.partition(" bytes cut …]\n")
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(data) == len(head.encode()) + int(cut) + len(tail.encode())


def test_capture_of_bad_bytes():
    """Bytes that are no UTF-8 at a cut stay what they are."""
    kept = HeadTail(4)
    kept.feed(b"\x80\x80\x80\x80\x80\x80\x80\xff\xff")
    assert "\ufffd" in kept.text()
    assert ("ab", False) == cut_text("ab", 10)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512MiB", 512 << 20),
        ("1 GB", 10**9),
        ("64k", 64_000),
        ("2Gi", 2 << 30),
        ("1TiB", 1 << 40),
        ("1000", 1000),
        (" 7 b ", 7),
    ],
)
def test_size(text, size):
    """A size is a number with a decimal or binary unit."""
    assert size == parse_size(text)


@pytest.mark.parametrize("text", ["", "MiB", "-1", "1.5GiB", "1 XB", "1 MiB x", "9" * 30])
def test_bad_size(text):
    """Anything else is no size, and a declaration with it is told so."""
    with pytest.raises(ValueError, match="no size of memory"):
        parse_size(text)
    with pytest.raises(BackendUnavailable, match="no size of memory"):
        get_backend(PythonOptions(memory=text))


# --- folders --------------------------------------------------------------------------------------
@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a folder for one run beside a file that must survive."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x", encoding="utf-8")
    return pathlib.Path(folder.make())


def test_remove(place):
    """A folder goes with all it holds; links are not followed, modes do not matter."""
    precious = place.parent / "precious"
    (place / "link").symlink_to(precious)
    (place / "a" / "b").mkdir(parents=True)
    (place / "a" / "b" / "link").symlink_to(precious / "file")
    (place / "a" / "file").write_text("x", encoding="utf-8")
    os.mkfifo(place / "fifo")
    (place / "a" / "b").chmod(0)
    (place / "a").chmod(0o500)
    place.chmod(0)
    folder.remove(str(place))
    folder.remove(str(place))
    assert [place.parent / "precious"] == list(place.parent.iterdir())
    assert "x" == (precious / "file").read_text(encoding="utf-8")


def test_remove_closed_folders(place, monkeypatch):
    """A folder that its owner may not move as it is, which root never sees, is opened first."""
    rename = os.rename

    def strict(old, new, **options):
        if options and not os.stat(old, dir_fd=options["src_dir_fd"]).st_mode & 0o200:
            raise PermissionError
        rename(old, new, **options)

    monkeypatch.setattr(os, "rename", strict)
    (place / "closed" / "inside").mkdir(parents=True)
    (place / "closed").chmod(0o500)
    folder.remove(str(place))
    assert [place.parent / "precious"] == list(place.parent.iterdir())


def test_remove_exchanged(place):
    """A link that stands in a folder's place goes, and is not followed."""
    place.rmdir()
    place.symlink_to(place.parent / "precious")
    folder.remove(str(place))
    assert [place.parent / "precious"] == list(place.parent.iterdir())
    assert (place.parent / "precious" / "file").exists()


@pytest.mark.parametrize("inside", ["", "deep/inside"])
@pytest.mark.parametrize("mode", [0o555, 0o755])
def test_remove_beside_a_mount(place, inside, mode):
    """What somebody mounted over a folder, or inside it, keeps its content and its mode."""
    precious = place.parent / "precious"
    precious.chmod(mode)
    (place / inside).mkdir(parents=True, exist_ok=True)
    script = (
        "import os, subprocess, sys\nfrom registry.execution import folder\n"
        "if subprocess.run(['mount', '--bind', sys.argv[1], sys.argv[2]]).returncode: sys.exit(77)\n"
        "try: folder.remove(sys.argv[3])\nexcept OSError as exc: print(exc.errno)"
    )
    words = [sys.executable, "-c", script, str(precious), str(place / inside), str(place)]
    with contextlib.suppress(FileNotFoundError):
        ended = subprocess.run(["unshare", "--mount", *words], capture_output=True, text=True, check=False)
        if ended.stdout:  # else nothing can be mounted here
            assert str(errno.EBUSY) == ended.stdout.strip()
        else:
            assert ended.returncode, ended
    assert ["file"] == [path.name for path in precious.iterdir()]
    assert mode == precious.stat().st_mode & 0o777


def test_remove_deep(place):
    """A folder goes however deep it is nested."""
    top = os.open(place, os.O_RDONLY)
    here = os.dup(top)
    for _ in range(3000):
        os.mkdir("folder-with-a-long-name", dir_fd=here)
        below = os.open("folder-with-a-long-name", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    os.close(top)
    assert folder.Usage(0, 11).entries == folder.usage(str(place), 10).entries
    # Beyond the longest path nothing can be counted: that is over any bound.
    assert 100_001 == folder.usage(str(place), 100_000).entries
    folder.remove(str(place))
    assert not place.exists()


def test_usage(place):
    """Everything counts, links as themselves; what vanished counts nothing."""
    (place / "a").mkdir()
    (place / "a" / "file").write_bytes(b"x" * 100_000)
    (place / "link").symlink_to("/usr")
    found = folder.usage(str(place), 100)
    assert 3 == found.entries
    assert found.size >= 100_000
    assert folder.Usage(0, 0) == folder.usage(str(place / "gone"), 100)


# --- the watch ------------------------------------------------------------------------------------
@pytest.mark.skipif(sys.platform != "linux", reason="the watch reads /proc")
def test_watch(place, monkeypatch):
    """Each amount that is exceeded is named; a process that is gone has none."""
    assert "" == watch.excess(os.getpid(), str(place))
    with (place / "file").open("wb") as file:
        (place / "file").unlink()
        file.write(b"x" * 100_000)
        file.flush()
        assert watch.unlinked(os.getpid()) >= 100_000
        monkeypatch.setattr(watch, "DISK", 50_000)
        assert "disk" == watch.excess(os.getpid(), str(place))
    (place / "a").mkdir()
    monkeypatch.setattr(watch, "ENTRIES", 0)
    assert "entries" == watch.excess(os.getpid(), str(place))
    monkeypatch.setattr(watch, "THREADS", 0)
    assert "threads" == watch.excess(os.getpid(), str(place))
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    assert (0, 0) == (watch.threads(gone.pid), watch.unlinked(gone.pid))


# --- the choice -----------------------------------------------------------------------------------
def test_table():
    """Every backend of the table has its own name and the whole interface."""
    assert sorted(BACKENDS) == list(BACKENDS)
    for name, choice in BACKENDS.items():
        backend = choice.load()
        assert name == backend.name
        for member in ("of", "probe", "run", "reset", "__aenter__", "__aexit__"):
            assert callable(getattr(backend, member))


def test_probe_all():
    """Each backend says whether it works here, and why."""
    found = probe_all()
    assert list(BACKENDS) == list(found)
    assert all(isinstance(usable, bool) and reason for usable, reason in found.values())


def automatic(monkeypatch, process, monty):
    """Set what the probes of the automatic backends say."""
    monkeypatch.setattr(ProcessBackend, "probe", classmethod(lambda _cls: (process, "no kernel")))
    monkeypatch.setattr(MontyBackend, "probe", classmethod(lambda _cls: (monty, "not installed")))


def test_auto(monkeypatch):
    """`auto` takes the sandboxed process, else monty, else nothing: never an unsandboxed or remote one."""
    automatic(monkeypatch, True, True)
    assert isinstance(get_backend(PythonOptions()), ProcessBackend)
    automatic(monkeypatch, False, True)
    assert isinstance(get_backend(PythonOptions()), MontyBackend)
    automatic(monkeypatch, False, False)
    with pytest.raises(BackendUnavailable) as caught:
        get_backend(PythonOptions())
    for words in ("no kernel", "not installed", "recipients[monty]", 'sandbox = "none"', 'backend = "tio"'):
        assert words in str(caught.value)


def test_named(monkeypatch):
    """A named backend is taken as it is, and without a sandbox only where the declaration says so."""
    automatic(monkeypatch, False, False)
    assert get_backend(PythonOptions(backend="subprocess")).capabilities.sandboxed
    for name in ("auto", "subprocess"):
        backend = get_backend(PythonOptions(backend=name, sandbox="none"))
        assert (False, "subprocess") == (backend.capabilities.sandboxed, backend.name)
    with pytest.raises(BackendUnavailable, match="there is no backend 'perl'"):
        get_backend(PythonOptions(backend="perl"))


def test_limits():
    """What a declaration gives is kept, the rest is usual."""
    backend = get_backend(PythonOptions(backend="subprocess", memory="1GiB", stateful=True), 2.5, 100)
    assert Limits(timeout=2.5, max_output=100, memory=1 << 30) == backend._limits
    assert backend.capabilities.stateful
    assert Limits() == get_backend(PythonOptions(backend="subprocess"))._limits
    assert ("subprocess", "monty") == choose.AUTOMATIC
