"""Dispatches messages to recipients. Whatever a recipient does, the answer is a message a model can read.

``metadata.status`` of a reply is one of:

* ``ok``, or what the recipient itself says: ``error``, ``timeout``, ``crashed``, ``output_limit``, …;
* ``error``: it raised an exception; the text has its type and text;
* ``timeout``: it did not answer in time and was stopped;
* ``invalid-message``, ``unknown-recipient``, ``invalid-arguments``: it was never called;
* ``refused``: the approval hook said no.

A reply that was cut has ``metadata.output_bytes``, the size of the whole.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import time
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, Self

from registry.dispatching.answers import RefusedError, outcome_of, shown, unknown
from registry.dispatching.calling import bound, work
from registry.dispatching.concurrency import Gates, LoopThread, running_loop
from registry.dispatching.running import TimeIsUpError, within
from registry.dispatching.slots import Openings, Slot
from registry.exceptions import InvalidArguments, InvalidMessage, NoSuchRecipient
from registry.messages import Call, address, reply
from registry.recipient import run_coroutine
from registry.redaction import hide
from registry.suggest import close

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
    from types import TracebackType

    from registry.conversation import Chat, Transcript
    from registry.manager import Entry
    from registry.messages import Outcome

    Approval = bool | str
    Approve = Callable[[Call], Approval | Awaitable[Approval]]

_LOG = logging.getLogger("registry.dispatch")


#: A reply repeats no more of a name that nobody has.
_LONGEST_NAME = 80
#: Errors that say all there is to know: no traceback is logged for them.
_EXPLAINED = (InvalidArguments, InvalidMessage, RefusedError, TimeIsUpError)


class Recipients(Protocol):
    """What a dispatcher needs of a registry: a `RecipientManager`, a snapshot, or any mapping."""

    def __getitem__(self, name: str, /) -> Entry: ...

    def __iter__(self) -> Iterator[str]: ...


class Dispatcher:
    """Sends messages to the recipients of a registry and returns their replies.

    Inside ``async with`` (or ``with``) recipients that have something to open are opened at their first call
    and stay open until the end; a dispatcher used without opens and closes them for each call. Instances are
    opened and closed by whoever made them. Of a manager, every call sees the recipients of that moment.

    Args:
        recipients: a `RecipientManager`, a `RecipientSnapshot`, or a mapping of names to recipients.
        timeout: seconds a call may take; the smaller one of this and the recipient's own counts.
        max_output: bytes of reply text, likewise.
        max_concurrency: how many calls may run at a time; the others wait, without losing time of theirs.
        approve: asked before each call that would be made, with its checked arguments. False refuses the
            call, and so does a text, which is the reason. May be async.
    """

    def __init__(
        self,
        recipients: Recipients | Mapping[str, Entry],
        *,
        timeout: float | None = None,
        max_output: int | None = None,
        max_concurrency: int | None = None,
        approve: Approve | None = None,
    ) -> None:
        self._recipients = recipients
        self._timeout = timeout
        self._max_output = max_output
        self._approve = approve
        self._gates = Gates(max_concurrency)
        #: Whether calls need neither approval nor a turn among all.
        self._plain = approve is None and max_concurrency is None
        self._slots: dict[str, Slot] = {}
        self._openings: Openings | None = None
        #: The loop that the dispatcher was opened in.
        self._home: asyncio.AbstractEventLoop | None = None
        self._thread: LoopThread | None = None

    async def adispatch(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Send a message to the recipient it is addressed to and return the reply. Never raises for a call.

        Being cancelled stops the recipient and passes through.
        """
        started = time.perf_counter()
        call, slot = None, None
        try:
            call = address(message)
            slot = self._slot(call.recipient)
            if slot.acall is not None and self._plain:
                doing = slot.acall(bound(slot, call) if slot.bind is None else slot.bind(call.raw))
                outcome = await (doing if slot.timeout is None else within(slot.timeout, doing))
            elif slot.parallel and self._plain:
                outcome = await self._call(slot, call, message)
            else:
                async with self._gates.passed(slot):
                    outcome = await self._call(slot, call, message)
        except BaseException as error:  # whatever it does, there is an answer
            if _ends_more(error):
                raise
            if slot is None and isinstance(error, NoSuchRecipient):
                call = Call(error.name[:_LONGEST_NAME], id=None if call is None else call.id)
                outcome = unknown(error, list(self._recipients))
            else:
                outcome = outcome_of(error, slot)
                _explain(error, slot)
        if call is None:
            call = _call_in(message)
        answer = reply(call.recipient, shown(outcome, slot, self._max_output), call.id)
        if _LOG.isEnabledFor(logging.INFO):
            _record(answer, time.perf_counter() - started)
        return answer

    def dispatch(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Do as `adispatch` from code that is not async, also where an event loop is running."""
        home = self._home
        if home is None or home is running_loop():
            answer: dict[str, Any] = run_coroutine(self.adispatch(message))
            return answer
        return asyncio.run_coroutine_threadsafe(self.adispatch(message), home).result()

    async def adispatch_many(self, messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Send messages at the same time and return the replies in the order of the messages.

        A recipient with ``parallel = false`` runs alone: after all messages before it, before all behind it.
        """
        replies: list[dict[str, Any]] = []
        together: list[Mapping[str, Any]] = []
        for message in messages:
            if self._runs_alone(message):
                replies += await self._gather(together)
                replies.append(await self.adispatch(message))
                together = []
            else:
                together.append(message)
        return replies + await self._gather(together)

    async def converse(
        self,
        chat: Chat,
        prompt: str,
        *,
        max_turns: int = 10,
        on_result: Callable[[dict[str, Any]], None] | None = None,
        on_message: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> Transcript:
        """Talk with a chat until its turn ends, answering the messages it addresses to recipients.

        See `registry.conversation.converse`.
        """
        from registry.conversation import converse

        return await converse(
            self, chat, prompt, max_turns=max_turns, on_result=on_result, on_message=on_message
        )

    async def aclose(self) -> None:
        """Close what was opened. The dispatcher can be used again."""
        openings, self._openings, self._home = self._openings, None, None
        if openings is not None:
            await openings.close()

    async def __aenter__(self) -> Self:
        self._home = asyncio.get_running_loop()
        self._openings = Openings()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        self._thread = LoopThread()
        self._thread.run(self.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._thread is not None:
            self._thread.run(self.aclose())
            self._thread.stop()
            self._thread = None

    def _slot(self, name: str) -> Slot:
        try:
            entry = self._recipients[name]
        except NoSuchRecipient:
            raise
        except KeyError:
            raise NoSuchRecipient(name, close(name, self._recipients)) from None
        slot = self._slots.get(name)
        if slot is None or slot.entry is not entry:
            slot = self._slots[name] = Slot.of(name, entry, self._timeout, self._max_output)
        return slot

    async def _call(self, slot: Slot, call: Call, message: Mapping[str, Any]) -> Outcome:
        """Bind the arguments, ask for approval, and call."""
        arguments = bound(slot, call)
        if self._approve is not None:
            await self._ask(call, arguments)
        doing = self._doing(slot, call, message, arguments)
        return await (doing if slot.timeout is None else within(slot.timeout, doing))

    def _doing(
        self, slot: Slot, call: Call, message: Mapping[str, Any], arguments: dict[str, Any] | None
    ) -> Coroutine[Any, Any, Outcome]:
        if slot.opens:
            return self._opened(slot, call, message, arguments)
        return work(slot, slot.instance, call, message, arguments)

    async def _opened(
        self, slot: Slot, call: Call, message: Mapping[str, Any], arguments: dict[str, Any] | None
    ) -> Outcome:
        openings = self._openings
        if openings is not None and self._home is asyncio.get_running_loop():
            async with openings.use(slot) as recipient:
                return await work(slot, recipient, call, message, arguments)
        recipient = slot.make()
        async with recipient:
            return await work(slot, recipient, call, message, arguments)

    async def _ask(self, call: Call, arguments: dict[str, Any] | None) -> None:
        assert self._approve is not None  # noqa: S101 - checked by the caller
        shown = call if arguments is None else Call(call.recipient, arguments, None, call.id)
        answer = self._approve(shown)
        if inspect.isawaitable(answer):
            answer = await answer
        if answer is not True:
            raise RefusedError(answer if isinstance(answer, str) else "")

    def _runs_alone(self, message: Mapping[str, Any]) -> bool:
        with contextlib.suppress(Exception):  # the call itself says what is wrong
            return not self._slot(message["recipient"]).parallel
        return False

    async def _gather(self, messages: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
        if len(messages) < 2:
            return [await self.adispatch(message) for message in messages]
        return list(await asyncio.gather(*map(self.adispatch, messages)))


def _call_in(message: Any) -> Call:
    """Return what a faulty message has of a call: its name and id, which the reply repeats."""
    if not isinstance(message, Mapping):
        return Call("dispatcher")
    name, call_id = message.get("recipient"), message.get("id")
    shown_name = name[:_LONGEST_NAME] if isinstance(name, str) and name else "dispatcher"
    return Call(shown_name, id=call_id if isinstance(call_id, str) else None)


def _ends_more(error: BaseException) -> bool:
    """Tell whether an exception ends more than one call: the caller was cancelled, or the program is ended.

    A cancellation without that is the recipient's own: it awaited what was cancelled.
    """
    if isinstance(error, BaseExceptionGroup):
        return any(map(_ends_more, error.exceptions))
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    return isinstance(error, (KeyboardInterrupt, GeneratorExit))


def _explain(error: BaseException, slot: Slot | None) -> None:
    """Log the traceback of an unexpected error, for the programmer: at level DEBUG, without secrets."""
    if _LOG.isEnabledFor(logging.DEBUG) and not isinstance(error, _EXPLAINED):
        text = "".join(traceback.format_exception(error))
        _LOG.debug("%s", text if slot is None else hide(text, slot.variables))


def _record(answer: dict[str, Any], seconds: float) -> None:
    """Log one call: who, how it ended and how long it took, but nothing of what was said."""
    metadata, name = answer["metadata"], answer["author"]["name"]
    facts = {
        "recipient": name,
        "call_id": metadata.get("call_id"),
        "status": metadata["status"],
        "seconds": seconds,
        "characters": sum(len(part) for part in answer["content"]["parts"] if isinstance(part, str)),
    }
    level = logging.INFO if metadata["status"] == "ok" else logging.WARNING
    _LOG.log(level, "%s: %s in %.3f s", name, metadata["status"], seconds, extra=facts)
