"""OpenAI's Responses API: ``POST /responses``, with the whole conversation in each request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from registry.chat.completions import Completions, raise_error
from registry.chat.http import words_of
from registry.chat.wire import Answer, Fold, Item, Request, Wire, tokens
from registry.exceptions import ChatError
from registry.toolcalls import tool_calls_from_openai_responses, tool_result_for_openai_responses

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.prompts.rendered import RenderedPrompt

_TOKENS = {"input_tokens": "input_tokens", "output_tokens": "output_tokens"}
_DELTAS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


@attrs.define
class _Fold(Fold):
    items: list[Item] = attrs.field(factory=list)
    whole: Item | None = None

    def feed(self, event: Item) -> str:
        raise_error(event)
        kind = event.get("type")
        if kind == "error":
            raise ChatError(f"the provider broke off: {words_of(event) or 'it did not say why'}")
        if kind == "response.output_item.done":
            self.items.append(event["item"])
        elif kind in _ENDS:
            self.whole = event["response"]
        return str(event["delta"]) if kind in _DELTAS else ""

    def response(self) -> Item | None:
        if self.whole is None:
            return None
        return {**self.whole, "output": self.whole.get("output") or self.items}


def _content(content: Any) -> Any:
    """Return a message's content with its parts under the names of this API."""
    return content if isinstance(content, str) else [_part(part) for part in content]


def _part(part: Item) -> Item:
    if part["type"] == "image_url":
        return {"type": "input_image", "image_url": part["image_url"]["url"]}
    if part["type"] == "file":
        return {"type": "input_file", **part["file"]}
    return {"type": "input_text", "text": part["text"]}


def _text_of(item: Item) -> str:
    parts = item.get("content") or ()
    return "".join(part.get("text") or part.get("refusal") or "" for part in parts)


class Responses(Wire):
    """The API as data."""

    target = "openai-responses"
    path = "/responses"

    def headers(self, key: str) -> dict[str, str]:
        """Return the key as this provider wants it."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, request: Request) -> Item:
        """Return the request in the words of this API."""
        body: Item = {"model": request.model, "input": list(request.items)}
        if request.system:
            body["instructions"] = request.system
        if request.tools and not request.final:
            body["tools"] = list(request.tools)
        if request.max_tokens is not None:
            body["max_output_tokens"] = request.max_tokens
        if request.stream:
            body["stream"] = True
        return body | dict(request.options)

    def opening(self, prompt: RenderedPrompt) -> tuple[str, list[Item]]:
        """Return the system messages joined, and the others as this API takes them."""
        system, messages = Completions().opening(prompt)
        return system, [{**message, "content": _content(message["content"])} for message in messages]

    def results(self, replies: Iterable[Item]) -> list[Item]:
        """Return the results of calls, as this API takes them."""
        return [tool_result_for_openai_responses(reply) for reply in replies]

    def fold(self) -> Fold:
        """Return what gathers the events of this API."""
        return _Fold()

    def read(self, response: Item) -> Answer:
        """Read a whole answer."""
        raise_error(response)
        output = response["output"]
        details = response.get("incomplete_details") or {}
        return Answer(
            "".join(_text_of(item) for item in output if item.get("type") == "message"),
            tuple(output),
            tool_calls_from_openai_responses(response),
            tokens(response.get("usage"), _TOKENS),
            response.get("status") != "incomplete",
            details.get("reason") or response.get("status") or "",
        )
