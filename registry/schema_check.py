"""Checks values against a JSON Schema: the one place outside loading that knows the validator.

Patterns run in linear time and no reference is ever fetched. What JSON does not have (a date, a lone
surrogate, an endless number, nesting beyond `MAX_DEPTH`) is a fault like any other. No text shows the value.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import TYPE_CHECKING, Any

import attrs
import jsonschema_rs

from registry.frozen import thaw
from registry.messages import json_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Path = tuple[str | int, ...]

#: How deep lists and objects may be nested.
MAX_DEPTH = 128
#: How many faults of one value are reported.
MAX_FAULTS = 20
#: A value of more items than this has only its first fault reported: naming all would take seconds.
_LARGE = 10_000
#: How much of a schema's own content (listed values, patterns) a text repeats.
_MAX_ECHO = 200
#: The keywords that rule out unknown names.
CLOSING = ("additionalProperties", "unevaluatedProperties")
_DIGITS = re.compile(r"\+?[0-9]{1,4000}")
_ARTICLES = {"array": "a list", "integer": "an integer", "null": "null", "object": "an object"}


@attrs.frozen
class SchemaFault:
    """One way in which a value does not fit: where, and what was expected there.

    ``keyword`` is the schema keyword that found it, or ``json`` for what no JSON text can say.
    """

    path: Path
    message: str
    keyword: str = attrs.field(default="", eq=False)


def _fault_of_scalar(value: Any) -> str | None:
    """Say what keeps a value that is no container from being JSON, if anything."""
    if isinstance(value, str):
        return None if value.isascii() or _encodes(value) else "has a lone surrogate, which is no character"
    if isinstance(value, float):
        return None if math.isfinite(value) else "must be a finite number"
    if value is None or isinstance(value, int):
        return None
    return f"must be JSON data, not {json_type(value)}"


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _walk(value: Any) -> Iterator[tuple[Path, str | None]]:
    """Yield each value inside (and the value itself) with what keeps it from being JSON."""
    pending: list[tuple[Path, Any]] = [((), value)]
    while pending:
        path, item = pending.pop()
        if not isinstance(item, (dict, list, tuple)):
            yield path, _fault_of_scalar(item)
        elif len(path) >= MAX_DEPTH:
            yield path, f"is nested deeper than {MAX_DEPTH} levels"
        elif isinstance(item, dict):
            yield path, _fault_of_keys(item)
            pending.extend(((*path, key), member) for key, member in item.items())
        else:
            yield path, None
            pending.extend(((*path, index), member) for index, member in enumerate(item))


def _fault_of_keys(item: dict[Any, Any]) -> str | None:
    if all(isinstance(key, str) and (key.isascii() or _encodes(key)) for key in item):
        return None
    return "has a name that is not text"


def not_json(value: Any) -> tuple[SchemaFault, ...]:
    """Return why a value is no JSON data: all faults, up to `MAX_FAULTS`; empty when it is."""
    faults = (SchemaFault(path, text, "json") for path, text in _walk(value) if text)
    return tuple(itertools.islice(faults, MAX_FAULTS))


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_ECHO else f"{text[:_MAX_ECHO]}…"


def type_names(types: list[str]) -> str:
    """Return JSON Schema type names as text: ``an integer or null``."""
    names = [_ARTICLES.get(name, f"a {name}") for name in sorted(types, key="null".__eq__)]
    return " or ".join(names)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _one_of(kind: Any) -> str:
    options = kind.options
    listed = ", ".join(_shown(option) for option in options[:10])
    more = f" … ({len(options)} in all)" if len(options) > 10 else ""
    return f"must be one of {listed}{more}"


def _no_branch(kind: Any) -> str:
    """Say what the branches of ``anyOf`` or ``oneOf`` wanted: their types, or each branch's first fault."""
    firsts = [branch[0] for branch in kind.context]
    if all(first.kind.name == "type" for first in firsts):
        types = (name for first in firsts for name in first.kind.types)
        return f"must be {type_names(list(dict.fromkeys(types)))}"
    texts = []
    for number, first in enumerate(firsts[:5], 1):
        fault = next(_faults_of(first, tuple(first.instance_path)))
        where = "".join(f"{path_text(fault.path)}: " if fault.path else "")
        texts.append(f"({number}) {where}{fault.message}")
    return f"fits none of {len(firsts)} alternatives: {'; '.join(texts)}"


#: What was expected, by the name of the keyword that failed.
_TEXTS: dict[str, Callable[[Any], str]] = {
    "anyOf": _no_branch,
    "const": lambda kind: f"must be {_shown(kind.expected_value)}",
    "contains": lambda _kind: "must contain an item that fits",
    "enum": _one_of,
    "exclusiveMaximum": lambda kind: f"must be less than {kind.limit}",
    "exclusiveMinimum": lambda kind: f"must be greater than {kind.limit}",
    "falseSchema": lambda _kind: "is not allowed",
    "format": lambda kind: f"must have the format {kind.format!r}",
    "maxItems": lambda kind: f"must have at most {_plural(kind.limit, 'item')}",
    "maxLength": lambda kind: f"must have at most {_plural(kind.limit, 'character')}",
    "maxProperties": lambda kind: f"must have at most {_plural(kind.limit, 'member')}",
    "maximum": lambda kind: f"must be at most {kind.limit}",
    "minItems": lambda kind: f"must have at least {_plural(kind.limit, 'item')}",
    "minLength": lambda kind: f"must have at least {_plural(kind.limit, 'character')}",
    "minProperties": lambda kind: f"must have at least {_plural(kind.limit, 'member')}",
    "minimum": lambda kind: f"must be at least {kind.limit}",
    "multipleOf": lambda kind: f"must be a multiple of {kind.multiple_of}",
    "not": lambda kind: f"must not fit {_shown(kind.schema)}",
    "oneOf": lambda kind: _no_branch(kind) if all(kind.context) else "fits more than one alternative",
    "pattern": lambda kind: f"must match the pattern {_shown(kind.pattern)}",
    "propertyNames": lambda _kind: "has a name that is not allowed",
    "required": lambda _kind: "is required",
    "type": lambda kind: f"must be {type_names(kind.types)}",
    "uniqueItems": lambda _kind: "must not have equal items",
}


def _true_path(path: list[str | int], value: Any) -> Path:
    """Return the path that the validator means: it takes names of digits for indexes and drops empty ones.

    Raises:
        LookupError, TypeError: what it means cannot be told.
    """
    steps: list[str | int] = []
    pending = path[::-1]
    while pending:
        step = pending.pop()
        if isinstance(value, dict) and step not in value:
            digits = (name for name in value if _DIGITS.fullmatch(name) and int(name) == step)
            name = next(digits, None) if isinstance(step, int) else None
            if name is None:
                pending.append(step)
            step = name or ""
        steps.append(step)
        value = value[step]
    return tuple(steps)


def _faults_of(error: jsonschema_rs.ValidationError, path: Path) -> Iterator[SchemaFault]:
    kind = error.kind
    if kind.name in CLOSING:
        for name in kind.unexpected:  # type: ignore[attr-defined] # of the kinds that have these names
            yield SchemaFault((*path, name), "is not known", kind.name)
        return
    if kind.name == "required":
        path = (*path, kind.property)  # type: ignore[attr-defined] # as above
    describe = _TEXTS.get(kind.name)
    yield SchemaFault(path, describe(kind) if describe else error.message[:_MAX_ECHO], kind.name)


def path_text(path: Path) -> str:
    """Return a path as text: ``ids[0].name``; what is no identifier is bracketed, and cut when long."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier() and len(step) <= 80:
            text += f".{step}" if text else step
        else:
            name = step if len(step) <= 80 else f"{step[:80]}…"
            text += f"[{json.dumps(name, ensure_ascii=not _encodes(name))}]"
    return text if len(text) <= _MAX_ECHO else f"{text[:_MAX_ECHO]}…"


@attrs.frozen(eq=False)
class Checker:
    """A compiled schema. See `compile`."""

    _validator: jsonschema_rs.Validator
    #: Whether a value fits that is known to be JSON data in plain dicts and lists: the fast way.
    fits: Callable[[Any], bool] = attrs.field(
        init=False, default=attrs.Factory(lambda self: self._validator.is_valid, takes_self=True)
    )

    def is_valid(self, value: Any) -> bool:
        """Return whether the value is JSON data and fits the schema."""
        return not any(text for _path, text in _walk(value)) and self.fits(thaw(value))

    def errors(self, value: Any) -> tuple[SchemaFault, ...]:
        """Return how the value does not fit, up to `MAX_FAULTS`: empty exactly when it is valid."""
        faults = not_json(value)
        if faults:
            return faults
        value = thaw(value)  # the validator takes no subclass of list
        if self.fits(value):
            return ()
        found = (fault for error in self._found(value) for fault in self._told(error, value))
        return tuple(itertools.islice(found, MAX_FAULTS))

    @staticmethod
    def _told(error: jsonschema_rs.ValidationError, value: Any) -> Iterator[SchemaFault]:
        try:
            return _faults_of(error, _true_path(error.instance_path, value))
        except (LookupError, TypeError):
            return _faults_of(error, tuple(error.instance_path))

    def _found(self, value: Any) -> Iterator[jsonschema_rs.ValidationError]:
        if sum(1 for _ in _walk(value)) <= _LARGE:
            yield from self._validator.iter_errors(value)
            return
        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            yield error


def compile(schema: Mapping[str, Any]) -> Checker:  # noqa: A001 - reads as schema_check.compile, as re.compile does
    """Compile a schema of the dialect its ``$schema`` names, by default 2020-12.

    Raises:
        ValueError: it is no valid schema, refers to something outside itself, or has a pattern that cannot
            be matched in linear time.
    """
    try:
        validator = jsonschema_rs.validator_for(
            thaw(schema),  # the validator takes no subclass of list
            pattern_options=jsonschema_rs.RegexOptions(),
            offline=True,
            mask="the value",
        )
    except ValueError as error:
        where = path_text(tuple(getattr(error, "instance_path", ())))
        text = getattr(error, "message", str(error)).splitlines()[0][:_MAX_ECHO]
        raise ValueError(f"the JSON Schema is faulty{f' at {where}' if where else ''}: {text}") from None
    return Checker(validator)
