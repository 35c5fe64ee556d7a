"""What is served, apart from how."""

import asyncio
import json
import pathlib
from datetime import date
from fractions import Fraction
from pathlib import Path

import mcp_registry
import pytest

from registry import Recipient, RecipientManager, RecipientSnapshot, load, log, report_progress
from registry.diagnostics import Diagnostic, Report, Severity
from registry.exceptions import ExportRefused
from registry.progress import LEVELS, listener, listening
from registry.serve import service as service_module
from registry.serve.completion import candidates, complete
from registry.serve.content import result_of
from registry.serve.protocol import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, ProtocolError
from registry.serve.service import Service


class Ears:
    """Notes what it hears."""

    def __init__(self):
        self.heard = []

    def progress(self, done, total, message):
        self.heard.append((done, total, message))

    def log(self, level, data, logger):
        self.heard.append((level, data, logger))


def answer(service, method, ears=None, **params):
    return asyncio.run(service.answer(method, params, ears or Ears()))


def error_of(service, method, **params):
    with pytest.raises(ProtocolError) as caught:
        answer(service, method, **params)
    return caught.value


@pytest.fixture
def service():
    return Service(mcp_registry.manager())


def named(*names):
    """Return a snapshot of recipients with these names."""
    return RecipientSnapshot(dict.fromkeys(names, mcp_registry.Echo))


# --- tools


def test_tools_are_listed_in_the_order_of_the_registry(service):
    """A list has every recipient once, in the registry's order, with its schema as it is."""
    tools = answer(service, "tools/list")["tools"]
    assert ["echo", "noisy", "reporting", "failing", "waiting"] == [tool["name"] for tool in tools]
    assert mcp_registry.Echo.INPUT_SCHEMA == tools[0]["inputSchema"]
    assert mcp_registry.Echo.DESCRIPTION == tools[0]["description"]


def test_a_snapshot_is_served_like_a_manager():
    """A snapshot can be served as it is."""
    assert 5 == len(answer(Service(mcp_registry.snapshot()), "tools/list")["tools"])


def test_a_call_is_answered_with_the_recipients_reply(service):
    """A call's answer is the reply's text, and no error."""
    expected = {"content": [{"type": "text", "text": "hi"}], "isError": False}
    assert expected == answer(service, "tools/call", name="echo", arguments={"text": "hi"})


@pytest.mark.parametrize(("name", "arguments"), [("failing", None), ("echo", {}), ("echo", {"text": 1})])
def test_what_goes_wrong_in_a_call_is_told_to_the_model(service, name, arguments):
    """A recipient's failure and wrong arguments are results that the model reads as errors."""
    result = answer(service, "tools/call", name=name, arguments=arguments)
    assert result["isError"]
    assert result["content"][0]["text"]


def test_an_unknown_tool_is_a_protocol_error_with_the_nearest_name(service):
    """A call of no recipient is refused and names what was probably meant."""
    error = error_of(service, "tools/call", name="ecko")
    assert (INVALID_PARAMS, "Unknown tool: ecko (did you mean 'echo'?)") == (error.code, error.message)
    assert "Unknown tool: zzzzzz" == error_of(service, "tools/call", name="zzzzzz").message


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {}),
        ("tools/call", {"name": 1}),
        ("tools/call", {"name": "echo", "arguments": []}),
        ("prompts/get", {"name": None}),
        ("prompts/get", {"name": "nope"}),
        ("prompts/get", {"name": "greet", "arguments": "x"}),
        ("prompts/get", {"name": "greet"}),
        ("prompts/get", {"name": "greet", "arguments": {"name": "Ann", "age": "old"}}),
        ("prompts/get", {"name": "greet", "arguments": {"name": "Ann", "nose": "long"}}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"}}),
        ("completion/complete", {"ref": {"type": "ref/prompt"}, "argument": {"name": "x"}}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": 1}}),
        ("tools/list", {"cursor": "zzz"}),
        ("tools/list", {"cursor": 12}),
    ],
)
def test_wrong_parameters_are_protocol_errors(service, method, params):
    """Parameters that make no sense are refused with the code for that."""
    assert INVALID_PARAMS == error_of(service, method, **params).code


def test_an_unknown_method_is_a_protocol_error(service):
    """What is no method of this server is refused with the code for that."""
    error = error_of(service, "resources/list")
    assert {"code": METHOD_NOT_FOUND, "message": "Method not found: resources/list"} == error.wire()


def test_reports_reach_whoever_asked(service):
    """What a recipient reports in a thread of its own is heard by the listener of its call, in order."""
    ears = Ears()
    answer(service, "tools/call", ears, name="reporting")
    assert [
        (1, 2, None),
        ("debug", "not told unless asked", None),
        ("warning", {"half": True}, "halves"),
        (2, None, "done"),
    ] == ears.heard


def test_without_a_listener_reports_go_nowhere():
    """Reporting does nothing where nobody listens, and says at once what it cannot report."""
    report_progress(1, 2)
    log("info", "x")
    assert listener() is None
    with listening(Ears()) as nothing:
        assert nothing is None
        assert listener() is not None
    for wrong in ((float("nan"), None), (1, float("inf"))):
        with pytest.raises(ValueError, match="finite"):
            report_progress(*wrong)
    with pytest.raises(ValueError, match="unknown log level 'loud'"):
        log("loud", "x")
    assert 8 == len(LEVELS)


def test_reports_are_sent_as_json_data():
    """What is none is told as a text, so that no report and no answer behind it is ever lost."""
    ears, cyclic = Ears(), []
    cyclic.append(cyclic)
    with listening(ears):
        report_progress(Fraction(1, 2), Fraction(2), Path("a"))
        for data in ({"when": date(2024, 1, 2)}, float("nan"), {(1, 2): 3}, cyclic, "\ud800"):
            log("info", data)
    assert [
        (0.5, 2.0, "a"),
        ("info", {"when": "2024-01-02"}, None),
        ("info", "nan", None),
        ("info", "{(1, 2): 3}", None),
        ("info", "[[...]]", None),
        ("info", "\ufffd", None),
    ] == ears.heard
    assert json.dumps(ears.heard, allow_nan=False)


# --- pages


def test_pages_join_to_the_whole_list():
    """Following the cursors gives every tool once, in order."""
    names = [f"r{number}" for number in range(7)]
    service = Service(named(*names), page_size=3)
    seen, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        page = answer(service, "tools/list", **({"cursor": cursor} if cursor else {}))
        seen += [tool["name"] for tool in page["tools"]]
        cursor, pages = page.get("nextCursor"), pages + 1
    assert (names, 3) == (seen, pages)


def test_a_cursor_leads_on_in_the_list_it_began_with():
    """A reload between two pages never mixes two lists; a cursor too old is refused."""
    manager = RecipientManager(named("a1", "a2", "a3"))
    service = Service(manager, page_size=2)
    cursor = answer(service, "tools/list")["nextCursor"]
    manager.replace(named("b1", "b2", "b3"))
    assert ["b1", "b2"] == [tool["name"] for tool in answer(service, "tools/list")["tools"]]
    assert ["a3"] == [tool["name"] for tool in answer(service, "tools/list", cursor=cursor)["tools"]]
    for number in range(8):
        service.replace(named(f"c{number}"))
    assert INVALID_PARAMS == error_of(service, "tools/list", cursor=cursor).code
    assert INVALID_PARAMS == error_of(service, "tools/list", cursor=cursor.partition("-")[0]).code


# --- changes


def test_changes_of_lists_are_announced():
    """Subscribers hear of each list that has changed, and of nothing else."""
    manager = mcp_registry.manager()
    service = Service(manager)
    heard = []
    unsubscribe = service.subscribe(lambda method, params: heard.append(method))
    service.replace(mcp_registry.snapshot())
    assert [] == heard
    service.replace(mcp_registry.snapshot().without("echo"))
    assert ["notifications/tools/list_changed"] == heard
    service.replace(named("echo"))
    assert ["notifications/tools/list_changed", "notifications/prompts/list_changed"] == heard[1:]
    unsubscribe()
    unsubscribe()
    manager.replace(named("other"))
    assert ["other"] == [tool["name"] for tool in answer(service, "tools/list")["tools"]]
    assert 3 == len(heard)
    assert service.input_schema("echo") is None
    assert mcp_registry.Echo.INPUT_SCHEMA == service.input_schema("other")


def test_a_failed_edit_is_announced_with_its_diagnostics():
    """Clients hear why an edit is not served."""
    service = Service(named("echo"))
    heard = []
    service.subscribe(lambda method, params: heard.append((method, params)))
    service.announce_failure(Report([Diagnostic("wrong-type", Severity.ERROR, "no", "f.toml", 1, 2, 1, 3)]))
    ((method, params),) = heard
    assert ("notifications/message", "error") == (method, params["level"])
    assert ["f.toml:1:2: error[wrong-type] no"] == params["data"]["diagnostics"]


def test_what_cannot_be_a_tool_is_not_served():
    """A name that the protocol does not take is refused at the start, on replacing, and told afterwards."""
    with pytest.raises(ExportRefused):
        Service(named("no name"))
    manager = RecipientManager(named("echo"))
    service = Service(manager)
    with pytest.raises(ExportRefused):
        service.replace(named("no name"))
    assert ["echo"] == list(manager)
    manager["no name"] = mcp_registry.Echo
    assert INTERNAL_ERROR == error_of(service, "tools/list").code


# --- prompts


def test_prompts_are_listed_with_their_arguments(service):
    """A list has every prompt with what it takes and what of that is required."""
    assert [
        {
            "name": "greet",
            "description": "Greets.",
            "arguments": [
                {"name": "name", "required": True, "description": "Who"},
                {"name": "age", "required": False},
                {"name": "loud", "required": False},
            ],
        },
        {"name": "plain", "description": "Says what it says.", "arguments": []},
    ] == answer(service, "prompts/list")["prompts"]


def test_a_prompt_is_rendered_from_texts(service):
    """Arguments come as texts and become what the inputs' schemas ask for."""
    result = answer(
        service, "prompts/get", name="greet", arguments={"name": "Ann", "age": "7", "loud": "true"}
    )
    text = {"type": "text", "text": "Hello Ann, {age 7, loud true}"}
    assert {"description": "Greets.", "messages": [{"role": "user", "content": text}]} == result
    plain = answer(service, "prompts/get", name="plain")
    assert [("user", "Be kind.")] == [(m["role"], m["content"]["text"]) for m in plain["messages"]]


def test_a_prompt_without_description_has_none():
    """A description that is not declared is not invented."""
    text = 'version = 1\n[prompts.p]\nrole = "user"\ntemplate = "x"\n'
    service = Service(mcp_registry.loads(text))
    assert [{"name": "p", "arguments": []}] == answer(service, "prompts/list")["prompts"]
    assert {"messages"} == answer(service, "prompts/get", name="p").keys()


# --- completion


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"enum": ["a", "b", "a", 1, None]}, ["a", "b", "1", "None"]),
        ({"const": 3}, ["3"]),
        ({"type": "boolean"}, ["true", "false"]),
        ({"type": "string", "examples": ["x", True]}, ["x", "true"]),
        ({"type": "string"}, []),
    ],
)
def test_candidates_are_the_values_a_schema_lists(schema, expected):
    """An input is completed with the values that its schema lists, each once."""
    assert expected == candidates(schema)


def test_completion_filters_by_what_is_typed(service):
    """Values that begin with what is typed are offered, whatever the case."""
    reference = {"type": "ref/prompt", "name": "greet"}
    found = answer(service, "completion/complete", ref=reference, argument={"name": "name", "value": "an"})
    assert {"values": ["Ann", "Anton"], "total": 2, "hasMore": False} == found["completion"]
    found = answer(service, "completion/complete", ref=reference, argument={"name": "loud"})
    assert ["true", "false"] == found["completion"]["values"]
    found = answer(service, "completion/complete", ref=reference, argument={"name": "what", "value": ""})
    assert [] == found["completion"]["values"]
    other = {"type": "ref/resource", "uri": "x:///{y}"}
    assert (
        []
        == answer(service, "completion/complete", ref=other, argument={"name": "y"})["completion"]["values"]
    )


def test_completion_has_at_most_a_hundred_values():
    """A long list is cut and says so."""
    found = complete({"x": {"enum": [str(n) for n in range(150)]}}, {"name": "x", "value": ""})["completion"]
    assert (100, 150, True) == (len(found["values"]), found["total"], found["hasMore"])


# --- content


def shaped(*parts, **metadata):
    return result_of(
        {
            "author": {"name": "r"},
            "content": {"parts": list(parts)},
            "metadata": {"status": "ok", **metadata},
        }
    )


def _as_text(**part):
    return {"type": "text", "text": json.dumps(part)}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("text", {"type": "text", "text": "text"}),
        ({"type": "text", "text": "t"}, {"type": "text", "text": "t"}),
        (
            {"type": "image", "mime_type": "image/png", "data": b"\x00"},
            {"type": "image", "mimeType": "image/png", "data": "AA=="},
        ),
        (
            {"type": "audio", "mime_type": "audio/wav", "data": "AA=="},
            {"type": "audio", "mimeType": "audio/wav", "data": "AA=="},
        ),
        (
            {"type": "resource", "uri": "x:1", "text": "t", "mime_type": "text/plain"},
            {"type": "resource", "resource": {"uri": "x:1", "text": "t", "mimeType": "text/plain"}},
        ),
        (
            {"type": "resource", "uri": "x:1", "data": b"\x00"},
            {"type": "resource", "resource": {"uri": "x:1", "blob": "AA=="}},
        ),
        ({"type": "resource_link", "uri": "x:1"}, {"type": "resource_link", "uri": "x:1", "name": "x:1"}),
        (
            {"type": "resource_link", "uri": "x:1", "name": "n", "mime_type": "a/b"},
            {"type": "resource_link", "uri": "x:1", "name": "n", "mimeType": "a/b"},
        ),
        ({"type": "hologram", "é": 1}, {"type": "text", "text": '{"type": "hologram", "é": 1}'}),
        ({"type": "image"}, {"type": "text", "text": '{"type": "image"}'}),
        (7, {"type": "text", "text": "7"}),
        ({"type": "image", "mime_type": "a/b", "data": 5}, _as_text(type="image", mime_type="a/b", data=5)),
        ({"type": "o", "x": Path("a")}, _as_text(type="o", x="a")),
        ({"type": "o", (1, 2): 3}, {"type": "text", "text": "{'type': 'o', (1, 2): 3}"}),
        (
            {"type": "resource", "uri": Path("a"), "text": 3, "mime_type": Path("b")},
            {"type": "resource", "resource": {"uri": "a", "text": "3", "mimeType": "b"}},
        ),
    ],
)
def test_every_part_has_a_shape(part, expected):
    """Each part of a reply becomes content of its own kind; what has none is shown as JSON text."""
    assert [expected] == shaped(part)["content"]


def test_an_empty_text_is_left_out_beside_other_parts():
    """Only a reply that is nothing but an empty text says so."""
    image = {"type": "image", "mime_type": "image/png", "data": b""}
    assert ["image"] == [item["type"] for item in shaped("", image)["content"]]
    assert [{"type": "text", "text": ""}] == shaped("")["content"]


def test_structured_content_and_status_come_from_the_metadata():
    """An object in the metadata is the structured content; a status that is not ok is an error."""
    assert {"a": 1} == shaped("x", structured={"a": 1})["structuredContent"]
    assert "structuredContent" not in shaped("x", structured=[1])
    assert shaped("x", status="timeout")["isError"]


def test_structured_content_is_json_data(caplog):
    """What JSON has no type for is sent as a text; what it cannot hold is left out, and the log says so."""
    assert {"when": "2024-01-02", "\ufffd": 1} == shaped(
        "x", structured={"when": date(2024, 1, 2), "\ud800": 1}
    )["structuredContent"]
    assert "" == caplog.text
    for wrong in (float("nan"), {(1, 2): 3}):
        result = shaped("x", structured={"a": wrong})
        assert {"content": [{"type": "text", "text": "x"}], "isError": False} == result
        assert "r: its structured content is no JSON data" in caplog.text


def test_the_service_keeps_recipients_open():
    """Inside the service's context a recipient that has something to open is opened once."""
    opened = []

    class Opening(Recipient):
        RECIPIENT_NAME = "opening"

        async def __aenter__(self):
            opened.append(1)
            return self

        async def aprocess(self, message, **kwargs):
            return mcp_registry.reply("opening", mcp_registry.Outcome("x"))

    async def scenario():
        async with Service(RecipientSnapshot({"opening": Opening})) as service:
            for _ in range(3):
                await service.answer("tools/call", {"name": "opening"}, Ears())

    asyncio.run(scenario())
    assert [1] == opened


def test_the_registry_of_the_conformance_suite_is_in_order():
    """Every tool that the suite calls is declared and answers; the failing one fails."""
    service = Service(load(pathlib.Path(__file__).parent / "conformance" / "recipients.toml"))
    failed = {
        tool["name"]
        for tool in answer(service, "tools/list")["tools"]
        if answer(service, "tools/call", name=tool["name"], arguments={})["isError"]
    }
    assert {"test_error_handling"} == failed - {"json_schema_2020_12_tool"}
    mixed = answer(service, "tools/call", name="test_multiple_content_types")["content"]
    assert ["text", "image", "resource"] == [item["type"] for item in mixed]
    image = answer(service, "prompts/get", name="test_prompt_with_image")["messages"]
    assert {"image", "text"} == {message["content"]["type"] for message in image}


def test_the_version_is_that_of_the_distribution():
    """The server says which version it is."""
    assert service_module.version()
