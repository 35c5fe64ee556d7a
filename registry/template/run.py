"""One rendering of a template, step by step: finds every input at fault and bounds the work.

`Template.render` has a shorter way for the common case and comes here for everything else.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from registry.exceptions import RenderError
from registry.suggest import nearest
from registry.template.parts import If, Slot, nfc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from registry.template.parts import Each, Node

#: Most code points of a rendered text.
MAX_OUTPUT = 16 * 1024 * 1024

#: Most loop turns of one rendering, so that nested loops that print nothing end too.
MAX_TURNS = 1_000_000

EMPTY: Mapping[str, Any] = types.MappingProxyType({})

_ABSENT: Any = object()

#: The faults of values, in the order in which they are reported, with their texts.
_FAULTS = {
    "wrong-type": "cannot be printed as the template asks",
    "number-too-long": "a number has too many digits to be printed",
    "not-finite": "JSON has no such number",
    "not-utf8": "a lone surrogate cannot be sent as UTF-8",
}


class _TooMuch(Exception):  # noqa: N818  # never leaves this module
    """The text or the number of loop turns has grown past its bound."""


def is_encodable(text: str) -> bool:
    """Return whether a text can be sent as UTF-8, that is, has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def fault_of(error: Exception, value: object) -> str:
    """Return the code for what went wrong when a value was printed."""
    text = str(error) if type(error) is ValueError else ""
    if text.startswith("Exceeds the limit") or (isinstance(error, OverflowError) and isinstance(value, int)):
        return "number-too-long"
    return "not-finite" if text.startswith("Out of range float") else "wrong-type"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``", did you mean 'x'?"``, or nothing when no known name resembles the one given."""
    near = nearest(name, known)
    return f", did you mean {near!r}?" if near else ""


def print_plainly(slot: Slot, value: object) -> str:
    """Return the text of a value as Python prints it."""
    return slot.print(value)


class Run:
    """A rendering under way. Used once."""

    def __init__(
        self,
        variables: tuple[str, ...],
        values: Mapping[str, Any],
        *,
        lenient: bool = False,
        printer: Callable[[Slot, object], str] = print_plainly,
    ) -> None:
        self.variables = variables
        self.printer = printer
        self.values = _by_name(values)
        self.lenient = lenient
        self.out: list[str] = []
        self.size = 0
        self.turns = 0
        self.printed: dict[Slot, str] = {}
        #: Loop name -> name of the input whose item it is.
        self.owners: dict[str, str] = {}
        self.missing: dict[str, None] = {}
        self.faults: dict[str, dict[str, str]] = {code: {} for code in _FAULTS}

    def render(self, nodes: tuple[Node, ...]) -> str:
        """Return the text, or raise for all inputs at fault at once."""
        try:
            self._walk(nodes, self.values)
        except _TooMuch as error:
            self.faults["wrong-type"].setdefault(str(error.args[0]), str(error.args[1]))
        self._raise()
        return "".join(self.out)

    def _walk(self, nodes: tuple[Node, ...], scope: Mapping[str, Any]) -> None:
        for node in nodes:
            if isinstance(node, str):
                self._put(node, "")
            elif isinstance(node, Slot):
                self._put(self._text(node, scope), node.name)
            elif isinstance(node, If):
                present = scope.get(node.name) is not None
                self._walk(node.then if present else node.otherwise, scope)
            else:
                self._repeat(node, scope)

    def _put(self, text: str, name: str) -> None:
        self.size += len(text)
        if self.size > MAX_OUTPUT:
            owner = self.owners.get(name, name) or max(self.variables, key=self._length, default="")
            raise _TooMuch(owner, f": the text would have more than {MAX_OUTPUT:,} characters")
        self.out.append(text)

    def _length(self, name: str) -> int:
        value = self.values.get(name)
        return len(value) if isinstance(value, Sequence) else 0

    def _text(self, slot: Slot, scope: Mapping[str, Any]) -> str:
        looped = slot.name in self.owners
        if not looped and slot in self.printed:
            return self.printed[slot]
        text = self._print(slot, scope)
        if not looped:
            self.printed[slot] = text
        return text

    def _print(self, slot: Slot, scope: Mapping[str, Any]) -> str:
        value = scope.get(slot.name, _ABSENT)
        owner = self.owners.get(slot.name, slot.name)
        if value is _ABSENT:
            self.missing[owner] = None
            return ""
        try:
            text = self.printer(slot, value)
        except Exception as error:  # noqa: BLE001  # a value may raise anything when it is printed
            code = fault_of(error, value)
            spec = f" with format {slot.spec!r}" if slot.spec else " as JSON" if slot.json else ""
            self.faults[code].setdefault(owner, f" ({type(value).__name__}{spec})")
            return ""
        if not is_encodable(text):
            self.faults["not-utf8"].setdefault(owner, "")
        return text

    def _repeat(self, node: Each, scope: Mapping[str, Any]) -> None:
        items = scope.get(node.name)
        owner = self.owners.get(node.name, node.name)
        if items is None:
            self.missing[owner] = None
            return
        if not isinstance(items, Sequence) or isinstance(items, (str, bytes, bytearray)):
            self.faults["wrong-type"].setdefault(owner, f" ({type(items).__name__} is no list)")
            return
        inner = dict(scope)
        hidden = self.owners.get(node.item)
        self.owners[node.item] = owner
        for item in items:
            self.turns += 1
            if self.turns > MAX_TURNS:
                raise _TooMuch(owner, f": the loops would make more than {MAX_TURNS:,} turns")
            inner[node.item] = item
            self._walk(node.body, inner)
        del self.owners[node.item]
        if hidden is not None:
            self.owners[node.item] = hidden

    def _raise(self) -> None:
        missing = [] if self.lenient else list(self.missing)
        unexpected = [] if self.lenient else [key for key in self.values if key not in self.variables]
        faults = [(code, names) for code, names in self.faults.items() if names]
        found: list[tuple[str, Iterable[str]]] = [
            ("missing-input", missing),
            ("unexpected-input", unexpected),
            *faults,
        ]
        texts = [f"no value for {', '.join(map(repr, missing))}"] if missing else []
        texts += [f"{key!r} is no input{did_you_mean(str(key), self.variables)}" for key in unexpected]
        for code, details in faults:
            texts += [f"{name!r}: {_FAULTS[code]}{detail}" for name, detail in details.items()]
        for code, names in found:
            if names:
                raise RenderError(code, "; ".join(texts), map(str, names))


def _by_name(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values under names in NFC; of two spellings of one name, the one in NFC keeps it."""
    if not isinstance(values, Mapping):
        raise TypeError(f"values are a mapping from input names, not {type(values).__name__}")
    named: dict[str, Any] = {}
    for key, value in values.items():
        name = nfc(key) if isinstance(key, str) else key
        named[key if name != key and name in values else name] = value
    return named
