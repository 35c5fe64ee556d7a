"""What is served, apart from how: requests of the protocol answered from a registry's current snapshot.

Everything here takes and gives plain JSON data, so that the small loop for stdio and the official SDK answer
alike.
"""

from __future__ import annotations

import itertools
import secrets
import threading
from importlib import metadata
from typing import TYPE_CHECKING, Any, Self

import attrs

from registry.arguments import binder
from registry.dispatch import Dispatcher
from registry.exceptions import ExportRefused, InvalidArguments, NoSuchPrompt, NoSuchRecipient, RenderError
from registry.exporters import export
from registry.manager import RecipientManager
from registry.progress import listening
from registry.serve.completion import complete
from registry.serve.content import result_of
from registry.serve.protocol import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from registry.diagnostics import Report
    from registry.manager import RecipientSnapshot
    from registry.progress import Listener
    from registry.prompts.prompt import Prompt

    Json = dict[str, Any]
    #: Called from any thread with a notification's method and parameters.
    Subscriber = Callable[[str, Json], None]

#: Tools or prompts in one page of a list.
PAGE_SIZE = 250
#: How many earlier snapshots a cursor may still point into.
_KEPT_VIEWS = 8

CAPABILITIES: dict[str, Any] = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
}


def version() -> str:
    """Return the version of this package."""
    return metadata.version("recipients")


@attrs.frozen(eq=False)
class _View:
    """What one snapshot offers to clients."""

    id: str
    snapshot: RecipientSnapshot
    tools: list[Json]
    prompts: list[Json]
    #: Input schema of each tool by name.
    schemas: dict[str, Json]


class Service:
    """Answers the protocol's requests from the current snapshot of a manager.

    Each answer comes from one whole snapshot; a cursor leads on in the snapshot that its list began with.
    """

    def __init__(
        self,
        source: RecipientManager | RecipientSnapshot,
        *,
        name: str = "recipients",
        page_size: int = PAGE_SIZE,
        **limits: Any,
    ) -> None:
        """Prepare to serve a manager, or a snapshot that stays. ``limits`` are those of `Dispatcher`.

        Raises:
            ExportRefused: a recipient cannot be a tool of the protocol.
        """
        self.manager = source if isinstance(source, RecipientManager) else RecipientManager(source)
        self.name = name
        self._page_size = page_size
        self._dispatcher = Dispatcher(self.manager, **limits)
        self._subscribers: dict[object, Subscriber] = {}
        self._lock = threading.Lock()
        self._nonce = secrets.token_hex(4)
        self._count = itertools.count()
        self._views: dict[str, _View] = {}
        self._view = self._viewed(self.manager.snapshot())

    async def __aenter__(self) -> Self:
        """Keep recipients open from call to call."""
        await self._dispatcher.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._dispatcher.__aexit__(kind, error, traceback)

    # --- what is offered

    def _viewed(self, snapshot: RecipientSnapshot) -> _View:
        prompts = [_prompt_shape(name, prompt) for name, prompt in snapshot.prompts.items()]
        tools = export(snapshot, "mcp")["tools"]
        schemas = {tool["name"]: tool["inputSchema"] for tool in tools}
        view = _View(f"{self._nonce}{next(self._count)}", snapshot, tools, prompts, schemas)
        self._views[view.id] = view
        for old in list(self._views)[:-_KEPT_VIEWS]:
            del self._views[old]
        return view

    def view(self) -> _View:
        """Return what the manager's current snapshot offers; a change since the last time is announced.

        Raises:
            ExportRefused: a recipient cannot be a tool of the protocol.
        """
        snapshot = self.manager.snapshot()
        with self._lock:
            before = self._view
            if snapshot is before.snapshot:
                return before
            after = self._view = self._viewed(snapshot)
        if after.tools != before.tools:
            self.announce("notifications/tools/list_changed", {})
        if after.prompts != before.prompts:
            self.announce("notifications/prompts/list_changed", {})
        return after

    def input_schema(self, name: str) -> Json | None:
        """Return the input schema of a tool as it is served now; None when there is no such tool."""
        return self.view().schemas.get(name)

    def replace(self, snapshot: RecipientSnapshot) -> None:
        """Serve another snapshot from now on; calls in flight finish on the one they began with.

        Raises:
            ExportRefused: a recipient cannot be a tool of the protocol; nothing has changed.
        """
        export(snapshot, "mcp")
        self.manager.replace(snapshot)
        self.view()

    # --- who is told

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Tell the subscriber of every notification from now on; return what ends that."""
        key = object()
        self._subscribers[key] = subscriber
        return lambda: self._subscribers.pop(key, None) and None

    def announce(self, method: str, params: Json) -> None:
        """Pass a notification to every subscriber."""
        for subscriber in tuple(self._subscribers.values()):
            subscriber(method, params)

    def announce_failure(self, report: Report) -> None:
        """Tell clients that an edit was refused, and why; what was served goes on being served."""
        found = [str(diagnostic) for diagnostic in report.errors]
        data = {
            "message": "the file has errors; what was served before is still served",
            "diagnostics": found,
        }
        self.announce("notifications/message", {"level": "error", "logger": self.name, "data": data})

    # --- requests

    async def answer(self, method: str, params: Mapping[str, Any], listener: Listener) -> Json:
        """Answer one request.

        Raises:
            ProtocolError: it has no answer.
        """
        try:
            if method == "tools/call":
                return await self._call(params, listener)
            answering = _REQUESTS.get(method)
            if answering is None:
                raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")
            return answering(self, params)
        except ExportRefused as error:
            raise ProtocolError(INTERNAL_ERROR, str(error)) from error

    async def _call(self, params: Mapping[str, Any], listener: Listener) -> Json:
        name, arguments = _text(params, "name"), _object(params, "arguments")
        try:
            self.view().snapshot[name]
        except NoSuchRecipient as error:
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name}{_hint(error.close)}") from error
        with listening(listener):
            reply = await self._dispatcher.adispatch({"recipient": name, "arguments": arguments})
        return result_of(reply)

    def _list_tools(self, params: Mapping[str, Any]) -> Json:
        return self._page("tools", params)

    def _list_prompts(self, params: Mapping[str, Any]) -> Json:
        return self._page("prompts", params)

    def _page(self, what: str, params: Mapping[str, Any]) -> Json:
        view, start = self._resume(params.get("cursor"))
        items = view.tools if what == "tools" else view.prompts
        end = start + self._page_size
        page: Json = {what: items[start:end]}
        if end < len(items):
            page["nextCursor"] = f"{view.id}-{end}"
        return page

    def _resume(self, cursor: Any) -> tuple[_View, int]:
        if cursor is None:
            return self.view(), 0
        identifier, _, start = str(cursor).partition("-")
        view = self._views.get(identifier)
        if view is None or not start.isdecimal():
            raise ProtocolError(
                INVALID_PARAMS, "this cursor is not valid any more: list from the start again"
            )
        return view, int(start)

    def _get_prompt(self, params: Mapping[str, Any]) -> Json:
        prompt = self._prompt(_text(params, "name"))
        try:
            values = binder(_inputs_schema(prompt))(_object(params, "arguments"))
            result: Json = prompt.render(values).to_mcp()
        except (InvalidArguments, RenderError) as error:
            raise ProtocolError(INVALID_PARAMS, str(error)) from error
        if prompt.description:
            result["description"] = prompt.description
        return result

    def _prompt(self, name: str) -> Prompt:
        try:
            return self.view().snapshot.prompts[name]
        except NoSuchPrompt as error:
            raise ProtocolError(INVALID_PARAMS, f"Unknown prompt: {name}{_hint(error.close)}") from error

    def _complete(self, params: Mapping[str, Any]) -> Json:
        reference = _object(params, "ref")
        if reference.get("type") != "ref/prompt":
            return complete({}, params.get("argument"))
        prompt = self._prompt(_text(reference, "name"))
        return complete({item.name: item.schema for item in prompt.inputs}, params.get("argument"))


_REQUESTS: dict[str, Callable[[Service, Mapping[str, Any]], dict[str, Any]]] = {
    "completion/complete": Service._complete,  # noqa: SLF001 - the table of this very class
    "prompts/get": Service._get_prompt,  # noqa: SLF001
    "prompts/list": Service._list_prompts,  # noqa: SLF001
    "tools/list": Service._list_tools,  # noqa: SLF001
}


def _text(params: Mapping[str, Any], key: str) -> str:
    value = params.get(key)
    if isinstance(value, str):
        return value
    raise ProtocolError(INVALID_PARAMS, f'"{key}" must be a string')


def _object(params: Mapping[str, Any], key: str) -> Json:
    value = params.get(key)
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise ProtocolError(INVALID_PARAMS, f'"{key}" must be an object')


def _hint(close: tuple[str, ...]) -> str:
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def _prompt_shape(name: str, prompt: Prompt) -> Json:
    """Return what ``prompts/list`` says of a prompt."""
    shape: Json = {"name": name}
    if prompt.description:
        shape["description"] = prompt.description
    shape["arguments"] = [_argument(item) for item in prompt.inputs]
    return shape


def _argument(item: Any) -> Json:
    argument: Json = {"name": item.name, "required": item.required}
    if item.schema.get("description"):
        argument["description"] = item.schema["description"]
    return argument


def _inputs_schema(prompt: Prompt) -> Json:
    # Required inputs are left to rendering, which names what is missing; here texts become typed values.
    properties = {item.name: item.schema for item in prompt.inputs}
    return {"type": "object", "properties": properties, "additionalProperties": False}
