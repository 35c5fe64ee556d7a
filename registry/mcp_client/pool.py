"""The thread in which all connections live, so that calls from any thread and any event loop share them."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import threading
from typing import TYPE_CHECKING, Any

from registry.mcp_client.link import Link

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from registry.mcp_client.target import Target

#: Seconds that closing all connections may take.
_FAREWELL = 10.0


class Pool:
    """One thread with an event loop, started at first use, and the connections that live on it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._links: dict[Target, Link] = {}

    async def submit(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the pool's loop; cancelling this cancels it there."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._running_loop()))

    def link(self, target: Target) -> Link:
        """Return the connection to a server, a new one if there is none alive. On the pool's loop only."""
        link = self._links.get(target)
        if link is None or link.dead:
            link = self._links[target] = Link(target)
        return link

    def close(self) -> None:
        """Close all connections and end the thread; it starts again when it is needed."""
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
        if loop is None or thread is None:
            return
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._close_links(), loop).result(_FAREWELL)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    async def _close_links(self) -> None:
        links = list(self._links.values())
        self._links.clear()
        for link in links:
            link.close()
        await asyncio.gather(*(link.task for link in links), return_exceptions=True)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                # What servers print where messages are expected is noise to whoever runs this program.
                logging.getLogger("mcp").addHandler(logging.NullHandler())
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), daemon=True, name="mcp servers"
                )
                self._thread.start()
            return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


POOL = Pool()
atexit.register(POOL.close)
