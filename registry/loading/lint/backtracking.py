"""Which patterns take exponential time in a backtracking engine.

They are those that can go round in a circle on the same text in two ways. The pattern becomes an automaton
whose states are its characters; two copies of it are walked at once, on the same text: where they can part
and meet again in a circle, every turn doubles the ways.
"""

from __future__ import annotations

import collections
import functools
import itertools
import re
from typing import TYPE_CHECKING, TypeVar

import attrs

from registry.loading.lint.regex import Atom, Chain, Choice, NotReadError, parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.loading.lint.regex import Chars, Node, Repeat

    #: Pairs of states that may follow each other, each with the number of ways.
    Edges = collections.Counter[tuple[int, int]]
    #: States, each with the number of ways that lead to it.
    Ways = collections.Counter[int]

#: Only a repeated group can go round in two ways.
_REPEATED_GROUP = re.compile(r"\)[*+{]")
#: A repetition with so high a limit is as bad as one without.
_MANY = 10
#: Larger automata are not examined; the time grows with the square of the size.
_MOST_STATES = 120
#: Bounds of the walk on two copies at once; beyond them nothing is said about a pattern.
_MOST_STEPS = 20_000
_MOST_PAIRS = 400

State = TypeVar("State")


@functools.lru_cache(maxsize=1024)
def is_exponential(pattern: str) -> bool:
    """Say whether a backtracking engine may take exponential time for a pattern."""
    if not _REPEATED_GROUP.search(pattern):
        return False
    try:
        automaton = _Automaton()
        automaton.add(parse(pattern))
    except NotReadError:
        return False
    return _is_ambiguous(automaton.chars, automaton.edges)


@attrs.define
class _Part:
    """How a part of the pattern is entered and left, and in how many ways it matches nothing."""

    first: Ways
    last: Ways
    empty: int


@attrs.define
class _Automaton:
    chars: list[Chars] = attrs.field(factory=list)
    edges: Edges = attrs.field(factory=collections.Counter)

    def add(self, node: Node) -> _Part:
        """Add the states of a part of the pattern."""
        if isinstance(node, Atom):
            return self._atom(node)
        if isinstance(node, Chain):
            return functools.reduce(self._joined, map(self.add, node.parts), _nothing())
        if isinstance(node, Choice):
            parts = [self.add(part) for part in node.parts]
            return _Part(
                sum((part.first for part in parts), collections.Counter[int]()),
                sum((part.last for part in parts), collections.Counter[int]()),
                min(1, sum(part.empty for part in parts)),
            )
        return self._repeat(node)

    def _repeat(self, node: Repeat) -> _Part:
        most = 2 if node.most == node.least >= _MANY else node.most
        if most is None or most >= _MANY:
            part = self.add(node.part)
            self._connect(part.last, part.first)
            return _Part(part.first, part.last, 1 if node.least == 0 else part.empty)
        copies = [self.add(node.part) for _ in range(most)]
        for before, after in itertools.pairwise(copies):
            self._connect(before.last, after.first)
        if not copies:
            return _nothing()
        ends = copies[max(min(node.least, most), 1) - 1 :]
        last = sum((part.last for part in ends), collections.Counter[int]())
        return _Part(copies[0].first, last, 1 if node.least == 0 else copies[0].empty)

    def _atom(self, node: Atom) -> _Part:
        if len(self.chars) >= _MOST_STATES:
            raise NotReadError
        self.chars.append(node.chars)
        state = collections.Counter({len(self.chars) - 1: 1})
        return _Part(state, state, 0)

    def _joined(self, before: _Part, after: _Part) -> _Part:
        self._connect(before.last, after.first)
        first = before.first + after.first if before.empty else before.first
        last = before.last + after.last if after.empty else after.last
        return _Part(first, last, min(before.empty, after.empty))

    def _connect(self, last: Ways, first: Ways) -> None:
        for a, ways_a in last.items():
            for b, ways_b in first.items():
                self.edges[a, b] = min(2, self.edges[a, b] + ways_a * ways_b)


def _nothing() -> _Part:
    return _Part(collections.Counter[int](), collections.Counter[int](), 1)


def _is_ambiguous(chars: list[Chars], edges: Edges) -> bool:
    """Say whether some state can be reached from itself on one text in two ways."""
    after: dict[int, list[int]] = collections.defaultdict(list)
    for a, b in edges:
        after[a].append(b)
    reach = [_reached(state, after.__getitem__) for state in range(len(chars))]
    if any(ways > 1 and a in reach[b] for (a, b), ways in edges.items()):
        return True
    steps = itertools.count()

    def pairs(pair: tuple[int, int]) -> list[tuple[int, int]]:
        if next(steps) > _MOST_STEPS:
            return []
        left, right = pair
        return [
            (a, b)
            for a in after[left]
            for b in after[right]
            if chars[a] & chars[b] and left in reach[a] and right in reach[b]
        ]

    for state in range(len(chars)):
        if state in reach[state]:
            start = (state, state)
            apart = [pair for pair in _reached(start, pairs) if pair[0] != pair[1]]
            if any(start in _reached(pair, pairs) for pair in apart[:_MOST_PAIRS]):
                return True
    return False


def _reached(start: State, after: Callable[[State], list[State]]) -> set[State]:
    """Return what can be reached from a state in one step or more."""
    seen: set[State] = set()
    pending = [start]
    while pending:
        found = set(after(pending.pop())) - seen
        seen |= found
        pending += found
    return seen
