"""When to ask a provider again, and how long to wait before that."""

from __future__ import annotations

import email.utils
import random
import time
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

#: Timeouts, conflicts of locks, too many requests; and 5xx, which are the server's own.
_AGAIN = frozenset({408, 409, 425, 429})


async def _sleep(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)


@attrs.frozen
class Retry:
    """How often a request is made, and how long to wait in between.

    The wait doubles each time, less up to a quarter by chance so that clients do not come back together. A
    server's ``Retry-After`` is honoured; where it is longer than ``longest``, the request is given up.
    """

    #: How often a request is made at most, the first time included.
    attempts: int = 4
    #: Seconds before the second attempt.
    first: float = 0.5
    #: Seconds that one wait may take.
    longest: float = 60.0
    sleep: Callable[[float], Awaitable[None]] = attrs.field(default=_sleep, repr=False)
    #: The time in seconds since 1970, to which dates in ``Retry-After`` are compared.
    now: Callable[[], float] = attrs.field(default=time.time, repr=False)
    chance: Callable[[], float] = attrs.field(default=random.random, repr=False)

    def seconds(self, attempt: int, status: int | None, headers: Mapping[str, str]) -> float | None:
        """Return how long to wait after a failed attempt (1 is the first); None gives up.

        ``status`` is None where there was no answer at all.
        """
        if attempt >= self.attempts or not (status is None or status in _AGAIN or status >= 500):
            return None
        asked = self._asked(headers)
        if asked is not None:
            return asked if asked <= self.longest else None
        return min(self.first * 2.0 ** (attempt - 1), self.longest) * (1 - self.chance() / 4)

    def _asked(self, headers: Mapping[str, str]) -> float | None:
        """Return the seconds that a server asks to wait: a number, or until a date."""
        text = headers.get("retry-after", "").strip()
        if text.isascii() and text.replace(".", "", 1).isdigit():
            return float(text)
        try:
            until = email.utils.parsedate_to_datetime(text)
        except (ValueError, TypeError):
            return None
        return max(0.0, until.timestamp() - self.now())
