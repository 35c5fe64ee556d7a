"""Finds all that is wrong in a document by `jsonschema`, in a form that knows nothing of the library.

Two steps: the shape of the document by our schema, which leaves the schemas of arguments open; then each of
those by the metaschema, one subschema at a time, so that nothing recurses as deep as a file may be nested.
Nothing is fetched, and no file takes longer than seconds.
"""

from __future__ import annotations

import functools
import itertools
import json
from typing import TYPE_CHECKING, Any

import attrs
import referencing
from jsonschema import Draft202012Validator, ValidationError  # type: ignore[import-untyped] # has no types
from jsonschema.validators import extend  # type: ignore[import-untyped] # as above
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped] # as above
from referencing.jsonschema import DRAFT202012

from registry.loading.schemas import METASCHEMA, outline
from registry.loading.validators import pattern_validator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from referencing.jsonschema import SchemaRegistry

    from registry.diagnostics import Path

    Check = Callable[[Any, Any, Any, Any], Iterable[ValidationError] | None]

#: So many problems of a document are told; nobody reads more.
MAX_PROBLEMS = 10_000
#: So many times a keyword is applied to a value while looking for them; it takes seconds.
MAX_STEPS = 500_000


@attrs.frozen
class Problem:
    """One value that is not as one keyword of a schema asks."""

    keyword: str
    #: The way to the value; to the key itself, where that may not be there or not be called so.
    path: Path
    #: The subschema that the keyword stands in, with its ``x-`` keys.
    rule: Mapping[str, Any]
    #: What the keyword says; of several keys that are missing, one.
    expected: Any
    instance: Any
    #: Whether it is about the schema of an argument, by the metaschema.
    in_argument: bool = False


def problems(parts: Iterable[Any], steps: int = MAX_STEPS) -> tuple[list[Problem], bool]:
    """Return what is wrong in the parts of a document, and whether that is all of it."""
    engine = _engine(steps)
    by_outline = engine(outline(), registry=referencing.Registry())
    by_metaschema = engine(_vocabularies().contents(METASCHEMA), registry=_vocabularies())
    found: list[Problem] = []
    try:
        for part in parts:
            for problem in itertools.chain(_of_shape(part, by_outline), _of_arguments(part, by_metaschema)):
                found.append(problem)
                if len(found) == MAX_PROBLEMS:
                    return found, False
    except _TooMuchError:
        return found, False
    return found, True


def _of_shape(data: Any, by_outline: Any) -> Iterator[Problem]:
    for error in by_outline.iter_errors(data):
        yield from _told(error, ())


def _of_arguments(data: Any, by_metaschema: Any) -> Iterator[Problem]:
    pending = list(_argument_schemas(data))
    while pending:
        place, schema = pending.pop()
        for error in by_metaschema.iter_errors(schema):
            inside = _subschema(error)
            if inside is None:
                yield from _told(error, place, in_argument=True)
            else:
                pending.append(((*place, *error.path), inside.instance))


def _argument_schemas(data: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the schemas of arguments and inputs, each with its place; what is misshapen is passed over."""
    for section, keys in (("recipients", ("parameters", "input_schema")), ("prompts", ("inputs",))):
        for name, table in _items(data, section):
            for key in keys:
                if key == "input_schema" and isinstance(table, dict) and key in table:
                    yield (section, name, key), table[key]
                elif key != "input_schema":
                    yield from (((section, name, key, inner), found) for inner, found in _items(table, key))


def _items(value: Any, key: str) -> Iterable[tuple[str, Any]]:
    found = value.get(key) if isinstance(value, dict) else None
    return found.items() if isinstance(found, dict) else ()


def _told(error: ValidationError, place: Path, *, in_argument: bool = False) -> Iterator[Problem]:
    """Yield the problems behind an error: for some keywords, the library makes one error of several keys."""
    keyword, path = str(error.validator), (*place, *error.path)
    rule: Any = error.schema
    expected: Any = error.validator_value
    value: Any = error.instance
    told = functools.partial(Problem, rule=rule, instance=value, in_argument=in_argument)
    if keyword == "additionalProperties":
        for key in value:
            if key not in rule["properties"]:
                yield told(keyword, (*path, key), expected=expected)
    elif keyword in {"required", "dependentRequired"}:
        if keyword == "dependentRequired":
            expected = [wanted for key in value for wanted in expected.get(key, ())]
        for key in expected:
            if key not in value:
                yield told("required", path, expected=key)
    elif "propertyNames" in itertools.islice(reversed(error.schema_path), 1, 2):
        yield told("propertyNames", (*path, value), expected=expected)
    else:
        yield told(keyword, path, expected=expected)


# --- the engine: the library's keywords, of which some are made linear, and all are counted


class _TooMuchError(Exception):
    """The document takes too many steps."""


def _engine(steps: int) -> Any:
    """Return a validator class that takes so many steps and no more."""
    left = iter(range(steps))

    def counted(check: Check) -> Check:
        def run(
            validator: Any, expected: Any, instance: Any, schema: Any
        ) -> Iterable[ValidationError] | None:
            if next(left, None) is None:
                raise _TooMuchError
            return check(validator, expected, instance, schema)

        return run

    keywords = {
        **Draft202012Validator.VALIDATORS,
        "$dynamicRef": _later,
        "pattern": _pattern,
        "uniqueItems": _unique_items,
    }
    return extend(Draft202012Validator, {name: counted(check) for name, check in keywords.items()})


def _later(_validator: Any, _ref: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    """Name a schema inside a schema, instead of looking into it.

    On its way up, an error is told its path. Only the metaschema has this keyword, for itself.
    """
    yield ValidationError("", instance=instance)


def _subschema(error: ValidationError) -> ValidationError | None:
    """Return the error that stands for a schema inside a schema; in one place, it is one of two choices."""
    if error.validator == "anyOf" and isinstance(error.instance, (dict, bool)):
        return next((choice for choice in error.context or () if choice.validator == "$dynamicRef"), None)
    return error if error.validator == "$dynamicRef" else None


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    """Match as the gate does: in linear time, and with a `$` that does not stand before a last line break."""
    if isinstance(instance, str) and not pattern_validator(pattern).is_valid(instance):
        yield ValidationError("of another form")


def _unique_items(_validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    """Compare texts, which takes linear time also where hashes of numbers are made to collide."""
    if wanted and isinstance(instance, list) and len(set(map(_canonical, instance))) < len(instance):
        yield ValidationError("an item twice")


def _canonical(value: Any) -> str:
    """Return the same text for equal values; 1 and 1.0 are equal in JSON, 1 and true are not."""
    if isinstance(value, dict):
        return f"{{{','.join(json.dumps(key) + ':' + _canonical(value[key]) for key in sorted(value))}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_canonical, value))}]"
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


@functools.cache
def _vocabularies() -> SchemaRegistry:
    """Return the metaschemas; a schema that names its dialect would switch to the library's own engine."""
    registry: SchemaRegistry = referencing.Registry()
    for uri in REGISTRY:
        if uri.startswith(METASCHEMA.removesuffix("schema")):
            schema: Any = REGISTRY.contents(uri)
            contents = {key: value for key, value in schema.items() if key != "$schema"}
            registry = registry.with_resource(uri, DRAFT202012.create_resource(contents))
    return registry
