"""Plain functions become recipients by their declaration alone."""

from __future__ import annotations

import datetime as dt  # noqa: TC003 - arguments are turned into what the annotations name
from typing import Any


def days_between(start: dt.date, end: dt.date) -> int:
    """Return the number of days from one date to another; negative when the second is earlier."""
    return (end - start).days


def word_count(text: str, longest: int = 0) -> dict[str, Any]:
    """Return the numbers of words, lines and characters, and the longest words, longest first."""
    words = text.split()
    ranked = sorted(set(words), key=lambda word: (-len(word), word))
    return {
        "words": len(words),
        "lines": len(text.splitlines()),
        "characters": len(text),
        "longest": ranked[:longest],
    }
