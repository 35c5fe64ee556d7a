"""Awaits a coroutine for a limited time, at next to no cost where it does not wait.

`asyncio.timeout` arms a timer for every call. Here the first step is taken at once, and the timer is armed
only when the coroutine waits for something. All steps are the caller's own task's, as with a plain ``await``.
"""

from __future__ import annotations

import asyncio
import contextlib
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator

#: Seconds that a cancelled coroutine has to clean up before it is left behind.
GRACE = 5.0


class TimeIsUpError(Exception):
    """The time is up, and the coroutine was cancelled."""


@types.coroutine
def within(seconds: float, coroutine: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Await a coroutine for so many seconds at most, then cancel it.

    A cancellation from outside passes through. A coroutine that ends by itself after it was cancelled for its
    time has its result taken.

    Raises:
        TimeIsUpError: it did not end in time.
    """
    try:
        waits_for = coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    return (yield from _Timed(coroutine, seconds).steps(waits_for))


class _Timed:
    """The steps of a coroutine that waits, and the timer that cancels it."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], seconds: float) -> None:
        self._coroutine = coroutine
        self._loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - only tasks are stepped by a loop
        self._task = task
        self._cancelling = task.cancelling()
        self._cancels = 0
        self._timer = self._loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        self._cancels += 1
        self._timer = self._loop.call_later(GRACE, self._expire)
        self._task.cancel()

    def steps(self, waits_for: Any) -> Generator[Any, Any, Any]:
        coroutine = self._coroutine
        try:
            while True:
                try:
                    sent = yield waits_for
                except GeneratorExit:
                    coroutine.close()
                    raise
                except BaseException as error:  # noqa: BLE001 - thrown by the loop, for the coroutine to handle
                    if self._cancels > 1:  # it does not react to being cancelled
                        self._leave()
                    waits_for = coroutine.throw(error)
                else:
                    waits_for = coroutine.send(sent)
        except StopIteration as stop:
            self._take_back()
            return stop.value
        except BaseException:
            if self._take_back():
                raise TimeIsUpError from None
            raise
        finally:
            self._timer.cancel()

    def _leave(self) -> None:
        with contextlib.suppress(RuntimeError):  # it does not even let itself be closed
            self._coroutine.close()
        raise asyncio.CancelledError

    def _take_back(self) -> bool:
        """Undo this timer's cancellations of the task; tell whether they were the only ones."""
        left = self._task.cancelling()
        for _ in range(self._cancels):
            left = self._task.uncancel()
        return self._cancels > 0 and left <= self._cancelling
