"""Errors are values, and belong to one tree that is drawn in the module."""

import inspect
import pickle

import pytest

from registry import exceptions
from registry.diagnostics import Diagnostic, Report, Severity

DIAGNOSTIC = Diagnostic(
    "unknown-key", Severity.ERROR, "`x` is no known key", "a.toml", 1, 2, 1, 3, "x", "why"
)
ERRORS = [
    exceptions.UnreadableFile("a.toml", "gone"),
    exceptions.InvalidRegistry(Report([DIAGNOSTIC])),
    exceptions.ExportRefused(Report([DIAGNOSTIC])),
    exceptions.NoSuchRecipient("x", ["y", "z"]),
    exceptions.NoSuchPrompt("x"),
    exceptions.DuplicateRecipient("x", ["a.toml", "b.toml"]),
    exceptions.DuplicatePrompt("x"),
    exceptions.TemplateError("bad-format-spec", "no format", 1, 2, "double the braces"),
    exceptions.RenderError("missing-input", "no value for 'a'", ["a"]),
    exceptions.InvalidArguments("invalid-json", ["it is none"]),
    exceptions.MissingSecret("TOKEN", "recipients.a.headers.X"),
    exceptions.TransportError("no answer"),
    exceptions.BackendUnavailable("not here"),
    exceptions.ChatError("refused"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_are_values(error):
    """An error equals another of the same type and fields, also after pickling, and says what is wrong."""
    again = pickle.loads(pickle.dumps(error))
    assert (again, hash(again), str(again)) == (error, hash(error), str(error))
    assert error != exceptions.RegistryError(*error.args)
    assert isinstance(error, exceptions.RegistryError)
    assert str(error)


def test_the_tree_is_drawn_completely():
    """Every public error stands in the drawing at the top of the module."""
    drawn = exceptions.__doc__
    public = [
        name
        for name, found in vars(exceptions).items()
        if inspect.isclass(found) and issubclass(found, Exception) and not name.startswith("_")
    ]
    assert [] == [name for name in public if name not in drawn]


def test_missing_names_are_key_errors_that_read_well():
    """The text has no quotes around it, and the near names stand in a note."""
    error = exceptions.NoSuchRecipient("x", ["y", "z"])
    assert isinstance(error, KeyError)
    assert str(error) == "Recipient 'x' is not registered."
    assert error.__notes__ == ["Did you mean 'y' or 'z'?"]
    assert exceptions.DuplicatePrompt("x", ["a"]).__notes__ == ["Declared in: a."]


def test_diagnostics_read_as_one_line():
    """A diagnostic as text has its place, code, message and hint."""
    assert str(DIAGNOSTIC) == "a.toml:1:2: error[unknown-key] `x` is no known key (why)"
