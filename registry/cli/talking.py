"""A talk with a model on a terminal or in a pipe: what is shown, what is asked, how it stops."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import sys
from typing import TYPE_CHECKING, Any, Self

import attrs
import click

from registry.chat import Recorder
from registry.dispatch import Dispatcher
from registry.exceptions import ChatError, UnreadableFile
from registry.messages import reply_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

    from registry.chat.base import ProviderChat
    from registry.conversation import Transcript
    from registry.manager import Entry
    from registry.messages import Call

#: What a terminal would obey instead of showing it.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
#: How much of the arguments and of a reply one line shows.
_SHOWN = 200
#: What ends an answer on Ctrl-C: during the answer, and while a call is asked for.
_STOPPED = (KeyboardInterrupt, asyncio.CancelledError)
#: The ways an answer ends that are no success, and what to say.
_STOPS = {
    "max_turns": "stopped: the model went on calling; see --max-turns",
    "incomplete": "the answer is incomplete",
    "no_answer": "there was no answer",
}


def visible(text: str) -> str:
    """Return a text with what would steer the terminal made visible."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _line(text: str) -> str:
    text = " ".join(visible(text).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _arguments(call: Mapping[str, Any]) -> str:
    found = call.get("arguments", call.get("message", ""))
    return _line(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, default=str))


def _is_terminal() -> bool:
    return sys.stdout.isatty()


@attrs.define
class Screen:
    """Shows a talk: answers on standard output, calls on standard error.

    On a terminal answers appear as they come, with what is said between calls; in a pipe only the last one.
    """

    live: bool = attrs.field(factory=_is_terminal)
    _shown: int = 0

    def result(self, result: Mapping[str, Any]) -> None:
        """Show what came of an answer so far."""
        text = visible(result["message"]) if self.live else ""
        if len(text) > self._shown:
            click.echo(text[self._shown :], nl=False)
            self._shown = len(text)

    def message(self, message: Mapping[str, Any]) -> None:
        """Show a message that is complete."""
        role = message["author"]["role"]
        if role == "assistant":
            if self._shown:
                click.echo()
            self._shown = 0
            for call in message.get("calls") or ():
                click.echo(f"→ {_line(call['recipient'])} {_arguments(call)}", err=True)
        elif role == "tool":
            status = message["metadata"]["status"]
            click.echo(
                f"← {_line(message['author']['name'])} {status}: {_line(reply_text(message))}", err=True
            )

    def end(self, transcript: Transcript) -> None:
        """Show how it ended, and in a pipe the answer."""
        if not self.live and transcript.text:
            click.echo(transcript.text)
        if transcript.stop_reason in _STOPS:
            click.echo(f"error: {_STOPS[transcript.stop_reason]}", err=True)


@attrs.define
class Talk:
    """One chat and the recipients it may call, for one question or many."""

    chat: ProviderChat
    recipients: Mapping[str, Entry]
    screen: Screen
    max_turns: int
    #: Whether each call is asked for.
    asks: bool
    #: The file that the transcript is written to.
    save: str | None
    _recorder: Recorder = attrs.field(factory=Recorder)
    _runner: asyncio.Runner = attrs.field(factory=asyncio.Runner)
    _allowed: set[str] = attrs.field(factory=set)
    _stop_reason: str = "cancelled"
    #: The answer that is being made: what Ctrl-C in a question ends.
    _task: asyncio.Task[Any] | None = None
    _dispatcher: Dispatcher = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._dispatcher = Dispatcher(self.recipients, approve=self._approve if self.asks else None)

    def __enter__(self) -> Self:
        self._runner.__enter__()
        self._runner.run(self._dispatcher.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.run(self._dispatcher.aclose())
        self._runner.close()
        if self.save is not None:
            self._write(self.save)

    def once(self, question: str) -> int:
        """Ask one question and return the exit code."""
        try:
            transcript = self._ask(question)
        except _STOPPED:
            click.echo("\nStopped.", err=True)
            return 130
        return 1 if transcript.stop_reason in _STOPS else 0

    def on(self) -> int:
        """Ask what is typed until there is no more, and return the exit code."""
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - being imported, it gives the prompt its history
        click.echo("Ctrl-C stops an answer, Ctrl-D ends the talk.", err=True)
        while True:
            try:
                question = click.prompt("", prompt_suffix="> ", default="", show_default=False).strip()
            except click.Abort:
                click.echo(err=True)
                return 0
            if question:
                self._ask_safely(question)

    def _ask_safely(self, question: str) -> None:
        try:
            self._ask(question)
        except _STOPPED:
            click.echo("\nStopped.", err=True)
        except ChatError as error:
            click.echo(f"error: {visible(str(error))}", err=True)

    def _ask(self, question: str) -> Transcript:
        self._stop_reason = "cancelled"
        transcript = self._runner.run(self._conversed(question))
        self._stop_reason = transcript.stop_reason
        self.screen.end(transcript)
        return transcript

    async def _conversed(self, question: str) -> Transcript:
        self._task = asyncio.current_task()
        return await self._dispatcher.converse(
            self.chat,
            question,
            max_turns=self.max_turns,
            on_result=self.screen.result,
            on_message=self._told,
        )

    def _told(self, message: Mapping[str, Any]) -> None:
        self._recorder.add(message)
        self.screen.message(message)

    def _approve(self, call: Call) -> bool | str:
        """Ask whether a call may be made; Ctrl-C stops the whole answer."""
        if call.recipient in self._allowed:
            return True
        try:
            with _interruptible():
                answer = click.prompt(
                    f"Call {_line(call.recipient)}? (yes, no, always)",
                    type=click.Choice(["y", "n", "a"]),
                    default="n",
                    err=True,
                )
        except click.Abort:
            assert self._task is not None  # noqa: S101 - calls are made by answers
            self._task.cancel()
            return "the user stopped the conversation"
        if answer == "a":
            self._allowed.add(call.recipient)
        return answer != "n" or "the user said no"

    def _write(self, path: str) -> None:
        try:
            self._recorder.transcript(self._stop_reason).save(path)
        except OSError as error:
            raise UnreadableFile(path, f"the transcript cannot be written: {error.strerror}") from error


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end a question to the user: the loop's own handler would wait for the answer."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
