"""The values of a prompt's inputs: completed with defaults first, then checked, every fault noted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from registry.frozen import thaw
from registry.template.parts import nfc
from registry.template.run import did_you_mean, is_encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from registry.prompts.faults import Faults
    from registry.schema_check import Checker, SchemaFault
    from registry.specs import InputSpec

#: Values of these types are JSON data, if they can be printed at all.
_PLAIN = frozenset({str, int, bool})
_MEDIA = (bytes, bytearray, memoryview, os.PathLike)


def given(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the values that were given, by name in NFC. One that is None counts as not given.

    Raises:
        TypeError: They are no mapping.
    """
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise TypeError(f"values are a mapping from input names, not {type(values).__name__}")
    return {nfc(name) if isinstance(name, str) else name: value for name, value in values.items()}


def note_unexpected(names: Iterable[Any], known: Sequence[str], faults: Faults) -> None:
    """Note the names that no input has."""
    for name in names:
        if name not in known:
            text = f"{name!r} is no input{did_you_mean(str(name), known)}"
            faults.add("unexpected-input", str(name), text)


def complete(
    inputs: Mapping[str, InputSpec],
    values: Mapping[str, Any],
    fill: Callable[[InputSpec, Mapping[str, Any]], Any],
    faults: Faults,
) -> dict[str, Any]:
    """Return a value for each input that has one: the caller's, the default, or what ``fill`` gives.

    ``fill`` is asked for inputs that the registry provides or that are another prompt's text, and is told the
    values found so far; it may give None. A required input without a value is noted as missing.
    """
    completed: dict[str, Any] = {}
    for name, item in inputs.items():
        value = values.get(name)
        if value is None:
            if item.default is not attrs.NOTHING:
                value = item.default
            elif item.provided or item.prompt:
                value = fill(item, completed)
            elif not item.optional:
                faults.add("missing-input", name, f"no value for {name!r}{_described(item)}")
        if value is not None:
            completed[name] = value
    return completed


def _described(item: InputSpec) -> str:
    description = item.schema.get("description")
    return f" ({description})" if description else ""


def is_media(value: object) -> bool:
    """Return whether a value is, or lists, bytes or paths: an image or file, which JSON does not have."""
    if isinstance(value, (list, tuple)):
        return any(isinstance(item, _MEDIA) for item in value)
    return isinstance(value, _MEDIA)


def checked(item: InputSpec, value: Any, checker: Checker, faults: Faults) -> Any:
    """Return a value that fits the input's schema, or note how it does not.

    Lists and objects come back as plain ones, a whole float for an integer as an integer.
    """
    name = nfc(item.name)
    if type(value) in _PLAIN and _is_printable(value):
        if checker.fits(value):
            return value
    elif isinstance(value, int) and not _is_printable(value):
        faults.add("number-too-long", name, f"{name!r} has too many digits to be printed")
        return value
    from registry.schema_check import not_json

    found = not_json(value)
    if not found:
        value = thaw(value)
        found = checker.errors(value)
    for fault in found:
        faults.add(_code_of(fault), name, f"{_place(name, fault.path)} {fault.message}")
    if isinstance(value, float) and item.schema.get("type") == "integer" and value.is_integer():
        return int(value)
    return value


def _is_printable(value: str | int) -> bool:
    if isinstance(value, str):
        return value.isascii() or is_encodable(value)
    try:
        return bool(str(value))
    except ValueError:  # Python's limit on digits
        return False


def _code_of(fault: SchemaFault) -> str:
    if fault.keyword == "json" and "surrogate" in fault.message:
        return "not-utf8"
    return "not-finite" if fault.keyword == "json" and "finite" in fault.message else "wrong-type"


def _place(name: str, path: tuple[str | int, ...]) -> str:
    from registry.schema_check import path_text

    return repr(path_text((name, *path)) if path else name)
