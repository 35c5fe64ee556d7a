"""Values on the command line: ``name=text``, ``name:=JSON``, or JSON from standard input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from registry.jsontext import NotJsonError, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable


def pair_of(word: str) -> tuple[str, Any] | None:
    """Read ``name=text`` or ``name:=JSON``; None when the word is neither.

    Raises:
        click.UsageError: what stands after ``:=`` is not JSON.
    """
    name, equals, value = word.partition("=")
    is_json = name.endswith(":")
    name = name.removesuffix(":")
    # As in a template, a name may have the marks that a script writes above and below its letters.
    if not equals or name.startswith("-") or not name.replace("-", "_").isidentifier():
        return None
    if not is_json:
        return name, value
    try:
        return name, parse_json(value)
    except NotJsonError as error:
        raise click.UsageError(f"{name}:= needs JSON: {error}") from None


def pairs_of(words: Iterable[str]) -> dict[str, Any]:
    """Read values that are all ``name=text`` or ``name:=JSON``.

    Raises:
        click.UsageError: a word is neither, or a name is given twice.
    """
    values: dict[str, Any] = {}
    for word in words:
        pair = pair_of(word)
        if pair is None:
            raise click.UsageError(f"{word!r} is neither name=text nor name:=JSON")
        if pair[0] in values:
            raise click.UsageError(f"{pair[0]!r} is given twice")
        values[pair[0]] = pair[1]
    return values


def standard_input() -> str:
    """Read all of standard input as UTF-8.

    Raises:
        click.UsageError: it is not UTF-8.
    """
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"standard input is not UTF-8: {error}") from None


def object_from_input() -> dict[str, Any]:
    """Read a JSON object from standard input.

    Raises:
        click.UsageError: it is no JSON object.
    """
    try:
        found = parse_json(standard_input())
    except NotJsonError as error:
        raise click.UsageError(f"standard input is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise click.UsageError("standard input must be a JSON object")
    return found
