"""What a provider's API is made of, as `registry.chat.base` drives it: pure functions from data to data."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from registry.prompts.rendered import RenderedPrompt

Item = dict[str, Any]


@attrs.frozen
class Answer:
    """What one answer of a model came to."""

    text: str
    #: What is sent back with the next request, in the provider's own form.
    items: tuple[Item, ...] = ()
    #: Messages that address recipients, each with an ``id``.
    calls: tuple[Item, ...] = ()
    #: ``input_tokens`` and ``output_tokens``, as far as they are told.
    usage: Mapping[str, int] = attrs.field(factory=dict)
    #: Whether the model said all it wanted to say.
    complete: bool = True
    #: Why it stopped, in the provider's words.
    reason: str = ""


@attrs.frozen
class Request:
    """All that a request says."""

    model: str
    system: str
    items: Sequence[Item]
    #: In the shape of the wire's export target.
    tools: Sequence[Item]
    #: Whether the answer must be a text: no tool may be called.
    final: bool
    #: Tokens an answer may have; None leaves it to the provider.
    max_tokens: int | None
    stream: bool
    #: Further members of the body, as they are.
    options: Mapping[str, Any]


class Fold(abc.ABC):
    """Gathers the events of a streamed answer until they make the same data as an answer in one piece."""

    #: Whether the server marked the end of its events.
    ended: bool = False

    @abc.abstractmethod
    def feed(self, event: Item) -> str:
        """Take an event and return the text that it adds.

        Raises:
            ChatError: the event says that the answer failed.
        """

    @abc.abstractmethod
    def response(self) -> Item | None:
        """Return the whole answer; None while it has not ended."""


class Wire(abc.ABC):
    """One API. Nothing here does input or output."""

    #: The export target whose shape its tools have.
    target: ClassVar[str]
    #: The path of its requests, below the base URL.
    path: ClassVar[str]

    @abc.abstractmethod
    def headers(self, key: str) -> dict[str, str]:
        """Return the headers that identify the sender; ``key`` may be empty."""

    @abc.abstractmethod
    def body(self, request: Request) -> Item:
        """Return the body of a request."""

    @abc.abstractmethod
    def results(self, replies: Iterable[Item]) -> list[Item]:
        """Return what tells the model the replies to its calls."""

    @abc.abstractmethod
    def fold(self) -> Fold:
        """Return an empty fold."""

    @abc.abstractmethod
    def read(self, response: Item) -> Answer:
        """Read an answer in one piece."""

    @abc.abstractmethod
    def opening(self, prompt: RenderedPrompt) -> tuple[str, list[Item]]:
        """Return what a prompt tells the model before all else, and its other messages."""

    def said(self, role: str, content: Any) -> Item:
        """Return a message of the user or the assistant."""
        return {"role": role, "content": content}


def tokens(usage: Any, names: Mapping[str, str]) -> dict[str, int]:
    """Return the counts of tokens in a provider's ``usage``, under our names: added up where two are one."""
    found: dict[str, int] = {}
    for theirs, ours in names.items():
        count = usage.get(theirs) if isinstance(usage, dict) else None
        if isinstance(count, int) and not isinstance(count, bool):
            found[ours] = found.get(ours, 0) + count
    return found
