"""Fills in the texts that a call sends: ``{argument}`` as in templates, ``${NAME}`` from the environment.

What is written in the file, what a caller gave and what the environment holds stay apart in the result, so
that each place can encode values as it must: nothing that a caller gives is ever read as syntax.
"""

from __future__ import annotations

import enum
import functools
import itertools
import json
import re
from typing import TYPE_CHECKING, Any

import attrs

from registry.exceptions import RecipientFailed
from registry.secrets import REFERENCE, secret
from registry.template import Each, If, Slot, renamed, scan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry.template.parts import Node

#: Stands for a ``${NAME}`` while the rest is read; noncharacters that no text has.
_MARK = "\ufdd0{}\ufdd1"
_MARKED = re.compile("\ufdd0([A-Za-z0-9_]+)\ufdd1")
#: Turns of all loops of one text.
_MOST_TURNS = 10_000

text_of_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Origin(enum.Enum):
    """Who wrote a piece of a text."""

    FILE = enum.auto()
    CALLER = enum.auto()
    ENVIRONMENT = enum.auto()


@attrs.frozen
class Piece:
    """A part of a filled text and where it comes from."""

    text: str
    origin: Origin


class Absent(Exception):  # noqa: N818 - a finding, not an error: most places leave out what has no value
    """An argument that a text needs was not given. The exception's argument is its name."""


def text_of(value: Any) -> str:
    """Return a value as a text: a text as it is, everything else as JSON."""
    return value if isinstance(value, str) else text_of_json(value)


@attrs.frozen
class _Parsed:
    nodes: tuple[Node, ...]
    #: Stand-in -> argument, for names that are no identifiers.
    aliases: Mapping[str, str]
    names: frozenset[str]
    problem: str


@functools.lru_cache(maxsize=4096)
def _parse(text: str, dashed: tuple[str, ...]) -> _Parsed:
    marked = REFERENCE.sub(lambda match: _MARK.format(match[1]), text)
    aliases: dict[str, str] = {}
    for name in dashed:
        alias = name.replace("-", "_")
        while alias in marked or alias in aliases:
            alias += "_"
        aliases[alias] = name
        marked = renamed(marked, name, alias)
    found = scan(marked)
    names = frozenset(aliases.get(name, name) for name in found.variables)
    problem = f"{found.errors[0].message} [{found.errors[0].code}]" if found.errors else ""
    return _Parsed(found.nodes, aliases, names, problem)


@attrs.frozen
class Filler:
    """The arguments of one call, to be put into the texts of its declaration."""

    values: Mapping[str, Any] = attrs.field(repr=False)
    #: Names of arguments with a dash: the template grammar has identifiers only.
    dashed: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Any], schema: Mapping[str, Any] | None) -> Filler:
        """Make one for arguments that fit the input schema."""
        names = dict.fromkeys([*(schema or {}).get("properties", ()), *values])
        return cls(values, tuple(name for name in names if "-" in name))

    def names(self, text: str) -> frozenset[str]:
        """Return the names of the arguments that a text uses."""
        return _parse(text, self.dashed).names if "{" in text else frozenset()

    def only(self, text: str) -> str | None:
        """Return the name of the argument when the text is its plain placeholder and nothing else."""
        parsed = _parse(text, self.dashed) if text.startswith("{") else None
        nodes = [node for node in parsed.nodes if node] if parsed else []
        if (
            parsed is None
            or len(nodes) != 1
            or not isinstance(nodes[0], Slot)
            or nodes[0].spec
            or nodes[0].json
        ):
            return None
        return parsed.aliases.get(nodes[0].name, nodes[0].name)

    def pieces(self, text: str, path: str) -> list[Piece]:
        """Fill in a text; ``path`` is its key in the file.

        Raises:
            Absent: an argument outside ``{#if}`` was not given.
            MissingSecret: an environment variable is unset.
            RecipientFailed: a value cannot be printed as the text asks.
        """
        if "{" not in text and "}" not in text:
            return [Piece(text, Origin.FILE)]
        parsed = _parse(text, self.dashed)
        if parsed.problem:
            raise RecipientFailed(f"{path}: {parsed.problem}")
        return list(_Filling(self.values, parsed.aliases, path).run(parsed.nodes, {}))

    def text(self, text: str, path: str) -> str:
        """Fill in a text that needs no encoding. Raises what `pieces` raises."""
        return "".join(piece.text for piece in self.pieces(text, path))

    def needed(self, text: str, path: str) -> str:
        """Fill in a text that cannot be left out.

        Raises:
            RecipientFailed: an argument it needs was not given, or what `pieces` raises.
        """
        try:
            return self.text(text, path)
        except Absent as absent:
            raise RecipientFailed(f"{path} needs the argument {absent}, which was not given") from None


@attrs.frozen
class _Filling:
    values: Mapping[str, Any] = attrs.field(repr=False)
    aliases: Mapping[str, str]
    path: str
    turns: Iterator[int] = attrs.field(factory=itertools.count)

    def run(self, nodes: tuple[Node, ...], items: Mapping[str, Any]) -> Iterator[Piece]:
        for node in nodes:
            if isinstance(node, str):
                yield from self._literal(node)
            elif isinstance(node, Slot):
                yield Piece(self._print(node, items), Origin.CALLER)
            elif isinstance(node, If):
                given = self._value(node.name, items) is not None
                yield from self.run(node.then if given else node.otherwise, items)
            else:
                yield from self._each(node, items)

    def _literal(self, text: str) -> Iterator[Piece]:
        for index, part in enumerate(_MARKED.split(text)):
            if index % 2:
                yield Piece(secret(part, self.path), Origin.ENVIRONMENT)
            elif part:
                yield Piece(part, Origin.FILE)

    def _value(self, name: str, items: Mapping[str, Any]) -> Any:
        return items[name] if name in items else self.values.get(self.aliases.get(name, name))

    def _print(self, slot: Slot, items: Mapping[str, Any]) -> str:
        value = self._value(slot.name, items)
        if value is None and slot.name not in items:
            raise Absent(self.aliases.get(slot.name, slot.name))
        try:
            return slot.print(value) if slot.spec or slot.json else text_of(value)
        except (TypeError, ValueError) as error:
            name = self.aliases.get(slot.name, slot.name)
            raise RecipientFailed(f"{self.path}: {name} cannot be printed as the file asks") from error

    def _each(self, node: Each, items: Mapping[str, Any]) -> Iterator[Piece]:
        value = self._value(node.name, items)
        if value is None:
            raise Absent(self.aliases.get(node.name, node.name))
        if not isinstance(value, (list, tuple)):
            raise RecipientFailed(f"{self.path}: {node.name} is no list to go through")
        for item in value:
            if next(self.turns) >= _MOST_TURNS:
                raise RecipientFailed(f"{self.path}: more than {_MOST_TURNS} turns of its loops")
            yield from self.run(node.body, {**items, node.item: item})
