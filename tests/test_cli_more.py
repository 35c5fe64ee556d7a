"""Commands that talk to servers, follow files or draw on a terminal."""

import io
import pathlib
import sys
from functools import partial

import pytest
from click import UsageError

from registry.cli import FOUND, OK, UNABLE, main
from registry.cli.check_ import check_and_show
from registry.cli.output import colour_wanted, show_table
from registry.cli.serve_ import split_address, token_of
from registry.cli.watching import check_on, watch_check

GOOD = "version = 1\n[recipients.calc]\nkind = 'python'\ndescription = 'Sums.'\n"
EXAMPLE = """
[[recipients.calc.example_messages]]
text = "print(6 * 7)"
replies = ["```output\\n43\\n```"]
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A folder with a good registry, and a way to run a command in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipients.toml").write_text(GOOD)

    def go(*words):
        code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return go


class Terminal(io.StringIO):
    """A terminal that remembers what it was sent."""

    encoding = "utf-8"

    def isatty(self):
        """Say that somebody is looking."""
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A way to put terminals in place of standard output and error, from inside a test."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")

    def start():
        out, err = Terminal(), Terminal()
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        return out

    return start


def test_check_follows_changes(run, tmp_path, capsys):
    """Each change is checked anew; the exit code is that of the last check."""
    file = tmp_path / "recipients.toml"

    def changes():
        file.write_text("x")
        yield 1
        file.unlink()
        yield 2
        file.write_text(GOOD)
        yield 3

    assert check_on(changes(), partial(check_and_show, ("recipients.toml",))) == 0
    out, err = capsys.readouterr()
    assert out.count("checking again") == 3
    assert "toml-syntax" in out
    assert "cannot be read" in err
    assert check_on(iter([]), partial(check_and_show, ("gone.toml",))) == UNABLE
    file.write_text("x")
    assert check_on(iter([]), partial(check_and_show, ("recipients.toml",), strict=True)) == 1


def test_watching_ends_with_the_changes(run, monkeypatch, capsys, tmp_path):
    """--watch follows the folders of the files that exist."""
    seen = []

    def watch(*folders, **_options):
        seen.extend(folders)
        return iter([])

    monkeypatch.setattr("watchfiles.watch", watch)
    (tmp_path / "sub").mkdir()
    assert main(["check", "--watch", "recipients.toml", "sub", "gone/x.toml"]) == UNABLE
    assert seen == [pathlib.Path(), pathlib.Path("sub")]


def test_watching_without_the_extra_says_how_to_get_it(run, monkeypatch):
    """A missing extra is named."""
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(UsageError, match=r"recipients\[watch\]"):
        watch_check(("recipients.toml",), lambda: OK)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        ("[::1]:8000", ("::1", 8000)),
        (":0", ("127.0.0.1", 0)),
        ("localhost:65535", ("localhost", 65535)),
    ],
)
def test_addresses_are_split(text, address):
    """Hosts may be names, IPv4, IPv6 in brackets, or left out."""
    assert split_address(text) == address


@pytest.mark.parametrize(
    "text", ["localhost", "localhost:", "localhost:x", "localhost:65536", "a:-1", "a:\u0661"]
)
def test_what_is_no_address_is_bad_usage(text):
    """The message says what is needed."""
    with pytest.raises(UsageError, match="HOST:PORT"):
        split_address(text)


def test_the_token_comes_from_the_environment(monkeypatch):
    """An unset variable is named; without the option there is no token."""
    monkeypatch.setenv("SERVE_TOKEN", "t")
    assert (token_of("SERVE_TOKEN"), token_of(None)) == ("t", None)
    monkeypatch.setenv("SERVE_TOKEN", "")
    with pytest.raises(UsageError, match="SERVE_TOKEN"):
        token_of("SERVE_TOKEN")


def test_serve_passes_on_what_it_was_told(run, monkeypatch):
    """The transport, the address, the token and the file to follow reach the server."""
    calls = []
    monkeypatch.setattr("registry.serve.serve_stdio", lambda *a, **k: calls.append(("stdio", a[1:], k)))
    monkeypatch.setattr("registry.serve.http.serve_http", lambda *a, **k: calls.append(("http", a[1:], k)))
    monkeypatch.setenv("SERVE_TOKEN", "t")
    assert run("serve")[0] == OK
    assert run("serve", "--reload", "--http", "127.0.0.1:0", "--token-env", "SERVE_TOKEN")[0] == OK
    assert calls == [
        ("stdio", (), {"path": None}),
        ("http", ("127.0.0.1", 0), {"path": "recipients.toml", "token": "t"}),
    ]


SERVER = """
import asyncio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

async def list_tools(context, params):
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    names = ["add", "take"]
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description=name, input_schema=schema) for name in names]
    )

async def main():
    server = Server("box", on_list_tools=list_tools)
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())

asyncio.run(main())
"""


@pytest.fixture
def server(tmp_path):
    """The command line of an MCP server with two tools."""
    (tmp_path / "server.py").write_text(SERVER)
    return ("--", sys.executable, str(tmp_path / "server.py"))


def test_import_writes_the_tools_of_a_server(run, tmp_path, server):
    """New tools are added, a second run changes nothing, line ends are kept."""
    command = ("import", "mcp", "box", *server)
    (tmp_path / "recipients.toml").write_bytes(GOOD.replace("\n", "\r\n").encode())
    code, out, err = run(*command)
    assert (code, err) == (OK, "")
    assert out.startswith("added: box_")
    first = (tmp_path / "recipients.toml").read_bytes()
    assert b"\r\n" in first
    assert run("check")[0] == OK
    assert run("import", "mcp", "box")[1].startswith("unchanged: box_")
    assert (tmp_path / "recipients.toml").read_bytes() == first
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_import_into_a_new_file_and_a_dry_run(run, tmp_path, server):
    """A file that is not there is made; --dry-run only prints."""
    command = ("--prefix", "b_", "--file", "new/box.toml", *server)
    code, out, _ = run("import", "mcp", "box", "--dry-run", *command)
    assert code == OK
    assert "[recipients.b_" in out
    assert not (tmp_path / "new").exists()
    assert run("import", "mcp", "box", *command)[0] == OK
    assert (tmp_path / "new" / "box.toml").read_text() == out


def test_import_names_the_tools_it_leaves_out(run, tmp_path, server):
    """One that no file could declare is exit 1 with the reason, and keeps out no other."""
    program = tmp_path / "server.py"
    far = 'schema | ({"$ref": "http://a.example/"} if name == "add" else {})'
    program.write_text(SERVER.replace("input_schema=schema", f"input_schema={far}"))
    code, out, err = run("import", "mcp", "box", *server)
    assert (code, out) == (FOUND, "added: box_take\n")
    assert err.startswith("left out: tool ")
    assert err.endswith("[remote-ref]\n")
    assert run("check")[0] == OK


@pytest.mark.parametrize(
    "words",
    [("box",), ("box", "--url", "http://127.0.0.1:1/mcp", "--", "x"), ("box", "--", "no-such-program-here")],
)
def test_import_without_a_server_says_so(run, words):
    """A server that is not declared, given twice or not there is exit 2 with the reason."""
    code, out, err = run("import", "mcp", *words)
    assert (code, out) == (UNABLE, "")
    assert err


def test_import_into_a_file_that_is_no_text(run, tmp_path):
    """A file that cannot be read is named, and nothing is written."""
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    code, _, err = run("import", "mcp", "box", "--file", "bad.toml", "--", "x")
    assert code == UNABLE
    assert "bad.toml: cannot be read" in err
    assert (tmp_path / "bad.toml").read_bytes() == b"\xff"


def test_parts_that_are_no_text_are_told(run, tmp_path, monkeypatch):
    """An image is shown by its type and size."""
    module = (
        "import registry\n"
        "def draw():\n"
        "    return registry.Outcome('a\\nb', parts=({'type': 'image', 'data': b'x' * 999},))\n"
    )
    (tmp_path / "drawing.py").write_text(module)
    (tmp_path / "recipients.toml").write_text(
        "version = 1\n[recipients.draw]\nkind = 'function'\ndescription = 'x'\ncall = 'drawing:draw'\n"
        'api_docs = "two\\nlines"\n'
    )
    code, out, _ = run("run", "draw")
    assert (code, out) == (OK, 'a\nb\n{"type": "image", "data": "<1332 characters>"}\n')
    assert "api_docs:\ntwo\nlines\n" in run("show", "draw")[1]


def test_an_example_that_fails_shows_its_answer(run, tmp_path):
    """Where no reply is declared, what came is shown."""
    (tmp_path / "recipients.toml").write_text(GOOD + EXAMPLE.replace("6 * 7", "1/0").split("replies")[0])
    code, out, _ = run("test")
    assert code == 1
    assert "ZeroDivisionError" in out


def test_doctor_says_what_is_not_installed(run, monkeypatch):
    """A missing extra is no error."""
    monkeypatch.setattr("registry.cli.doctor_.EXTRAS", {"nothing": ("no-such-distribution",)})
    assert "nothing\tno-such-distribution is missing" in run("doctor")[1]


def test_shell_completion_knows_the_commands(run, monkeypatch):
    """The names come from the table."""
    monkeypatch.setenv("_RECIPIENTS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "recipients che")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit):
        main([])


def test_tables_are_drawn_on_a_terminal(terminal):
    """Markup in a cell is text."""
    out = terminal()
    show_table("title", ("a", "b"), [("[red]x", "y")])
    assert "[red]x" in out.getvalue()
    assert "title" in out.getvalue()


def test_colours_are_for_terminals(terminal, monkeypatch):
    """NO_COLOR turns them off."""
    terminal()
    assert colour_wanted()
    assert colour_wanted(err=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colour_wanted()


def test_commands_on_a_terminal(run, terminal, tmp_path):
    """Reports have colours, pages are laid out, examples have a progress bar and marks."""
    (tmp_path / "recipients.toml").write_text(GOOD + EXAMPLE)
    out = terminal()
    codes = [main(words) for words in (["check"], ["explain", "unknown-key"], ["list"], ["doctor"], ["test"])]
    assert codes == [OK, OK, OK, OK, 1]
    assert "\x1b[" in out.getvalue()
    assert "FAILED" in out.getvalue()


def test_an_interrupt_is_quiet(run, monkeypatch):
    """Ctrl-C at a question ends with the usual code and no traceback."""

    def stop(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("registry.loading.loader.check", stop)
    code, _, err = run("check")
    assert (code, err.strip()) == (130, "Aborted.")


def test_a_reader_that_went_away_is_no_error(run, monkeypatch):
    """A closed pipe ends the command, and nothing is left to be flushed into it."""

    def broken(*_args, **_options):
        raise BrokenPipeError

    put = []
    monkeypatch.setattr("registry.cli.schema_.click.echo", broken)
    monkeypatch.setattr("os.dup2", lambda one, other: put.append(other))
    monkeypatch.setattr(sys.stdout, "fileno", lambda: 77, raising=False)
    assert main(["schema"]) == OK
    assert put == [77]


def test_an_error_shows_its_notes(run):
    """What an exception adds as a note is shown as a hint."""
    assert "hint: Did you mean 'calc'?" in run("run", "clac", "1")[2]
