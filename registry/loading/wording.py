"""The words of diagnostics: names of values and types, and what must be true of a value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from registry.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from registry.diagnostics import Path
    from registry.loading.problems import Problem

_TYPES = {
    "string": "a text",
    "integer": "an integer",
    "number": "a number",
    "array": "an array",
    "object": "a table",
    "boolean": "true or false",
    "null": "null",
}
_SECTIONS: dict[str | int, str] = {"recipients": "recipient", "prompts": "prompt", "servers": "server"}
#: Texts from a file are cut to so many code points in a message.
_LONGEST = 40


def quoted(value: Any) -> str:
    """Mark a text from a file as such, cut where it is very long."""
    text = str(value)
    return f"`{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}`"


def subject(path: Path) -> str:
    """Name a value by the end of its path."""
    if not path:
        return "the file"
    if len(path) == 2 and path[0] in _SECTIONS:
        return f"{_SECTIONS[path[0]]} {quoted(path[-1])}"
    if isinstance(path[-1], int):
        return f"item {path[-1] + 1} of {subject(path[:-1])}"
    return quoted(path[-1])


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(json.dumps(value, ensure_ascii=False) for value in values)


def _wanted(types: str | list[str]) -> str:
    names = [types] if isinstance(types, str) else types
    return " or ".join(_TYPES[name] for name in sorted(names, key=list(_TYPES).index))


def _actual(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, float):
        return "a fraction" if value % 1 else "a number"
    names = {str: "a text", int: "an integer", dict: "a table", list: "an array"}
    return names.get(type(value), "another value")


#: What must be true of a value, by the keyword that failed.
_VALUE: dict[str, Callable[[Problem], str]] = {
    "type": lambda problem: f"must be {_wanted(problem.expected)}",
    "enum": lambda problem: f"must be one of {_listed(problem.expected)}",
    "const": lambda problem: f"must be {_listed([problem.expected])}",
    "pattern": lambda problem: f"must be {problem.rule.get('x-expect', 'of another form')}",
    "minimum": lambda problem: f"must be at least {problem.expected}",
    "maximum": lambda problem: f"must be at most {problem.expected}",
    "exclusiveMinimum": lambda problem: f"must be more than {problem.expected}",
    "minLength": lambda _: "must not be empty",
    "minItems": lambda _: "must not be empty",
    "uniqueItems": lambda _: "must not hold the same item twice",
}


def _otherwise(_: Problem) -> str:
    return "is not as it must be"


def value_problem(problem: Problem) -> str:
    """Say what must be true of a value; the value itself is not repeated, it may be a secret."""
    message = f"{subject(problem.path)} {_VALUE.get(problem.keyword, _otherwise)(problem)}"
    return f"{message}, not {_actual(problem.instance)}" if problem.keyword == "type" else message


def value_hint(problem: Problem) -> str:
    """Suggest the value that was most likely meant."""
    path = problem.path
    if problem.keyword == "type" and problem.expected == "object" and isinstance(problem.instance, list):
        return f"write [{path[0]}.{path[1]}], in single brackets" if len(path) == 2 else ""
    if len(path) == 4 and path[2] in {"inputs", "parameters"}:
        return schema_hint(problem)
    options = problem.rule.get("enum", ())
    guess = nearest(problem.instance, options) if options and isinstance(problem.instance, str) else None
    return f"did you mean {json.dumps(guess)}?" if guess else ""


_SIMPLE_TYPES = tuple(sorted(_TYPES))
#: What other languages call them.
_OTHER_NAMES = {
    **dict.fromkeys(("text", "str", "char"), "string"),
    **dict.fromkeys(("int", "long", "whole"), "integer"),
    **dict.fromkeys(("float", "double", "decimal", "real"), "number"),
    **dict.fromkeys(("bool", "yes/no", "flag"), "boolean"),
    **dict.fromkeys(("list", "tuple", "sequence"), "array"),
    **dict.fromkeys(("dict", "table", "map", "mapping"), "object"),
    **dict.fromkeys(("none", "nil"), "null"),
}


def _type_meant(value: Any) -> str | None:
    """Return the name of the type that a text most likely means."""
    if not isinstance(value, str):
        return None
    return _OTHER_NAMES.get(value.lower()) or nearest(value, _SIMPLE_TYPES)


def schema_problem(problem: Problem) -> str:
    """Say what is wrong in the schema of an argument; the metaschema names types in its only ``anyOf``."""
    if problem.keyword != "anyOf":
        return value_problem(problem)
    guess = _type_meant(problem.instance)
    more = f"; did you mean {guess}?" if guess else ""
    return f"{subject(problem.path)} must be one of {', '.join(_SIMPLE_TYPES)}, or an array of them{more}"


def schema_hint(problem: Problem) -> str:
    """Say how to write what was most likely meant by the schema of an argument."""
    path = problem.path
    if path[-1] == "required" and isinstance(problem.instance, bool):
        if path[0] == "recipients":
            return "name the arguments that must be given in `required_args`"
        return "an input must be given, unless it has a `default` or says `optional = true`"
    if len(path) == 4 and (guess := _type_meant(problem.instance)):
        return f'write {{ type = "{guess}" }}'
    return ""
