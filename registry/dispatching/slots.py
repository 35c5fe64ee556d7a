"""What a dispatcher keeps for each recipient: an instance, its limits, and its opened resources."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from registry.arguments import binder
from registry.kinds.declared import Declared
from registry.recipient import Recipient
from registry.redaction import hide, variables_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from registry.manager import Entry
    from registry.messages import Outcome

_LOG = logging.getLogger("registry.dispatch")
#: Seconds that a recipient which keeps its limits itself gets beyond them.
_MARGIN = 1.0


Limit = TypeVar("Limit", int, float)


def _smaller(one: Limit | None, other: Limit | None) -> Limit | None:
    """Return the smaller of two limits; None is no limit."""
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)


def _is_inherited(kind: type[Recipient]) -> bool:
    own: Any = kind.bind_arguments
    base: Any = Recipient.bind_arguments
    return own.__func__ is base.__func__


@attrs.define(eq=False)
class Slot:
    """One registered recipient, ready to be called."""

    name: str
    entry: Entry
    #: Binds arguments and is called, except where `opens`.
    instance: Recipient
    #: Seconds; None is no limit.
    timeout: float | None
    #: Bytes of reply text; None is no limit.
    max_output: int | None
    declared: bool
    #: Whether calls may run beside others.
    parallel: bool
    #: Whether the class has something to open and close: made and opened by the dispatcher.
    opens: bool
    #: Environment variables whose values are kept out of replies.
    variables: frozenset[str]
    #: Binds arguments without a detour, once it is known that the recipient adds nothing to it.
    bind: Callable[[Any], dict[str, Any]] | None = None
    #: The call itself where nothing else is needed for it: neither opening nor a turn.
    acall: Callable[[dict[str, Any] | None], Coroutine[Any, Any, Outcome]] | None = None

    @classmethod
    def of(cls, name: str, entry: Entry, timeout: float | None, max_output: int | None) -> Slot:
        """Make a slot for a class or an instance, under a dispatcher's limits: the smaller ones count."""
        kind = entry if isinstance(entry, type) else type(entry)
        if not issubclass(kind, Recipient):
            raise TypeError(f"{name!r} is registered but no recipient: it is a {kind.__name__}")
        spec = kind.SPEC
        instance = entry() if isinstance(entry, type) else entry  # a class does no I/O when it is called
        seconds, size = (None, None) if spec is None else (spec.timeout, spec.max_output)
        if (
            issubclass(kind, Declared) and kind.KEEPS_LIMITS
        ):  # it can tell more than that it was stopped, or cut
            seconds, size = None if seconds is None else seconds + _MARGIN, None
        declared, parallel = isinstance(instance, Declared), spec is None or spec.parallel
        opens = isinstance(entry, type) and kind.__aenter__ is not Recipient.__aenter__
        return cls(
            name=name,
            entry=entry,
            instance=instance,
            timeout=_smaller(timeout, seconds),
            max_output=_smaller(max_output, size),
            declared=declared,
            parallel=parallel,
            opens=opens,
            variables=variables_of(kind),
            acall=instance.acall if declared and parallel and not opens else None,  # type: ignore[attr-defined]
        )

    def learn(self) -> None:
        """Make the binder of a declared recipient, unless its kind binds in its own way."""
        kind: Any = type(self.instance)
        if self.declared and kind.arguments_of is Declared.arguments_of and _is_inherited(kind):
            self.bind = binder(kind.INPUT_SCHEMA, nulls=True)

    def make(self) -> Recipient:
        """Make another instance."""
        return self.entry() if isinstance(self.entry, type) else self.entry


@attrs.define(eq=False)
class _Kept:
    """An opened recipient: one task opens and closes it, as some resources demand."""

    slot: Slot
    stop: asyncio.Event = attrs.field(factory=asyncio.Event)
    ready: asyncio.Future[Recipient] = attrs.field(factory=lambda: asyncio.get_running_loop().create_future())
    task: asyncio.Task[None] | None = None
    calls: int = 0

    async def live(self) -> None:
        """Open the recipient, hold it until it is stopped, and close it."""
        try:
            recipient = self.slot.make()
            async with recipient:
                self.ready.set_result(recipient)
                await self.stop.wait()
        except (asyncio.CancelledError, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - it belongs to those who wait; or there is nobody left
            if self.ready.done():
                text = hide(f"{type(error).__name__}: {error}", self.slot.variables)
                _LOG.warning("closing %s failed: %s", self.slot.name, text)
            else:
                self.ready.set_exception(error)
                self.ready.exception()  # nobody may be waiting any more: that is no fault
        finally:
            self.ready.cancel()

    @property
    def failed(self) -> bool:
        """Whether it could not be opened."""
        return self.ready.done() and (self.ready.cancelled() or self.ready.exception() is not None)


@attrs.define(eq=False)
class Openings:
    """The opened recipients of one event loop."""

    _kept: dict[str, _Kept] = attrs.field(factory=dict, init=False)
    _retired: list[_Kept] = attrs.field(factory=list, init=False)

    @contextlib.asynccontextmanager
    async def use(self, slot: Slot) -> AsyncIterator[Recipient]:
        """Give the opened recipient of a slot; it is opened at first use and stays open."""
        kept = self._kept.get(slot.name)
        if kept is None or kept.slot is not slot:
            self._retire(kept)
            kept = self._kept[slot.name] = _Kept(slot)
            kept.task = asyncio.create_task(kept.live())
        kept.calls += 1
        try:
            yield await asyncio.shield(kept.ready)
        finally:
            kept.calls -= 1
            if kept.failed and self._kept.get(slot.name) is kept:
                del self._kept[slot.name]  # the next call tries again
            if kept in self._retired and not kept.calls:
                kept.stop.set()

    def _retire(self, kept: _Kept | None) -> None:
        """Let go of a recipient that another has taken the place of, once its calls have ended."""
        self._retired = [old for old in self._retired if not old.stop.is_set()]
        if kept is not None:
            self._retired.append(kept)
            if not kept.calls:
                kept.stop.set()

    async def close(self) -> None:
        """Close all, whatever one of them does."""
        everything = [*self._kept.values(), *self._retired]
        self._kept.clear()
        self._retired.clear()
        for kept in everything:
            kept.stop.set()
        tasks: list[Any] = [kept.task for kept in everything if kept.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
