"""The schemas of arguments and inputs: misspelt keywords, references, patterns, required names."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from registry.diagnostics import Place, Severity
from registry.loading.lint.scene import INPUT_KEYS, list_of, table_of
from registry.loading.lint.walk import KEYWORDS, subschemas
from registry.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.diagnostics import Fault, Path
    from registry.loading.lint.scene import Entry, Root, Scene

#: Keywords of other dialects that are no spelling mistakes, close as they are to ours.
_FOREIGN = frozenset(
    {"dependencies", "enumNames", "example", "id", "markdownDescription", "minimumItems", "nullable", "types"}
)
#: Keywords by which a schema says what it is.
_NAMING = frozenset({"$id", "$schema", "$vocabulary"})


def keywords(scene: Scene) -> Iterator[Fault]:
    """Refuse a misspelt keyword, which a validator would silently pass over."""
    for root in scene.roots:
        own = INPUT_KEYS if root.path[0] == "inputs" else frozenset[str]()
        for path, schema in subschemas(root.schema, root.path):
            for key in schema.keys() - KEYWORDS:
                known = own if path == root.path else frozenset[str]()
                guess = None if key in _FOREIGN or key in known else nearest(key, KEYWORDS | known)
                if guess is not None:
                    message = f"`{key}` is no keyword of JSON Schema"
                    hint = f"did you mean `{guess}`?"
                    yield root.entry.fault("unknown-key", message, *path, key, place=Place.KEY, hint=hint)


class _Whole:
    """What references inside a schema may lead to, gathered once for all of them."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        inside = [found for _, found in subschemas(schema)]
        self.ids = {name for found in inside if isinstance(name := found.get("$id"), str)}
        self.anchors = {found.get(key) for found in inside for key in ("$anchor", "$dynamicAnchor")}
        self.definitions = [f"#/$defs/{name}" for name in table_of(schema, "$defs")]
        #: Names relative to an id can be anything.
        self.has_relative = any("/" in name for name in self.ids)

    @functools.cached_property
    def error(self) -> str:
        """Say why the schema cannot be compiled; empty when it can."""
        return _error(self.schema)

    def leads_somewhere(self, base: str, fragment: str) -> bool:
        """Say whether a reference has a target; where ids are inside, the engine knows it of all at once."""
        if self.ids - {self.schema.get("$id")} or base not in {"", *self.ids}:
            return not self.error
        if fragment and not fragment.startswith("/"):
            return fragment in self.anchors
        return _is_schema(self.schema, fragment)


def _whole_of(root: Root, known: dict[int, _Whole]) -> _Whole:
    if id(root.whole) not in known:
        known[id(root.whole)] = _Whole(root.whole)
    return known[id(root.whole)]


def references(scene: Scene) -> Iterator[Fault]:
    """Refuse references that leave the schema, without following them, and those that lead nowhere."""
    known: dict[int, _Whole] = {}
    for root in scene.roots:
        # What a misspelt `$defs` holds is not missing as well.
        is_complete = not scene.lacks_in(root.entry, *root.path)
        for path, schema in subschemas(root.schema, root.path):
            for key in ("$ref", "$dynamicRef"):
                target = schema.get(key)
                if isinstance(target, str):
                    whole = _whole_of(root, known)
                    yield from _reference(root, whole, (*path, key), target, is_complete=is_complete)


def _reference(root: Root, whole: _Whole, path: Path, target: str, *, is_complete: bool) -> Iterator[Fault]:
    base, _, fragment = target.partition("#")
    if base and base not in whole.ids and not whole.has_relative:
        message = f"`{target}` is outside this schema; nothing is fetched"
        yield root.entry.fault("remote-ref", message, *path, hint="copy it under `$defs` and refer to that")
    elif is_complete and not whole.leads_somewhere(base, fragment):
        guess = nearest(target, whole.definitions)
        hint = f"did you mean `{guess}`?" if guess else "references start at the root of the schema"
        yield root.entry.fault("unresolved-ref", f"`{target}` leads nowhere", *path, hint=hint)


def dialects(scene: Scene) -> Iterator[Fault]:
    """Refuse a schema that names what the engine does not know: a dialect, or an id that is no URI."""
    known: dict[int, _Whole] = {}
    for root in scene.roots:
        inside = [schema for _, schema in subschemas(root.schema)]
        if all(map(_NAMING.isdisjoint, inside)) or scene.is_wrong(root.entry, root.path[0]):
            continue
        error = _whole_of(root, known).error
        if error:
            key = next((key for key in ("$schema", "$id") if key in root.schema), None)
            path = root.path if key is None else (*root.path, key)
            yield root.entry.fault("bad-parameter-schema", error, *path)


def _error(schema: dict[str, Any]) -> str:
    """Say why a schema cannot be compiled; empty when it can."""
    from registry import schema_check

    try:
        schema_check.compile(schema)
    except ValueError as error:
        return str(error)
    return ""


def _is_schema(whole: Any, fragment: str) -> bool:
    from urllib.parse import unquote

    found = whole
    for step in fragment.split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            return False
    return isinstance(found, (dict, bool))


def patterns(scene: Scene) -> Iterator[Fault]:
    """Refuse patterns that cannot be matched in linear time; warn of those that are slow elsewhere."""
    found = [(root, *place) for root in scene.roots for place in _patterns(root)]
    if not found:
        return
    from registry.loading.lint.backtracking import is_exponential

    # One compilation for all: the single ones are tried only when it fails.
    fine = not _error({"patternProperties": {pattern: True for _, _, _, pattern in found}})
    for root, path, place, pattern in found:
        if not fine and _error({"pattern": pattern}):
            yield root.entry.fault(
                "bad-parameter-schema",
                "the pattern is no regular expression that can be matched in linear time",
                *path,
                place=place,
                hint="look-around and back-references are not supported" if "(?" in pattern else "",
            )
        elif is_exponential(pattern):
            yield root.entry.fault(
                "unsafe-pattern",
                "the pattern takes exponential time in a backtracking engine, as many programs have",
                *path,
                place=place,
                hint="let no two repetitions inside each other match the same text",
                severity=Severity.WARNING,
            )


def _patterns(root: Root) -> Iterator[tuple[Path, Place, str]]:
    for path, schema in subschemas(root.schema, root.path):
        pattern = schema.get("pattern")
        if isinstance(pattern, str):
            yield (*path, "pattern"), Place.VALUE, pattern
        for name in table_of(schema, "patternProperties"):
            yield (*path, "patternProperties", name), Place.KEY, name


def required(scene: Scene) -> Iterator[Fault]:
    """Refuse a required argument that is not declared: no call could be right."""
    for entry in scene.recipients:
        names = entry.table.get("required_args")
        if not names or _all_declared(entry.table.get("parameters"), names):
            continue
        if "input_schema" not in entry.table and not scene.lacks(entry, "parameters"):
            yield from _required(entry)


def _all_declared(parameters: Any, names: Any) -> bool:
    try:
        return all(map(parameters.__contains__, names))
    except (AttributeError, TypeError):  # misshapen
        return False


def _required(entry: Entry) -> Iterator[Fault]:
    declared = entry.table.get("parameters")
    if declared is None:
        from registry.kinds import KINDS

        kind = KINDS.get(entry.kind)
        declared = table_of(kind.default_schema if kind else None, "properties")
    if not isinstance(declared, dict) or (entry.kind == "class" and not declared):
        return
    for i, name in enumerate(list_of(entry.table, "required_args")):
        if isinstance(name, str) and name not in declared:
            guess = nearest(name, declared)
            yield entry.fault(
                "required-arg-not-declared",
                f"`{name}` is required but not declared",
                "required_args",
                i,
                hint=f"did you mean `{guess}`?" if guess else "declare it under `parameters`",
            )
