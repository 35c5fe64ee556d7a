"""Tools of a server as recipients in a file: from text to text."""

import asyncio
import pathlib
import sys

import hypothesis.strategies as st
import pytest
import strategies
import tomli
import tomlkit
from hypothesis import given

from registry import BackendUnavailable, InvalidRegistry, RegistryError, TransportError
from registry.importing import fetch_tools, import_tools, server_in
from registry.importing import mcp as importing
from registry.importing.names import recipient_name
from registry.loading.loader import checks, loads
from registry.mcp_client import Tool, close_all
from registry.mcp_client.pins import NotPortableError, pinned_description, pinned_schema
from registry.specs import ServerSpec

TESTS = pathlib.Path(__file__).parent
CLOCK = ServerSpec("clock", ("clock-server", "--utc"))
SCHEMA = {
    "type": "object",
    "properties": {"zone": {"type": "string", "title": "Zone"}, "loud": {"type": "boolean", "default": None}},
    "required": ["zone"],
    "$defs": {"Day": {"enum": ["mon", "tue"]}},
}
TELL = Tool("tell", "Tells the time.", SCHEMA)
WAIT = Tool("wait", "Waits.\nThen it \"says\" 'so' \\ there.", {"type": "object"})

FILE = """\
# Ours.
version = 1

[servers.clock]  # the one on the wall
command = ["clock-server", "--utc"]

[recipients.time]  # renamed by hand
kind = "mcp"
server = "clock"
tool = "tell"   # of the clock
description = "Old."  # reviewed
timeout = 3

[recipients.time.input_schema]
type = "object"

[[recipients.time.example_messages]]
arguments = {}

[recipients.shell]
kind = "command"
description = "Something else."
argv = ["true"]
"""


def imported(text, *tools, server=CLOCK, **options):
    return import_tools(text, server, tools, **options)


def test_an_empty_file_gets_the_server_and_its_tools():
    """Every tool becomes a recipient, with the whole schema; the file is in order."""
    done = imported("", TELL, WAIT)
    assert ("clock_tell", "clock_wait") == done.added
    assert not checks(done.text).diagnostics
    snapshot = loads(done.text)
    assert CLOCK == snapshot.servers["clock"]
    assert pinned_schema(SCHEMA) == snapshot["clock_tell"].INPUT_SCHEMA
    assert WAIT.description == snapshot["clock_wait"].DESCRIPTION


def test_importing_again_changes_nothing():
    """The second import of the same tools leaves the text as it is."""
    first = imported("# mine\n", TELL, WAIT)
    again = imported(first.text, TELL, WAIT)
    assert first.text == again.text
    assert (("clock_tell", "clock_wait"), (), ()) == (again.unchanged, again.added, again.updated)


def test_what_was_written_by_hand_stays():
    """Names, comments, layout and other keys stay; description and schema become what the server says."""
    done = imported(FILE, TELL, WAIT)
    assert (("clock_wait",), ("time",), ()) == (done.added, done.updated, done.gone)
    kept = [line for line in FILE.splitlines() if not line.startswith(("description", "type ="))]
    position = -1
    lines = done.text.splitlines()
    for line in kept:
        position = lines.index(line, position + 1)
    assert 'description = "Tells the time."  # reviewed' in lines
    data = tomli.loads(done.text)
    assert pinned_schema(SCHEMA) == data["recipients"]["time"]["input_schema"]
    assert 3 == data["recipients"]["time"]["timeout"]


def test_tools_that_are_gone_are_named_and_kept():
    """A recipient whose tool the server no longer has is left for its author to remove."""
    done = imported(FILE, WAIT)
    assert ("time",) == done.gone
    assert "[recipients.time]" in done.text


def test_other_servers_are_none_of_our_business():
    """Recipients of another server are not touched, whatever their tools are called."""
    done = imported(FILE, TELL, server=ServerSpec("other", ("x",)))
    assert done.text.startswith(FILE)
    assert ("other_tell",) == done.added


@pytest.mark.parametrize(
    ("before", "server", "expected"),
    [
        ("", CLOCK, {"command": ["clock-server", "--utc"]}),
        ("", ServerSpec("clock", ("c",), {"A": "${A}"}), {"command": ["c"], "env": {"A": "${A}"}}),
        (
            "",
            ServerSpec("clock", url="http://x/mcp", headers={"A": "${A}"}),
            {"url": "http://x/mcp", "headers": {"A": "${A}"}},
        ),
        (
            '[servers.clock]\nurl = "http://old"\ntimeout = 3 # s\n',
            ServerSpec("clock", ("c",)),
            {"command": ["c"], "timeout": 3},
        ),
        ('[servers]\nclock = { command = ["old"] }\n', ServerSpec("clock", url="u"), {"url": "u"}),
        ('[servers.clock]\ncommand = ["c"] # keep\n', ServerSpec("clock", ("c",)), {"command": ["c"]}),
    ],
)
def test_the_server_is_written_as_it_is_reached(before, server, expected):
    """The declaration of the server says how it was reached, and keeps what else it says."""
    text = import_tools(before, server, [WAIT]).text
    assert expected == tomli.loads(text)["servers"]["clock"]
    assert "# keep" in text or "# keep" not in before


def test_a_declared_server_can_be_read():
    """A file's own declaration of a server is enough to import from it again."""
    assert CLOCK == server_in(FILE, "clock")
    assert server_in(FILE, "other") is None
    assert server_in("servers = 3", "clock") is None
    web = '[servers.web]\nurl = "http://x"\nheaders = { A = "b" }\ntimeout = 2\nunknown = 1\n'
    assert ServerSpec("web", url="http://x", headers={"A": "b"}, timeout=2) == server_in(web, "web")


@pytest.mark.parametrize(
    ("prefix", "tool", "expected"),
    [
        ("clock_", "tell", "clock_tell"),
        ("", "tell", "tell"),
        ("", "get.time/now!", "get_time_now_"),
        ("", "1st", "_1st"),
        ("", "-x", "_-x"),
        ("", "", "_"),
        ("", "é", "_"),
        ("x_", "a" * 62, "x_" + "a" * 62),
    ],
)
def test_names_are_made_to_fit(prefix, tool, expected):
    """Any name of a tool becomes a name that a file may have."""
    assert expected == recipient_name(prefix, tool)


@given(st.text(max_size=90), st.text(max_size=90))
def test_made_names_are_always_good(prefix, tool):
    """Whatever a tool is called, its recipient's name has the form of one."""
    name = recipient_name(prefix, tool)
    assert not checks(f'version = 1\n[recipients.{name}]\nkind = "python"\ndescription = "x"\n').errors


def test_long_names_stay_apart():
    """Two names that are the same at the start and too long are still two."""
    one, two = (recipient_name("server_", "a" * 80 + end) for end in "xy")
    assert one != two
    assert 64 == len(one) == len(two)


def test_a_name_that_is_taken_is_an_error():
    """A name that a recipient of the file has, or that two tools would get, is refused with both owners."""
    taken = '[recipients.clock_tell]\nkind = "python"\ndescription = "x"\n'
    with pytest.raises(InvalidRegistry) as caught:
        imported(taken, TELL, Tool("a.b", "x", {}), Tool("a/b", "y", {}), file="f.toml")
    errors = caught.value.report.errors
    assert ["name-collision"] * 2 == [error.code for error in errors]
    assert "which is in the file" in caught.value.report.errors[1].message
    assert "which is made of tool 'a.b'" in caught.value.report.errors[0].message
    assert {"f.toml"} == {error.file for error in errors}
    assert ["declare one of them under a name of your own", "choose other names with a prefix"] == [
        error.hint.split(", ")[0] for error in errors
    ]
    by_hand = '[recipients.other]\nkind = "mcp"\nserver = "clock"\ntool = "a/b"\ndescription = "x"\n'
    done = imported(by_hand, Tool("a.b", "x", {}), Tool("a/b", "y", {}))
    assert (("clock_a_b",), ("other",)) == (done.added, done.updated)
    assert ("my_tell",) == imported(taken, TELL, prefix="my_").added


@pytest.mark.parametrize(
    ("schema", "code", "message"),
    [
        (
            {"properties": {"a": {"const": {"b": None}}}},
            "unsupported-schema",
            "tool 'tell': the schema has null at properties.a.const.b, which TOML cannot hold",
        ),
        (
            {"allOf": [{"$ref": "x:/c"}]},
            "remote-ref",
            "tool 'tell', input_schema.allOf.0.$ref: `x:/c` is outside this schema; nothing is fetched",
        ),
        ({"type": "thing"}, "bad-parameter-schema", None),
    ],
)
def test_what_no_file_could_declare_is_left_out(schema, code, message):
    """A tool whose declaration would be an error keeps out no other; what a file says of it already stays."""
    odd = Tool("tell", "x", schema)
    done = imported(FILE, odd, WAIT)
    assert (("clock_wait",), (), ()) == (done.added, done.updated, done.gone)
    assert {"tell": code} == {tool: error.code for tool, error in done.left_out.items()}
    assert message is None or message == done.left_out["tell"].message
    assert 'description = "Old."  # reviewed' in done.text
    assert checks(done.text).ok


def test_each_of_very_many_bad_tools_is_left_out():
    """None slips through because a check does not tell all of very many faults."""
    tools = [Tool(f"t{nth}", "x", {"type": "thing" if nth % 10 else "object"}) for nth in range(2_000)]
    done = imported("", *tools)
    assert (200, 1_800) == (len(done.added), len(done.left_out))


def test_a_file_that_is_no_toml_is_an_error():
    """It is refused with the place."""
    with pytest.raises(InvalidRegistry) as caught:
        imported("x = 1\ny = \n", TELL)
    (error,) = caught.value.report.errors
    assert ("toml-syntax", 2) == (error.code, error.line)


@pytest.mark.parametrize(
    "text",
    [
        '[recipients]\ntime = { kind = "mcp", server = "clock", tool = "tell", description = "x" } # c\n',
        '[recipients]\ntime.kind = "mcp"\ntime.server = "clock"\ntime.tool = "tell"\n',
        'recipients.time.kind = "mcp"\nrecipients.time.server = "clock"\nrecipients.time.tool = "tell"\n',
        FILE.replace("[recipients.time.input_schema]", '[recipients.time.parameters]\na.type = "null"\n[x]')
        .replace("timeout = 3", 'required_args = ["a"]')
        .replace("[[recipients.time.example_messages]]\narguments = {}\n", ""),
        FILE.replace("\n", "\r\n"),
        "\ufeff" + FILE,
        FILE.rstrip("\n"),
        FILE + "\n\n",
        FILE.replace("[recipients.shell]", "[prompts]\n[recipients.shell]"),
        '[recipients.time]\nkind = "mcp"\nserver = "clock"\ntool = "tell"\ninput_schema.type = "null"\n',
    ],
)
def test_every_layout_is_edited_in_place(text):
    """However a recipient is written, it says what the server says, and still does when done again."""
    done = imported(text, TELL, WAIT)
    data = tomli.loads(done.text.removeprefix("\ufeff").replace("\r\n", "\n"))
    time = data["recipients"]["time"]
    assert (TELL.description, pinned_schema(SCHEMA)) == (time["description"], time["input_schema"])
    assert not {"parameters", "required_args"} & time.keys()
    assert text.startswith("\ufeff") == done.text.startswith("\ufeff")
    assert ("\r\n" in text) == ("\r\n" in done.text)
    assert "\r\n" not in text or "\n" not in done.text.replace("\r\n", "")
    assert done.text == imported(done.text, TELL, WAIT).text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | strategies.toml_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strategies.toml_keys, inner, max_size=3),
    max_leaves=8,
)
schemas = st.dictionaries(
    st.sampled_from(["type", "properties", "enum", "const", "default", "$defs", "examples", "title", "x"]),
    json_values,
    max_size=6,
)
tools = st.lists(
    st.builds(Tool, strategies.toml_texts, strategies.toml_texts, schemas | strategies.input_schemas()),
    max_size=3,
)


@given(st.sampled_from(["", FILE, "\ufeff# x"]), tools)
def test_what_is_written_is_what_is_pinned(text, offered):
    """Whatever servers say, the file says what the check at call time compares with, and is in order."""
    try:
        done = import_tools(text, CLOCK, offered)
    except InvalidRegistry as error:
        assert {"name-collision"} == {fault.code for fault in error.report.errors}  # noqa: PT017 - may be
        return
    assert checks(done.text).ok
    data = tomli.loads(done.text.removeprefix("\ufeff"))
    by_tool = {
        table["tool"]: table for table in data.get("recipients", {}).values() if table["kind"] == "mcp"
    }
    for tool in offered:
        if tool.name in done.left_out:
            continue
        table = by_tool[tool.name]
        assert pinned_description(tool, "clock") == table["description"]
        assert pinned_schema(tool.input_schema) == table["input_schema"]
    assert done.text == import_tools(done.text, CLOCK, offered).text


@given(schemas)
def test_a_pinned_schema_has_no_null(schema):
    """What is pinned can stand in a file, and pinning it again changes nothing."""
    try:
        pinned = pinned_schema(schema)
    except NotPortableError as error:
        assert error.path  # noqa: PT017 - one of two outcomes
        return
    tomlkit.dumps(pinned)
    assert pinned == pinned_schema(pinned)


def test_a_file_that_cannot_be_edited_is_left_alone(monkeypatch):
    """Rather than damage a file, the import says that it cannot do it."""
    monkeypatch.setattr("registry.importing.write.update_recipient", lambda *arguments, inline: True)
    with pytest.raises(RegistryError, match="write each of time as a table of its own"):
        imported(FILE, TELL)


def test_tools_are_fetched_from_the_server():
    """A server is asked for its tools; one that does not answer is an error."""
    stand_in = (sys.executable, str(TESTS / "mcp_stand_in.py"))
    try:
        tools = asyncio.run(fetch_tools(ServerSpec("s", (*stand_in, "good"), timeout=60), TESTS))
        assert "pid" in [tool.name for tool in tools]
        with pytest.raises(TransportError):
            asyncio.run(fetch_tools(ServerSpec("s", (*stand_in, "crash"), timeout=60)))
    finally:
        close_all()


def test_a_missing_tomlkit_is_named_with_the_way_to_get_it(monkeypatch):
    """Without tomlkit the error says what to install."""
    monkeypatch.setitem(sys.modules, "tomlkit", None)
    with pytest.raises(BackendUnavailable, match=r'pip install "recipients\[mcp\]"'):
        importing._parsed("", "f")
