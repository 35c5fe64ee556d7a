"""The second stage: the shape of a document, by the JSON Schemas.

One fast answer for the whole document by `jsonschema-rs`; only a document that fails is explained, fault by
fault, by `jsonschema`. The fast answer counts: what it refuses has at least one fault, what it accepts none.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from registry.diagnostics import Place
from registry.loading.validators import place_of_fault, validator

if TYPE_CHECKING:
    from registry.diagnostics import Fault, Path
    from registry.documents import Document


def validate(document: Document, skip: frozenset[Path] = frozenset()) -> tuple[Fault, ...]:
    """Return everything in a document that its schema does not allow.

    ``skip`` names the values that reading has refused already, such as dates: they are not reported again.
    """
    data = _without(document.data, skip) if skip else document.data
    if validator().is_valid(data):
        return ()
    import contextvars
    from concurrent.futures import ThreadPoolExecutor

    # A new thread has an empty stack, however deep the caller is in its own.
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(contextvars.copy_context().run, _explained, document, data).result()
    return _without_faults_around(found, skip) if skip else found


def _explained(document: Document, data: Any) -> tuple[Fault, ...]:
    from registry.loading.explain import explain, incomplete, unexplained
    from registry.loading.parts import refused_parts
    from registry.loading.problems import problems

    found, complete = problems(refused_parts(data, validator().is_valid))
    faults = explain(document, found) or (unexplained(document, place_of_fault(data)),)
    return faults if complete else (*faults, incomplete(document))


def _without(data: Any, skip: frozenset[Path]) -> Any:
    """Return data that is JSON: every value refused by the reader is replaced by a text of its own.

    Only what is around such a value is copied.
    """
    copies: dict[Path, Any] = {(): copy.copy(data)}
    for number, path in enumerate(sorted(skip, key=len)):
        for end in range(1, len(path)):
            if path[:end] not in copies:
                around = copies[path[: end - 1]]
                copies[path[:end]] = around[path[end - 1]] = copy.copy(around[path[end - 1]])
        around = copies[path[:-1]]
        if path and isinstance(around, (dict, list)):
            around[path[-1]] = f"\0{number}"  # type: ignore[index]
    return copies[()]


def _without_faults_around(faults: tuple[Fault, ...], skip: frozenset[Path]) -> tuple[Fault, ...]:
    """Leave out faults about a value that reading has refused, or about what is inside or around it."""
    around = {path[:end] for path in skip for end in range(len(path) + 1) if path}
    return tuple(
        fault
        for fault in faults
        if fault.place is not Place.VALUE
        or not (fault.path in around or any(fault.path[:end] in skip for end in range(1, len(fault.path))))
    )
