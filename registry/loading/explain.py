"""Turns the problems of a document into faults: one a fault, in words, at the right place.

The schemas carry what to say: next to the keywords that may fail stand ``x-code`` (the diagnostic code),
``x-expect`` (what a pattern means), ``x-because`` (why a key is not allowed), ``x-unless`` (the key that
would allow it), ``x-hint``, and ``x-instead`` (the keys that would do in place of a missing one).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import attrs

from registry.diagnostics import Fault, Path, Place
from registry.loading.schemas import outline
from registry.loading.wording import quoted, schema_hint, schema_problem, subject, value_hint, value_problem
from registry.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from registry.documents import Document
    from registry.loading.problems import Problem


def explain(document: Document, problems: Iterable[Problem]) -> tuple[Fault, ...]:
    """Return the faults behind a document's problems, without those that only follow from another one."""
    found = _Found(document)
    # A value of the wrong type is most likely wrong in other ways too; those are not worth a word.
    for problem in sorted(problems, key=lambda problem: problem.keyword != "type"):
        found.take(problem)
    return tuple(found.faults())


def incomplete(document: Document) -> Fault:
    """Return the fault of having more faults than are told."""
    message = "there are more faults than those that are told"
    return Fault("too-many-faults", message, document, (), Place.TABLE, hint="correct the others first")


def unexplained(document: Document, path: Path) -> Fault:
    """Return the fault of a value that is refused without a reason that could be told."""
    message = f"{subject(path)} is not as it must be"
    return Fault("wrong-value", message, document, path, hint="see the description of the file format")


@attrs.define
class _Unknown:
    """A key that may not stand where it stands."""

    legal: tuple[str, ...] = ()
    because: str = ""
    hint: str = ""
    #: A key that would allow it.
    unless: str | None = None


@attrs.define
class _Found:
    document: Document
    unknown: dict[Path, _Unknown] = attrs.field(factory=dict)
    #: For each table: the missing keys, each with the subschema that asks for it.
    missing: dict[Path, dict[str, Mapping[str, Any]]] = attrs.field(factory=dict)
    other: dict[tuple[Path, Place], Fault] = attrs.field(factory=dict)

    def take(self, problem: Problem) -> None:
        """Sort a problem in."""
        path, rule = problem.path, problem.rule
        if problem.in_argument:
            self._add(path, "bad-parameter-schema", schema_problem(problem), schema_hint(problem))
        elif problem.keyword == "additionalProperties":
            self.unknown.setdefault(path, _Unknown(tuple(rule["properties"])))
        elif problem.keyword == "propertyNames":
            self._take_name(path, rule)
        elif problem.keyword == "required":
            self.missing.setdefault(path, {})[problem.expected] = rule
        elif problem.keyword == "not":
            hint = rule.get("x-hint", "remove one of them")
            self.unknown[path] = _Unknown((), rule["x-because"], hint, rule.get("x-unless"))
        else:
            code = "wrong-type" if problem.keyword == "type" else rule.get("x-code", "wrong-value")
            self._add(path, code, value_problem(problem), value_hint(problem))

    def _take_name(self, path: Path, rule: Mapping[str, Any]) -> None:
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
            for branch in _branches()
            if path[-1] in branch["then"].get("propertyNames", {}).get("enum", ())
        ]
        return f"it belongs to the kind {' or '.join(map(quoted, kinds))}" if kinds else ""

    def _add(self, path: Path, code: str, message: str, hint: str = "", place: Place = Place.VALUE) -> None:
        fault = Fault(code, message, self.document, path, place, hint=hint)
        self.other.setdefault((path, place), fault)

    def faults(self) -> Iterator[Fault]:
        """Yield what is to be reported."""
        every = self._meant()
        for path, unknown in self.unknown.items():
            allowed = unknown.unless is not None and unknown.unless in every.get(path[:-1], ())
            if not allowed and not self._of_bad_kind(path):
                yield self._unknown(path, unknown)
        for path, meant in every.items():
            kept = {
                key: rule
                for key, rule in self.missing[path].items()
                if meant.isdisjoint({key, *rule.get("x-instead", ())})
            }
            if kept:
                yield self._missing(path, kept)
        for (path, _), fault in self.other.items():
            if not self._of_bad_kind(path) and not self._inside_unknown(path):
                yield fault

    def _inside_unknown(self, path: Path) -> bool:
        return any(path[:end] in self.unknown for end in range(1, len(path) + 1))

    def _of_bad_kind(self, path: Path) -> bool:
        """Say whether a key of a recipient means nothing because the recipient's kind is in error."""
        return (
            len(path) > 2
            and path[0] == "recipients"
            and path[2] not in _common_keys()
            and ((*path[:2], "kind"), Place.VALUE) in self.other
        )

    def _meant(self) -> dict[Path, set[str | None]]:
        """Return the keys of each incomplete table that are there, only misspelt: reported as unknown."""
        meant: dict[Path, set[str | None]] = {path: set() for path in self.missing}
        for path, item in self.unknown.items():
            if path[:-1] in meant:
                meant[path[:-1]].add(nearest(str(path[-1]), item.legal))
        return meant

    def _unknown(self, path: Path, entry: _Unknown) -> Fault:
        key = str(path[-1])
        if entry.because:
            message, hint = f"{quoted(key)} is not allowed here: {entry.because}", entry.hint
        else:
            guess = nearest(key, entry.legal)
            message = f"{quoted(key)} is no known key"
            hint = f"did you mean {quoted(guess)}?" if guess else f"known keys: {', '.join(entry.legal)}"
        return Fault("unknown-key", message, self.document, path, Place.KEY, hint=hint)

    def _missing(self, path: Path, missing: Mapping[str, Mapping[str, Any]]) -> Fault:
        names = " and ".join(map(quoted, missing))
        hints = [rule["x-hint"] for rule in missing.values() if "x-hint" in rule]
        message = f"{names} {'is' if len(missing) == 1 else 'are'} missing in {subject(path)}"
        hint = f"add {'it' if len(missing) == 1 else 'them'}{', ' + hints[-1] if hints else ''}"
        return Fault("missing-key", message, self.document, path, Place.TABLE, hint=hint)


def _branches() -> list[dict[str, Any]]:
    """Return what the schema says of the kinds, one after the other, and of some keys."""
    found: list[dict[str, Any]] = outline()["$defs"]["recipient"]["allOf"]
    return found


@functools.cache
def _common_keys() -> frozenset[str]:
    names = [branch["then"].get("propertyNames", {}) for branch in _branches()]
    return frozenset.intersection(*(frozenset(rule["enum"]) for rule in names if rule))
