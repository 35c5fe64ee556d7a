"""The arguments of a call: JSON text or a mapping in, checked values out.

`binder` makes the function that does this for one input schema. What fits is returned as it is, with the
defaults of absent arguments; what does not is coerced where nothing is lost by it (see `registry.coercion`)
and checked again. Arguments that the schema does not know are errors, unless it says otherwise itself.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from registry import dialects, schema_check
from registry.coercion import Coercer
from registry.exceptions import InvalidArguments
from registry.frozen import thaw
from registry.jsontext import NotJsonError, is_suspicious, parse_json
from registry.messages import json_type
from registry.references import objects_in, resolver
from registry.schema_check import CLOSING, MAX_DEPTH, MAX_FAULTS, SchemaFault, not_json, path_text

if TYPE_CHECKING:
    from registry.schema_check import Checker

#: How much of a wrong value an error repeats, in characters.
MAX_ECHO = 80
#: A root schema with one of these says nothing about unknown names by its own `properties` alone.
_COMPOSING = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
#: Values that may need a coercion although they fit: a whole float for an integer, or a default inside.
_DEEP = frozenset({float, list, dict})


def _parse_inner(text: str) -> Any:
    """Read the JSON text that an argument holds; ValueError also for what no JSON text should say."""
    value = parse_json(text)
    if not_json(value):
        raise NotJsonError
    return value


def _plain(value: dict[Any, Any]) -> bool:
    """Tell whether a mapping has only names and values that need no further look."""
    for name, item in value.items():
        kind = type(item)
        if type(name) is not str or not (kind is int or kind is bool or (kind is str and item.isascii())):
            return False
    return True


def _not_an_object(value: Any) -> InvalidArguments:
    hint = "; an object inside a JSON string is not unpacked" if isinstance(value, str) else ""
    text = f"the arguments must be a JSON object, not {json_type(value)}{hint}"
    return InvalidArguments("not-an-object", (text,))


def _checked(value: Any) -> None:
    if faults := not_json(value):
        raise InvalidArguments("invalid-arguments", [_located(fault.path, fault.message) for fault in faults])


def read_object(raw: Any) -> dict[str, Any]:
    """Return arguments as an object of plain JSON data that the caller may change.

    Raises:
        InvalidArguments: with the code ``invalid-json`` or ``not-an-object``, or ``invalid-arguments`` for
            data that JSON does not have.
    """
    if isinstance(raw, Mapping):
        value = dict(raw)
        if not _plain(value):
            _checked(value)
            return {name: thaw(item) for name, item in value.items()}
        return value
    if isinstance(raw, (bytes, bytearray, memoryview)):
        try:
            raw = str(raw, "utf-8")
        except UnicodeDecodeError as error:
            text = f"the arguments are not UTF-8: bad byte at offset {error.start}"
            raise InvalidArguments("invalid-json", (text,)) from None
    if not isinstance(raw, str):
        raise _not_an_object(raw)
    return _read_text(raw)


def _read_text(raw: str) -> dict[str, Any]:
    try:
        parsed = parse_json(raw)
    except NotJsonError as error:
        raise InvalidArguments("invalid-json", (f"the arguments are no valid JSON: {error}",)) from None
    if type(parsed) is not dict:
        raise _not_an_object(parsed)
    if (len(raw) > MAX_DEPTH or "\\" in raw or not raw.isascii()) and is_suspicious(raw, MAX_DEPTH):
        _checked(parsed)
    return parsed


def _located(path: schema_check.Path, text: str) -> str:
    return f"{path_text(path) or 'the arguments'}: {text}"


def _echo(value: Any) -> str:
    """Show a wrong value: a scalar as JSON, cut; a container by its type."""
    if isinstance(value, (dict, list)):
        return json_type(value)
    if isinstance(value, int) and value.bit_length() > 4 * MAX_ECHO:
        return "an integer of very many digits"
    if isinstance(value, str) and len(value) > MAX_ECHO:
        return f"{json.dumps(value[:MAX_ECHO], ensure_ascii=False)}… of {len(value)} characters"
    return json.dumps(value, ensure_ascii=False)


def _closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with unknown names ruled out, unless it says itself which it takes.

    Without any property the validator would not tell the unknown names.
    """
    if any(keyword in schema for keyword in CLOSING):
        return {"properties": {}, **schema}
    if dialects.is_old(schema):
        return dialects.closed(schema, resolver(schema))
    composes = any(keyword in schema for keyword in _COMPOSING)
    return {"properties": {}, **schema, CLOSING[composes]: False}


def _is_secret(schema: Mapping[str, Any]) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


def _wants_integers(schema: Mapping[str, Any]) -> bool:
    declared = schema.get("type", ())
    return "integer" in declared or "enum" in schema or "const" in schema


@attrs.frozen(eq=False)
class Binding:
    """One input schema, compiled."""

    schema: Mapping[str, Any]
    checker: Checker
    coercer: Coercer
    #: Defaults of the root's own properties.
    defaults: tuple[tuple[str, Any], ...]
    #: Whether all there is to do with arguments that fit is to add those; else, whether more is to be done
    #: only inside lists and objects and for floats.
    shallow: bool
    flat: bool
    #: Whether any argument is secret: then no error repeats a value, for a model may have mixed them up.
    secret: bool

    #: What takes null for "not given" where the schema asks for neither, if that is wanted.
    nulls: Coercer | None = None

    def bind(self, value: dict[str, Any]) -> dict[str, Any]:
        """Coerce, check and complete arguments."""
        try:
            if self.nulls is not None:
                value = self.nulls.without_nulls(value, self.schema)
            value = self.coercer.coerce(value, self.schema)
        except RecursionError:  # lists inside texts inside lists
            raise InvalidArguments("invalid-arguments", ("the arguments: nested too deeply",)) from None
        if not self.checker.fits(value):
            raise InvalidArguments("invalid-arguments", self._texts(value))
        filled: dict[str, Any] = self.coercer.fill(value, self.schema)
        return filled

    def _texts(self, value: dict[str, Any]) -> list[str]:
        faults = self.checker.errors(value)
        # a branch that fails evaluates nothing, so that known names look unknown
        own = [fault for fault in faults if fault.keyword != "unevaluatedProperties"] or list(faults)
        texts = [self._text(fault, value) for fault in own]
        return [*texts, "and more"] if len(faults) >= MAX_FAULTS else texts

    def _text(self, fault: SchemaFault, value: Any) -> str:
        if fault.keyword in CLOSING:
            return _located(fault.path, self._unknown(fault.path, value))
        if self.secret or fault.keyword in {"required", "json"}:
            return _located(fault.path, fault.message)
        try:
            for step in fault.path:
                value = value[step]
        except (LookupError, TypeError):  # the path is not sure: see `Checker.errors`
            return _located(fault.path, fault.message)
        return _located(fault.path, f"{fault.message} (got {_echo(value)})")

    def _unknown(self, path: schema_check.Path, value: Any) -> str:
        """Say that a name is unknown, what it may have been meant for, and which there are."""
        from registry.suggest import close

        node: Any = self.schema
        with contextlib.suppress(LookupError, TypeError):  # as above
            for step in path[:-1]:
                node, value = self.coercer.child(node, value, step), value[step]
        names = sorted(self.coercer.names(node))
        near = " or ".join(close(str(path[-1]), names))
        known = (
            f"known: {', '.join(names[:20])}{' …' if len(names) > 20 else ''}" if names else "there are none"
        )
        what = "unknown argument" if len(path) == 1 else "unknown name"
        return f"{what} ({f'did you mean {near}? ' if near else ''}{known})"


def _compile(schema: Mapping[str, Any], *, nulls: bool) -> Binding:
    root = _closed(schema)
    told = dialects.lone_references(root) if dialects.is_old(root) else root
    properties = schema.get("properties", {})
    defaults = [
        (name, part["default"])
        for name, part in properties.items()
        if isinstance(part, Mapping) and "default" in part
    ]
    parts = list(objects_in(schema))
    inner = sum("default" in part for part in parts) > len(defaults)
    coercer = Coercer(told, _parse_inner, _matcher())
    return Binding(
        schema=told,
        checker=schema_check.compile(root),
        coercer=coercer,
        defaults=tuple(defaults),
        shallow=not inner and not any(map(_wants_integers, parts)),
        flat=not inner or not any(keyword in schema for keyword in _COMPOSING),
        secret=any(map(_is_secret, parts)),
        nulls=attrs.evolve(coercer, nulls=True) if nulls else None,
    )


def _matcher() -> Callable[[str, str], bool]:
    """Return a function that tells whether a pattern is found in a name, in linear time."""
    checkers: dict[str, Checker] = {}

    def matches(pattern: str, name: str) -> bool:
        checker = checkers.get(pattern)
        if checker is None:
            checker = checkers[pattern] = schema_check.compile({"pattern": pattern})
        return checker.fits(name)

    return matches


def binder(schema: Mapping[str, Any] | None, *, nulls: bool = False) -> Callable[[Any], dict[str, Any]]:
    """Return the function that binds a call's arguments: JSON text, bytes or a mapping in, a dict out.

    Without a schema any object is taken. With ``nulls``, null for an optional argument that takes none means
    that it is not given: models that must name every argument say so. The function raises `InvalidArguments`.

    Raises:
        ValueError: the schema is no valid JSON Schema.
    """
    if schema is None:
        return read_object
    binding = _compile(schema, nulls=nulls)
    if not binding.flat:
        return lambda raw: binding.bind(read_object(raw))
    fits, defaults, shallow, slowly = binding.checker.fits, binding.defaults, binding.shallow, binding.bind

    def bind(raw: Any) -> dict[str, Any]:
        value = _read_text(raw) if type(raw) is str else read_object(raw)
        if not fits(value):
            return slowly(value)
        if not shallow:
            for item in value.values():
                if type(item) in _DEEP:
                    return slowly(value)
        for name, default in defaults:
            if name not in value:
                value[name] = thaw(default)
        return value

    return bind
