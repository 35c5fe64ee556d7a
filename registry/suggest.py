"""Did you mean …? Only names that are really close are suggested; a far-fetched guess is worse than none."""

from __future__ import annotations

import contextlib
import contextvars
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Longer words are not compared: the time grows with the product of the lengths.
_LONGEST = 64
#: Pairs of letters that are compared for all words of one file, which takes a second or two: a file with
#: thousands of misspelt words and thousands of known ones is a joke or an attack, and no guess helps.
MOST_STEPS = 4_000_000
#: What looking at a word costs that is not compared.
_LOOK = 10

_left: contextvars.ContextVar[list[int] | None] = contextvars.ContextVar("steps left", default=None)


@contextlib.contextmanager
def bounded(steps: int = MOST_STEPS) -> Iterator[None]:
    """Limit the work of all guesses that are made inside; when it is used up, nothing more is suggested."""
    token = _left.set([steps])
    try:
        yield
    finally:
        _left.reset(token)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that a misspelt one most likely means; None when none is close."""
    found = close(word, known, 1)
    return found[0] if found else None


def close(word: str, known: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """Return the known words that a misspelt one may mean, nearest first.

    One typing error (a letter too many, missing, wrong, or two swapped) is allowed for every three letters of
    the shorter word; case, ``-`` and ``_`` do not count.
    """
    plain = _plain(word)
    if not plain or len(plain) > _LONGEST:
        return ()
    ranked = []
    left = _left.get() or [MOST_STEPS]
    for name in known:
        left[0] -= _LOOK
        if left[0] < 0:
            return ()
        other = _plain(name)
        limit = min(len(plain), len(other)) // 3
        if plain == other:
            ranked.append((0, name))
        elif abs(len(plain) - len(other)) <= limit and len(other) <= _LONGEST:
            left[0] -= len(plain) * len(other)
            distance = _distance(plain, other)
            if distance <= limit:
                ranked.append((distance, name))
    return tuple(name for _, name in sorted(ranked)[:most])


def _plain(word: str) -> str:
    return word.casefold().replace("-", "").replace("_", "")


def _distance(a: str, b: str) -> int:
    """Count the typing errors between two words (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, other in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and other == a[i - 2]:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
