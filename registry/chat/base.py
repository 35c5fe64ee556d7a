"""What the chats of all providers share: a history, requests, and calls that never stay unanswered."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

import attrs

from registry.chat.http import Http
from registry.chat.retry import Retry
from registry.chat.wire import Answer, Request
from registry.exceptions import ChatError, InvalidMessage
from registry.exporters import export
from registry.manager import RecipientManager
from registry.messages import Outcome, reply

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping

    import httpx

    from registry.chat.wire import Item, Wire
    from registry.manager import Entry
    from registry.prompts.rendered import RenderedPrompt

#: What an answer that is not as documented makes of code that reads it.
_UNEXPECTED = (AttributeError, InvalidMessage, LookupError, TypeError, ValueError)
_UNANSWERED = Outcome("The call was not made: the conversation went on without it.", "cancelled")


class ProviderChat:
    """A conversation with a model, drivable by `Dispatcher.converse`. Not for several tasks at a time.

    Whatever happens to a request (an error, a cancellation), the history stays in order: an answer that did
    not arrive leaves no trace, and calls that nobody answered are answered as cancelled before the model is
    asked again.

    Args:
        model: the name of the model.
        recipients: what the model may call: a snapshot, a mapping, or a `RecipientManager`, of which every
            request sees the state of that moment.
        base_url: where the API is; by default the provider's own.
        api_key: by default what the environment variable says; a server of one's own may need none.
        system: what the model is told before all else.
        max_tokens: tokens an answer may have.
        stream: whether answers come piece by piece.
        timeout: seconds without a byte after which an answer is given up.
        retry: how often and when failed requests are made again.
        options: further members of each request's body, such as ``{"temperature": 0}``.
        client: an `httpx.AsyncClient` to use instead of one made for each request.

    Raises:
        ChatError: the base URL or the key cannot be right, or the key is missing.
        ExportRefused: the provider cannot be told about a recipient (raised by requests too).
    """

    #: The environment variable that holds the key, and the provider's own address.
    KEY_VARIABLE: ClassVar[str] = ""
    BASE_URL: ClassVar[str] = ""
    #: Tells `registry.conversation.converse` that ``final=True`` asks for an answer without calls.
    CAN_CONCLUDE: ClassVar[bool] = True

    def __init__(
        self,
        wire: Wire,
        model: str,
        recipients: RecipientManager | Mapping[str, Entry] | None,
        *,
        base_url: str | None,
        api_key: str | None,
        system: str,
        max_tokens: int | None,
        stream: bool,
        timeout: float,
        retry: Retry | None,
        options: Mapping[str, Any] | None,
        client: httpx.AsyncClient | None,
    ) -> None:
        key = self._key(api_key, required=base_url is None)
        url = _checked_url(base_url or self.BASE_URL)
        self._wire = wire
        self._http = Http(url, wire.headers(key), key, timeout, retry or Retry(), client)
        self._recipients = {} if recipients is None else recipients
        self._history: list[Item] = []
        #: The question that is being answered.
        self._asked: Item | None = None
        #: Calls of the last answer: id -> name.
        self._open: dict[str, str] = {}
        self._request = Request(model, system, (), (), False, max_tokens, stream, dict(options or {}))
        self._tools()

    @property
    def history(self) -> list[Item]:
        """A copy of what was said so far, in the provider's own form."""
        return list(self._history)

    def begin(self, prompt: RenderedPrompt) -> None:
        """Begin a new conversation with the messages of a rendered prompt, without asking the model."""
        system, self._history = self._wire.opening(prompt)
        self._open = {}
        self._request = attrs.evolve(self._request, system=system)

    async def ask(self, prompt: str, /, *, final: bool = False) -> AsyncGenerator[dict[str, Any], None]:
        """Say something as the user and yield the results of the answer; the last one is whole.

        Raises:
            ChatError: there is no answer, and the history is as it was.
        """
        self._close_calls()
        asked = self._asked = self._wire.said("user", prompt)
        self._history.append(asked)
        try:
            async with contextlib.aclosing(self._answered(final=final)) as results:
                async for result in results:
                    yield result
        finally:
            if self._asked is asked:
                self._take_back()

    async def post_messages(
        self, messages: Iterable[Item], /, *, final: bool = False
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Send the replies of recipients and yield the results of the answer; the last one is whole.

        Raises:
            ChatError: there is no answer; the replies are part of the history all the same.
            InvalidMessage: a reply answers no call.
        """
        self._close_calls(messages)
        async with contextlib.aclosing(self._answered(final=final)) as results:
            async for result in results:
                yield result

    def _close_calls(self, replies: Iterable[Item] = ()) -> None:
        """Answer all open calls: with the replies, and those that have none as cancelled."""
        self._take_back()
        given = list(replies)
        answered = {message["metadata"].get("call_id") for message in given}
        given += [
            reply(name, _UNANSWERED, call_id)
            for call_id, name in self._open.items()
            if call_id not in answered
        ]
        if given:
            self._history += self._wire.results(given)
        self._open = {}

    def _take_back(self) -> None:
        """Forget the question that has no answer.

        Whoever stops reading an answer may ask on before the generator that gave it is closed.
        """
        self._history = [item for item in self._history if item is not self._asked]
        self._asked = None

    async def _answered(self, *, final: bool) -> AsyncGenerator[dict[str, Any], None]:
        request = attrs.evolve(self._request, items=self._history, tools=self._tools(), final=final)
        text, answer = "", None
        fold = self._wire.fold()
        try:
            async with contextlib.aclosing(
                self._http.post(self._wire.path, self._wire.body(request))
            ) as pieces:
                async for piece in pieces:
                    if piece.whole:
                        answer = self._wire.read(piece.data)
                    elif piece.data is None:
                        fold.ended = True
                    elif delta := fold.feed(piece.data):
                        text += delta
                        yield _result(text, ended=False)
            response = fold.response()
            if answer is None and response is not None:
                answer = self._wire.read(response)
        except _UNEXPECTED as error:
            what = f" ({error})" if isinstance(error, InvalidMessage) else ""
            raise ChatError(f"{self._http.place} did not answer as the API is documented{what}") from None
        except ChatError as error:
            raise ChatError(self._http.safe(str(error))) from None
        if answer is None:
            raise ChatError(f"{self._http.place} broke off its answer")
        self._history += answer.items
        self._asked = None
        self._open = {call["id"]: call["recipient"] for call in answer.calls}
        yield _whole(answer)

    def _tools(self) -> list[Item]:
        """Return the tools of this moment, in the provider's shape."""
        known = self._recipients
        snapshot = known.snapshot() if isinstance(known, RecipientManager) else known
        tools: list[Item] = export(snapshot, self._wire.target)
        return tools

    def _key(self, given: str | None, *, required: bool) -> str:
        """Return the key, given or from the environment; a key that no header can carry is never shown."""
        key = (os.environ.get(self.KEY_VARIABLE, "") if given is None else given).strip()
        if not key and required:
            raise ChatError(f"there is no API key: set {self.KEY_VARIABLE}, or give api_key")
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise ChatError(f"the API key has characters that no key has: check {self.KEY_VARIABLE}")
        return key

    def __repr__(self) -> str:
        request = self._request
        size = len(self._history)
        return f"<{type(self).__name__} with {request.model!r} at {self._http.place}, {size} items>"


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ChatError("the base URL must be an http or https address, such as https://api.openai.com/v1")
    return url


def _result(text: str, *, ended: bool) -> dict[str, Any]:
    return {"message": text, "recipient": "all", "end_turn": ended}


def _whole(answer: Answer) -> dict[str, Any]:
    result = _result(answer.text, ended=answer.complete and not answer.calls)
    result["usage"] = dict(answer.usage)
    result["finish_details"] = {"type": answer.reason}
    if answer.calls:
        result["calls"] = calls = [dict(call) for call in answer.calls]
        if not answer.complete and calls[-1].get("arguments") in ("{}", {}):
            calls[-1]["arguments"] = ""  # the call was cut before them: it is answered, not made without
    return result
