"""Turns what a model wrote into what the schema asks for, where nothing is lost by it.

A text becomes a number, a boolean, a list or an object only where the schema allows no text; a float without
a fraction becomes an integer where the schema allows integers only. Nothing is checked here: what does not
convert stays as it is, for the validator to find.

What speaks about a value is a node: a schema, or several of which all or any apply. Conditions
(``if``/``then``/``else``) and dependent schemas are not looked into.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from registry.frozen import thaw
from registry.references import resolver

Schema = Mapping[str, Any]

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_BOOLEANS = {"true": True, "false": False}
_ALL = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_CONTAINERS = frozenset({"array", "object"})
#: An integer of more digits than this is not made from a text: Python refuses to print it.
_MAX_DIGITS = 4_000


@attrs.frozen
class Group:
    """Several nodes that speak about one value: all of them apply, or any one may."""

    every: bool
    nodes: tuple[Node, ...]


Node = Group | Schema | bool


def _group(nodes: Iterable[Node | None], *, every: bool) -> Node | None:
    """Join nodes; None says nothing, so it is left out of `every` and makes an `any` say nothing.

    What is there already is not added again: recursive schemas would grow with the depth of the value.
    """
    found: dict[Any, Node] = {}
    for node in nodes:
        if isinstance(node, Group) and node.every is every:
            found.update((_identity(part), part) for part in node.nodes)
        elif node is not None:
            found[_identity(node)] = node
        elif not every:
            return None
    if len(found) < 2:
        return next(iter(found.values()), None)
    return Group(every, tuple(found.values()))


def _identity(node: Node) -> Any:
    return (node.every, *map(_identity, node.nodes)) if isinstance(node, Group) else id(node)


def types_of_value(value: Any) -> frozenset[str]:
    """Return the JSON Schema types a value has: a whole float is an integer and a number."""
    if value is None:
        return frozenset({"null"})
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, float):
        return frozenset({"number", "integer"} if value.is_integer() else {"number"})
    return frozenset({{int: "integer", str: "string", dict: "object"}.get(type(value), "array")})


def _number(text: str, types: frozenset[str]) -> Any:
    match = _NUMBER.fullmatch(text)
    if match is None or len(text) > _MAX_DIGITS:
        return text
    if match.group(1) is None and match.group(2) is None:
        return int(text)
    value = float(text)
    if "number" in types:
        return text if value in (float("inf"), float("-inf")) else value
    return _whole(text)


def _whole(text: str) -> Any:
    """Return the integer a decimal text stands for, exactly; the text when it has a fraction or no end."""
    import decimal

    try:
        exact = decimal.Decimal(text)
    except decimal.InvalidOperation:  # an exponent of twenty digits
        return text
    if exact and exact.adjusted() > _MAX_DIGITS:
        return text
    return int(exact) if exact == exact.to_integral_value() else text


@attrs.define(eq=False)
class Coercer:
    """Coerces the values of one root schema.

    ``parse`` reads JSON text strictly and raises ValueError when it is none; ``matches`` tells whether a
    pattern of the schema is found in a name.
    """

    root: Schema
    parse: Callable[[str], Any]
    matches: Callable[[str, str], bool]
    resolve: Callable[[str], Node | None] = attrs.field(
        init=False, default=attrs.Factory(lambda self: resolver(self.root), takes_self=True)
    )
    _types: dict[int, frozenset[str]] = attrs.field(factory=dict, init=False)
    #: Whether a member that is null counts as not given when alternatives are chosen.
    nulls: bool = False

    def coerce(self, value: Any, node: Node | None) -> Any:
        """Return the value with everything converted that the node asks for; containers are copied."""
        if node is None:
            return value
        if isinstance(value, str):
            value = self._from_text(value, node)
        elif isinstance(value, float):
            types = self.types(node)
            exact = value.is_integer() and "integer" in types and "number" not in types
            return int(value) if exact else value
        if isinstance(value, dict):
            return {name: self.coerce(item, self.child(node, value, name)) for name, item in value.items()}
        if isinstance(value, list):
            return [self.coerce(item, self.child(node, value, index)) for index, item in enumerate(value)]
        return value

    def without_nulls(self, value: Any, node: Node | None) -> Any:
        """Return the value without members that are null where neither null nor the member is asked for.

        A dialect in which every member is required says so that one is not given.
        """
        if node is None:
            return value
        if isinstance(value, list):
            return [self.without_nulls(item, self.child(node, value, i)) for i, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        required = self._required(node, value, frozenset())
        kept = {}
        for name, item in value.items():
            child = self.child(node, value, name)
            if (
                item is None
                and name not in required
                and child is not None
                and "null" not in self.types(child)
            ):
                continue
            kept[name] = self.without_nulls(item, child)
        return kept

    def _required(self, node: Node, value: Any, seen: frozenset[int]) -> set[str]:
        if isinstance(node, bool) or id(node) in seen:
            return set()
        seen |= {id(node)}
        own: Iterable[str] = () if isinstance(node, Group) else node.get("required", ())
        parts: Iterable[Node]
        if isinstance(node, Group):
            parts = node.nodes if node.every else self._admitting(node.nodes, value)
        else:
            parts = self._parts(node)
        return set(own).union(*(self._required(part, value, seen) for part in parts))

    def fill(self, value: Any, node: Node | None) -> Any:
        """Return the value with the defaults of absent members, at every depth."""
        if node is None:
            return value
        if isinstance(value, list):
            return [self.fill(item, self.child(node, value, index)) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        filled = {name: self.fill(item, self.child(node, value, name)) for name, item in value.items()}
        for name, default in self._defaults(node, value, frozenset()):
            if name not in filled:
                filled[name] = thaw(default)
        return filled

    def types(self, node: Node) -> frozenset[str]:
        """Return the types that a value may have as far as can be told from its type alone: never too few."""
        if isinstance(node, bool):
            return _ALL if node else frozenset()
        if isinstance(node, Group):
            parts = [self.types(part) for part in node.nodes]
            return frozenset.intersection(*parts) if node.every else frozenset.union(*parts)
        known = self._types.get(id(node))
        if known is None:
            self._types[id(node)] = _ALL  # what a cycle of references adds
            known = _ALL.intersection(_own_types(node), *(self.types(part) for part in self._parts(node)))
            self._types[id(node)] = known
        return known

    def child(self, node: Node, value: Any, key: str | int) -> Node | None:
        """Return what speaks about the member or item of ``value`` at ``key``; None when nothing does."""
        return self._child(node, value, key, frozenset())

    def _child(self, node: Node, value: Any, key: str | int, seen: frozenset[int]) -> Node | None:
        if isinstance(node, bool) or id(node) in seen:
            return None
        seen |= {id(node)}
        if isinstance(node, Group):
            nodes = node.nodes if node.every else self._admitting(node.nodes, value)
            return _group((self._child(part, value, key, seen) for part in nodes), every=node.every)
        own = self._members(node, key) if isinstance(key, str) else _item(node, key)
        parts = (self._child(part, value, key, seen) for part in self._parts(node))
        return _group((own, *parts), every=True)

    def names(self, node: Node | None) -> set[str]:
        """Return the names that an object may have."""
        return self._names(node, frozenset())

    def _names(self, node: Node | None, seen: frozenset[int]) -> set[str]:
        if node is None or isinstance(node, bool) or id(node) in seen:
            return set()
        seen |= {id(node)}
        own: Iterable[str] = () if isinstance(node, Group) else node.get("properties", ())
        parts = node.nodes if isinstance(node, Group) else self._parts(node)
        return set(own).union(*(self._names(part, seen) for part in parts))

    def _parts(self, node: Schema) -> Iterator[Node]:
        """Yield what applies to the same value beside the schema's own keywords."""
        reference = node.get("$ref")
        if isinstance(reference, str) and (target := self.resolve(reference)) is not None:
            yield target
        yield from node.get("allOf", ())
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                yield Group(every=False, nodes=tuple(node[keyword]))

    def _members(self, node: Schema, name: str) -> Node | None:
        found = []
        if name in node.get("properties", ()):
            found.append(node["properties"][name])
        for pattern, schema in node.get("patternProperties", {}).items():
            if self.matches(pattern, name):
                found.append(schema)
        return _group(found, every=True) if found else node.get("additionalProperties")

    def _admitting(self, nodes: tuple[Node, ...], value: Any) -> tuple[Node, ...]:
        return tuple(node for node in nodes if self._admits(node, value, frozenset()))

    def _admits(self, node: Node, value: Any, seen: frozenset[int]) -> bool:
        """Tell whether a container may fit a node, from its type, its names and its scalar members."""
        if isinstance(node, bool) or id(node) in seen:
            return bool(node)
        seen |= {id(node)}
        if isinstance(node, Group):
            parts = (self._admits(part, value, seen) for part in node.nodes)
            return all(parts) if node.every else any(parts)
        if not types_of_value(value) & self.types(node):
            return False
        if isinstance(value, dict) and not self._admits_members(node, value):
            return False
        return all(self._admits(part, value, seen) for part in self._parts(node))

    def _admits_members(self, node: Schema, value: dict[str, Any]) -> bool:
        properties, required = node.get("properties", {}), node.get("required", ())
        if not all(name in value for name in required):
            return False
        closed = node.get("additionalProperties") is False and "patternProperties" not in node
        if closed and not value.keys() <= properties.keys():
            return False
        given = value
        if self.nulls:
            given = {name: item for name, item in value.items() if item is not None or name in required}
        return all(
            name not in given or self._admits_scalar(schema, given[name])
            for name, schema in properties.items()
        )

    def _admits_scalar(self, node: Node, value: Any) -> bool:
        if isinstance(value, str):
            value = self._from_text(value, node)
        if not types_of_value(value) & self.types(node):
            return False
        options = _options(node) if isinstance(node, Mapping) else None
        return options is None or any(type(value) is type(option) and value == option for option in options)

    def _from_text(self, text: str, node: Node) -> Any:
        types = self.types(node)
        if "string" in types:
            return text
        if "boolean" in types and text in _BOOLEANS:
            return _BOOLEANS[text]
        if types & _CONTAINERS and text.lstrip()[:1] in ("[", "{"):
            try:
                value = self.parse(text)
            except ValueError:
                return text
            return value if types_of_value(value) & types else text
        return _number(text, types) if types & {"integer", "number"} else text

    def _defaults(self, node: Node, value: Any, seen: frozenset[int]) -> Iterator[tuple[str, Any]]:
        if isinstance(node, bool) or id(node) in seen:
            return
        seen |= {id(node)}
        if isinstance(node, Group):
            nodes = node.nodes if node.every else self._admitting(node.nodes, value)
            if node.every or len(nodes) == 1:  # several alternatives may have different defaults
                for part in nodes:
                    yield from self._defaults(part, value, seen)
            return
        for name, schema in node.get("properties", {}).items():
            if isinstance(schema, Mapping) and "default" in schema:
                yield name, schema["default"]
        for part in self._parts(node):
            yield from self._defaults(part, value, seen)


def _item(node: Schema, index: int) -> Node | None:
    """Return the schema of an array's item, in the form of any dialect."""
    items = node.get("items")
    first = node.get("prefixItems", items if isinstance(items, (list, tuple)) else ())
    if index < len(first):
        found: Node = first[index]
        return found
    return node.get("additionalItems") if isinstance(items, (list, tuple)) else items


def _options(node: Schema) -> Iterable[Any] | None:
    if "const" in node:
        return (node["const"],)
    options: Iterable[Any] | None = node.get("enum")
    return options


def _own_types(node: Schema) -> frozenset[str]:
    declared = node.get("type", _ALL)
    types = frozenset({declared} if isinstance(declared, str) else declared)
    if "number" in types:
        types |= {"integer"}
    options = _options(node)
    if options is not None:
        types &= frozenset().union(*map(types_of_value, options))
    return types
