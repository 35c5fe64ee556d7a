"""Reads JSON text strictly: what only some readers take is no JSON here."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

_SURROGATE = re.compile("[\ud800-\udfff]")


class NotJsonError(ValueError):
    """The text is no JSON. The message says where, and never repeats what is there."""


def _no_constant(name: str) -> NoReturn:
    raise NotJsonError(f"{name} is no JSON value")


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise NotJsonError("a number is too large")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotJsonError("an object has a name twice")
    return found


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_float, object_pairs_hook=_object)
#: Does without the search for white space, which takes longer than reading a short object.
_scan = vars(_DECODER)["scan_once"]


def parse_json(text: str) -> Any:
    """Read JSON: no bare NaN, no number without end, no name twice.

    Raises:
        NotJsonError: it is none, or is nested too deeply to be read.
    """
    try:
        value, end = _scan(text, 0)
        if end == len(text):
            return value
    except (StopIteration, ValueError, RecursionError):
        pass  # white space around it, or an error that the slower way puts into words
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJsonError(
            f"{error.msg.removesuffix(' at')} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except NotJsonError:
        raise
    except ValueError:  # Python's own limit, whose text speaks of Python
        raise NotJsonError("a number has too many digits") from None


def json_data(value: Any) -> Any:
    """Return a value as JSON data that every reader takes: what is none of its types becomes a text.

    Raises:
        NotJsonError: it has a number that is not finite, a key that is no text, or itself inside.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJsonError("this is no JSON data") from error
    return json.loads(_SURROGATE.sub("\ufffd", text))


def is_suspicious(text: str, depth: int) -> bool:
    """Tell whether parsed text may be nested deeper than ``depth``, or have characters that are none."""
    if "\\ud" in text or "\\uD" in text or text.count("[") + text.count("{") > depth:
        return True
    return not text.isascii() and _SURROGATE.search(text) is not None
