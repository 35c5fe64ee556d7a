"""Tests of limited time, and of blocking functions beside the event loop."""

import asyncio
import collections
import contextvars
import threading

import pytest

from registry import threads as threads_module
from registry.dispatching import running
from registry.dispatching.running import TimeIsUpError, within
from registry.recipient import run_coroutine
from registry.threads import Threads, in_thread

LONG = 3_600


async def forever():
    """Never end by itself."""
    await asyncio.get_running_loop().create_future()


async def value_of(value):
    return value


async def waiting(value):
    """Wait several times, catch what is thrown at one of them, and return the value."""
    for _ in range(3):
        await asyncio.sleep(0)
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.set_exception, ValueError("x"))
    try:
        await future
    except ValueError:
        return value


def test_a_coroutine_that_does_not_wait_costs_no_timer():
    """What ends at its first step is answered without a timer."""

    async def main():
        loop = asyncio.get_running_loop()
        loop.call_later = None  # a timer would fail
        return await within(LONG, value_of(5))

    assert 5 == asyncio.run(main())


def test_a_coroutine_that_waits_ends_by_itself():
    """What waits in between gives its value, and the task is as it was."""

    async def main():
        return await within(LONG, waiting(7)), asyncio.current_task().cancelling()

    assert (7, 0) == asyncio.run(main())


def test_exceptions_pass_through():
    """An exception is raised as it is, at the first step or later."""

    async def fail_later():
        await asyncio.sleep(0)
        raise KeyError("x")

    async def fail():
        raise KeyError("x")

    for function in (fail, fail_later):
        with pytest.raises(KeyError):
            asyncio.run(within_(LONG, function()))


async def within_(seconds, coroutine):
    return await within(seconds, coroutine)


def test_time_is_up():
    """A coroutine that goes on for too long is cancelled, and the task goes on as if nothing was."""
    cleaned = []

    async def tidy():
        try:
            await forever()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    async def main():
        for coroutine in (forever(), tidy()):
            with pytest.raises(TimeIsUpError):
                await within(0, coroutine)
        await asyncio.sleep(0)
        return asyncio.current_task().cancelling()

    assert 0 == asyncio.run(main())
    assert [True] == cleaned


def test_an_error_made_of_the_cancellation_is_the_time():
    """A coroutine that turns its cancellation into an error of its own ran out of time all the same."""

    async def turned():
        try:
            await forever()
        except asyncio.CancelledError:
            raise ValueError("broken off") from None

    with pytest.raises(TimeIsUpError):
        asyncio.run(within_(0, turned()))


def test_a_late_answer_is_taken():
    """A coroutine that answers after it was cancelled for its time is heard."""

    async def late():
        try:
            await forever()
        except asyncio.CancelledError:
            return "partial"

    async def main():
        return await within(0, late()), asyncio.current_task().cancelling()

    assert ("partial", 0) == asyncio.run(main())


@pytest.mark.parametrize("closes", [True, False])
def test_a_coroutine_that_ignores_being_cancelled_is_left(closes, monkeypatch):
    """After the time for cleaning up the coroutine is left behind, even if it cannot be closed."""
    monkeypatch.setattr(running, "GRACE", 0)
    stubborn = True

    async def ignoring():
        while stubborn:
            try:
                await forever()
            except asyncio.CancelledError:
                pass
            except GeneratorExit:
                if closes:
                    raise

    async def main():
        with pytest.raises(TimeIsUpError):
            await within(0, coroutine)
        return asyncio.current_task().cancelling()

    coroutine = ignoring()
    assert 0 == asyncio.run(main())
    stubborn = False
    coroutine.close()


@pytest.mark.parametrize("seconds", [LONG, 0])
def test_a_cancellation_from_outside_passes_through(seconds):
    """Who cancels the task sees it cancelled, also when its time is up at that moment."""

    async def main():
        task = asyncio.ensure_future(within_(seconds, forever()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return task.cancelled()

    assert asyncio.run(main())


def test_both_cancellations_at_once_pass_the_outer_one_through():
    """A task that is cancelled while it is being stopped for its time is cancelled."""

    async def main():
        async def slow_to_stop():
            try:
                await forever()
            finally:
                task.cancel()
                await forever()

        task = asyncio.ensure_future(within_(0, slow_to_stop()))
        with pytest.raises(asyncio.CancelledError):
            await task
        return task.cancelled()

    assert asyncio.run(main())


def test_a_dropped_coroutine_is_closed():
    """When nobody steps it any more the coroutine inside is closed too."""
    closed = []

    async def main():
        async def tidy():
            try:
                await forever()
            finally:
                closed.append(True)

        outer = within_(LONG, tidy())
        outer.send(None)
        outer.close()

    asyncio.run(main())
    assert [True] == closed


def test_a_blocking_function_does_not_stop_the_loop():
    """The loop goes on while a function blocks: here the function waits for the loop."""

    async def main():
        released = threading.Event()
        task = asyncio.ensure_future(in_thread(released.wait, timeout=60))
        await asyncio.sleep(0)
        released.set()
        return await task

    assert asyncio.run(main())


def test_a_thread_sees_the_callers_context():
    """Context variables are those of the caller; arguments and errors pass."""
    variable = contextvars.ContextVar("variable", default=0)

    def look(value, *, key):
        if key == "bad":
            raise KeyError(value)
        return variable.get(), value, key

    async def main():
        variable.set(5)
        assert (5, 1, "k") == await in_thread(look, 1, key="k")
        with pytest.raises(KeyError):
            await in_thread(look, 1, key="bad")
        with pytest.raises(RuntimeError, match="StopIteration"):
            await in_thread(next, iter(()))
        for kind in (KeyboardInterrupt, GeneratorExit):  # which would end the loop, and all that it serves
            with pytest.raises(RuntimeError, match=kind.__name__):
                await in_thread(raise_now, kind)
        with pytest.raises(SystemExit):
            await in_thread(exit_now)

    def exit_now():
        raise SystemExit(3)

    def raise_now(kind):
        raise kind

    asyncio.run(main())


def test_threads_are_used_again_and_are_limited():
    """No more functions run at a time than allowed; the others wait for their turn, and all are called."""
    threads = Threads(2)
    most, running_now, lock = [], set(), threading.Lock()

    def work(number):
        with lock:
            running_now.add(number)
            most.append(len(running_now))
        with lock:
            running_now.discard(number)
        return threading.current_thread().name, number

    async def main():
        return await asyncio.gather(*(threads.run(work, number) for number in range(50)))

    found = asyncio.run(main())
    assert list(range(50)) == [number for _name, number in found]
    assert max(most) <= 2
    again = asyncio.run(main())
    assert 50 == len(again)


def test_functions_called_from_functions_have_threads_of_their_own(monkeypatch):
    """However many functions wait for others, in loops of their own or not, those are called."""
    monkeypatch.setattr(threads_module, "_THREADS", collections.defaultdict(lambda: Threads(1)))

    def deeper(left):
        return run_coroutine(blocking(left - 1)) + 1 if left else 0

    async def blocking(left):
        return run_coroutine(in_thread(deeper, left))  # a loop is running: in a thread of its own

    async def main():
        return await asyncio.gather(*(in_thread(deeper, 3) for _ in range(5)))

    assert [3] * 5 == asyncio.run(main())


@pytest.mark.parametrize("error", [StopIteration(3), GeneratorExit(), KeyboardInterrupt()])
def test_what_would_end_the_loop_is_an_error_of_the_function(error):
    """What no future takes, or would end the program, is told as an error."""

    def work():
        raise error

    async def main():
        with pytest.raises(RuntimeError, match=type(error).__name__):
            await in_thread(work)

    asyncio.run(main())


def test_a_function_that_never_returns_takes_no_place():
    """A call that was given up makes room for another, before and after its function has started."""
    threads = Threads(1)
    release, started = threading.Event(), threading.Event()
    called = []

    def block():
        started.set()
        release.wait()

    async def main():
        stuck = asyncio.ensure_future(threads.run(block))
        await in_thread(started.wait)
        queued = asyncio.ensure_future(threads.run(called.append, "never"))
        behind = asyncio.ensure_future(threads.run(called.append, "behind"))
        await asyncio.sleep(0)
        for task in (queued, stuck):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await behind
        release.set()
        await threads.run(called.append, "last")

    asyncio.run(main())
    assert ["behind", "last"] == called


def test_a_result_for_a_closed_loop_is_dropped():
    """A function that ends after its loop does so without a word."""
    threads = Threads(1)
    release, ended = threading.Event(), threading.Event()

    def block():
        release.wait()

    async def main():
        task = asyncio.ensure_future(threads.run(block))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    release.set()

    async def after():
        await threads.run(ended.set)

    asyncio.run(after())
    assert ended.is_set()


def test_a_result_after_the_wait_is_dropped():
    """A result that comes when nobody waits any more, but the loop still runs, changes nothing."""
    threads = Threads(1)
    release = threading.Event()

    async def main():
        task = asyncio.ensure_future(threads.run(release.wait))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        release.set()
        await threads.run(int)
        await asyncio.sleep(0)

    asyncio.run(main())


@pytest.mark.parametrize("function", [lambda: 1, lambda: 1 / 0])
def test_a_result_that_comes_too_late_is_dropped(function):
    """The loop that has cancelled a call meanwhile takes neither its value nor its error."""

    async def go():
        loop = asyncio.get_running_loop()
        job = threads_module._Job(function, loop, loop.create_future())
        job.future.cancel()
        job.run()
        await asyncio.sleep(0)
        return job.future.cancelled()

    assert asyncio.run(go())
