"""A manager whose content follows a file."""

import pathlib
import sys
import threading

import pytest

import registry
from registry import BackendUnavailable, InvalidRegistry, RecipientManager, UnreadableFile, load, watcher
from registry.exceptions import ExportRefused
from registry.watcher import Watch

PATIENCE = 60
TOOL = 'version = 1\n[recipients.{}]\nkind = "function"\ncall = "os:getcwd"\ndescription = "{}"\n'


class Heard:
    """Collects what a watch tells, and waits for it."""

    def __init__(self):
        self.items = []
        self.changed = threading.Condition()

    def __call__(self, item):
        with self.changed:
            self.items.append(item)
            self.changed.notify_all()

    def wait(self, number=1):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.items) >= number, PATIENCE)
        return self.items[number - 1]


def write(path, text):
    """Write a file at once, as editors do."""
    other = path.with_name(path.name + "~")
    other.write_text(text, "utf-8")
    other.replace(path)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "recipients.toml"
    write(path, TOOL.format("first", "x"))
    return path


def test_a_good_edit_becomes_the_next_snapshot(path):
    """The manager has the file's content at once, and each good edit soon after."""
    heard = Heard()
    with registry.watch(path, on_change=heard) as watched:
        assert ["first"] == list(watched.manager)
        before = watched.manager.snapshot()
        write(path, TOOL.format("second", "x"))
        assert ["second"] == list(heard.wait())
        assert ["second"] == list(watched.manager)
        assert ["first"] == list(before)
        assert watched.report is None


def test_a_bad_edit_leaves_everything_in_place(path):
    """A bad edit is told once with its diagnostics; the next good one is served again."""
    changed, failed = Heard(), Heard()
    with registry.watch(path, on_change=changed, on_failure=failed) as watched:
        write(path, "version = 1\nnonsense = 2\n")
        report = failed.wait()
        assert ["unknown-key"] == [diagnostic.code for diagnostic in report.errors]
        assert report == watched.report
        assert ["first"] == list(watched.manager)
        write(path, TOOL.format("second", "x"))
        changed.wait()
        assert ["second"] == list(watched.manager)
    assert 1 == len(failed.items)


def test_a_file_that_vanishes_is_told_and_comes_back(path):
    """A missing file is a failed edit like any other."""
    changed, failed = Heard(), Heard()
    with registry.watch(path, on_change=changed, on_failure=failed) as watched:
        path.unlink()
        assert "missing-file" == failed.wait().errors[0].code
        assert ["first"] == list(watched.manager)
        write(path, TOOL.format("second", "x"))
        assert ["second"] == list(changed.wait())


def test_nothing_is_told_where_nobody_asks(path):
    """Without callbacks edits are followed all the same."""
    with registry.watch(path) as watched:
        write(path, "oops")
        write(path, TOOL.format("second", "x"))
        finished = threading.Event()
        while "second" not in watched.manager:
            assert not finished.wait(0.01)


def test_includes_and_templates_are_followed(tmp_path):
    """A change of any file that belongs to the registry is an edit of it."""
    path = tmp_path / "recipients.toml"
    write(path, 'version = 1\ninclude = ["more/*.toml"]\n')
    (tmp_path / "more").mkdir()
    prompt = '[prompts.p]\ndescription = "x"\nrole = "user"\ntemplate_file = "p.txt"\n'
    write(tmp_path / "more" / "p.txt", "one")
    write(tmp_path / "more" / "a.toml", "[recipients]\n" + TOOL.format("a", "x").partition("\n")[2])
    changed = Heard()
    with registry.watch(path, on_change=changed) as watched:
        assert ["a"] == list(watched.manager)
        write(tmp_path / "more" / "b.toml", prompt)
        assert "p" in changed.wait().prompts
        write(tmp_path / "more" / "p.txt", "two")
        assert "two" == changed.wait(2).prompts["p"].render()[0]["content"]


def test_a_missing_template_that_appears_is_seen(path):
    """After a bad edit any new file may be the one that it lacked."""
    changed, failed = Heard(), Heard()
    with registry.watch(path, on_change=changed, on_failure=failed):
        write(path, '[prompts.p]\ndescription = "x"\nrole = "user"\ntemplate_file = "p.txt"\n')
        failed.wait()
        write(path.with_name("p.txt"), "here")
        assert ["p"] == list(changed.wait().prompts)


def test_an_edit_without_effect_is_none(path):
    """Another layout of the same content changes nothing, and one fault is told once."""
    changed, failed = Heard(), Heard()
    watched = Watch(path, RecipientManager(load(path)), put=changed, on_failure=failed)
    write(path, "# a comment\n" + TOOL.format("first", "x"))
    watched._reload()
    write(path, "oops")
    for _ in range(2):
        watched._reload()
    assert [[], 1] == [changed.items, len(failed.items)]


def test_what_cannot_be_put_in_place_is_refused(path):
    """Whoever takes the snapshots may refuse one; that is told like a bad edit."""
    manager = RecipientManager(load(path))
    failed = Heard()

    fault = registry.Diagnostic("name-not-portable", registry.Severity.ERROR, "no", "f", 1, 1, 1, 1)

    def put(snapshot):
        raise ExportRefused(registry.Report([fault]))

    with Watch(path, manager, put=put, on_failure=failed):
        write(path, TOOL.format("second", "x"))
        assert "name-not-portable" == failed.wait().diagnostics[0].code
    assert ["first"] == list(manager)


def test_a_change_that_no_event_tells_of_is_seen(path, monkeypatch):
    """An edit that no event tells of is found by looking at the files."""
    changed = Heard()
    manager = RecipientManager(load(path))

    class Silent:
        """Events that tell nothing, but come until told to stop."""

        @staticmethod
        def watch(*folders, stop_event, **options):
            yield set()
            yield set()
            write(path, TOOL.format("second", "x"))
            while not stop_event.wait(0.01):
                yield set()

    monkeypatch.setattr(watcher, "_watchfiles", lambda: Silent)
    with Watch(path, manager, put=changed):
        assert ["second"] == list(changed.wait())


def test_only_files_of_the_registry_matter(path):
    """Files that do not belong to the registry are no reason to load it again."""
    watched = registry.watch(path)
    try:
        assert watched._belongs(None, str(path.parent / "new.toml"))
        assert watched._belongs(None, str(path.resolve()))
        assert not watched._belongs(None, str(path.parent / "server.log"))
    finally:
        watched.close()
        watched.close()


def test_watching_begins_with_a_good_file(tmp_path):
    """A file that is missing or bad at the start is an error."""
    with pytest.raises(UnreadableFile):
        registry.watch(tmp_path / "nowhere.toml")
    bad = tmp_path / "bad.toml"
    bad.write_text("oops")
    with pytest.raises(InvalidRegistry):
        registry.watch(bad)


def test_a_watch_never_begun_can_be_closed(path):
    """Closing what follows nothing does nothing."""
    Watch(pathlib.Path(path), RecipientManager(), put=print).close()


def test_missing_watchfiles_is_named_with_the_way_to_get_it(path, monkeypatch):
    """Without watchfiles the error says what to install."""
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(BackendUnavailable, match=r'pip install "recipients\[watch\]"'):
        registry.watch(path)
