"""What a check finds: faults without a place, diagnostics with one, and the report that holds them."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.documents import Document

#: The way to a value in a document: keys and array indexes from the root.
Path = tuple[str | int, ...]


class Severity(enum.StrEnum):
    """How much a diagnostic matters: an error stops a load, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


class Place(enum.Enum):
    """Which part of a key-value pair a fault is about."""

    KEY = "key"
    VALUE = "value"
    #: The header of the table at the path (or the opening of an inline table): for what is missing in it.
    TABLE = "table"


@attrs.frozen
class Mention:
    """A second place that a fault is about, such as the first of two equal names."""

    message: str
    document: Document
    path: Path
    place: Place = Place.KEY


@attrs.frozen
class Fault:
    """Something wrong, named by its path; `registry.loading.locate` turns it into a `Diagnostic`.

    Stages report faults so that positions are computed only when there is something to report.
    """

    code: str
    message: str
    document: Document
    path: Path
    place: Place = Place.VALUE
    #: Code points inside the string at the path: (start, end), for faults inside templates and texts.
    within: tuple[int, int] | None = None
    #: Code points in the document's text: (start, end). Overrides path and place.
    span: tuple[int, int] | None = None
    hint: str = ""
    severity: Severity = Severity.ERROR
    mentions: tuple[Mention, ...] = ()


@attrs.frozen
class Related:
    """A second place that a diagnostic refers to."""

    message: str
    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@attrs.frozen
class Diagnostic:
    """One fault with its exact place.

    Lines and columns are 1-based; columns count code points, the end is exclusive. A byte-order mark is no
    column. ``path`` is dotted, as in ``recipients.a.parameters.city.type``.
    """

    code: str
    severity: Severity
    message: str
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    path: str = ""
    hint: str = ""
    related: tuple[Related, ...] = ()

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.file}:{self.line}:{self.column}: {self.severity}[{self.code}] {self.message}{hint}"


def _sorted(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(found, key=_order))


def _order(diagnostic: Diagnostic) -> tuple[str, int, int, str, str]:
    return (diagnostic.file, diagnostic.line, diagnostic.column, diagnostic.code, diagnostic.message)


@attrs.frozen
class Report:
    """All that a check found, sorted by place, and what it looked at.

    ``sources`` maps the shown name of each file to its text, for code frames; it takes no part in equality.
    """

    diagnostics: tuple[Diagnostic, ...] = attrs.field(default=(), converter=_sorted)
    files: int = 0
    recipients: int = 0
    prompts: int = 0
    sources: dict[str, str] = attrs.field(factory=dict, eq=False, repr=False)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that stop a load."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that do not."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.WARNING)

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def strict(self) -> Report:
        """Return the report with every warning turned into an error."""
        return attrs.evolve(
            self, diagnostics=[attrs.evolve(d, severity=Severity.ERROR) for d in self.diagnostics]
        )

    @classmethod
    def combine(cls, reports: Iterable[Report]) -> Report:
        """Join reports on several registries into one."""
        parts = tuple(reports)
        return cls(
            [d for part in parts for d in part.diagnostics],
            sum(part.files for part in parts),
            sum(part.recipients for part in parts),
            sum(part.prompts for part in parts),
            {name: text for part in parts for name, text in part.sources.items()},
        )
