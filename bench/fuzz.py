"""A long run of random and damaged documents: ``python -m bench fuzz``; BENCH_DOCUMENTS says how many.

No document may bring an undeclared exception, or a position outside its text.
"""

from __future__ import annotations

import os
import pathlib
import random
import time
from typing import TYPE_CHECKING

from registry.loading.loader import checks

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNS = [
    *"[]{}=.,#\"'\\\n\t 0aé😀-_:!$/",
    *("'''", '"""', "[[", "]]", "{#if ", "{/if}", "${", "inf", "1979-05-27"),
]


def documents(number: int, seed: int = 1) -> Iterator[str]:
    """Yield damaged copies of this repository's own files and of a generated one, and random texts."""
    from bench.data import recipients

    draw = random.Random(seed)
    root = pathlib.Path(__file__).parent.parent
    good = [
        path.read_text("utf-8")
        for path in (root / "recipients.toml", *sorted((root / "prompts").glob("*.toml")))
    ]
    good.append(recipients(2))
    for _ in range(number):
        text = draw.choice(good) if draw.random() < 0.8 else ""
        for _ in range(draw.randint(1, 8)):
            start = draw.randint(0, len(text))
            insert = "".join(draw.choices(_SIGNS, k=draw.randint(0, 5)))
            text = text[:start] + insert + text[start + draw.randint(0, 12) :]
        yield text


def run() -> None:
    number = int(os.environ.get("BENCH_DOCUMENTS", "10000"))
    start, found = time.perf_counter(), 0
    for text in documents(number):
        lines = text.replace("\r\n", "\n").split("\n")
        for item in checks(text).diagnostics:
            found += 1
            assert 1 <= item.line <= len(lines), (text, item)
            assert 1 <= item.column <= len(lines[item.line - 1]) + 1, (text, item)
    print(
        f"\n{number} documents, {found} diagnostics, {time.perf_counter() - start:.0f} s, nothing undeclared"
    )
