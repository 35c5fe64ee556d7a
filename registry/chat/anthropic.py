"""Chats with Anthropic, and with servers that speak its Messages API: ``POST /v1/messages``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from registry.chat.base import ProviderChat
from registry.chat.completions import raise_error
from registry.chat.wire import Answer, Fold, Item, Request, Wire, tokens
from registry.jsontext import NotJsonError, parse_json
from registry.toolcalls import tool_calls_from_anthropic, tool_result_for_anthropic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import httpx

    from registry.chat.retry import Retry
    from registry.manager import Entry, RecipientManager
    from registry.prompts.rendered import RenderedPrompt

_VERSION = "2023-06-01"
#: Tokens an answer may have unless told otherwise: the API wants a number.
_MAX_TOKENS = 4096
_TOKENS = {
    "input_tokens": "input_tokens",
    "cache_creation_input_tokens": "input_tokens",
    "cache_read_input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
}
#: What a delta adds to -> the member of its block.
_PARTS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
#: Where the arguments of a call are gathered while they are JSON text.
_RAW = "partial_json"


@attrs.define
class _Fold(Fold):
    blocks: dict[Any, Item] = attrs.field(factory=dict)
    message: Item | None = None
    reason: str | None = None

    def feed(self, event: Item) -> str:
        raise_error(event)
        kind = event.get("type")
        if kind == "message_start":
            self.message = dict(event["message"])
        elif kind == "content_block_start":
            self.blocks[event["index"]] = dict(event["content_block"])
            return str(event["content_block"].get("text") or "")
        elif kind == "content_block_delta":
            return self._delta(self.blocks[event["index"]], event["delta"])
        elif kind == "message_delta":
            self.reason = event["delta"].get("stop_reason") or self.reason
            start = self.message or {}
            self.message = {**start, "usage": {**(start.get("usage") or {}), **(event.get("usage") or {})}}
        elif kind == "message_stop":
            self.ended = True
        return ""

    def _delta(self, block: Item, delta: Item) -> str:
        kind = delta.get("type")
        if kind == "input_json_delta":
            block[_RAW] = block.get(_RAW, "") + delta["partial_json"]
        elif kind in _PARTS:
            key = _PARTS[kind]
            block[key] = (block.get(key) or "") + delta[key]
            return str(delta[key]) if key == "text" else ""
        return ""

    def response(self) -> Item | None:
        if self.reason is None and not self.ended:
            return None
        return {**(self.message or {}), "content": list(self.blocks.values()), "stop_reason": self.reason}


def _parsed(block: Item) -> tuple[Item, Any]:
    """Return a block as the API takes it back, and its arguments: as they came, if they are no JSON."""
    block = dict(block)
    raw = block.pop(_RAW, "")
    if not raw:
        if block.get("type") == "tool_use" and block.get("input") is None:
            block["input"] = {}  # some servers leave out what is empty
        return block, block.get("input")
    try:
        arguments = parse_json(raw)
    except NotJsonError:
        arguments = raw
    return {**block, "input": arguments if isinstance(arguments, dict) else {}}, arguments


class Messages(Wire):
    """The API as data."""

    target = "anthropic"
    path = "/messages"

    def headers(self, key: str) -> dict[str, str]:
        """Return the key as this provider wants it."""
        version = {"anthropic-version": _VERSION}
        return {"x-api-key": key, **version} if key else version

    def body(self, request: Request) -> Item:
        """Return the request in the words of this API."""
        body: Item = {
            "model": request.model,
            "max_tokens": request.max_tokens or _MAX_TOKENS,
            "messages": list(request.items),
        }
        if request.system:
            body["system"] = request.system
        if request.tools:
            body["tools"] = list(request.tools)
            if request.final:  # a history with calls needs the tools, also when none may be called
                body["tool_choice"] = {"type": "none"}
        if request.stream:
            body["stream"] = True
        return body | dict(request.options)

    def opening(self, prompt: RenderedPrompt) -> tuple[str, list[Item]]:
        """Return the system messages joined, and the others as this API takes them."""
        found = prompt.to_anthropic()
        return found.get("system", ""), found["messages"]

    def results(self, replies: Iterable[Item]) -> list[Item]:
        """Return the results of calls, as this API takes them."""
        return [{"role": "user", "content": [tool_result_for_anthropic(reply) for reply in replies]}]

    def fold(self) -> Fold:
        """Return what gathers the events of this API."""
        return _Fold()

    def read(self, response: Item) -> Answer:
        """Read a whole answer."""
        raise_error(response)
        parsed = [_parsed(block) for block in response["content"]]
        content = [block for block, _arguments in parsed if block.get("type") != "text" or block["text"]]
        calls = [
            {**call, "arguments": arguments}
            for block, arguments in parsed
            for call in tool_calls_from_anthropic([block])
        ]
        reason = response.get("stop_reason") or ""
        return Answer(
            "".join(block["text"] for block in content if block.get("type") == "text"),
            ({"role": "assistant", "content": content},) if content else (),
            tuple(calls),
            tokens(response.get("usage"), _TOKENS),
            reason not in {"max_tokens", "pause_turn", "model_context_window_exceeded"},
            reason,
        )


def _versioned(url: str) -> str:
    """Return a base URL with the version at its end, which this provider's own clients leave out."""
    return url if url.rstrip("/").endswith("/v1") else f"{url.rstrip('/')}/v1"


class AnthropicChat(ProviderChat):
    """A conversation over the Messages API.

    See `ProviderChat` for the arguments; the key is in ``ANTHROPIC_API_KEY``. ``base_url``
    may end in ``/v1``.
    """

    KEY_VARIABLE = "ANTHROPIC_API_KEY"
    BASE_URL = "https://api.anthropic.com/v1"

    def __init__(
        self,
        model: str,
        recipients: RecipientManager | Mapping[str, Entry] | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        system: str = "",
        max_tokens: int | None = None,
        stream: bool = True,
        timeout: float = 120.0,
        retry: Retry | None = None,
        options: Mapping[str, Any] | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(
            Messages(),
            model,
            recipients,
            base_url=None if base_url is None else _versioned(base_url),
            api_key=api_key,
            system=system,
            max_tokens=max_tokens,
            stream=stream,
            timeout=timeout,
            retry=retry,
            options=options,
            client=client,
        )
