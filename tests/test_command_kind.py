"""Recipients that start a program."""

import asyncio
import os
import pathlib
import signal
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import processes
from registry.exceptions import BackendUnavailable, MissingSecret, RecipientFailed
from registry.frozen import freeze
from registry.kinds.command import CommandRecipient
from registry.loading.build import recipient_class
from registry.processes import Capture
from registry.specs import CommandOptions, RecipientSpec

#: Prints its arguments as Python sees them.
SHOW = (sys.executable, "-c", "import sys; print(sys.argv[1:])")


def command(argv, *, timeout=None, max_output=None, folder=None, schema=None, **options):
    """Return a recipient that starts a program."""
    made = RecipientSpec(
        "run",
        "command",
        "Runs.",
        CommandOptions(tuple(argv), **options),
        freeze(schema or {}),
        timeout=timeout,
        max_output=max_output,
    )
    return recipient_class(made, CommandRecipient, folder)()


def run(argv, arguments=None, **options):
    """Return the outcome of a call."""
    return asyncio.run(command(argv, **options).acall(arguments or {}))


def python(code, **options):
    """Return the outcome of a Python program."""
    return run((sys.executable, "-c", code.replace("{", "{{").replace("}", "}}")), **options)


# --- what is started


@pytest.mark.parametrize(
    ("element", "arguments", "wanted"),
    [
        ("{x}", {"x": "a b; $(rm) 'q' \"z\" *"}, ["a b; $(rm) 'q' \"z\" *"]),
        ("--x={x}", {"x": "1 --y"}, ["--x=1 --y"]),
        ("{x}", {"x": ""}, [""]),
        ("{x}", {"x": "-rf"}, ["-rf"]),
        ("{x}", {"x": 3}, ["3"]),
        ("{x}", {"x": ["a", "b"]}, ['["a","b"]']),
        ("{x}", {}, []),
        ("{x}", {"x": None}, []),
        ("{x}", {"x": "a\nb"}, ["a\nb"]),
        ("{{x}}", {"x": "a"}, ["{x}"]),
    ],
)
def test_an_element_is_one_argument_or_none(element, arguments, wanted):
    """Values are never split and no shell reads them; without its value an element is left out."""
    outcome = run([*SHOW, "first", element], arguments)
    assert (outcome.text, outcome.status) == (f"{['first', *wanted]}\n", "ok")


@settings(max_examples=20)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_any_text_arrives_as_it_is(text):
    """Whatever is given is one argument, to the last character."""
    code = "import sys; sys.stdout.buffer.write(sys.argv[1].encode())"
    assert run([sys.executable, "-X", "utf8", "-c", code, "{x}"], {"x": text}).text == text


@pytest.mark.parametrize(
    ("argv", "arguments", "reason"),
    [
        (["{x}"], {"x": "rm"}, "which program is started cannot come from an argument"),
        (["surely-no-such-program"], {}, "'surely-no-such-program' cannot be started: No such file"),
        (["/"], {}, "cannot be started: Permission denied"),
        ([*SHOW, "{x}"], {"x": "a\0b"}, "an argument has a NUL character"),
        ([*SHOW, "{x}"], {"x": "\ud800"}, "cannot be started: an argument has half a surrogate pair"),
        ([*SHOW, "{x}"], {"x": "a" * 3_000_000}, "Argument list too long"),
    ],
)
def test_what_cannot_be_started_is_an_error(argv, arguments, reason):
    """The text names the program and the reason, and no value."""
    with pytest.raises(RecipientFailed, match=reason):
        run(argv, arguments)


def test_a_closed_folder_of_the_path_hides_no_missing_program(monkeypatch):
    """The system's answer is about the folder; the text says what is wrong with the program."""

    async def refused(*_argv, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refused)
    with pytest.raises(RecipientFailed, match="'surely-no-such-program' cannot be started: No such file"):
        run(["surely-no-such-program"])
    with pytest.raises(RecipientFailed, match="cannot be started: Permission denied"):
        run([sys.executable])


def test_the_program_runs_in_the_registrys_folder(tmp_path):
    """A relative program is found there too."""
    script = tmp_path / "tool.sh"
    script.write_text("#!/bin/sh\npwd -P\n")
    script.chmod(0o755)
    assert run(["./tool.sh"], folder=tmp_path).text == f"{tmp_path.resolve()}\n"


def test_the_environment_is_clean(monkeypatch):
    """A program sees what is declared and the little that programs need, no secret of its parent."""
    monkeypatch.setenv("SECRET_OF_PARENT", "hush")
    monkeypatch.setenv("TOKEN", "t0ken")
    found = python("import os; print(sorted(os.environ))", env={"GIVEN": "1", "TO": "<${TOKEN}>"})
    names = set(eval(found.text))
    assert {"GIVEN", "TO", "PATH"} <= names
    assert names <= {"GIVEN", "TO", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}
    shown = python("import os; print(os.environ['TO'])", env={"TO": "<${TOKEN}>"})
    assert shown.text == "<[hidden]>\n"


def test_a_missing_secret_is_named():
    """Nothing is started without it."""
    with pytest.raises(MissingSecret, match=r"SURELY_UNSET_2.*recipients\.run\.env\.K"):
        run(SHOW, env={"K": "${SURELY_UNSET_2}"})


@pytest.mark.parametrize(
    ("stdin", "wanted"), [(None, "''\n"), ("", "''\n"), ("<{x}>", "'<é>'\n"), ("{#if y}no{/if}", "''\n")]
)
def test_stdin_is_closed_or_a_template(stdin, wanted):
    """A program that reads never waits."""
    code = "import sys; print(repr(sys.stdin.buffer.read().decode()))"
    assert run([sys.executable, "-X", "utf8", "-c", code], {"x": "é"}, stdin=stdin).text == wanted


def test_stdin_may_be_long_and_unread():
    """Nobody waits for a program that does not read."""
    assert run(["true"], {"x": "a" * 5_000_000}, stdin="{x}").status == "ok"


def test_stdin_needs_its_arguments():
    """What is absent cannot be sent, nor what is no text."""
    with pytest.raises(RecipientFailed, match="stdin needs the argument x"):
        run(SHOW, stdin="{x}")
    with pytest.raises(RecipientFailed, match="surrogate"):
        run(SHOW, {"x": "\ud800"}, stdin="{x}")


# --- what comes back


def test_the_output_is_the_answer():
    """What a program says beside it is kept apart."""
    outcome = python("import sys; print('out'); print('err', file=sys.stderr)")
    assert (outcome.text, outcome.metadata) == ("out\n", {"exit_code": 0, "stderr": "err\n"})


def test_a_failure_tells_all():
    """Both streams and the exit code."""
    outcome = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (outcome.text, outcome.status) == ("out\nerr\n[exit code 3]", "error")
    assert outcome.metadata == {"exit_code": 3}


@pytest.mark.parametrize(("number", "name"), [(signal.SIGKILL, "SIGKILL"), (40, "signal 40")])
def test_a_signal_is_named(number, name):
    """A program that was killed did not succeed."""
    outcome = python(f"import os; os.kill(os.getpid(), {int(number)})")
    assert (outcome.text, outcome.status) == (f"[ended by {name}]", "error")


def test_secrets_are_hidden_in_all_that_comes_back(monkeypatch):
    """Also in what is beside the answer."""
    monkeypatch.setenv("TOKEN", "t0ken")
    outcome = python("import os, sys; print(os.environ['T'], file=sys.stderr)", env={"T": "${TOKEN}"})
    assert outcome.metadata["stderr"] == "[hidden]\n"


def test_no_part_of_a_secret_is_left_where_output_is_cut(monkeypatch):
    """Neither before what was left out nor after it."""
    monkeypatch.setenv("TOKEN", "t0ken-t0ken-t0ken-t0ken")
    outcome = python(
        "import os; t = os.environ['T']; print('a' * 25 + t + 'x' * 1000 + t + 'b' * 22, end='')",
        env={"T": "${TOKEN}"},
        max_output=110,
    )
    assert outcome.metadata["truncated"] is True
    assert "t0ken" not in outcome.text
    assert outcome.text.count("[hidden]") == 2


def test_output_is_bounded_while_it_is_read():
    """Head and tail are kept, and the model is told how much there was."""
    outcome = python("print('a' * 2_000_000 + 'b' * 2_000_000)", max_output=64)
    assert outcome.text == f"{'a' * 11}\n… 3999980 of 4000001 bytes left out …\n{'b' * 9}\n"
    assert (outcome.metadata["truncated"], outcome.metadata["written_bytes"]) == (True, 4_000_001)


def test_bytes_that_are_no_text_are_replaced():
    """No output is an error."""
    assert python("import sys; sys.stdout.buffer.write(bytes([255, 65]))").text == "\ufffdA"


def test_both_streams_of_a_failure_keep_to_the_limit():
    """All that a model reads counts."""
    outcome = python("import sys; print('a' * 90); sys.exit('b' * 90)", max_output=100)
    assert len(outcome.text.encode()) <= 100
    assert outcome.text.endswith("b\n[exit code 1]")


@given(st.lists(st.binary(max_size=60), max_size=20), st.integers(0, 200))
def test_a_capture_keeps_both_ends(chunks, most):
    """However the stream is cut into pieces, what is kept is its head and its tail, within the limit."""
    capture = Capture(most)
    for chunk in chunks:
        capture.add(chunk)
    whole = b"".join(chunks)
    assert (capture.total, capture.cut) == (len(whole), len(whole) > most)
    if not capture.cut:
        assert capture.text() == whole.decode("utf-8", "replace")
        return
    text = capture.text()
    head, note, tail = text.partition("\n… ")
    assert len(text.encode()) <= most
    assert whole.decode("utf-8", "ignore").startswith(head if note else "")
    assert f" of {len(whole)} bytes left out …\n" in tail or not note


def test_a_long_stream_takes_little_memory(monkeypatch):
    """What is in the middle is let go of."""
    monkeypatch.setattr(processes, "_CHUNK", 10)
    capture = Capture(100)
    for _ in range(1_000):
        capture.add(b"abcdefghi\n")
        assert len(capture.head) + len(capture.tail) <= 170
    line = "abcdefghi\n"
    assert capture.text() == f"{line * 3}a\n… 9939 of 10000 bytes left out …\n{line * 3}"


# --- how it ends


def alive(pid):
    """Say whether a process runs; one that has ended but is not waited for does not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def gone(pid):
    """Wait until a killed process has gone."""
    while alive(pid):  # noqa: ASYNC110 - another process's end is no event here
        await asyncio.sleep(0.005)


#: Starts a child and says its number.
PARENT = "sleep 600 & echo $!;"


def test_a_program_that_takes_too_long_is_killed_with_its_children():
    """The model is told what was printed until then."""

    async def go():
        outcome = await command(["sh", "-c", PARENT + "wait"], timeout=0.7).acall({})
        pid, _, note = outcome.text.partition("\n")
        await gone(int(pid))
        return outcome, note

    outcome, note = asyncio.run(go())
    assert (outcome.status, note) == ("timeout", "[stopped: not finished within 0.7 seconds]")
    assert outcome.metadata == {"exit_code": None}


def test_a_cancelled_call_kills_the_program(tmp_path):
    """Cancellation passes through once nothing is left running."""
    told = tmp_path / "pid"
    code = f"echo $$. > '{told}'; exec sleep 600"

    async def go():
        task = asyncio.create_task(command(["sh", "-c", code]).acall({}))
        while not (told.exists() and told.read_text().endswith(".\n")):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return alive(int(told.read_text()[:-2]))

    assert asyncio.run(go()) is False


def test_children_that_are_left_behind_are_killed():
    """A program cannot leave something running in its group."""

    async def go():
        outcome = await command(["sh", "-c", PARENT]).acall({})
        await gone(int(outcome.text))
        return outcome.status

    assert asyncio.run(go()) == "ok"


def test_a_child_that_holds_the_output_open_is_not_waited_for(monkeypatch):
    """One that has left the group may keep the pipe; the call ends all the same."""
    monkeypatch.setattr(processes, "DRAIN", 0.05)
    code = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(child.pid)
"""
    outcome = run([sys.executable, "-c", code])
    os.kill(int(outcome.text), signal.SIGKILL)
    assert outcome.status == "ok"


def test_there_must_be_process_groups(monkeypatch):
    """Where a program cannot be ended it is not started."""
    monkeypatch.delattr(os, "killpg")
    with pytest.raises(BackendUnavailable, match="POSIX"):
        run(SHOW)
