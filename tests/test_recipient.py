"""Laws of RecipientMeta and Recipient."""

import abc
import asyncio
import types
import uuid

import attrs
import pytest

from registry import Recipient, RecipientMeta
from registry.recipient import run_coroutine


class Sync(Recipient):
    REQUIRED_ARGS = ["a"]
    INPUT_SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}

    def process(self, message, **kwargs):
        return {"sync": message, **kwargs}


class Async(Recipient):
    RECIPIENT_NAME = "async_one"

    async def aprocess(self, message, **kwargs):
        return {"async": message, **kwargs}


def test_a_class_is_named_after_itself():
    """A class without a name of its own takes the class name; an empty one counts as none."""
    assert "Sync" == Sync.RECIPIENT_NAME
    assert "async_one" == Async.RECIPIENT_NAME
    assert "Named" == type(Sync)("Named", (Sync,), {"RECIPIENT_NAME": ""}).RECIPIENT_NAME


def test_names_are_not_inherited():
    """A subclass of a named class takes its own class name."""

    class Child(Async):
        pass

    assert "Child" == Child.RECIPIENT_NAME


def test_a_recipient_is_an_attrs_class():
    """Recipient classes are attrs classes made by RecipientMeta."""
    assert attrs.has(Sync)
    assert isinstance(Sync, RecipientMeta)


def test_constants_are_never_shared_mutable_state():
    """Lists given for the class constants become tuples."""
    assert ("a",) == Sync.REQUIRED_ARGS
    assert () == Recipient.EXAMPLE_MESSAGES


def test_async_is_derived_from_sync():
    """A recipient with process only can be awaited."""
    assert {"sync": 1, "x": 2} == asyncio.run(Sync().aprocess(1, x=2))


def test_sync_is_derived_from_async():
    """A recipient with aprocess only can be called, also inside a running loop."""

    async def inside():
        return Async().process(1, x=2)

    assert {"async": 1, "x": 2} == Async().process(1, x=2)
    assert {"async": 1, "x": 2} == asyncio.run(inside())


def test_what_an_ancestor_defines_is_kept():
    """A subclass that adds the other method does not lose its ancestor's."""

    class Both(Sync):
        async def aprocess(self, message, **kwargs):
            return "async"

    assert {"sync": 1} == Both().process(1)
    assert "async" == asyncio.run(Both().aprocess(1))


def test_an_overridden_method_is_derived_anew():
    """The derived method of a subclass calls the subclass's own."""

    class Child(Sync):
        def process(self, message, **kwargs):
            return "child"

    assert "child" == asyncio.run(Child().aprocess(1))


def test_a_class_without_either_method_cannot_be_instantiated():
    """Neither process nor aprocess: TypeError, as for any abstract class."""

    class Nothing(Recipient):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Nothing()


def test_instances_may_keep_state():
    """A subclass may have its own __init__ and attributes, as with the original."""

    class Counter(Recipient):
        def __init__(self):
            self.count = 0

        def process(self, message, **kwargs):
            self.count += 1
            return self.count

    counter = Counter()
    counter.process({})
    assert 2 == counter.process({})


def test_identifiers_are_random_uuids():
    """_uuid() gives a new version 4 UUID as text each time."""
    one, two = Sync()._uuid(), Sync()._uuid()
    assert one != two
    assert 4 == uuid.UUID(one).version


def test_arguments_are_bound_to_the_schema():
    """bind_arguments checks and converts as the class's INPUT_SCHEMA says, for each class its own."""

    class Other(Sync):
        INPUT_SCHEMA = None

    assert {"a": 3} == Sync.bind_arguments('{"a": "3"}')
    assert {"a": 4} == Sync.bind_arguments({"a": 4})
    assert {"z": 1} == Other.bind_arguments('{"z": 1}')


def test_entering_does_nothing_by_default():
    """Every recipient can be used as an async context manager."""

    async def use():
        async with Sync() as recipient:
            return recipient.process(1)

    assert {"sync": 1} == asyncio.run(use())


def test_run_coroutine_passes_errors_on():
    """An exception of the coroutine reaches the caller in both worlds."""

    async def fail():
        raise ValueError("no")

    async def inside():
        return run_coroutine(fail())

    with pytest.raises(ValueError, match="no"):
        run_coroutine(fail())
    with pytest.raises(ValueError, match="no"):
        asyncio.run(inside())


def test_the_one_method_may_come_from_a_mixin_or_stand_in_for_an_abstract_one():
    """Whatever class defines one of the two methods, the other is derived from it."""

    class Sync:
        def process(self, _message, **_kwargs):
            return "sync"

    class Async:
        async def aprocess(self, _message, **_kwargs):
            return "async"

    class Abstract(Recipient):
        @abc.abstractmethod
        def process(self, message, **kwargs):
            """Answer."""

    for bases, answer in (
        ((Sync, Recipient), "sync"),
        ((Async, Recipient), "async"),
        ((Async, Abstract), "async"),
    ):
        made = types.new_class("Made", bases)()
        assert answer == made.process({}) == asyncio.run(made.aprocess({}))
    with pytest.raises(TypeError, match="abstract"):
        types.new_class("Made", (Recipient, Async))()
