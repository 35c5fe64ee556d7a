"""Prompt templates: parsed once, rendered many times.

A template is data: it has slots, presence sections and loops, and no way to reach an attribute, an index or
a call. Values are put in once and never scanned again. ``registry.template.scanner`` reads the text; the
variables, the renderer and the lint rules all use that one reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs

from registry.exceptions import TemplateError
from registry.template.parts import Each, If, Placeholder, Problem, Scan, Slot, line_and_column
from registry.template.run import EMPTY, MAX_OUTPUT, Run
from registry.template.scanner import MAX_DEPTH, renamed, scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.template.parts import Node

__all__ = [
    "MAX_DEPTH",
    "MAX_OUTPUT",
    "Each",
    "If",
    "Placeholder",
    "Problem",
    "Scan",
    "Slot",
    "Template",
    "line_and_column",
    "renamed",
    "scan",
]


@attrs.frozen
class Template:
    """A text with ``{name}`` slots and ``{#if}``/``{#each}`` sections.

    >>> Template('Hello {name}, reply as {"ok": true}').render({"name": "Ada"})
    'Hello Ada, reply as {"ok": true}'

    Raises:
        TemplateError: The text is no template; the first fault is named, with its line and column.
    """

    text: str
    #: Names of the inputs, each once, in the order of their first use.
    variables: tuple[str, ...] = attrs.field(init=False, eq=False, repr=False)
    #: What the text is made of, in order.
    nodes: tuple[Node, ...] = attrs.field(init=False, eq=False, repr=False)
    _is_flat: bool = attrs.field(init=False, eq=False, repr=False)
    #: For a template without sections: its pieces, with a hole for each slot.
    _pieces: list[str] = attrs.field(init=False, eq=False, repr=False)
    #: (hole, name) of the first plain use of each input.
    _holes: tuple[tuple[int, str], ...] = attrs.field(init=False, eq=False, repr=False)
    #: Whether there are other slots than those.
    _has_more: bool = attrs.field(init=False, eq=False, repr=False)
    #: (hole, slot) of each slot that has a format.
    _formatted: tuple[tuple[int, Slot], ...] = attrs.field(init=False, eq=False, repr=False)
    #: (hole, hole it repeats).
    _repeats: tuple[tuple[int, int], ...] = attrs.field(init=False, eq=False, repr=False)
    _count: int = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"a template is a text, not {type(self.text).__name__}")
        found = scan(self.text)
        if errors := found.errors:
            first = errors[0]
            line, column = line_and_column(self.text, first.start)
            raise TemplateError(first.code, first.message, line, column, first.hint)
        variables = found.variables
        holes, formatted, repeats = _flat(found.nodes)
        for name, value in (
            ("variables", variables),
            ("nodes", found.nodes),
            ("_is_flat", not any(isinstance(node, (If, Each)) for node in found.nodes)),
            ("_pieces", [node if isinstance(node, str) else "" for node in found.nodes]),
            ("_holes", holes),
            ("_has_more", bool(formatted or repeats)),
            ("_formatted", formatted),
            ("_repeats", repeats),
            ("_count", len(variables)),
        ):
            object.__setattr__(self, name, value)

    def render(
        self, values: Mapping[str, Any] = EMPTY, *, missing: Literal["error", "empty"] = "error"
    ) -> str:
        """Return the text with the values put in, each printed as ``format(value, spec)``.

        Args:
            values: One mapping from names to values. A name asked for by ``{#if}`` only may be absent.
            missing: ``error``: absent and unknown names are errors. ``empty``: an absent name prints nothing
                and unknown names are ignored.

        Raises:
            RenderError: ``missing-input``, ``unexpected-input``, ``wrong-type``, ``number-too-long``,
                ``not-finite`` or ``not-utf8``; it names every input at fault.
        """
        if missing != "error":
            return self._render_leniently(values, missing)
        # The common case, without a call per slot. Whatever is out of the ordinary is found out by `Run`.
        if self._is_flat and type(values) is dict:
            pieces = self._pieces.copy()
            try:
                for hole, name in self._holes:
                    pieces[hole] = f"{values[name]}"
                if self._has_more:
                    self._fill(pieces, values)
                text = "".join(pieces)
                # `encode` raises for a lone surrogate.
                if (
                    len(values) == self._count
                    and (text.isascii() or text.encode())
                    and len(text) <= MAX_OUTPUT
                ):
                    return text
            except Exception:  # noqa: BLE001, S110  # a value may raise anything; `Run` says which one it was
                pass
        return Run(self.variables, values).render(self.nodes)

    def _fill(self, pieces: list[str], values: dict[str, Any]) -> None:
        for hole, slot in self._formatted:
            pieces[hole] = slot.print(values[slot.name])
        for hole, first in self._repeats:
            pieces[hole] = pieces[first]
        if sum(map(len, pieces)) > MAX_OUTPUT:
            raise MemoryError  # before the text is made

    def _render_leniently(self, values: Mapping[str, Any], missing: str) -> str:
        if missing != "empty":
            raise ValueError(f"missing must be 'error' or 'empty', not {missing!r}")
        known = {name: values[name] for name in self.variables if name in values}
        if len(known) == self._count:
            return self.render(known)
        return Run(self.variables, values, lenient=True).render(self.nodes)


def _flat(nodes: tuple[Node, ...]) -> tuple[Any, Any, Any]:
    """Say which pieces of a template without sections are filled with what."""
    first: dict[Slot, int] = {}
    repeats = []
    for hole, node in enumerate(nodes):
        if isinstance(node, Slot) and first.setdefault(node, hole) != hole:
            repeats.append((hole, first[node]))
    holes = tuple((hole, slot.name) for slot, hole in first.items() if not (slot.spec or slot.json))
    formatted = tuple((hole, slot) for slot, hole in first.items() if slot.spec or slot.json)
    return holes, formatted, tuple(repeats)
