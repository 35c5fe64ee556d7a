"""The kind ``class``: a recipient of the user's own, imported when it is first needed."""

import asyncio
import sys

import pytest

from registry import Dispatcher, InvalidArguments, Recipient, RecipientFailed, loads
from registry.import_paths import import_object
from registry.messages import reply_text

MODULE = """
from registry import Outcome, Recipient, address, reply

LOG = []

class Counter(Recipient):
    INPUT_SCHEMA = {"type": "object", "properties": {"step": {"type": "integer"}}, "required": ["step"]}

    def __init__(self):
        self.total = 0

    def process(self, message, **kwargs):
        self.total += self.bind_arguments(address(message).raw)["step"]
        return reply(self.RECIPIENT_NAME, Outcome(str(self.total)))

    async def __aenter__(self):
        LOG.append("enter")
        return self

    async def __aexit__(self, *error):
        LOG.append("exit")

class Picky(Recipient):
    REQUIRED_ARGS = ("step",)

    def process(self, message, **kwargs):
        return message["message"]

class Outer:
    class Inner(Recipient):
        async def aprocess(self, message, **kwargs):
            return "inner"

NOTHING = 3
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with a module beside the root file, unknown to Python's path."""
    (tmp_path / "own_things.py").write_text(MODULE)
    yield tmp_path
    sys.modules.pop("own_things", None)


def declared(folder, path, more=""):
    text = f"version = 1\n[recipients.own]\nkind = 'class'\ndescription = 'x'\nclass = '{path}'\n{more}"
    return loads(text, folder=folder)["own"]


def test_nothing_is_imported_by_a_load(folder):
    """The module is imported when a call needs it, and the import path is as before afterwards."""
    before = list(sys.path)
    own = declared(folder, "own_things:Counter")
    assert "own_things" not in sys.modules
    assert reply_text(own().process({"recipient": "own", "arguments": {"step": 2}})) == "2"
    assert "own_things" in sys.modules
    assert before == sys.path


def test_one_instance_serves_all_messages(folder):
    """State lives as long as the recipient; async and sync reach the same object."""
    own = declared(folder, "own_things:Counter")()
    message = {"recipient": "own", "arguments": {"step": 2}}
    own.process(message)
    assert reply_text(asyncio.run(own.aprocess(message))) == "4"


def test_arguments_are_checked_by_the_declared_or_the_own_schema(folder):
    """Without a declared schema the class's own counts."""
    assert declared(folder, "own_things:Counter").bind_arguments({"step": "3"}) == {"step": 3}
    other = declared(folder, "own_things:Counter", "parameters = { name = { type = 'string' } }")
    with pytest.raises(InvalidArguments):
        other.bind_arguments({"step": 3})


@pytest.mark.parametrize(
    ("path", "message", "status"),
    [
        ("own_things:Counter", {"message": "no arguments"}, "invalid-arguments"),
        ("own_things:Counter", {"message": '{"step": 1}'}, "ok"),
        ("own_things:Picky", {"arguments": {}}, "invalid-arguments"),
        ("own_things:Picky", {"arguments": {"step": 1}}, "ok"),
        ("own_things:Picky", {"message": "any text"}, "ok"),
    ],
)
def test_a_dispatched_call_is_checked_as_one_of_the_own_class(folder, path, message, status):
    """Declared in a file or registered as it is, the class is sent the same calls."""
    snapshot = {"own": declared(folder, path)}
    found = [Dispatcher(snapshot).dispatch({"recipient": "own", **message})["metadata"]["status"]]
    bare = {"own": snapshot["own"].own_class()}
    found.append(Dispatcher(bare).dispatch({"recipient": "own", **message})["metadata"]["status"])
    assert [status, status] == found


def test_the_own_class_is_opened_and_closed(folder):
    """The user's context manager is entered and left; nothing is left that was never made."""

    async def use():
        async with declared(folder, "own_things:Counter")():
            pass
        await declared(folder, "own_things:Counter")().__aexit__(None, None, None)

    asyncio.run(use())
    assert sys.modules["own_things"].LOG == ["enter", "exit"]


def test_the_dispatcher_calls_it(folder):
    """A nested class works, and its reply has the registered name."""
    snapshot = {"mine": declared(folder, "own_things:Outer.Inner")}
    reply = Dispatcher(snapshot).dispatch({"recipient": "mine", "message": "x"})
    assert (reply_text(reply), reply["author"]["name"]) == ("inner", "mine")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("own_things:NOTHING", "no subclass of registry.Recipient"),
        ("own_things:LOG", "no subclass"),
        ("own_things:Missing", "has no 'Missing'"),
        ("no_such_module_here:X", "ModuleNotFoundError"),
    ],
)
def test_what_is_no_recipient_is_a_declared_error(folder, path, words):
    """The text names the import path and what is wrong with it."""
    with pytest.raises(RecipientFailed, match=words):
        declared(folder, path).own_class()


def test_importing_without_a_folder_uses_the_normal_path():
    """Modules on Python's path need no folder."""
    assert import_object("registry:Recipient", None) is Recipient
