"""The second stage: the shape of a document, by the JSON Schemas.

One fast answer for the whole document; only a document that fails is explained, fault by fault.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from registry.diagnostics import Place
from registry.loading.schemas import schema
from registry.loading.validators import validator

if TYPE_CHECKING:
    from registry.diagnostics import Fault, Path
    from registry.documents import Document


def validate(document: Document, skip: frozenset[Path] = frozenset()) -> tuple[Fault, ...]:
    """Return everything in a document that its schema does not allow.

    ``skip`` names the values that reading has refused already, such as dates: they are not reported again.
    """
    data = _without(document.data, skip) if skip else document.data
    gate = validator()
    if gate.is_valid(data):
        return ()
    from registry.loading.explain import explain

    found = explain(document, gate.iter_errors(data), schema())
    return tuple(fault for fault in found if not _about(fault, skip))


def _without(data: Any, skip: frozenset[Path]) -> Any:
    """Return a copy that is JSON: every value refused by the reader is replaced by a text of its own."""
    kept = copy.deepcopy(data)
    for number, path in enumerate(sorted(skip, key=len)):
        value = kept
        for key in path[:-1]:
            value = value[key]
        if path and isinstance(value, (dict, list)):
            value[path[-1]] = f"\0{number}"  # type: ignore[index]
    return kept


def _about(fault: Fault, skip: frozenset[Path]) -> bool:
    """Say whether a fault is about a value that reading has refused, or about what is inside or around it."""
    if fault.place is not Place.VALUE:
        return False
    path = fault.path
    return any(path[: len(other)] == other or other[: len(path)] == path for other in skip if other)
