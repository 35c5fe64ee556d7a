"""Cuts a document into the parts that its schema refuses: the slow explanation looks at nothing else.

Tables of one section are independent of each other, and so are the schemas of arguments; each can be judged,
and explained, in a document of its own in which everything else is as it should be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SECTIONS = ("recipients", "prompts", "servers")
#: For each key that holds schemas of arguments: its section, and a table in which that key may stand.
_ARGUMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "parameters": ("recipients", {"kind": "python"}),
    "input_schema": ("recipients", {"kind": "python"}),
    "inputs": ("prompts", {"role": "user", "template": ""}),
}


def refused_parts(data: Any, accepts: Callable[[Any], bool]) -> Iterator[Any]:
    """Yield small documents that ``accepts`` refuses: each has some of the faults, at their paths."""
    return (part for part in _parts(data, accepts) if not accepts(part))


def _parts(data: Any, accepts: Callable[[Any], bool]) -> Iterator[Any]:
    if not isinstance(data, dict):
        yield data
        return
    yield {key: {} if key in _SECTIONS and isinstance(item, dict) else item for key, item in data.items()}
    for section in _SECTIONS:
        tables = data.get(section)
        for name, table in tables.items() if isinstance(tables, dict) else ():
            if not accepts({section: {name: table}}):
                yield from _parts_of_table(section, name, table)


def _parts_of_table(section: str, name: str, table: Any) -> Iterator[Any]:
    if not isinstance(table, dict):
        yield {section: {name: table}}
        return
    inside = {key for key, (where, _) in _ARGUMENTS.items() if where == section and _is_table(table, key)}
    yield {section: {name: {key: {} if key in inside else item for key, item in table.items()}}}
    for key in sorted(inside):
        found = table[key]
        around = _ARGUMENTS[key][1]
        for item in [found] if key == "input_schema" else ({inner: found[inner]} for inner in found):
            yield {section: {name: {**around, key: item}}}


def _is_table(table: dict[str, Any], key: str) -> bool:
    return isinstance(table.get(key), dict)
