"""Values from the environment."""

import pytest

from registry.exceptions import MissingSecret
from registry.secrets import expand


def test_each_reference_becomes_the_variables_value(monkeypatch):
    """All references are replaced; what is no reference is not."""
    monkeypatch.setenv("A_1", "x")
    assert expand("${A_1}-$A_1-${A_1} ${1A} {A_1}", "p") == "x-$A_1-x ${1A} {A_1}"


def test_a_value_is_not_looked_at_again(monkeypatch):
    """A value that looks like a reference stays as it is."""
    monkeypatch.setenv("OUTER", "${INNER}")
    monkeypatch.setenv("INNER", "no")
    assert expand("${OUTER}", "p") == "${INNER}"


def test_an_empty_value_is_a_value(monkeypatch):
    """Only an unset variable is missing."""
    monkeypatch.setenv("EMPTY", "")
    assert expand("<${EMPTY}>", "p") == "<>"


def test_a_missing_variable_is_named_with_its_key(monkeypatch):
    """The error says which variable is unset and what needs it."""
    monkeypatch.delenv("NOT_SET", raising=False)
    with pytest.raises(MissingSecret) as caught:
        expand("Bearer ${NOT_SET}", "recipients.a.headers.Authorization")
    assert MissingSecret("NOT_SET", "recipients.a.headers.Authorization") == caught.value
    assert "NOT_SET" in str(caught.value)
