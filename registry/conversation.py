"""Talks with a chat until its turn ends, answering what it addresses to recipients.

A chat is any object with ``ask(prompt)`` and ``post_messages(messages)``. Both give results: dicts with
``message`` (the text so far), ``recipient`` (``"all"`` is the user) and ``end_turn``; streamed, the last one
counts. A result may have ``calls``, a list of messages that address recipients, instead of addressing one
itself, and ``usage``, numbers that are added up.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import pathlib
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from registry.exceptions import ChatError
from registry.frozen import FrozenDict, freeze
from registry.messages import Outcome, json_type, new_id, reply
from registry.threads import in_thread

if TYPE_CHECKING:
    import os

    from registry.dispatch import Dispatcher

Result = dict[str, Any]
#: What a result's `recipient` is when it speaks to the user.
USER = "all"


class Chat(Protocol):
    """A conversation with a model. Both methods may be async, generators, both, or neither."""

    def ask(self, prompt: str, /) -> Any:
        """Say something as the user and give the results of the answer."""

    def post_messages(self, messages: list[dict[str, Any]], /) -> Any:
        """Send the replies of recipients and give the results of the answer."""


def _frozen(messages: Iterable[Mapping[str, Any]]) -> tuple[FrozenDict, ...]:
    return tuple(freeze(dict(message)) for message in messages)


def _frozen_usage(usage: Mapping[str, Any]) -> FrozenDict:
    return FrozenDict(usage)


@attrs.frozen
class Transcript:
    """A conversation that has ended.

    ``stop_reason`` is ``end_turn``; ``max_turns``: it went on for too long, and the last calls were not made;
    ``incomplete``: the last answer was broken off; ``no_answer``: the chat gave none. Every call has a reply,
    calls that were not made one with the status ``not-called``.
    """

    #: The user's message, the chat's results (with ``author``) and the recipients' replies, in order.
    messages: tuple[FrozenDict, ...] = attrs.field(converter=_frozen)
    #: How many times the chat answered.
    turns: int
    stop_reason: str
    #: The sums of what the results said was used.
    usage: FrozenDict = attrs.field(factory=FrozenDict, converter=_frozen_usage)

    @property
    def text(self) -> str:
        """What the chat said last to the user; empty when it did not."""
        for message in reversed(self.messages):
            if message["author"]["role"] == "assistant" and _recipient(message) == USER:
                return str(message.get("message") or "")
        return ""

    @property
    def replies(self) -> tuple[FrozenDict, ...]:
        """The replies of recipients, in order."""
        return tuple(message for message in self.messages if message["author"]["role"] == "tool")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON Lines: each message, and at last how it ended."""
        end = {"turns": self.turns, "stop_reason": self.stop_reason, "usage": self.usage}
        lines = [
            json.dumps(entry, ensure_ascii=False, default=str) for entry in (*self.messages, {"end": end})
        ]
        pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Transcript:
        """Read what `save` wrote.

        Raises:
            ChatError: the file is no transcript.
            OSError: it cannot be read.
        """
        text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
        try:
            *messages, last = (json.loads(line) for line in text.removesuffix("\n").split("\n"))
            roles = [message["author"]["role"] for message in messages]
            end = last["end"]
            assert all(isinstance(role, str) for role in roles)  # noqa: S101 - caught right here
            return cls(messages, int(end["turns"]), str(end["stop_reason"]), dict(end["usage"]))
        except (ValueError, TypeError, KeyError, AssertionError, RecursionError):
            raise ChatError(f"{path} is no transcript: it was not written by Transcript.save()") from None


class Replay:
    """A chat that gives the recorded answers of a transcript, whatever it is asked."""

    def __init__(self, transcript: Transcript) -> None:
        self._answers = iter([m for m in transcript.messages if m["author"]["role"] == "assistant"])

    def ask(self, _prompt: str, /) -> Result:
        """Give the next recorded answer.

        Raises:
            ChatError: there is none left.
        """
        answer = next(self._answers, None)
        if answer is None:
            raise ChatError("the transcript has no further answer")
        return {key: value for key, value in answer.items() if key != "author"}

    def post_messages(self, _messages: list[dict[str, Any]], /) -> Result:
        """Do as `ask`."""
        return self.ask("")


def _recipient(result: Mapping[str, Any]) -> str:
    recipient = result.get("recipient")
    return USER if recipient is None else str(recipient)


def calls_in(result: Result) -> list[Any]:
    """Return the messages in a result that address recipients."""
    calls = result.get("calls")
    if calls is not None and not isinstance(calls, (list, tuple)):
        raise ChatError(f'a chat must give "calls" as a list, not {json_type(calls)}')
    if calls:
        return list(calls)
    return [] if _recipient(result) == USER else [result]


async def _started(method: Callable[[Any], Any], argument: Any) -> Any:
    """Call a method of a chat: in a thread unless it is async, for it may block."""
    if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
        answer = method(argument)
    else:
        answer = await in_thread(method, argument)
    return await answer if inspect.isawaitable(answer) else answer


async def _results(answer: Any) -> AsyncGenerator[Any, None]:
    """Yield the results in an answer: one dict, or an iterable of them of either kind."""
    if isinstance(answer, Mapping):
        yield answer
    elif hasattr(answer, "__aiter__"):
        async with contextlib.AsyncExitStack() as stack:
            if hasattr(answer, "aclose"):  # a generator that is not read to its end must know
                stack.push_async_callback(answer.aclose)
            async for result in answer:
                yield result
    elif isinstance(answer, Iterable):
        iterator: Iterator[Any] = iter(answer)
        while (result := await in_thread(next, iterator, None)) is not None:
            yield result
    elif answer is not None:
        raise ChatError(f"a chat must give dicts, not {type(answer).__name__}")


async def _answer(
    method: Callable[[Any], Any], argument: Any, on_result: Callable[[Result], None] | None
) -> Result | None:
    """Return the last result of a chat's answer; None when it gave none."""
    last = None
    async with contextlib.aclosing(_results(await _started(method, argument))) as results:
        async for result in results:
            if not isinstance(result, Mapping):
                raise ChatError(f"a chat must give dicts, not {type(result).__name__}")
            last = dict(result)
            if on_result is not None:
                on_result(last)
    return last


def _user_message(text: str) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    return {"id": new_id(), "author": {"role": "user"}, "content": content}


def _add(usage: dict[str, Any], more: Any) -> None:
    for key, value in more.items() if isinstance(more, Mapping) else ():
        if isinstance(value, (int, float)):
            usage[key] = usage.get(key, 0) + value


async def converse(
    dispatcher: Dispatcher,
    chat: Chat,
    prompt: str,
    *,
    max_turns: int = 10,
    on_result: Callable[[Result], None] | None = None,
    on_message: Callable[[Mapping[str, Any]], None] | None = None,
) -> Transcript:
    """Ask a chat something and dispatch what it addresses to recipients until its turn ends.

    Args:
        dispatcher: sends the messages to recipients.
        chat: see the module.
        prompt: what the user says.
        max_turns: how many times the chat may answer, at least once. A chat that has ``CAN_CONCLUDE`` is
            asked for its last answer with ``final=True``: then it calls nobody.
        on_result: is given every result as it comes, for display.
        on_message: is given every message of the transcript as it comes, so that an error loses none.

    Raises:
        ChatError: the chat gave what is no result. What the chat itself raises passes through.
    """
    log = _Log(on_message)
    log.add(_user_message(prompt))
    usage: dict[str, Any] = {}
    turns = 0
    result = await _answer(_last(chat.ask, chat, max_turns - turns), prompt, on_result)
    while result is not None:
        turns += 1
        log.add({**result, "author": {"role": "assistant"}})
        _add(usage, result.get("usage"))
        calls = calls_in(result)
        if not calls:
            ended = result.get("end_turn", True)
            return Transcript(log.messages, turns, "end_turn" if ended else "incomplete", usage)
        if turns >= max_turns:
            log.add(*(not_called(call, f"the limit of {max_turns} turns is reached") for call in calls))
            return Transcript(log.messages, turns, "max_turns", usage)
        replies = await dispatcher.adispatch_many(calls)
        log.add(*replies)
        result = await _answer(_last(chat.post_messages, chat, max_turns - turns), replies, on_result)
    return Transcript(log.messages, turns, "no_answer", usage)


@attrs.frozen
class _Log:
    """The messages so far, each told as it comes."""

    tell: Callable[[Mapping[str, Any]], None] | None
    messages: list[Mapping[str, Any]] = attrs.field(factory=list)

    def add(self, *messages: Mapping[str, Any]) -> None:
        for message in messages:
            self.messages.append(message)
            if self.tell is not None:
                self.tell(message)


def _last(method: Callable[..., Any], chat: Chat, left: int) -> Callable[..., Any]:
    """Return the method, asking for an answer without calls where it is the last one and the chat can."""
    return (
        functools.partial(method, final=True)
        if left <= 1 and getattr(chat, "CAN_CONCLUDE", False)
        else method
    )


def not_called(call: Any, reason: str) -> dict[str, Any]:
    """Return the reply to a call that was not made."""
    name, call_id = (call.get(key) if isinstance(call, Mapping) else None for key in ("recipient", "id"))
    outcome = Outcome(f"The call was not made: {reason}.", "not-called")
    return reply(str(name), outcome, None if call_id is None else str(call_id))
