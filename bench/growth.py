"""How time grows with size: recipients, arguments, the text of a template. Draws ``docs/growth.svg``.

On axes that are both logarithmic, time in proportion to size is a line of slope 1.
"""

from __future__ import annotations

import math
import pathlib
from typing import TYPE_CHECKING, Any

import registry
from bench.data import recipients
from bench.measure import interleaved
from registry import Template

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLOT = pathlib.Path(__file__).parent.parent / "docs" / "growth.svg"
_ARGUMENTS = (
    "version = 1\n[recipients.many]\n"
    'kind = "command"\ndescription = "Take many arguments."\nargv = ["true"]\n[recipients.many.parameters]\n'
)


def arguments(number: int) -> str:
    """Return a registry of one recipient with so many arguments."""
    return _ARGUMENTS + "".join(f'a{n} = {{ type = "integer", minimum = 0 }}\n' for n in range(number))


def template(number: int) -> str:
    """Return a template of so many placeholders, with literal braces between them."""
    return "".join(f'Say {{v{n}}} and {{"json": {n}}}.\n' for n in range(number))


def series() -> dict[str, tuple[str, dict[int, Callable[[], Any]]]]:
    """Return what grows: a name, what is counted, and one case for each size."""
    files = {size: recipients(size) for size in (10, 30, 100, 300, 1_000, 3_000, 10_000)}
    schemas = {size: arguments(size) for size in (10, 30, 100, 300, 1_000, 3_000)}
    bound = {size: registry.loads(text)["many"].bind_arguments for size, text in schemas.items()}
    calls = {size: {f"a{n}": n for n in range(size)} for size in schemas}
    texts = {size: template(size) for size in (10, 100, 1_000, 10_000)}
    parsed = {size: (Template(text), {f"v{n}": n for n in range(size)}) for size, text in texts.items()}
    return {
        "load a registry": ("recipients", {n: lambda t=t: registry.loads(t) for n, t in files.items()}),
        "load one recipient": ("arguments", {n: lambda t=t: registry.loads(t) for n, t in schemas.items()}),
        "bind a call": ("arguments", {n: lambda b=b, n=n: b(calls[n]) for n, b in bound.items()}),
        "parse a template": ("placeholders", {n: lambda t=t: Template(t) for n, t in texts.items()}),
        "render a template": ("placeholders", {n: lambda p=p: p[0].render(p[1]) for n, p in parsed.items()}),
    }


def slope(times: Mapping[int, float]) -> float:
    """Return the exponent of growth over the upper half of the sizes: 1 is in proportion."""
    points = [(math.log(size), math.log(seconds)) for size, seconds in sorted(times.items())]
    points = points[len(points) // 2 - 1 :]
    x, y = (sum(axis) / len(points) for axis in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def draw(found: Mapping[str, tuple[str, Mapping[int, float]]]) -> None:
    """Draw all series into one picture that is the same for the same times."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none"})
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for name, (unit, times) in found.items():
        label = f"{name}, by {unit}: slope {slope(times):.2f}"
        axes.loglog(list(times), [seconds * 1e3 for seconds in times.values()], marker="o", label=label)
    axes.loglog((10, 10_000), (1e-3, 1), linestyle=":", color="grey", label="in proportion: slope 1")
    axes.set(xlabel="size", ylabel="milliseconds", title="Time grows in proportion to size")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(PLOT, metadata={"Date": None, "Creator": None})


def run() -> None:
    found = {}
    print("\n### Growth\n\n| | by | slope | times |\n|---|---|---|---|")
    for name, (unit, cases) in series().items():
        medians = interleaved({str(size): case for size, case in cases.items()}, rounds=5)
        times = {int(size): seconds for size, seconds in medians.items()}
        found[name] = (unit, times)
        shown = ", ".join(f"{size:,}: {seconds * 1e3:.3g} ms" for size, seconds in times.items())
        print(f"| {name} | {unit} | {slope(times):.2f} | {shown} |", flush=True)
    try:
        draw(found)
    except ImportError as error:
        print(f"no plot is drawn: {error}")
