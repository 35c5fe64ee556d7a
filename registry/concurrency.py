"""How many calls run at a time."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import weakref
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine
    from typing import Any

    from registry.slots import Slot


@attrs.define(eq=False)
class _LoopGates:
    """The gates of one event loop: locks and semaphores belong to one."""

    all: asyncio.Semaphore | None
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
        """Wait for a turn, first of the recipient's own, and hold it."""
        gates = self._of_loop()
        async with contextlib.AsyncExitStack() as held:
            if not slot.parallel:
                await held.enter_async_context(gates.of.setdefault(slot.name, asyncio.Lock()))
            if gates.all is not None:
                await held.enter_async_context(gates.all)
            yield

    def _of_loop(self) -> _LoopGates:
        loop = asyncio.get_running_loop()
        gates = self._loops.get(loop)
        if gates is None:
            limit = None if self.most is None else asyncio.Semaphore(self.most)
            gates = self._loops[loop] = _LoopGates(limit)
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
