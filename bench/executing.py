"""Running a line of Python: each backend that works here, one-shot and stateful."""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import TYPE_CHECKING, Any

from bench.measure import Row, show
from registry import Dispatcher, loads
from registry.execution import probe_all

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = """
version = 1
[recipients.once]
kind = "python"
description = "One shot."
backend = "{backend}"
[recipients.kept]
kind = "python"
description = "Stateful."
backend = "{backend}"
stateful = true
"""
MESSAGE = "sum(i * i for i in range(10))"
BARS = {"subprocess, one shot": "<= 150 ms", "subprocess, stateful": "<= 5 ms", "monty, one shot": "<= 5 ms"}


async def _calls(recipients: Mapping[str, Any], name: str, times: int) -> list[float]:
    found = []
    async with Dispatcher(recipients) as dispatcher:
        for number in range(times + 1):
            start = time.perf_counter()
            reply = await dispatcher.adispatch({"recipient": name, "message": MESSAGE})
            spent = time.perf_counter() - start
            if reply["metadata"]["status"] != "ok":
                print(f"{name}: {reply['content']['parts'][0]}")
                return []
            if number:  # the first call also starts the worker
                found.append(spent)
    return found


def _langchain() -> list[float]:
    try:
        from langchain_experimental.utilities import PythonREPL
    except ImportError:
        print("langchain-experimental is not installed")
        return []
    repl = PythonREPL()
    found = []
    for _ in range(15):
        start = time.perf_counter()
        repl.run(f"print({MESSAGE})", timeout=10)
        found.append(time.perf_counter() - start)
    return found


def run() -> None:
    found: dict[str, list[float]] = {}
    for backend, (ok, reason) in probe_all().items():
        if backend == "tio" or not ok:
            print(f"{backend}: {reason}")
            continue
        recipients = loads(FILE.format(backend=backend))
        found[f"{backend}, one shot"] = asyncio.run(
            _calls(recipients, "once", 5 if backend == "jupyter" else 15)
        )
        found[f"{backend}, stateful"] = asyncio.run(_calls(recipients, "kept", 50))
    found["langchain PythonREPL"] = _langchain()
    medians = {name: statistics.median(times) for name, times in found.items() if times}
    base = next(iter(medians.values()))
    show("Run Python code (p50)", [Row(n, s, s / base, BARS.get(n, "")) for n, s in medians.items()])
