"""What keeps a recipient from being expressed for a target, before it has a place in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from registry.diagnostics import Diagnostic, Fault, Path, Severity
from registry.exporters.schemas import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry.documents import Document


@attrs.frozen
class Problem:
    """One thing that a target cannot express. ``pointer`` leads to it inside the recipient's input schema."""

    code: str
    message: str
    #: Empty when the problem is about all recipients together.
    recipient: str = ""
    pointer: Path = ()
    hint: str = ""
    #: Shown name of the file that declares the recipient.
    source: str = ""

    def path_in(self, data: Any) -> Path:
        """Return the longest path to the problem that a file's data has.

        A schema made of ``parameters`` and ``required_args`` is not in the file as such, so its parts are
        looked up there.
        """
        if not self.recipient:
            return tuple(_existing(data, ("recipients",)))
        table = tuple(_existing(data, ("recipients", self.recipient)))
        pointer: Path = ("input_schema", *self.pointer)
        if self.pointer[:1] == ("properties",) and "input_schema" not in _at(data, table):
            pointer = ("parameters", *self.pointer[1:])
        return tuple(_existing(data, (*table, *pointer)))

    def fault(self, document: Document) -> Fault:
        """Return the problem as a fault of the document that declares the recipient."""
        path = self.path_in(document.data)
        return Fault(self.code, self.message, document, path, hint=self.hint)

    def diagnostic(self) -> Diagnostic:
        """Return the problem at the start of its file: for recipients whose text is not at hand."""
        path: Path = ("recipients", self.recipient, "input_schema", *self.pointer)
        if not self.pointer:
            path = path[:2] if self.recipient else path[:1]
        shown = ".".join(map(str, path))
        return Diagnostic(
            self.code, Severity.ERROR, self.message, self.source or "<registry>", 1, 1, 1, 1, shown, self.hint
        )


def _at(data: Any, path: Path) -> Mapping[str, Any]:
    for key in path:
        data = data[key]
    return data if isinstance(data, dict) else {}


def _existing(data: Any, path: Path) -> Iterator[str | int]:
    for key in path:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return
        yield key


@attrs.define
class Problems:
    """The problems of one recipient, collected while it is translated."""

    recipient: str = ""
    source: str = ""
    found: list[Problem] = attrs.field(factory=list)
    _seen: set[Problem] = attrs.field(factory=set, init=False)

    def add(self, code: str, message: str, pointer: Path = (), hint: str = "") -> None:
        """Note a problem and go on: all of them are reported together."""
        problem = Problem(code, message, self.recipient, pointer, hint, self.source)
        if problem not in self._seen:
            self._seen.add(problem)
            self.found.append(problem)

    def unsupported(self, message: str, pointer: Path, hint: str = "") -> None:
        """Note that the target has no words for a part of the schema."""
        self.add("unsupported-schema", message, pointer, hint)

    def refuse_at_root(self, schema: Mapping[str, Any], who: str) -> None:
        """Refuse the keywords that some providers take everywhere but at the root of a schema."""
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                self.unsupported(
                    f"{who} takes no {key} at the root of a schema",
                    (key,),
                    "move it into a property, or leave it out and check in the recipient",
                )

    def refuse_unreadable(self, schema: Mapping[str, Any], who: str) -> None:
        """Refuse what means something else to a JSON Schema engine than to a translation."""
        for path, part in walk(schema):
            if not isinstance(part, dict):
                continue
            for key in ("exclusiveMinimum", "exclusiveMaximum"):
                if isinstance(part.get(key), bool):
                    self.unsupported(
                        f"{who} takes no {key} of true or false", (*path, key), "write the bound there"
                    )
            if (
                path
                and "$id" in part
                and any(isinstance(inner, dict) and "$ref" in inner for _, inner in walk(part))
            ):
                self.unsupported(
                    f"{who} takes no $id that changes where references lead",
                    (*path, "$id"),
                    "leave it out, and write the references from the root",
                )
