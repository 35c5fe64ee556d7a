"""Blocking functions beside the event loop, in daemon threads that nobody has to wait for.

`asyncio.to_thread` has few threads, and a program waits at its end for each: one function that never
returns stops all. Here a call that is cancelled gives its thread up: the function goes on until it ends by
itself, and another thread takes its place.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import contextvars
import functools
import queue
import threading
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

#: How many functions run at a time, those given up not counted. Others wait for their turn.
MAX_THREADS = 64
#: What no future takes, and what would end those who wait: no signal comes to these threads.
_NEVER_PASSED = (StopIteration, GeneratorExit, KeyboardInterrupt)
#: How many functions, one called from the other, the present code is inside of.
_DEPTH: contextvars.ContextVar[int] = contextvars.ContextVar("registry_threads_depth", default=0)


@attrs.define(eq=False)
class _Job:
    """One call of a function; its result goes to a future of the loop that waits for it."""

    function: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    started: bool = False
    given_up: bool = False

    def run(self) -> None:
        value: Any = None
        error: BaseException | None = None
        try:
            value = self.function()
        except _NEVER_PASSED as caught:
            error = RuntimeError(f"the function raised {caught!r}")
        except BaseException as caught:  # noqa: BLE001 - it belongs to whoever waits
            error = caught
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self.loop.call_soon_threadsafe(self._settle, value, error)

    def _settle(self, value: Any, error: BaseException | None) -> None:
        if self.future.done():
            return  # cancelled meanwhile
        if error is None:
            self.future.set_result(value)
        else:
            self.future.set_exception(error)


class Threads:
    """A set of daemon threads that grows to a limit as it is needed."""

    def __init__(self, most: int = MAX_THREADS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        #: One entry for each thread to be started: starting one takes longer than an event loop should wait.
        self._starts: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._starter: threading.Thread | None = None
        self._live = 0
        #: Threads that wait for a job, less the jobs that wait for a thread.
        self._free = 0

    async def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a function in a thread, in the caller's context, and wait for it without blocking the loop."""
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        context.run(_DEPTH.set, _DEPTH.get() + 1)
        work = functools.partial(context.run, function, *args, **kwargs)
        job = _Job(work, loop, loop.create_future())
        self._submit(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            self._give_up(job)
            raise

    def _submit(self, job: _Job) -> None:
        self._jobs.put(job)
        with self._lock:
            self._free -= 1
            self._grow()

    def _grow(self) -> None:
        """Have a thread started where a job waits for one. The lock is held."""
        if self._free < 0 and self._live < self._most:
            self._live += 1
            self._free += 1
            self._starts.put(None)
            if self._starter is None:
                self._starter = threading.Thread(target=self._start, name="registry-starter", daemon=True)
                self._starter.start()

    def _give_up(self, job: _Job) -> None:
        with self._lock:
            job.given_up = True
            if job.started:
                self._live -= 1
                self._grow()

    def _start(self) -> None:
        while True:
            self._starts.get()
            threading.Thread(target=self._work, name="registry-worker", daemon=True).start()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            with self._lock:
                job.started = wanted = not job.given_up
            if wanted:
                job.run()
            with self._lock:
                if job.started and job.given_up:
                    return  # another thread has taken its place
                job.started = False
                self._free += 1


#: Threads by depth.
_THREADS: collections.defaultdict[int, Threads] = collections.defaultdict(Threads)


async def in_thread(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function in a thread, in the caller's context, and wait for it without blocking the loop.

    What such a function calls in turn has other threads: its own may all be taken by those who wait for it.
    """
    return await _THREADS[_DEPTH.get()].run(function, *args, **kwargs)
