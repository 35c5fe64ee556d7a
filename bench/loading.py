"""Loading: the whole line beside the parser it stands on."""

from __future__ import annotations

import sys

import tomli

import registry
from bench.data import recipients
from bench.measure import interleaved, processes, rows, show


def run() -> None:
    for number in (10, 100, 1_000):
        text = recipients(number)
        cases = {
            "tomli.loads": lambda text=text: tomli.loads(text),
            "registry.loads": lambda text=text: registry.loads(text),
        }
        medians = interleaved(cases, rounds=9)
        title = f"Load {number} recipients, in process"
        show(title, rows(medians, "tomli.loads", {"registry.loads": "<= 1.6" if number == 1_000 else ""}))
    medians = processes(
        {
            "python -c pass": [sys.executable, "-c", "pass"],
            "import registry": [sys.executable, "-c", "import registry"],
            "from registry import load": [sys.executable, "-c", "from registry import load"],
            "from registry import Recipient": [sys.executable, "-c", "from registry import Recipient"],
        },
        rounds=15,
    )
    bare = medians["python -c pass"]
    bars = {"import registry": f"{(medians['import registry'] - bare) * 1e3:.0f} ms over bare (<= 60)"}
    show("Import", rows(medians, "python -c pass", bars))
