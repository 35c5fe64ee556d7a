"""JSON Schema to Gemini's subset of OpenAPI: references in place, one type a schema, null as ``nullable``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs

from registry.exporters.merge import Unmergeable, merge
from registry.exporters.notes import NOTES, SILENT, noted
from registry.exporters.schemas import MAX_DEPTH, anchors_of, disjoint, resolve, type_of, types_of

if TYPE_CHECKING:
    from registry.diagnostics import Path
    from registry.exporters.problems import Problems
    from registry.exporters.schemas import Schema

#: Keywords that pass as they are, by the type they speak of.
_KEPT = {
    "string": ("minLength", "maxLength", "pattern"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}
_LABELS = ("title", "description", "default")
_FORMATS = {"string": ("date-time",), "number": ("float", "double"), "integer": ("int32", "int64")}
_READ = ("type", "properties", "required", "additionalProperties", "items", "anyOf", "oneOf", "const")
_KNOWN = {*_READ, "title", "description", *NOTES, *SILENT}
#: Said in words wherever they stand.
_SAID = ("examples", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType")
#: Said in words for a type.
_SAID_OF = {"string": (), "array": ("uniqueItems",), "integer": ("multipleOf",), "object": (), "boolean": ()}
_SAID_OF["number"] = ("multipleOf", "exclusiveMinimum", "exclusiveMaximum")
#: What rules out some of the values that a schema lists.
_OF_WHOLE_VALUES = (
    "type", "const", "enum", "required", "uniqueItems", "multipleOf", "exclusiveMinimum", "exclusiveMaximum",
    *(key for keys in _KEPT.values() for key in keys),
)  # fmt: skip
#: Schemas that references may unfold to in one recipient.
MOST_NODES = 5_000

#: Paths of the referenced schemas that a place stands in.
Inside = frozenset["Path"]


def translate(schema: Schema, problems: Problems) -> Schema:
    """Return the schema in Gemini's dialect; its root stays an object, beside anyOf too."""
    problems.refuse_unreadable(schema, "Gemini")
    if problems.found:
        return schema
    translation = _Translation(schema, problems)
    try:
        flat, inside = translation.flat(schema, frozenset([()]))
    except _Refused as refusal:
        problems.unsupported(refusal.message, (), refusal.hint)
        return schema
    key = _alternatives_of(flat)
    plain = {name: value for name, value in flat.items() if name not in ("anyOf", "oneOf")}
    done = translation.node(plain, (), inside)
    return {**done, **translation.node(flat, (), inside)} if key else done


class _Refused(Exception):  # noqa: N818 - a verdict on one place, caught in this file
    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class _TooLarge(_Refused):
    """A verdict on the schema as a whole."""


def _alternatives_of(schema: Schema) -> str:
    return next((key for key in ("anyOf", "oneOf") if key in schema), "")


@attrs.define
class _Translation:
    root: Schema
    problems: Problems
    nodes: int = 0
    anchors: dict[str, tuple[Path, Any]] = attrs.field(
        init=False, default=attrs.Factory(lambda self: anchors_of(self.root), takes_self=True)
    )

    def node(self, schema: Any, path: Path, inside: Inside) -> Schema:
        """Translate one schema; what stands in the way is noted at its path."""
        try:
            flat, inside = self.flat(schema, inside)
            return self._flat_node(flat, path, inside)
        except _Refused as refusal:
            place = () if isinstance(refusal, _TooLarge) else path
            self.problems.unsupported(refusal.message, place, refusal.hint)
            return {}

    def flat(self, schema: Any, inside: Inside) -> tuple[Any, Inside]:
        """Put references and allOf in place, at this level only."""
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise _TooLarge(
                f"Gemini would get more than {MOST_NODES} schemas, with references put in place",
                "make it smaller",
            )
        if len(inside) > MAX_DEPTH:
            raise _Refused("the references unfold too deep for Gemini")
        if not isinstance(schema, dict):
            return schema, inside
        parts = [(part, inside) for part in schema.get("allOf", ())]
        if "$ref" in schema:
            parts.append(self._target(schema["$ref"], inside))
        done = {key: schema[key] for key in schema if key not in ("$ref", "allOf", "$defs", "definitions")}
        for part, around in parts:
            plain, around = self.flat(part, around)  # noqa: PLW2901 - what the part stands in grows
            done = _merged(done, plain)
            inside |= around
        return done, inside

    def _target(self, reference: str, inside: Inside) -> tuple[Any, Inside]:
        found = resolve(self.root, reference, self.anchors)
        if found is None:
            raise _Refused(f"the reference {reference!r} cannot be followed")
        path, target = found
        if path in inside:
            raise _Refused(
                f"Gemini takes no schema that refers to itself, as {reference!r} does",
                "bound the nesting: write out the levels that are needed",
            )
        return target, inside | {path}

    def _flat_node(self, schema: Any, path: Path, inside: Inside) -> Schema:
        if len(path) > MAX_DEPTH:
            raise _Refused("the schema unfolds too deep for Gemini")
        if not isinstance(schema, dict):
            raise _Refused("Gemini needs the type of every value", "say which values fit")
        for key in schema:
            if key not in _KNOWN:
                self.problems.unsupported(f"Gemini has no keyword `{key}`", (*path, key), "leave it out here")
        key = _alternatives_of(schema)
        labels = {name: schema[name] for name in _LABELS if name in schema}
        done = self._alternatives(schema, key, path, inside) if key else self._typed(schema, path, inside)
        return noted({**labels, **done}, schema, _SAID)

    def _alternatives(self, schema: Schema, key: str, path: Path, inside: Inside) -> Schema:
        around = {name: value for name, value in schema.items() if name not in (key, *_LABELS, *_SAID)}
        flat = [self.flat(branch, inside) for branch in schema[key]]
        merged = [
            ((*path, key, i), _merged(around, branch), within) for i, (branch, within) in enumerate(flat)
        ]
        if key == "oneOf" and not disjoint([branch for _, branch, _ in merged]):
            raise _Refused("Gemini has no oneOf whose branches may overlap", "write anyOf")
        left = [entry for entry in merged if not _is_plain_null(entry[1])]
        # A lone branch takes the place of the whole, so it takes its words too.
        words = {name: schema[name] for name in _LABELS if name in schema and len(left) == 1}
        done = [self.node(_merged(words, branch), place, within) for place, branch, within in left]
        return _either(done, nullable=len(left) < len(merged))

    def _typed(self, schema: Schema, path: Path, inside: Inside) -> Schema:
        kinds = types_of(schema)
        if not kinds:
            raise _Refused(
                "Gemini needs the type of every value", 'say which: type = "string", or a list of types'
            )
        values = _listed(schema)
        if values is not None:
            kinds = [kind for kind in kinds if any(_is(value, kind) for value in values)]
            if not kinds:
                raise _Refused(
                    "no listed value fits what else the schema asks for", "correct enum, const or type"
                )
        plain = [kind for kind in kinds if kind != "null"]
        if len(plain) > 1:
            schema = {name: value for name, value in schema.items() if name != "description"}
        done = [self._one(schema, kind, path, inside) for kind in plain]
        return _either(done, nullable="null" in kinds)

    def _one(self, schema: Schema, kind: str, path: Path, inside: Inside) -> Schema:
        done: Schema = {"type": kind}
        done |= {key: schema[key] for key in _KEPT.get(kind, ()) if key in schema}
        said = [*_SAID_OF[kind]]
        if schema.get("format") in _FORMATS.get(kind, ()):
            done["format"] = schema["format"]
        elif kind in _FORMATS:
            said.append("format")
        if kind == "object":
            done |= self._object(schema, path, inside)
        if kind == "array":
            done["items"] = self.node(schema.get("items", True), (*path, "items"), inside)
        if kind == "integer":
            done |= _integer_bounds(schema)
        values = [value for value in _listed(schema) or () if _is(value, kind)]
        described = {"description": schema["description"]} if "description" in schema else {}
        if not values:
            return noted({**done, **described}, schema, tuple(said))
        if kind == "string" and all(values):
            return noted({**done, **described, "enum": values}, schema, tuple(said))
        if kind in ("integer", "number"):
            done |= {"minimum": min(values), "maximum": max(values)}
        return noted({**done, **described}, {**schema, "enum": values}, (*said, "enum"))

    def _object(self, schema: Schema, path: Path, inside: Inside) -> Schema:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") not in (None, True, False, {}):
            raise _Refused(
                "Gemini takes no object with free keys",
                "declare the properties, or a list of {key, value} objects",
            )
        required = list(schema.get("required", ()))
        missing = sorted(set(required) - set(properties))
        if missing:
            raise _Refused(f"Gemini cannot require {', '.join(missing)}: not among the declared properties")
        done: Schema = {}
        if properties:
            done["properties"] = {
                name: self.node(part, (*path, "properties", name), inside)
                for name, part in properties.items()
            }
        return {**done, "required": required} if required else done


def _merged(outer: Any, inner: Any) -> Any:
    try:
        return merge(outer, inner)
    except Unmergeable as obstacle:
        raise _Refused(
            f"Gemini has no way to say two constraints at once: {obstacle}", "write one schema that says both"
        ) from None


def _either(branches: list[Schema], *, nullable: bool) -> Schema:
    if not branches:
        return {"type": "null"}
    done = branches[0] if len(branches) == 1 else {"anyOf": branches}
    return {**done, "nullable": True} if nullable else done


def _integer_bounds(schema: Schema) -> Schema:
    """Whole numbers make an exclusive bound an inclusive one."""
    done: Schema = {}
    if "exclusiveMinimum" in schema:
        above = math.floor(schema["exclusiveMinimum"]) + 1
        done["minimum"] = max(above, schema.get("minimum", above))
    if "exclusiveMaximum" in schema:
        below = math.ceil(schema["exclusiveMaximum"]) - 1
        done["maximum"] = min(below, schema.get("maximum", below))
    return done


def _is_plain_null(schema: Schema) -> bool:
    """Say whether nothing is lost when a branch becomes ``nullable``."""
    has_more = schema.keys() - _KNOWN or schema.keys() & {*_LABELS, *_SAID, "anyOf", "oneOf"}
    return types_of(schema) == ["null"] and not has_more and _listed(schema) in (None, [None])


def _listed(schema: Schema) -> list[Any] | None:
    """Return the listed values that fit what else a schema says of a value as a whole, if it lists any."""
    if "const" not in schema and "enum" not in schema:
        return None
    from registry.schema_check import compile as compile_schema  # a large import that few exports need

    checker = compile_schema({key: schema[key] for key in _OF_WHOLE_VALUES if key in schema})
    values = [schema["const"]] if "const" in schema else schema["enum"]
    return [value for value in values if checker.fits(value)]


def _is(value: Any, kind: str) -> bool:
    found = type_of(value)
    if kind == "integer" and found == "number":
        return bool(value.is_integer())
    return found == kind or (kind == "number" and found == "integer")
