"""Turns what the validator found into faults: one a fault, in words, at the right place.

The schemas carry what to say: next to the keywords that may fail stand ``x-code`` (the diagnostic code),
``x-expect`` (what a pattern means), ``x-because`` (why a key is not allowed), ``x-hint``, and ``x-instead``
(the keys that would do in place of a missing one).
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import attrs

from registry.diagnostics import Fault, Path, Place
from registry.loading.wording import quoted, schema_problem, subject, value_hint, value_problem
from registry.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from registry.documents import Document
    from registry.loading.validators import ValidationError


def explain(
    document: Document, errors: Iterable[ValidationError], schema: dict[str, Any]
) -> tuple[Fault, ...]:
    """Return the faults behind a validator's errors, without those that only follow from another one."""
    found = _Found(document, schema)
    # A value of the wrong type is most likely wrong in other ways too; those are not worth a word.
    for error in sorted(errors, key=lambda error: error.kind.name != "type"):
        found.take(error)
    return tuple(found.faults())


@attrs.define
class _Unknown:
    """A key that may not stand where it stands."""

    legal: tuple[str, ...] = ()
    because: str = ""
    hint: str = ""


@attrs.define
class _Found:
    document: Document
    schema: dict[str, Any]
    unknown: dict[Path, _Unknown] = attrs.field(factory=dict)
    #: For each table: the missing keys, each with the subschema that asks for it.
    missing: dict[Path, dict[str, dict[str, Any]]] = attrs.field(factory=dict)
    other: dict[tuple[Path, Place], Fault] = attrs.field(factory=dict)

    def take(self, error: ValidationError) -> None:
        """Sort an error in."""
        path: Path = tuple(error.instance_path)
        if _in_parameter_schema(path, error, self.schema):
            self._add(path, "bad-parameter-schema", schema_problem(path, error))
            return
        rule: dict[str, Any] = functools.reduce(operator.getitem, error.schema_path[:-1], self.schema)  # type: ignore[arg-type]
        kind: Any = error.kind
        if kind.name == "additionalProperties":
            for key in kind.unexpected:
                self.unknown.setdefault((*path, key), _Unknown(tuple(rule["properties"])))
        elif kind.name == "propertyNames":
            self._take_name((*path, kind.error.instance), rule)
        elif kind.name == "required":
            self.missing.setdefault(path, {})[kind.property] = rule
        elif kind.name == "not":
            self.unknown[path] = _Unknown((), rule["x-because"], rule.get("x-hint", "remove one of them"))
        else:
            code = "wrong-type" if kind.name == "type" else rule.get("x-code", "wrong-value")
            self._add(path, code, value_problem(path, error, rule), value_hint(error, rule))

    def _take_name(self, path: Path, rule: dict[str, Any]) -> None:
        if rule["x-code"] == "unknown-key":
            because = rule.get("x-because", "") or self._foreign(path)
            self.unknown[path] = _Unknown(tuple(rule["enum"]), because, "remove it" if because else "")
        else:
            message = f"{quoted(path[-1])} is no name here: it must be {rule['x-expect']}"
            self._add(path, rule["x-code"], message, "rename it", Place.KEY)

    def _foreign(self, path: Path) -> str:
        """Say which kinds of recipient have a key that this kind has not."""
        kinds = [
            branch["if"]["properties"]["kind"]["const"]
            for branch in self._branches()
            if path[-1] in branch["then"].get("propertyNames", {}).get("enum", ())
        ]
        return f"it belongs to the kind {' or '.join(map(quoted, kinds))}" if kinds else ""

    def _add(self, path: Path, code: str, message: str, hint: str = "", place: Place = Place.VALUE) -> None:
        fault = Fault(code, message, self.document, path, place, hint=hint)
        self.other.setdefault((path, place), fault)

    def faults(self) -> Iterator[Fault]:
        """Yield what is to be reported."""
        for path, unknown in self.unknown.items():
            if not self._of_bad_kind(path):
                yield self._unknown(path, unknown)
        for path, missing in self.missing.items():
            kept = self._really_missing(path, missing)
            if kept:
                yield self._missing(path, kept)
        for (path, _), fault in self.other.items():
            if not self._of_bad_kind(path) and not any(path[: len(key)] == key for key in self.unknown):
                yield fault

    def _of_bad_kind(self, path: Path) -> bool:
        """Say whether a key of a recipient means nothing because the recipient's kind is in error."""
        return (
            len(path) > 2
            and path[0] == "recipients"
            and path[2] not in self._common_keys()
            and ((*path[:2], "kind"), Place.VALUE) in self.other
        )

    def _common_keys(self) -> set[str]:
        names = [branch["then"].get("propertyNames", {}) for branch in self._branches()]
        return set.intersection(*(set(rule["enum"]) for rule in names if rule))

    def _branches(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.schema["$defs"]["recipient"]["allOf"]
        return found

    def _really_missing(self, path: Path, missing: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """Leave out keys that are there, only misspelt; those are reported as unknown."""
        meant = {nearest(str(key[-1]), item.legal) for key, item in self.unknown.items() if key[:-1] == path}
        return {
            key: rule for key, rule in missing.items() if meant.isdisjoint({key, *rule.get("x-instead", ())})
        }

    def _unknown(self, path: Path, entry: _Unknown) -> Fault:
        key = str(path[-1])
        if entry.because:
            message, hint = f"{quoted(key)} is not allowed here: {entry.because}", entry.hint
        else:
            guess = nearest(key, entry.legal)
            message = f"{quoted(key)} is no known key"
            hint = f"did you mean {quoted(guess)}?" if guess else f"known keys: {', '.join(entry.legal)}"
        return Fault("unknown-key", message, self.document, path, Place.KEY, hint=hint)

    def _missing(self, path: Path, missing: dict[str, dict[str, Any]]) -> Fault:
        names = " and ".join(map(quoted, missing))
        hints = [rule["x-hint"] for rule in missing.values() if "x-hint" in rule]
        message = f"{names} {'is' if len(missing) == 1 else 'are'} missing in {subject(path)}"
        hint = f"add {'it' if len(missing) == 1 else 'them'}{', ' + hints[-1] if hints else ''}"
        return Fault("missing-key", message, self.document, path, Place.TABLE, hint=hint)


def _in_parameter_schema(path: Path, error: ValidationError, schema: dict[str, Any]) -> bool:
    """Say whether an error comes from the metaschema, by which the schemas of arguments are checked.

    An error's ``schema_path`` starts at the schema that it stands in, ours or the metaschema.
    """
    inside = path[2:3] == ("input_schema",) or (path[2:3] in {("parameters",), ("inputs",)} and len(path) > 3)
    where = error.schema_path
    return inside and not (where[0] == "$defs" and where[1] in schema["$defs"])
