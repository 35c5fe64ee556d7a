"""Every error a caller may catch.

::

    RegistryError
    ├─ UnreadableFile(path, reason)               a file named by the caller cannot be read
    ├─ InvalidRegistry(report)                    load() failed; carries every diagnostic
    ├─ ExportRefused(report)                      a recipient cannot be expressed in the target's dialect
    ├─ NoSuchRecipient(name, close)               also a KeyError
    ├─ DuplicateRecipient(name, sources)          also a KeyError
    ├─ NoSuchPrompt(name, close)                  also a KeyError
    ├─ DuplicatePrompt(name, sources)             also a KeyError
    ├─ TemplateError(code, message, line, column) a template is faulty: at construction
    ├─ RenderError(code, message, names)          values do not fit a template or prompt
    ├─ InvalidArguments(code, errors)             a call's arguments do not fit the input schema
    ├─ InvalidMessage(message)                    a message has none of the forms that address a recipient
    ├─ RecipientFailed(message)                   a recipient could not do its work
    │  ├─ BackendUnavailable(message)             no way to run code here; says the ways out
    │  ├─ MissingSecret(variable, path)           an environment variable that a recipient needs is unset
    │  └─ TransportError(message)                 a server did not answer as it should
    └─ ChatError(message)                         a model provider refused or broke off

Errors are values: equal when their type and fields are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.diagnostics import Report


class RegistryError(Exception):
    """Root of all errors raised by this package."""

    #: Names of the attributes that make up the error, in the order of its constructor.
    FIELDS: ClassVar[tuple[str, ...]] = ()

    def _fields(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.FIELDS) or self.args

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), self._fields()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._fields()


class UnreadableFile(RegistryError):
    """A file that the caller named cannot be read."""

    FIELDS = ("path", "reason")

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: cannot be read: {reason}")
        self.path = path
        self.reason = reason


class _Reported(RegistryError):
    FIELDS = ("report",)

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self.report = report

    def __str__(self) -> str:
        errors = self.report.errors
        shown = "\n".join(f"  {diagnostic}" for diagnostic in errors[:3])
        more = f"\n  … and {len(errors) - 3} more" if len(errors) > 3 else ""
        return f"{len(errors)} error{'' if len(errors) == 1 else 's'}\n{shown}{more}"


class InvalidRegistry(_Reported):
    """A registry has errors and was not loaded. ``report`` holds every diagnostic."""


class ExportRefused(_Reported):
    """A recipient cannot be expressed for a target without losing something."""


class _Named(RegistryError, KeyError):
    """A KeyError whose text is readable (KeyError itself shows the repr of its argument)."""

    WHAT: ClassVar[str] = ""
    PROBLEM: ClassVar[str] = ""

    def __init__(self, name: str, details: Iterable[str] = ()) -> None:
        super().__init__(f"{self.WHAT} {name!r} is {self.PROBLEM}.")
        self.name = name
        self.details = tuple(details)
        if self.details:
            self.add_note(self._note())

    def __str__(self) -> str:
        return str(self.args[0])

    def _note(self) -> str:
        raise AssertionError


class _Missing(_Named):
    FIELDS = ("name", "close")
    PROBLEM = "not registered"

    @property
    def close(self) -> tuple[str, ...]:
        """Registered names that resemble the one asked for, nearest first."""
        return self.details

    def _note(self) -> str:
        return f"Did you mean {' or '.join(map(repr, self.close))}?"


class _Taken(_Named):
    FIELDS = ("name", "sources")
    PROBLEM = "already registered"

    @property
    def sources(self) -> tuple[str, ...]:
        """Where the two owners of the name come from, as far as known."""
        return self.details

    def _note(self) -> str:
        return f"Declared in: {', '.join(self.sources)}."


class NoSuchRecipient(_Missing):
    """No recipient has this name."""

    WHAT = "Recipient"


class NoSuchPrompt(_Missing):
    """No prompt has this name."""

    WHAT = "Prompt"


class DuplicateRecipient(_Taken):
    """A recipient of this name exists; nothing was changed."""

    WHAT = "Recipient"


class DuplicatePrompt(_Taken):
    """A prompt of this name exists; nothing was changed."""

    WHAT = "Prompt"


class TemplateError(RegistryError):
    """A template is faulty.

    ``code`` is a diagnostic code; ``line`` and ``column`` are 1-based, in code points, and name the opening
    brace of the faulty placeholder or section.
    """

    FIELDS = ("code", "message", "line", "column", "hint")

    def __init__(self, code: str, message: str, line: int, column: int, hint: str = "") -> None:
        super().__init__(f"{line}:{column}: {message} [{code}]{f' ({hint})' if hint else ''}")
        self.code = code
        self.message = message
        self.line = line
        self.column = column
        self.hint = hint


class RenderError(RegistryError):
    """Values do not fit a template. ``names`` are all inputs at fault under this ``code``."""

    FIELDS = ("code", "message", "names")

    def __init__(self, code: str, message: str, names: Iterable[str]) -> None:
        super().__init__(f"{message} [{code}]")
        self.code = code
        self.message = message
        self.names = tuple(names)


class InvalidArguments(RegistryError):
    """The arguments of a call do not fit the recipient's input schema.

    ``code`` is ``invalid-json``, ``not-an-object`` or ``invalid-arguments``; ``errors`` say for each fault
    its path and what was expected. Texts are bounded and never show the value of a secret.
    """

    FIELDS = ("code", "errors")

    def __init__(self, code: str, errors: Sequence[str]) -> None:
        super().__init__(f"{code}: {'; '.join(errors)}")
        self.code = code
        self.errors = tuple(errors)


class InvalidMessage(RegistryError):
    """A message has none of the forms that address a recipient; the text says what is wrong with it."""


class RecipientFailed(RegistryError):
    """A recipient could not do its work; the text is safe to show to a model."""


class BackendUnavailable(RecipientFailed):
    """The chosen way to run code does not work here; the text says the ways out."""


class MissingSecret(RecipientFailed):
    """An environment variable that a recipient needs is unset."""

    FIELDS = ("variable", "path")

    def __init__(self, variable: str, path: str) -> None:
        super().__init__(f"environment variable {variable} is not set (needed by {path})")
        self.variable = variable
        self.path = path


class TransportError(RecipientFailed):
    """A server did not answer, or not as it should."""


class ChatError(RegistryError):
    """A model provider refused a request or broke off its answer."""
