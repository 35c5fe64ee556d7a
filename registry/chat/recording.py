"""Keeps a whole talk of several questions, also where one of them was broken off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from registry.conversation import Transcript, calls_in, not_called

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@attrs.define
class Recorder:
    """Takes messages as `converse` tells them (``on_message=recorder.add``) and gives one transcript of all.

    Calls that nobody answered because the talk was broken off have replies in it that say so.
    """

    messages: list[Mapping[str, Any]] = attrs.field(factory=list)

    def add(self, message: Mapping[str, Any]) -> None:
        """Take the next message."""
        if message["author"]["role"] != "tool":
            self.close()
        self.messages.append(message)

    def close(self) -> None:
        """Answer the calls that are still open."""
        self.messages += list(self._missing())

    def transcript(self, stop_reason: str = "end_turn") -> Transcript:
        """Return what was said so far."""
        self.close()
        answers = [message for message in self.messages if message["author"]["role"] == "assistant"]
        usage: dict[str, Any] = {}
        for answer in answers:
            for name, count in (answer.get("usage") or {}).items():
                usage[name] = usage.get(name, 0) + count
        return Transcript(self.messages, len(answers), stop_reason, usage)

    def _missing(self) -> Iterator[dict[str, Any]]:
        """Yield replies to the calls of the last answer that have none yet."""
        for replies, message in enumerate(reversed(self.messages)):
            if message["author"]["role"] == "user":
                return
            if message["author"]["role"] != "tool":
                for call in calls_in(dict(message))[replies:]:
                    yield not_called(call, "the conversation was broken off")
                return
