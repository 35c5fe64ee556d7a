"""Defaults and examples: each must fit its own schema.

What plainly fits is seen at once; all the rest of a load is decided by one validator, compiled once.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

import attrs

from registry.diagnostics import Fault, Path, Place
from registry.loading.lint.scene import INPUT_KEYS, PLAIN, list_of, table_of
from registry.loading.lint.walk import NESTING, subschemas
from registry.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from registry.loading.lint.scene import Entry, Scene
    from registry.schema_check import SchemaFault

#: Keywords that `plainly_fits` understands or that mean nothing to a validator.
_CERTAIN = (PLAIN | INPUT_KEYS) - {"const"}
_TYPES = {str: ("string",), int: ("integer", "number"), float: ("number",), bool: ("boolean",)}
_CLOSING = ("additionalProperties", "unevaluatedProperties")
_COMPOSING = frozenset({"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"})


@attrs.define(eq=False, repr=False)
class _Job:
    """A value that a schema is to decide on: the one at ``pointer`` inside ``whole``."""

    entry: Entry
    code: str
    path: Path
    value: Any
    whole: dict[str, Any]
    pointer: str = ""


def values(scene: Scene) -> Iterator[Fault]:
    """Refuse defaults and examples that do not fit their schemas."""
    jobs: list[_Job] = []
    for entry in scene.recipients:
        if not _is_plain(entry.table):
            jobs += _recipient(scene, entry)
    for entry in scene.prompts:
        jobs += _prompt(scene, entry)
        yield from _example_names(scene, entry)
    together = [job for job in jobs if "$id" not in job.whole]
    if len(together) > 1 and _all_fit(together):
        jobs = [job for job in jobs if "$id" in job.whole]
    groups: dict[tuple[int, bool], list[_Job]] = collections.defaultdict(list)
    for job in jobs:
        groups[id(job.whole), bool(job.pointer)].append(job)
    for group in groups.values():
        yield from _decide(group)


def _is_plain(table: dict[str, Any]) -> bool:
    """Say whether all values of a recipient plainly fit: the usual case, decided in a few steps."""
    try:
        parameters = table["parameters"]
        for schema in parameters.values():
            if "default" in schema:
                if not plainly_fits(schema, schema["default"]):
                    return False
            elif not PLAIN.issuperset(schema):
                return False
        if "input_schema" in table:
            return False
        return "example_messages" not in table or _are_plain(table, parameters)
    except (AttributeError, KeyError, TypeError):  # declared in another way, or misshapen
        return False


def _are_plain(table: dict[str, Any], parameters: dict[str, Any]) -> bool:
    required = table.get("required_args", ())
    for example in table["example_messages"]:
        arguments = example["arguments"]
        for name, value in arguments.items():
            if not plainly_fits(parameters[name], value):
                return False
        for name in required:
            if name not in arguments:
                return False
    return True


def plainly_fits(schema: dict[str, Any], value: Any) -> bool:
    """Say whether a value certainly fits a simple schema; False means only that it is not certain."""
    kind = type(value)
    if schema.get("type") not in _TYPES.get(kind, ()) or not _CERTAIN.issuperset(schema):
        return False
    if kind is str:
        length = len(value)
        return (
            ("enum" not in schema or value in schema["enum"])
            and ("minLength" not in schema or length >= schema["minLength"])
            and ("maxLength" not in schema or length <= schema["maxLength"])
        )
    return "enum" not in schema and (
        kind is bool
        or (
            ("minimum" not in schema or value >= schema["minimum"])
            and ("maximum" not in schema or value <= schema["maximum"])
        )
    )


def _sound_fit(schema: dict[str, Any], value: Any) -> bool:
    try:
        return plainly_fits(schema, value)
    except TypeError:  # a limit of the wrong type, reported as such
        return False


def _recipient(scene: Scene, entry: Entry) -> Iterator[_Job]:
    table = entry.table
    parameters = table.get("parameters")
    if isinstance(parameters, dict):
        whole = {"properties": parameters}
        for name, schema in parameters.items():
            if isinstance(schema, dict):
                pointer = f"/properties/{_step(name)}"
                yield from _defaults(scene, entry, ("parameters", name), schema, whole, pointer)
    elif isinstance(table.get("input_schema"), dict):
        schema = table["input_schema"]
        yield from _defaults(scene, entry, ("input_schema",), schema, schema, "")
    yield from _examples(scene, entry)


def _prompt(scene: Scene, entry: Entry) -> Iterator[_Job]:
    for name, schema in table_of(entry.table, "inputs").items():
        if isinstance(schema, dict):
            yield from _defaults(scene, entry, ("inputs", name), schema, schema, "")
    inputs = _inputs(scene, entry) if entry.table.get("examples") else {}
    for i, example in enumerate(list_of(entry.table, "examples")):
        for name, value in table_of(example, "inputs").items():
            schema = inputs.get(name)
            path = ("examples", i, "inputs", name)
            if (
                isinstance(schema, dict)
                and not _sound_fit(schema, value)
                and not scene.is_wrong(entry, *path)
                and not scene.is_wrong(entry, "inputs", name)
            ):
                yield _Job(entry, "example-violates-schema", path, value, schema)


def _defaults(
    scene: Scene, entry: Entry, path: Path, schema: dict[str, Any], whole: dict[str, Any], pointer: str
) -> Iterator[_Job]:
    if "default" in schema and not _sound_fit(schema, schema["default"]):
        yield from _default(scene, entry, path, schema, whole, pointer)
    if not NESTING.isdisjoint(schema):
        for inner, found in subschemas(schema):
            if inner and "default" in found and not _sound_fit(found, found["default"]):
                deeper = "".join(f"/{_step(step)}" for step in inner)
                yield from _default(scene, entry, (*path, *inner), found, whole, pointer + deeper)


def _default(
    scene: Scene, entry: Entry, path: Path, schema: dict[str, Any], whole: dict[str, Any], pointer: str
) -> Iterator[_Job]:
    if scene.is_wrong(entry, *path):
        return
    if not any("$ref" in found or "$dynamicRef" in found for _, found in subschemas(schema)):
        whole, pointer = schema, ""  # what else is wrong around it does not matter
    yield _Job(entry, "default-violates-schema", (*path, "default"), schema["default"], whole, pointer)


def _step(key: str | int) -> str:
    from urllib.parse import quote

    return quote(str(key).replace("~", "~0").replace("/", "~1"), safe="~")


def _examples(scene: Scene, entry: Entry) -> Iterator[_Job]:
    whole: dict[str, Any] | None = None
    for i, example in enumerate(list_of(entry.table, "example_messages")):
        arguments = example.get("arguments") if isinstance(example, dict) else None
        if not isinstance(arguments, dict):
            continue
        whole = whole or _arguments_schema(scene, entry)
        path = ("example_messages", i, "arguments")
        if whole is not None and not scene.is_wrong(entry, *path):
            yield _Job(entry, "example-violates-schema", path, arguments, whole)


def _arguments_schema(scene: Scene, entry: Entry) -> dict[str, Any] | None:
    """Return the schema of a recipient's arguments as calls are checked by it; None when it is unknown."""
    table = entry.table
    if any(scene.is_wrong(entry, key) for key in ("parameters", "input_schema", "required_args")):
        return None
    if scene.lacks(entry, "parameters", "input_schema"):
        return None
    if "input_schema" in table:
        return closed(table["input_schema"])
    from registry.kinds import KINDS

    kind = KINDS.get(entry.kind)
    if kind is None or (entry.kind == "class" and "parameters" not in table):
        return None
    if kind.default_schema is not None and "parameters" not in table:
        return dict(kind.default_schema)
    return {
        "type": "object",
        "properties": table.get("parameters", {}),
        "required": [name for name in table.get("required_args", ()) if name in table.get("parameters", {})],
        "additionalProperties": False,
    }


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that rules out unknown arguments, unless it says itself which it takes."""
    if any(key in schema for key in _CLOSING):
        return schema
    return {**schema, _CLOSING[not _COMPOSING.isdisjoint(schema)]: False}


def _inputs(scene: Scene, entry: Entry) -> dict[str, Any]:
    """Return the inputs that a prompt takes: its own, and those of the prompts whose text it takes in."""
    found: dict[str, Any] = {}
    pending, seen = [entry.table], {entry.name}
    for table in pending:
        own = table_of(table, "inputs")
        for name, schema in own.items():
            found.setdefault(name, schema)
            other = schema.get("prompt") if isinstance(schema, dict) else None
            if isinstance(other, str) and other not in seen:
                seen.add(other)
                pending += scene.prompt_tables.get(other, ())
    return found


def _are_all_known(scene: Scene, entry: Entry, inputs: dict[str, Any]) -> bool:
    """Say whether a prompt has no inputs but these: nothing that declares or includes more is in error."""
    included = [schema.get("prompt") for schema in inputs.values() if isinstance(schema, dict)]
    tables = {other.name: other for other in scene.prompts}
    return not any(scene.lacks_in(entry, "inputs", name) for name in inputs) and not any(
        name not in tables or scene.is_wrong(tables[name], "inputs") or scene.lacks(tables[name], "inputs")
        for name in included
        if isinstance(name, str)
    )


def _example_names(scene: Scene, entry: Entry) -> Iterator[Fault]:
    """Refuse examples of a prompt that give inputs it has not, or lack inputs it needs."""
    if not entry.table.get("examples") or not isinstance(entry.table.get("inputs", {}), dict):
        return
    if scene.lacks(entry, "inputs"):
        return
    inputs, own = _inputs(scene, entry), table_of(entry.table, "inputs")
    needed = [
        name
        for name, schema in own.items()
        if isinstance(schema, dict) and is_needed(schema) and not scene.lacks_in(entry, "inputs", name)
    ]
    is_known = _are_all_known(scene, entry, inputs)
    for i, example in enumerate(list_of(entry.table, "examples")):
        given = example.get("inputs", {}) if isinstance(example, dict) else None
        if not isinstance(given, dict) or scene.lacks_in(entry, "examples", i):
            continue
        meant = set()
        for name in given.keys() - inputs.keys() if is_known else ():
            guess = nearest(name, inputs)
            meant.add(guess)
            yield entry.fault(
                "example-violates-schema",
                f"the prompt has no input `{name}`",
                *("examples", i, "inputs", name),
                place=Place.KEY,
                hint=f"did you mean `{guess}`?" if guess else "remove it, or declare it under `inputs`",
            )
        missing = [name for name in needed if name not in given and name not in meant]
        if missing:
            names = ", ".join(f"`{name}`" for name in missing)
            where = ("examples", i, "inputs") if "inputs" in example else ("examples", i)
            yield entry.fault(
                "example-violates-schema",
                f"the example gives no value for {names}",
                *where,
                place=Place.TABLE,
                hint="add it",
            )


def is_needed(schema: dict[str, Any]) -> bool:
    """Say whether a caller must give a value for an input."""
    return schema.get("optional") is not True and schema.keys().isdisjoint({"default", "provided", "prompt"})


def _all_fit(jobs: list[_Job]) -> bool:
    from registry import schema_check

    known: dict[int, str] = {}
    schemas: dict[str, Any] = {}
    items = []
    for job in jobs:
        name = known.setdefault(id(job.whole), f"urn:s:{len(known)}")
        schemas[name] = {**job.whole, "$id": name}
        items.append({"$ref": f"{name}#{job.pointer}"})
    try:
        checker = schema_check.compile({"$defs": schemas, "prefixItems": items})
    except ValueError:
        return False
    return checker.fits([job.value for job in jobs])


def _decide(jobs: list[_Job]) -> Iterator[Fault]:
    """Decide on values whose schemas are parts of the same whole, which is compiled once."""
    from registry import schema_check

    whole = jobs[0].whole
    base = whole.get("$id", "urn:s")
    if jobs[0].pointer:
        parts = {str(i): {"$ref": f"{base}#{job.pointer}"} for i, job in enumerate(jobs)}
        whole = {"$defs": {"0": {**whole, "$id": base}}, "properties": parts}
    try:
        checker = schema_check.compile(whole)
    except ValueError:
        return  # the schema is in error; that is reported at the schema
    for i, job in enumerate(jobs):
        if job.pointer:
            found = checker.errors({str(i): job.value})
            yield from _told(job, [attrs.evolve(fault, path=fault.path[1:]) for fault in found])
        else:
            yield from _told(job, checker.errors(job.value))


def _told(job: _Job, found: Sequence[SchemaFault]) -> Iterator[Fault]:
    meant = _meant(job, found)
    known = set(meant.values())
    seen = set()
    for fault in found:
        path, place, hint = fault.path, Place.VALUE, ""
        subject = f"`{path[-1] if path else job.path[-1]}`"
        if fault.keyword == "required":
            if path in known:
                continue
            path, place, hint = path[:-1], Place.TABLE, "add it"
        elif fault.keyword in _CLOSING:
            place = Place.KEY
            hint = f"did you mean `{meant[path][-1]}`?" if path in meant else ""
        if (path, place) not in seen or place is Place.TABLE:
            seen.add((path, place))
            yield job.entry.fault(
                job.code, f"{subject} {fault.message}", *job.path, *path, place=place, hint=hint
            )


def _meant(job: _Job, found: Sequence[SchemaFault]) -> dict[Path, Path]:
    """Return what unknown names are most likely misspelt for: a name that is missing beside, or declared."""
    missing: dict[Path, list[str]] = collections.defaultdict(list)
    missing[()] += table_of(job.whole, "properties") if not job.pointer else ()
    for fault in found:
        if fault.keyword == "required":
            missing[fault.path[:-1]].append(str(fault.path[-1]))
    unknown = [fault.path for fault in found if fault.keyword in _CLOSING]
    guesses = {path: nearest(str(path[-1]), missing[path[:-1]]) for path in unknown}
    return {path: (*path[:-1], guess) for path, guess in guesses.items() if guess}
