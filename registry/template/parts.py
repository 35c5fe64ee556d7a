"""What a template is made of: slots, sections, and what was found wrong with it."""

from __future__ import annotations

import json
import unicodedata

import attrs

from registry.diagnostics import Severity

#: Compact, key order kept, letters outside ASCII as they are.
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


@attrs.frozen
class Problem:
    """Something wrong in a template: ``text[start:end]`` is the place, in code points."""

    code: str
    message: str
    start: int
    end: int
    hint: str = ""
    severity: Severity = Severity.ERROR


@attrs.frozen
class Placeholder:
    """One use of a name in a template.

    ``role`` says what the name is there for: ``value`` (printed), ``if`` (its presence is asked), ``each`` (a
    list is walked), ``item`` (any use of a loop's own name) or ``faulty`` (the placeholder is in error).
    """

    #: In NFC.
    name: str
    start: int
    end: int
    spec: str = ""
    json: bool = False
    #: Names that are certainly present here: those of the enclosing ``{#if}`` branches, outermost first.
    guards: tuple[str, ...] = ()
    #: Loop names that are bound here, outermost first.
    loops: tuple[str, ...] = ()
    role: str = "value"
    #: The list that each of the loops walks through.
    lists: tuple[str, ...] = ()
    #: What the name is there for also where its role is ``item``: ``value``, ``if`` or ``each``.
    form: str = "value"


@attrs.frozen
class Slot:
    """Prints a value by its format spec, or as JSON."""

    name: str
    spec: str = ""
    json: bool = False

    def print(self, value: object) -> str:
        """Return the text of a value; raises what ``format`` and the JSON encoder raise."""
        return _to_json(value) if self.json else format(value, self.spec)


@attrs.frozen
class If:
    """Chooses by the presence of a value."""

    name: str
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...]


@attrs.frozen
class Each:
    """Repeats its body for each item of a list."""

    name: str
    item: str
    body: tuple[Node, ...]


Node = str | Slot | If | Each


@attrs.frozen
class Scan:
    """What a template holds: its parts, all its problems by place, and every use of a name in order."""

    text: str
    nodes: tuple[Node, ...]
    problems: tuple[Problem, ...]
    placeholders: tuple[Placeholder, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the inputs, each once, in the order of their first use."""
        return tuple(dict.fromkeys(p.name for p in self.placeholders if p.role not in ("item", "faulty")))

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that keep the template from being used."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return the 1-based line and column of a code point."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def nfc(name: str) -> str:
    """Return the form in which names are compared."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)
