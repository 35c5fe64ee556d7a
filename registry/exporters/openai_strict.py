"""OpenAI's strict mode: every object closed, every property required, an optional one nullable.

A model leaves an optional argument out by sending null for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from registry.exporters.notes import NOTES, SILENT, noted
from registry.exporters.schemas import anchors_of, disjoint, reference_to, resolve, types_of, walk

if TYPE_CHECKING:
    from registry.diagnostics import Path
    from registry.exporters.problems import Problems
    from registry.exporters.schemas import Schema

#: Keywords that pass as they are.
_KEPT = (
    "title", "description", "enum", "const", "pattern", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
)  # fmt: skip
#: The formats that pass as they are; others are said in words.
_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
#: Keywords that are translated below.
_READ = {"type", "properties", "required", "additionalProperties", "items", "anyOf", "oneOf", "allOf", "$ref"}
_READ |= {"$defs", "definitions"}
#: Keywords without a place in strict mode that can be said in words.
_NOTED = tuple(key for key in NOTES if key not in _KEPT)
_NOTED_BESIDE_FORMAT = tuple(key for key in _NOTED if key != "format")
_LABELS = {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
_KNOWN = {*_KEPT, *_READ, *_NOTED, *SILENT}
MOST_PROPERTIES = 5_000
MOST_LISTED = 1_000
MOST_LETTERS = 120_000
MOST_LEVELS = 10


def strict(schema: Schema, problems: Problems) -> Schema:
    """Return the schema in strict form."""
    problems.refuse_at_root(schema, "strict mode")
    problems.refuse_unreadable(schema, "strict mode")
    if "$ref" in schema:
        problems.unsupported(
            "strict mode takes no $ref at the root of a schema",
            ("$ref",),
            "write the definition in its place",
        )
    if problems.found:
        return schema
    return _Translation(schema, problems).run()


@attrs.define
class _Translation:
    root: Schema
    problems: Problems
    #: Path of a referenced schema -> its name under ``$defs``.
    names: dict[Path, str] = attrs.field(factory=dict)
    #: Name under ``$defs`` -> how many definitions wanted it.
    wanted: dict[str, int] = attrs.field(factory=dict)
    properties: int = 0
    anchors: dict[str, tuple[Path, Any]] = attrs.field(
        init=False, default=attrs.Factory(lambda self: anchors_of(self.root), takes_self=True)
    )

    def run(self) -> Schema:
        root = {"type": "object", "properties": {}, **self.root}
        done = self.node(root, (), 0)
        definitions: dict[str, Schema] = {}
        while len(definitions) < len(self.names):
            path = list(self.names)[len(definitions)]
            target: Any = self.root
            for key in path:
                target = target[key]
            definitions[self.names[path]] = self.node(target, path, 0)
        whole = {**done, "$defs": definitions} if definitions else done
        self._refuse_sizes(whole)
        return whole

    def _refuse_sizes(self, done: Schema) -> None:
        parts = [part for _, part in walk(done) if isinstance(part, dict)]
        listed = [value for part in parts for value in part.get("enum", ())]
        values = [*listed, *(part["const"] for part in parts if "const" in part)]
        names = [name for part in parts for key in ("properties", "$defs") for name in part.get(key, ())]
        letters = sum(len(text) for text in (*names, *values) if isinstance(text, str))
        for count, most, what in (
            (self.properties, MOST_PROPERTIES, "properties"),
            (len(listed), MOST_LISTED, "listed values"),
            (letters, MOST_LETTERS, "characters in names and listed values"),
        ):
            if count > most:
                self.problems.unsupported(f"strict mode takes at most {most} {what}, these are {count}", ())

    def node(self, schema: Any, path: Path, level: int) -> Schema:
        if not isinstance(schema, dict):
            hint = "say which values fit: a type, an enum or a reference"
            self.problems.unsupported(
                "strict mode takes no schema that allows or forbids everything", path, hint
            )
            return {}
        self._refuse_unknown(schema, path)
        if "$ref" in schema:
            return self._reference(schema, path)
        done = {key: schema[key] for key in _KEPT if key in schema}
        kinds = types_of(schema)
        branches = next((key for key in ("anyOf", "oneOf", "allOf") if key in schema), None)
        if kinds:
            done["type"] = kinds[0] if len(kinds) == 1 else kinds
        elif branches is None:
            self.problems.unsupported(
                "strict mode needs the type of every value",
                path,
                'say which: type = "string", or a list of types',
            )
        if branches is not None:
            done |= self._branches(schema, branches, path, level)
        if "object" in kinds:
            done |= self._object(schema, path, level)
        if "array" in kinds:
            done["items"] = self.node(schema.get("items", True), (*path, "items"), level)
        if schema.get("format") in _FORMATS:
            return noted({**done, "format": schema["format"]}, schema, _NOTED_BESIDE_FORMAT)
        return noted(done, schema, _NOTED)

    def _refuse_unknown(self, schema: Schema, path: Path) -> None:
        for key in schema:
            if key not in _KNOWN:
                self.problems.unsupported(
                    f"strict mode has no keyword `{key}`", (*path, key), "leave it out here"
                )

    def _reference(self, schema: Schema, path: Path) -> Schema:
        reference = schema["$ref"]
        found = resolve(self.root, reference, self.anchors)
        if found is None:
            self.problems.unsupported(f"the reference {reference!r} cannot be followed", (*path, "$ref"))
            return {}
        others = sorted(set(schema) - _LABELS - SILENT - {"$ref", "$defs", "definitions"})
        if others:
            self.problems.unsupported(
                f"strict mode takes no {', '.join(others)} beside $ref", path, "put it into the definition"
            )
        target, _ = found
        pointer = {"$ref": reference_to(self._name(target)) if target else "#"}
        labels = noted({key: schema[key] for key in _KEPT if key in schema}, schema, _NOTED)
        # Nothing may stand beside $ref, so its labels go around it.
        return {**labels, "anyOf": [pointer]} if labels else pointer

    def _name(self, target: Path) -> str:
        if target not in self.names:
            name = wanted = str(target[-1])
            while name in self.wanted:
                self.wanted[wanted] += 1
                name = f"{wanted}_{self.wanted[wanted]}"
            self.wanted[name] = 1
            self.names[target] = name
        return self.names[target]

    def _branches(self, schema: Schema, key: str, path: Path, level: int) -> Schema:
        branches = list(schema[key])
        more = [other for other in ("anyOf", "oneOf", "allOf") if other in schema and other != key]
        if more or (key == "allOf" and len(branches) > 1):
            self.problems.unsupported(
                f"strict mode has no keyword `{more[0] if more else key}` here", (*path, key)
            )
        if key == "oneOf" and not disjoint(branches):
            self.problems.unsupported(
                "strict mode has no oneOf whose branches may overlap", (*path, key), "write anyOf"
            )
        return {"anyOf": [self.node(part, (*path, key, i), level) for i, part in enumerate(branches)]}

    def _object(self, schema: Schema, path: Path, level: int) -> Schema:
        properties = schema.get("properties", {})
        extra = schema.get("additionalProperties")
        if (path and not properties and extra is not False) or extra not in (None, False):
            self.problems.unsupported(
                "strict mode takes no object with free keys",
                path,
                "declare its properties and additionalProperties = false, or a list of {key, value} objects",
            )
        if level >= MOST_LEVELS:
            self.problems.unsupported(
                f"strict mode takes at most {MOST_LEVELS} objects inside each other", path
            )
        self._refuse_undeclared(schema, path)
        if any(isinstance(value, dict) for value in [schema.get("const"), *schema.get("enum", ())]):
            self.problems.unsupported(
                "strict mode takes no listed objects", path, "list the values of their properties"
            )
        self.properties += len(properties)
        required = schema.get("required", ())
        done = {}
        for name, part in properties.items():
            value = self.node(part, (*path, "properties", name), level + 1)
            done[name] = value if name in required else _nullable(value)
        return {"properties": done, "required": list(done), "additionalProperties": False}

    def _refuse_undeclared(self, schema: Schema, path: Path) -> None:
        for name in schema.get("required", ()):
            if name not in schema.get("properties", {}):
                self.problems.unsupported(
                    f"strict mode cannot require {name!r}, which is no declared property", (*path, "required")
                )


def _nullable(schema: Schema) -> Schema:
    """Return the schema that also takes null."""
    if "type" not in schema or "anyOf" in schema or "const" in schema:
        return _wrapped(schema)
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    done = {**schema, "type": [*kinds, *(["null"] if "null" not in kinds else [])]}
    if "enum" in schema and None not in schema["enum"]:
        done["enum"] = [*schema["enum"], None]
    return done


def _wrapped(schema: Schema) -> Schema:
    labels: Schema = {key: schema[key] for key in ("title", "description") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in labels}
    branches = inner["anyOf"] if list(inner) == ["anyOf"] else [inner]
    if any(branch.get("type") == "null" for branch in branches):
        return schema
    return {**labels, "anyOf": [*branches, {"type": "null"}]}
