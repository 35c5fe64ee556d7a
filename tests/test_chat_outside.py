"""Our chats against other people's stand-ins of the providers, and our exports in the providers' own clients.

Each test is skipped where its program is not installed: aimock (npm, command ``llmock``), fakellm, and the
packages ``openai`` and ``anthropic``.
"""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import urllib.request

import pytest
from test_chat import RECIPIENTS, chat_with, converse

from registry.exporters import export

FIXTURES = {
    "fixtures": [
        {
            "match": {"userMessage": "sum", "hasToolResult": False},
            "response": {"toolCalls": [{"id": "call_1", "name": "add", "arguments": {"a": 1, "b": 2}}]},
        },
        {"match": {"userMessage": "sum", "hasToolResult": True}, "response": {"content": "the sum is 3"}},
        {
            "match": {"userMessage": "badjson", "hasToolResult": False},
            "response": {"toolCalls": [{"id": "call_9", "name": "add", "arguments": '{"a": 1, "b":'}]},
        },
        {"match": {"userMessage": "badjson", "hasToolResult": True}, "response": {"content": "sorry"}},
    ]
}
RULES = """version: 1
rules:
  - name: answer
    when:
      tool_result_contains: "3"
    respond:
      content: "the sum is 3"
  - name: call
    when:
      messages_contain: "sum"
    respond:
      tool_calls:
        - name: add
          arguments: {a: 1, b: 2}
"""


def program(name):
    """Return the path of an installed program, also beside this Python and in NPM_BIN; else skip."""
    folders = [
        os.environ.get("NPM_BIN", ""),
        str(pathlib.Path(sys.executable).parent),
        os.environ.get("PATH", ""),
    ]
    found = shutil.which(name, path=os.pathsep.join(filter(None, folders)))
    return found or pytest.skip(f"{name} is not installed")


@contextlib.contextmanager
def running(command, port, folder):
    """Run a server until the end of the block; it is ready when it says so."""
    path = os.pathsep.join([str(pathlib.Path(command[0]).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=folder, env=environment, **output) as process:
        said = ""
        while process.poll() is None and "listening on" not in said and "running on" not in said:
            said += process.stdout.readline()
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def aimock(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aimock")
    (folder / "fx.json").write_text(json.dumps(FIXTURES), "utf-8")
    port = free_port()
    command = [program("llmock"), "-p", str(port), "-h", "127.0.0.1", "-f", "fx.json", "--strict"]
    with running(command, port, folder) as url:
        yield url


@pytest.fixture(scope="module")
def fakellm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fakellm")
    (folder / "fakellm.yaml").write_text(RULES, "utf-8")
    port = free_port()
    command = [
        program("fakellm"),
        "serve",
        "--port",
        str(port),
        "--host",
        "127.0.0.1",
        "--config",
        "fakellm.yaml",
    ]
    with running(command, port, folder) as url:
        yield url


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("api", ["chat", "responses", "anthropic"])
def test_aimock_gets_through_the_loop(aimock, api, streamed):
    """Two turns with a call between them, and malformed arguments answered, against aimock."""
    transcript = converse(chat_with(api, aimock, stream=streamed), "sum")
    assert (transcript.text, transcript.turns, transcript.stop_reason) == ("the sum is 3", 2, "end_turn")
    assert [reply["content"]["parts"] for reply in transcript.replies] == [["3"]]
    transcript = converse(chat_with(api, aimock, stream=streamed), "badjson")
    assert (transcript.text, transcript.replies[0]["metadata"]["status"]) == ("sorry", "invalid-arguments")


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("api", ["chat", "anthropic"])
def test_fakellm_gets_through_the_loop(fakellm, api, streamed):
    """Two turns with a call between them against fakellm."""
    urllib.request.urlopen(
        urllib.request.Request(f"{fakellm}/_fakellm/reset", method="POST"), timeout=30
    ).close()
    transcript = converse(chat_with(api, fakellm, stream=streamed), "sum")
    assert (transcript.text, transcript.turns, transcript.stop_reason) == ("the sum is 3", 2, "end_turn")


def test_an_official_client_of_openai_takes_our_exports(aimock):
    """The package openai sends our tools, for both APIs, and gets calls of them."""
    openai = pytest.importorskip("openai")
    with openai.OpenAI(base_url=f"{aimock}/v1", api_key="x") as client:
        asked = [{"role": "user", "content": "sum"}]
        answer = client.chat.completions.create(model="m", messages=asked, tools=export(RECIPIENTS, "openai"))
        assert answer.choices[0].message.tool_calls[0].function.name == "add"
        made = client.responses.create(model="m", input=asked, tools=export(RECIPIENTS, "openai-responses"))
        assert made.output[0].name == "add"


def test_an_official_client_of_anthropic_takes_our_exports(aimock):
    """The package anthropic sends our tools and gets calls of them."""
    anthropic = pytest.importorskip("anthropic")
    with anthropic.Anthropic(base_url=aimock, api_key="x") as client:
        asked = [{"role": "user", "content": "sum"}]
        answer = client.messages.create(
            model="m", max_tokens=9, messages=asked, tools=export(RECIPIENTS, "anthropic")
        )
    assert answer.content[0].name == "add"
