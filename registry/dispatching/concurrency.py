"""How many calls run at a time."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
import weakref
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine
    from typing import Any

    from registry.dispatching.slots import Slot


#: The calls that the present code is inside of, one made from the other: the gates each passed, and its name.
_INSIDE: contextvars.ContextVar[tuple[tuple[Gates, str], ...]] = contextvars.ContextVar(
    "registry_calls", default=()
)


@attrs.define(eq=False)
class _LoopGates:
    """The gates of one event loop: locks and semaphores belong to one."""

    #: By how many calls a call is made inside of.
    all: dict[int, asyncio.Semaphore] = attrs.field(factory=dict)
    of: dict[str, asyncio.Lock] = attrs.field(factory=dict)


class Gates:
    """Lets at most so many calls pass at a time, and one at a time for a recipient that is not parallel."""

    def __init__(self, most: int | None) -> None:
        if most is not None and most < 1:
            raise ValueError(f"max_concurrency must be at least 1, not {most}")
        #: None is no limit.
        self.most = most
        self._loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopGates] = (
            weakref.WeakKeyDictionary()
        )

    @contextlib.asynccontextmanager
    async def passed(self, slot: Slot) -> AsyncIterator[None]:
        """Wait for a turn, first of the recipient's own, and hold it.

        A call made from inside another never waits for that one, which waits for it: it needs no second turn
        of the same recipient, and such calls are counted apart, those inside them again.
        """
        gates, inside = self._of_loop(), _INSIDE.get()
        outer = [name for passed, name in inside if passed is self]
        async with contextlib.AsyncExitStack() as held:
            if not slot.parallel and slot.name not in outer:
                await held.enter_async_context(gates.of.setdefault(slot.name, asyncio.Lock()))
            if self.most is not None:
                turns = gates.all.setdefault(len(outer), asyncio.Semaphore(self.most))
                await held.enter_async_context(turns)
            token = _INSIDE.set((*inside, (self, slot.name)))
            try:
                yield
            finally:
                with contextlib.suppress(ValueError):  # closed from elsewhere, at the end of the program
                    _INSIDE.reset(token)

    def _of_loop(self) -> _LoopGates:
        loop = asyncio.get_running_loop()
        gates = self._loops.get(loop)
        if gates is None:
            gates = self._loops[loop] = _LoopGates()
        return gates


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs in this thread, if one does."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class LoopThread:
    """An event loop in a thread of its own, for code that is not async."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="registry-loop", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the loop and wait for it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def stop(self) -> None:
        """End the loop and the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
