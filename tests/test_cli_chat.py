"""The command ``chat``: one question, or a talk on a terminal."""

import asyncio
import contextlib
import fcntl
import io
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import termios

import attrs
import pytest
from model_server import ModelServer, completion, completion_events, message, response, stream, whole

from registry.cli import main, talking
from registry.conversation import Transcript
from registry.exceptions import ChatError

FILE = """version = 1
[recipients.add]
kind = "command"
description = "Adds two numbers."
api_docs = "Send a and b."
argv = ["expr", "{a}", "+", "{b}"]
required_args = ["a", "b"]
parameters = { a = { type = "integer" }, b = { type = "integer" } }
[recipients.other]
kind = "command"
description = "Does nothing."
argv = ["true"]
[prompts.tutor]
role = "system"
template = "Teach {topic} to a child of {age}."
inputs.topic = { type = "string" }
inputs.age = { type = "integer" }
recipients = ["add"]
"""
CALL = ("call_1", "add", '{"a": 1, "b": 2}')
TWO = [CALL, ("call_2", "add", '{"a": 2, "b": 2}')]
LOOP = [stream(*completion_events("Let me see.", [CALL])), stream(*completion_events("it is 3"))]
ROOT = pathlib.Path(__file__).parent.parent


class Terminal(io.StringIO):
    """Standard input or output that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Be in a folder with a registry, without a terminal and without input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipients.toml").write_text(FILE, "utf-8")
    give(monkeypatch, "")
    return tmp_path


def give(monkeypatch, text):
    """Give text on standard input that is no terminal."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def chat(server, *words):
    return main(["chat", "--base-url", f"{server.url}/v1", "--model", "m", *words])


def typed(monkeypatch, *lines):
    """Be a person at a terminal who types these lines; an exception is what the person does instead."""
    monkeypatch.setattr(sys, "stdin", Terminal())
    given = iter(lines)

    def answer(*_arguments, **_options):
        line = next(given)
        if isinstance(line, BaseException):
            raise line
        return line

    monkeypatch.setattr(talking.click, "prompt", answer)


def test_a_question_is_answered_with_the_help_of_recipients(here, capsys):
    """The answer alone is on standard output; the calls are shown on standard error."""
    with ModelServer(LOOP) as server:
        assert chat(server, "what is 1 + 2?") == 0
    found = capsys.readouterr()
    assert found.out == "it is 3\n"
    assert found.err == '→ add {"a": 1, "b": 2}\n← add ok: 3\n'
    assert server.sent[0].body["messages"] == [
        {"role": "system", "content": "# add\n\nSend a and b."},
        {"role": "user", "content": "what is 1 + 2?"},
    ]


def test_the_program_itself_runs_the_loop(here):
    """As a program without a terminal it makes the calls without asking."""
    with ModelServer(LOOP) as server:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "registry",
                "chat",
                "--base-url",
                server.url,
                "--model",
                "m",
                "what is 1 + 2?",
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, "it is 3\n")


@pytest.mark.parametrize(
    ("options", "answer", "path"),
    [
        (["--provider", "anthropic"], message("a"), "/v1/messages"),
        (["--api", "responses"], response("a"), "/v1/responses"),
        (["--provider", "openai"], completion("a"), "/v1/chat/completions"),
    ],
)
def test_each_provider_can_be_asked(here, capsys, options, answer, path):
    """The provider and the API decide which requests are made."""
    with ModelServer([whole(answer)]) as server:
        assert chat(server, *options, "x") == 0
    assert capsys.readouterr().out == "a\n"
    assert server.sent[0].path == path


@pytest.mark.parametrize("words", [[], ["-"]])
def test_the_question_may_come_from_standard_input(here, monkeypatch, words):
    """Without a question, or with '-', it is read from a pipe."""
    give(monkeypatch, " from a pipe\n")
    with ModelServer([whole(completion("a"))]) as server:
        assert chat(server, *words) == 0
    assert server.sent[0].body["messages"][-1]["content"] == "from a pipe"


def test_the_transcript_is_saved(here):
    """With --save the whole talk is in a file that can be loaded again."""
    with ModelServer(LOOP) as server:
        assert chat(server, "--save", "talk.jsonl", "x") == 0
    transcript = Transcript.load("talk.jsonl")
    assert (transcript.text, transcript.stop_reason, transcript.turns) == ("it is 3", "end_turn", 2)


def test_a_transcript_that_cannot_be_written_is_an_error(here, capsys):
    """Where the file cannot be written, the error names it."""
    with ModelServer(LOOP) as server:
        assert chat(server, "--save", "absent/talk.jsonl", "x") == 2
    assert "absent/talk.jsonl" in capsys.readouterr().err


def test_the_limit_of_turns_is_told(here, capsys):
    """A model that goes on calling is stopped with an exit code of its own."""
    with ModelServer([whole(completion(None, [CALL]))]) as server:
        assert chat(server, "--max-turns", "2", "x") == 1
    assert "stopped: the model went on calling" in capsys.readouterr().err
    assert len(server.sent) == 2


def test_a_prompt_begins_the_talk_with_its_recipients(here):
    """A prompt's messages come first, and only the recipients it names can be called."""
    with ModelServer([whole(completion("a"))]) as server:
        assert chat(server, "--prompt", "tutor", "--set", "topic=sums", "--set", "age=7", "x") == 0
    assert server.sent[0].body["messages"][0]["content"] == "Teach sums to a child of 7."
    assert [tool["function"]["name"] for tool in server.sent[0].body["tools"]] == ["add"]


def test_without_documentation_nothing_is_said_first(here):
    """A registry whose recipients have no documentation begins with the question."""
    (here / "recipients.toml").write_text(FILE.replace('api_docs = "Send a and b."\n', ""), "utf-8")
    with ModelServer([whole(completion("a"))]) as server:
        assert chat(server, "x") == 0
    assert server.sent[0].body["messages"] == [{"role": "user", "content": "x"}]


WRONG = {
    "no question": ([], "give a QUESTION"),
    "values for nothing": (["--set", "a=b", "x"], "name one with --prompt"),
    "an API of another provider": (["--provider", "anthropic", "--api", "chat", "x"], "--api is for"),
    "no such prompt": (["--prompt", "x", "x"], "'x' is not registered"),
    "values missing": (["--prompt", "tutor", "x"], "missing-input"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_what_cannot_be_asked(here, capsys, case):
    """What is wrong on the command line is told, and nobody is asked."""
    words, text = case
    with ModelServer(LOOP) as server:
        assert chat(server, *words) == 2
    assert text in capsys.readouterr().err
    assert server.sent == []


def test_a_recipient_that_cannot_be_exported_is_told(here, capsys):
    """Where the provider cannot be told about a recipient, the report says which."""
    (here / "recipients.toml").write_text(
        'version = 1\n[recipients.a]\nkind = "command"\ndescription = "d"\nargv = ["true"]\n'
        'input_schema = { type = "object", anyOf = [{}] }\n',
        "utf-8",
    )
    with ModelServer(LOOP) as server:
        assert chat(server, "--provider", "anthropic", "x") == 2
    assert "unsupported-schema" in capsys.readouterr().err


def test_a_provider_that_fails_is_told(here, capsys):
    """An error of the provider is one line, and the transcript so far is saved."""
    with ModelServer([LOOP[0], whole({"error": {"message": "bad"}}, 400)]) as server:
        assert chat(server, "--save", "talk.jsonl", "x") == 2
    assert "answered 400: bad" in capsys.readouterr().err
    assert [entry["author"]["role"] for entry in Transcript.load("talk.jsonl").messages] == [
        "user",
        "assistant",
        "tool",
    ]


# --- the talk itself, with a chat that is only a script


class Scripted:
    """A chat that gives one result after another, or fails."""

    def __init__(self, *results):
        self.results = iter(results)

    async def ask(self, _prompt):
        result = next(self.results)
        if isinstance(result, BaseException):
            raise result
        return {"message": result, "recipient": "all"}


def talk(*results, **options):
    options = {"max_turns": 3, "asks": False, "save": None, **options}
    return talking.Talk(Scripted(*results), {}, talking.Screen(), **options)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), asyncio.CancelledError()])
def test_a_stopped_answer_has_its_own_exit_code(capsys, error):
    """However an answer is stopped, the exit code is that of an interrupted program."""
    with talk(error) as talked:
        assert talked.once("x") == 130
    assert capsys.readouterr().err == "\nStopped.\n"


def test_an_answer_is_shown_and_succeeds(capsys):
    """An answer that ended is a success."""
    with talk("yes") as talked:
        assert talked.once("x") == 0
    assert capsys.readouterr().out == "yes\n"


def test_a_talk_survives_what_ends_an_answer(capsys, monkeypatch):
    """Errors and interrupts end one answer, not the talk."""
    typed(monkeypatch, "one", "two", "", "three", talking.click.Abort())
    with talk(ChatError("bad\x1b"), asyncio.CancelledError(), "yes") as talked:
        assert talked.on() == 0
    found = capsys.readouterr()
    assert found.out == "yes\n"
    assert found.err.splitlines()[1:] == ["error: bad\\x1b", "", "Stopped.", ""]


# --- on a terminal


def test_a_terminal_shows_answers_as_they_come(here, capsys, monkeypatch):
    """On a terminal what is said between calls is shown too, and nothing steers the terminal."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with ModelServer([LOOP[0], stream(*completion_events("3\x1b[31m"))]) as server:
        assert chat(server, "x") == 0
    assert capsys.readouterr().out == "Let me see.\n3\\x1b[31m\n"


@pytest.mark.parametrize(("answer", "status"), [("y", "ok"), ("n", "refused")])
def test_each_call_is_asked_for(here, capsys, monkeypatch, answer, status):
    """At a terminal a call is made only when the person says yes."""
    typed(monkeypatch, answer)
    with ModelServer(LOOP) as server:
        assert chat(server, "x") == 0
    assert f"← add {status}: " in capsys.readouterr().err


def test_always_is_asked_once(here, capsys, monkeypatch):
    """After 'always' a recipient is not asked for again."""
    typed(monkeypatch, "a")
    with ModelServer([stream(*completion_events(None, TWO)), LOOP[1]]) as server:
        assert chat(server, "x") == 0
    assert capsys.readouterr().err.count("← add ok") == 2


def test_yes_asks_for_nothing(here, monkeypatch):
    """With --yes nobody is asked."""
    typed(monkeypatch)
    with ModelServer(LOOP) as server:
        assert chat(server, "--yes", "x") == 0


def test_stopping_at_a_call_stops_the_answer(here, capsys, monkeypatch):
    """Ctrl-C when asked for a call stops all of it, and the transcript is clean."""
    typed(monkeypatch, talking.click.Abort())
    with ModelServer([stream(*completion_events(None, TWO)), LOOP[1]]) as server:
        assert chat(server, "--save", "talk.jsonl", "x") == 130
    assert "Stopped." in capsys.readouterr().err
    transcript = Transcript.load("talk.jsonl")
    assert transcript.stop_reason == "cancelled"
    assert [entry["metadata"]["call_id"] for entry in transcript.replies] == ["call_1", "call_2"]
    assert len(server.sent) == 1


def test_a_talk_goes_on_until_its_end(here, capsys, monkeypatch):
    """Questions follow each other in one conversation; empty lines and errors do not end it."""
    bad = whole({"error": {"message": "bad"}}, 400)
    typed(monkeypatch, "one", "", "two", "three", talking.click.Abort())
    with ModelServer([whole(completion("first")), bad, whole(completion("third"))]) as server:
        assert chat(server) == 0
    found = capsys.readouterr()
    assert found.out == "first\nthird\n"
    assert "answered 400: bad" in found.err
    said = [entry["content"] for entry in server.sent[2].body["messages"]]
    assert said == ["# add\n\nSend a and b.", "one", "first", "three"]


def test_a_talk_goes_on_after_an_answer_was_stopped(here, capsys, monkeypatch):
    """Ctrl-C at a call ends the answer only."""
    typed(monkeypatch, "one", talking.click.Abort(), "two", talking.click.Abort())
    with ModelServer([whole(completion(None, [CALL])), whole(completion("second"))]) as server:
        assert chat(server) == 0
    assert capsys.readouterr().out == "second\n"
    roles = [entry["role"] for entry in server.sent[1].body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user"]


def heed_interrupts():
    """Obey SIGINT in a new process, which a shell may have told all of its own to ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def own_terminal():
    """Make standard input the terminal that controls a new process."""
    heed_interrupts()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_interrupting_the_program_leaves_a_clean_transcript(here):
    """SIGINT during an answer ends the program with 130 and the transcript of what was said."""
    command = [sys.executable, "-m", "registry", "chat", "--model", "m", "--save", "talk.jsonl"]

    def hang(_sent):
        process.send_signal(signal.SIGINT)
        process.wait(30)
        return LOOP[1]

    with ModelServer([hang]) as server:
        process = subprocess.Popen(
            [*command, "--base-url", f"{server.url}/v1", "x"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_interrupts,  # noqa: PLW1509 - it calls no lock
        )
        assert "Stopped." in process.communicate(timeout=60)[1]
    assert process.returncode == 130
    last = json.loads((here / "talk.jsonl").read_text("utf-8").splitlines()[-1])
    assert last["end"]["stop_reason"] == "cancelled"


@attrs.define
class Person:
    """Someone at a real terminal, who answers when certain words appear."""

    terminal: int
    seen: str = ""

    def wait_for(self, words):
        while words not in self.seen:
            assert select.select([self.terminal], [], [], 60)[0], self.seen
            self.seen += os.read(self.terminal, 4096).decode(errors="replace")

    def type(self, text):
        self.seen = ""
        os.write(self.terminal, text.encode())

    def insist(self, key, words):
        """Press a key until words appear: a program that is just turning to the keyboard may miss it."""
        self.seen = ""
        while words not in self.seen:
            os.write(self.terminal, key.encode())
            if select.select([self.terminal], [], [], 1)[0]:
                self.seen += os.read(self.terminal, 4096).decode(errors="replace")

    def leave(self, key):
        """Press a key until the program has ended and its terminal is gone."""
        with contextlib.suppress(OSError):
            while True:
                self.insist(key, "\n")


def test_a_talk_on_a_real_terminal(here):
    """On a real terminal a person asks, allows a call, stops one with Ctrl-C, and ends with Ctrl-D."""
    controller, terminal = pty.openpty()
    settings = termios.tcgetattr(terminal)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, settings)
    with ModelServer([LOOP[0], LOOP[1], LOOP[0], LOOP[1]]) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "registry", "chat", "--model", "m", "--base-url", f"{server.url}/v1"],
            env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb"},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            preexec_fn=own_terminal,  # noqa: PLW1509 - no threads yet
        )
        os.close(terminal)
        person = Person(controller)
        person.wait_for("> ")
        person.type("one\n")
        person.wait_for("always)")
        person.type("y\n")
        person.wait_for("it is 3")
        person.wait_for("> ")
        person.type("two\n")
        person.wait_for("always)")
        person.insist("\x03", "Stopped.")
        person.leave("\x04")
        assert process.wait(30) == 0
    os.close(controller)
    assert len(server.sent) == 3
