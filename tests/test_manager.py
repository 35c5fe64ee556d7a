"""Laws of RecipientManager and RecipientSnapshot."""

import copy
import threading

import pytest

from registry import (
    DuplicateRecipient,
    NoSuchRecipient,
    Recipient,
    RecipientManager,
    RecipientSnapshot,
    loads,
)
from registry.manager import source_of


class Alpha(Recipient):
    DESCRIPTION = "First."

    def process(self, message, **kwargs):
        return {"alpha": message}


class Beta(Recipient):
    RECIPIENT_NAME = "bee"
    DESCRIPTION = "Second."

    async def aprocess(self, message, **kwargs):
        return {"beta": message}


DECLARED = """
version = 1
[recipients.calc]
kind = "python"
description = "Sums."
[servers.clock]
command = ["clock"]
[prompts.greet]
description = "Greets."
role = "user"
template = "Hi"
"""


@pytest.fixture
def manager():
    made = RecipientManager()
    made.register()(Alpha)
    made.register()(Beta)
    return made


def test_register_uses_the_own_name_and_returns_the_class(manager):
    """A decorated class is unchanged and found under its own name."""
    assert ["Alpha", "bee"] == list(manager)
    assert Alpha is manager["Alpha"]
    assert Alpha is RecipientManager().register("other")(Alpha)


def test_register_takes_another_name():
    """A name given to register() wins over the class's own."""
    manager = RecipientManager()
    manager.register("first")(Alpha)
    assert {"first": "First."} == manager.available_recipients


def test_a_missing_name_is_a_key_error_with_the_words_of_the_original(manager):
    """Looking up a missing name raises KeyError with the original's text, also for del."""
    with pytest.raises(KeyError) as error:
        manager["x"]
    assert ("Recipient 'x' is not registered.",) == error.value.args
    with pytest.raises(KeyError) as error:
        del manager["x"]
    assert "Recipient 'x' is not registered." == str(error.value)


def test_a_near_miss_is_named(manager):
    """A missing name that resembles registered ones lists them."""
    with pytest.raises(NoSuchRecipient) as error:
        manager["Alpah"]
    assert ("Alpha",) == error.value.close
    assert ["Did you mean 'Alpha'?"] == error.value.__notes__


def test_a_taken_name_is_a_key_error_and_changes_nothing(manager):
    """Registering a taken name raises KeyError with the original's text and has no effect."""
    before = manager.snapshot()
    with pytest.raises(KeyError) as error:
        manager["Alpha"] = Beta
    assert ("Recipient 'Alpha' is already registered.",) == error.value.args
    assert before is manager.snapshot()


@pytest.mark.parametrize("value", [object, object(), "Alpha", None, 3])
def test_only_recipients_are_accepted(value):
    """What is neither a Recipient class nor an instance is refused with TypeError."""
    with pytest.raises(TypeError, match="no recipient"):
        RecipientManager()["x"] = value


@pytest.mark.parametrize("name", ["", None, 3])
def test_only_names_are_accepted(name):
    """A name is a text that is not empty."""
    with pytest.raises(TypeError, match="name"):
        RecipientManager()[name] = Alpha


def test_instances_are_accepted():
    """An instance may stand in for a class."""
    manager = RecipientManager()
    one = Alpha()
    manager["one"] = one
    assert one is manager["one"]
    assert f"{__name__}.Alpha" == source_of(one)
    assert manager.snapshot() != RecipientSnapshot({"one": Alpha()})


def test_available_recipients_is_new_each_time(manager):
    """Changing the dict of descriptions does not change the registry."""
    manager.available_recipients.clear()
    assert {"Alpha": "First.", "bee": "Second."} == manager.available_recipients


def test_manager_is_a_container(manager):
    """in, len, iteration and repr work as for a dict."""
    assert "bee" in manager
    assert "x" not in manager
    assert 2 == len(manager)
    assert "2 recipients (Alpha, bee)" in repr(manager)


def test_old_snapshots_do_not_change(manager):
    """A snapshot taken before a change still shows what was there."""
    before = manager.snapshot()
    digest = before.digest
    del manager["bee"]
    manager["new"] = Beta
    assert ["Alpha", "bee"] == list(before)
    assert digest == before.digest
    assert ["Alpha", "new"] == list(manager)


def test_replace_swaps_the_whole_content(manager):
    """replace() puts another snapshot in place and returns the one before."""
    before = manager.snapshot()
    other = RecipientSnapshot({"only": Alpha})
    assert before is manager.replace(other)
    assert other is manager.snapshot()


def test_snapshots_are_equal_by_content_whatever_the_order():
    """The order of registration is no part of equality, hash or digest."""
    one = RecipientSnapshot({"a": Alpha, "b": Beta})
    two = RecipientSnapshot({"b": Beta, "a": Alpha})
    assert one == two
    assert one == one  # noqa: PLR0124 - identity is the quick way to equality
    assert hash(one) == hash(two)
    assert one.digest == two.digest
    assert one != {"a": Alpha, "b": Beta}


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.__setitem__("x", Alpha),
        lambda s: s.__delitem__("a"),
        lambda s: s.update(x=Alpha),
        lambda s: s.pop("a"),
        lambda s: s.clear(),
        lambda s: setattr(s, "prompts", None),
        lambda s: delattr(s, "_entries"),
        lambda s: s.__ior__({}),
    ],
)
def test_a_snapshot_refuses_every_change(change):
    """Every attempt to change a snapshot raises TypeError and says what to call instead."""
    snapshot = RecipientSnapshot({"a": Alpha})
    with pytest.raises(TypeError, match="with_recipient"):
        change(snapshot)
    assert {"a": Alpha} == dict(snapshot)


def test_with_and_without_are_inverse():
    """with_recipient followed by without gives the snapshot before."""
    snapshot = RecipientSnapshot({"a": Alpha})
    assert snapshot == snapshot.with_recipient("b", Beta).without("b")
    with pytest.raises(NoSuchRecipient):
        snapshot.without("b")


def test_combine_joins_recipients_prompts_and_servers():
    """combine() has what both have; equal servers may meet."""
    declared = loads(DECLARED)
    joined = RecipientSnapshot({"a": Alpha}).combine(declared)
    assert ["a", "calc"] == list(joined)
    assert ["greet"] == list(joined.prompts)
    assert ["clock"] == list(joined.servers)
    assert "1 prompts" in repr(joined)
    only_server = RecipientSnapshot(servers=declared.servers)
    assert ["clock"] == list(declared.combine(only_server).servers)


def test_combine_refuses_a_clash_and_names_both_sources():
    """A name that both snapshots have is an error that names both owners."""
    declared = loads(DECLARED, name="one.toml")
    with pytest.raises(DuplicateRecipient) as error:
        declared.combine(RecipientSnapshot({"calc": Alpha}))
    assert ("one.toml", f"{__name__}.Alpha") == error.value.sources
    other = loads(DECLARED.replace('"clock"', '"other"')).without("calc")
    with pytest.raises(DuplicateRecipient):
        declared.combine(RecipientSnapshot(servers=other.servers))


def test_a_snapshot_can_be_copied():
    """A copy of a snapshot is equal to it."""
    snapshot = RecipientSnapshot({"a": Alpha})
    assert snapshot is copy.copy(snapshot)
    assert snapshot is copy.deepcopy(snapshot)


def test_concurrent_registrations_lose_nothing():
    """Threads that register at the same time all succeed, and readers see only whole states."""
    manager = RecipientManager()
    barrier = threading.Barrier(8)

    def work(number):
        barrier.wait()
        for i in range(50):
            manager[f"r{number}_{i}"] = Alpha
            assert set(manager.snapshot()) <= set(manager)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 400 == len(manager)
