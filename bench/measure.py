"""How everything here is measured: interleaved rounds, medians, ratios to a floor."""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@attrs.frozen
class Row:
    """One case: its median and its ratio to the case that is the floor."""

    name: str
    seconds: float
    ratio: float
    bar: str = ""


def interleaved(
    cases: Mapping[str, Callable[[], Any]], *, rounds: int = 15, least: float = 0.01
) -> dict[str, float]:
    """Return the median seconds of one call of each case; cases take turns so that noise hits all alike."""
    loops = {name: _loops(case, least) for name, case in cases.items()}
    found: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds):
        order = list(cases.items())
        for name, case in order if number % 2 else reversed(order):
            gc.collect()
            start = time.perf_counter()
            for _ in range(loops[name]):
                case()
            found[name].append((time.perf_counter() - start) / loops[name])
    return {name: statistics.median(times) for name, times in found.items()}


def _loops(case: Callable[[], Any], least: float) -> int:
    case()
    loops = 1
    while True:
        start = time.perf_counter()
        for _ in range(loops):
            case()
        spent = time.perf_counter() - start
        if spent >= least:
            return loops
        loops = max(loops * 2, int(loops * least / spent) if spent else loops * 2)


def processes(cases: Mapping[str, list[str]], *, rounds: int = 9) -> dict[str, float]:
    """Return the median wall seconds of whole processes, taking turns."""
    found: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, command in cases.items():
            start = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            found[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in found.items()}


def rows(medians: Mapping[str, float], floor: str, bars: Mapping[str, str] | None = None) -> list[Row]:
    """Turn medians into rows with ratios to the floor."""
    base = medians[floor]
    return [Row(name, value, value / base, (bars or {}).get(name, "")) for name, value in medians.items()]


def show(title: str, found: list[Row]) -> None:
    """Print a table in Markdown."""
    print(f"\n### {title}\n\n| case | time | ratio | bar |\n|---|---|---|---|")
    for row in found:
        print(f"| {row.name} | {_text(row.seconds)} | {row.ratio:.2f} | {row.bar} |")
    sys.stdout.flush()


def _text(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
