"""OpenAI's Chat Completions: ``POST /chat/completions``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs

from registry.chat.http import words_of
from registry.chat.wire import Answer, Fold, Item, Request, Wire, tokens
from registry.exceptions import ChatError
from registry.messages import new_id
from registry.prompts.rendered import text_of
from registry.toolcalls import tool_calls_from_openai, tool_result_for_openai

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.prompts.rendered import RenderedPrompt

_SYSTEM = frozenset({"system", "developer"})
#: Our own reason: the stream ended without one, and without the mark of its end.
_BROKEN_OFF = "broken_off"
_INCOMPLETE = frozenset({"length", "content_filter", _BROKEN_OFF})
_TOKENS = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}


def raise_error(event: Item) -> None:
    """Raise what an event says went wrong, if it says so."""
    if event.get("error") is not None:
        raise ChatError(f"the provider broke off: {words_of(event) or 'it did not say why'}")


@attrs.define
class _Fold(Fold):
    text: list[str] = attrs.field(factory=list)
    calls: list[Item] = attrs.field(factory=list)
    #: The call that the last piece with an index of the server's belonged to.
    by_index: dict[Any, Item] = attrs.field(factory=dict)
    reason: str | None = None
    usage: Any = None

    def feed(self, event: Item) -> str:
        raise_error(event)
        self.usage = event.get("usage") or self.usage
        added = ""
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or {}
            added += _words(delta)
            for part in delta.get("tool_calls") or ():
                self._call(part)
            self.reason = choice.get("finish_reason") or self.reason
        if added:
            self.text.append(added)
        return added

    def _call(self, part: Item) -> None:
        """Add a piece of a call: the first piece of each has the name, all have some of the arguments."""
        index, call_id = part.get("index"), part.get("id") or ""
        function = part.get("function") or {}
        call = self.by_index.get(index)
        if call is not None and call_id and call["id"] and call_id != call["id"]:
            # Some servers give no index, or all calls the same one; then another id is another call.
            call = next((known for known in self.calls if known["id"] == call_id), None)
        elif call is not None and index is None and not call_id and function.get("name"):
            # Neither: a name begins a call, unless each piece repeats it.
            call = None if _is_whole(call["function"]["arguments"]) else call
        if call is None:
            call = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            self.calls.append(call)
        self.by_index[index] = call
        call["id"] = call["id"] or call_id
        call["function"]["name"] = call["function"]["name"] or function.get("name") or ""
        call["function"]["arguments"] += _arguments(function)

    def response(self) -> Item | None:
        if self.reason is None and not self.text and not self.calls:
            return None
        message = {"role": "assistant", "content": "".join(self.text), "tool_calls": self.calls}
        reason = self.reason or (None if self.ended else _BROKEN_OFF)
        return {"choices": [{"message": message, "finish_reason": reason}], "usage": self.usage}


def _words(message: Item) -> str:
    """Return the text of a message or of a piece of one; of parts, those that are text."""
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "".join(part.get("text") or "" for part in content if part.get("type") == "text")
    return content + (message.get("refusal") or "")


def _arguments(function: Item) -> str:
    """Return the arguments of a call as JSON text, which is what most servers give."""
    given = function.get("arguments") or ""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _is_whole(arguments: str) -> bool:
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return False
    return True


def _complete(call: Item) -> Item:
    """Return a call with what some servers leave out: the id, and the arguments where there are none."""
    done = {**call, "id": call.get("id") or new_id()}
    if "function" in call:
        done["function"] = {**call["function"], "arguments": _arguments(call["function"]) or "{}"}
    return done


class Completions(Wire):
    """The API as data."""

    target = "openai"
    path = "/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        """Return the key as this provider wants it."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, request: Request) -> Item:
        """Return the request in the words of this API."""
        system = [{"role": "system", "content": request.system}] if request.system else []
        body: Item = {"model": request.model, "messages": [*system, *request.items]}
        if request.tools and not request.final:
            body["tools"] = list(request.tools)
        if request.max_tokens is not None:
            body["max_tokens"] = request.max_tokens
        if request.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body | dict(request.options)

    def opening(self, prompt: RenderedPrompt) -> tuple[str, list[Item]]:
        """Return the system messages joined, and the others as this API takes them."""
        messages = prompt.to_openai()
        system = [text_of(message["content"]) for message in messages if message["role"] in _SYSTEM]
        return "\n\n".join(system), [message for message in messages if message["role"] not in _SYSTEM]

    def results(self, replies: Iterable[Item]) -> list[Item]:
        """Return the results of calls, as this API takes them."""
        return [tool_result_for_openai(reply) for reply in replies]

    def fold(self) -> Fold:
        """Return what gathers the events of this API."""
        return _Fold()

    def read(self, response: Item) -> Answer:
        """Read a whole answer."""
        raise_error(response)
        choice = response["choices"][0]
        message = choice["message"]
        text = _words(message)
        calls = [_complete(call) for call in message.get("tool_calls") or ()]
        item: Item = {"role": "assistant", "content": text or None}
        if calls:
            item["tool_calls"] = calls
        reason = choice.get("finish_reason") or ""
        return Answer(
            text,
            (item,) if text or calls else (),
            tool_calls_from_openai({"tool_calls": calls}),
            tokens(response.get("usage"), _TOKENS),
            reason not in _INCOMPLETE,
            reason,
        )
