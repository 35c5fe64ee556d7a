"""The recipient that runs the code of a message."""

import asyncio
import json
import sys

import attrs
import pytest

import registry
from registry import PythonRecipient
from registry.exceptions import BackendUnavailable, InvalidArguments, RecipientFailed
from registry.execution.interface import Attachment, ExecError, ExecResult
from registry.kinds import python
from registry.recipient import RecipientMeta
from registry.specs import PythonOptions, RecipientSpec

MESSAGE = {"recipient": "python", "message": "print(6 * 7)"}


def ask(message, recipient=None):
    """Return the reply of a recipient."""
    return asyncio.run((recipient or PythonRecipient()).aprocess(message))


def text(reply):
    """Return the text of a reply."""
    return reply["content"]["parts"][0]


def declared(options=PythonOptions(), **constants):  # noqa: B008 - frozen
    """Return a recipient as a declaration makes it."""
    schema = constants.pop("input_schema", PythonRecipient.INPUT_SCHEMA)
    spec = RecipientSpec("runner", "python", "Runs code.", options, schema, **constants)
    return RecipientMeta("Runner", (PythonRecipient,), {}, spec=spec)()


def test_constants():
    """The class works without a declaration: it has its name and all its constants."""
    assert ("python", ("code",)) == (PythonRecipient.RECIPIENT_NAME, PythonRecipient.REQUIRED_ARGS)
    assert PythonRecipient.DESCRIPTION
    assert PythonRecipient.API_DOCS
    assert ["code"] == PythonRecipient.INPUT_SCHEMA["required"]


def test_example():
    """The class's own example is true."""
    (example,) = PythonRecipient.EXAMPLE_MESSAGES
    assert example.replies == (text(ask({"recipient": "python", "message": example.text})),)


@pytest.mark.parametrize(
    "message",
    [
        MESSAGE,
        {"recipient": "python", "message": "```py\nprint(6 * 7)\n```"},
        {"recipient": "python", "content": {"content_type": "code", "text": "print(6 * 7)"}},
        {"recipient": "python", "content": {"content_type": "text", "parts": ["print(6 * 7)"]}},
        {"recipient": "python", "arguments": {"code": "print(6 * 7)"}},
        {"recipient": "python", "arguments": '{"code": "print(6 * 7)"}'},
    ],
)
def test_forms(message):
    """Code arrives in every form of a message, and the reply has the original's shape."""
    reply = ask(message)
    assert "```output\n42\n```" == text(reply)
    assert ({"role": "tool", "name": "python"}, "text") == (reply["author"], reply["content"]["content_type"])
    assert ("ok", 0) == (reply["metadata"]["status"], reply["metadata"]["exit_code"])
    json.dumps(reply).encode()


def test_bad_arguments():
    """Arguments that do not fit are refused, not run."""
    with pytest.raises(InvalidArguments):
        ask({"recipient": "python", "arguments": {"code": 1}})


def test_process():
    """The synchronous call is not there, as in the original."""
    with pytest.raises(NotImplementedError, match="aprocess"):
        PythonRecipient().process(MESSAGE)


def test_order():
    """Standard output comes first, then the value, errors, the traceback and how it ended."""
    code = "import sys\nprint('err', file=sys.stderr)\nprint('out', end='')\n1 / 0"
    lines = text(ask({"recipient": "python", "message": code})).splitlines()
    assert ["```output", "out", "err", "Traceback (most recent call last):"] == lines[:4]
    assert ["ZeroDivisionError: division by zero", "```"] == lines[-2:]
    assert "```output\nx\n2\n```" == text(ask({"recipient": "python", "message": "print('x')\n1 + 1"}))
    assert "```output\n```" == text(ask({"recipient": "python", "message": ""}))


def test_fence():
    """The fence is longer than any inside, and no text can leave it."""
    reply = ask({"recipient": "python", "message": "print('```\\n````')"})
    assert "`````output\n```\n````\n`````" == text(reply)


def test_last_line():
    """A last line tells of the exit code, of a cut and of the time."""
    reply = ask({"recipient": "python", "message": "raise SystemExit(3)"})
    assert "```output\n[exit code 3]\n```" == text(reply)
    reply = ask({"recipient": "python", "message": "print('x' * 99)"}, declared(max_output=10))
    assert text(reply).endswith("[output cut: it had 100 bytes]\n```")
    assert (True, 100) == (reply["metadata"]["truncated"], reply["metadata"]["stdout_bytes"])
    reply = ask({"recipient": "python", "message": "while True: pass"}, declared(timeout=0.3))
    assert ("timeout", "```output\n[timed out after 0.3 s]\n```") == (
        reply["metadata"]["status"],
        text(reply),
    )


def test_error_metadata():
    """What went wrong can be read without reading the text."""
    metadata = ask({"recipient": "python", "message": "x = 1\nx.y"})["metadata"]
    assert ("error", "AttributeError", 2) == (
        metadata["status"], metadata["error_type"], metadata["error_line"],
    )  # fmt: skip
    assert "'int' object has no attribute 'y'" == metadata["error_message"]


def test_session():
    """Inside `async with` a stateful recipient keeps variables, until it is reset or a run is killed."""

    async def go():
        async with declared(PythonOptions(stateful=True), timeout=1.0) as recipient:
            codes = ("x = 1", "x", "while True: pass", "x")
            replies = [await recipient.aprocess({"recipient": "runner", "message": code}) for code in codes]
            await recipient.reset()
            replies.append(await recipient.aprocess({"recipient": "runner", "message": "'x' in globals()"}))
            return replies

    replies = asyncio.run(go())
    assert ["ok", "ok", "timeout", "error", "ok"] == [reply["metadata"]["status"] for reply in replies]
    assert "runner" == replies[0]["author"]["name"]
    assert "earlier variables are gone" in text(replies[3])
    assert "```output\nFalse\n```" == text(replies[4])


def test_without_session():
    """Outside `async with`, and without `stateful`, each message starts anew."""

    async def go(recipient):
        await recipient.aprocess({"recipient": "runner", "message": "x = 1"})
        await recipient.reset()
        return (await recipient.aprocess({"recipient": "runner", "message": "x"}))["metadata"]["status"]

    async def inside(recipient):
        async with recipient:
            return await go(recipient)

    assert "error" == asyncio.run(go(declared(PythonOptions(stateful=True))))
    assert "error" == asyncio.run(inside(PythonRecipient()))


def test_opened_twice():
    """A recipient that is open is not opened again; closing may be done twice."""

    async def go():
        async with PythonRecipient() as recipient:
            with pytest.raises(RuntimeError, match="open already"):
                await recipient.__aenter__()
        await recipient.__aexit__(None, None, None)

    asyncio.run(go())


def test_other_arguments():
    """A declaration may name its argument otherwise; one without any text holds no code."""
    schema = {"type": "object", "properties": {"source": {"type": "string"}, "n": {"type": "integer"}}}
    recipient = declared(input_schema=schema)
    reply = ask({"recipient": "runner", "arguments": {"n": 1, "source": "1 + 1"}}, recipient)
    assert "```output\n2\n```" == text(reply)
    with pytest.raises(RecipientFailed, match="hold no code"):
        ask({"recipient": "runner", "arguments": {"n": 1}}, recipient)


def test_no_backend():
    """Where no sandbox works the ways out are told, and nothing is run."""
    with pytest.raises(BackendUnavailable, match="no size of memory"):
        ask(MESSAGE, declared(PythonOptions(memory="much")))


def test_attachments():
    """Images and other representations are further parts of the reply."""
    result = ExecResult(
        status="ok",
        backend="jupyter",
        attachments=(Attachment("image/png", b"\x89PNG", "a"), Attachment("text/html", b"<b>", "b")),
    )
    outcome = python.outcome_of(result)
    assert [("image", "image/png", b"\x89PNG"), ("file", "text/html", b"<b>")] == [
        (part["type"], part["mime_type"], part["data"]) for part in outcome.parts
    ]
    json.dumps(registry.reply("python", outcome))
    assert "PNG" not in repr(result)


def test_error_without_traceback():
    """An error of a backend that has no traceback is told by its message."""
    result = ExecResult(status="unavailable", backend="tio", error=ExecError("TioError", "nobody there"))
    assert "```output\nTioError: nobody there\n```" == python.outcome_of(result).text
    assert attrs.asdict(result)["error"]["line"] is None


def test_start_up():
    """Importing the class imports neither asyncio nor httpx nor any backend."""
    import subprocess

    script = (
        "import sys, registry\nregistry.PythonRecipient\n"
        "print([n for n in ('asyncio', 'httpx', 'registry.execution.process') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stdout
