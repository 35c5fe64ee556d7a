"""An HTTP answer to what a model is told: the text, a part of the JSON, or what went wrong."""

from __future__ import annotations

import codecs
import http
from typing import TYPE_CHECKING, Any

from registry.jsontext import NotJsonError, parse_json
from registry.messages import Outcome
from registry.placeholders import text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.specs import HttpOptions
    from registry.transports import Response

#: Characters of a body that an error shows.
EXCERPT = 1_000
#: Encodings of Python that no answer is written in; those of host names take quadratic time.
_NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape"})


def outcome_of(
    response: Response, options: HttpOptions, hide: Callable[[str], str] = lambda text: text
) -> Outcome:
    """Turn an answer into an outcome; a status other than 2xx is an error.

    ``hide`` keeps secrets out of texts. It sees them before they are cut, where it still knows all of them.
    """
    metadata: dict[str, Any] = {"http_status": response.status}
    body = hide(_text(response))
    if not 200 <= response.status < 300:
        return Outcome(_failure(response.status, body), "error", metadata)
    if options.response == "json" or options.select is not None:
        return _json_outcome(response, body, options.select, metadata)
    if response.cut:
        body += f"\n… the answer is longer than {len(response.body)} bytes …"
        metadata["truncated"] = True
    return Outcome(body, metadata=metadata)


def _json_outcome(response: Response, body: str, select: str | None, metadata: dict[str, Any]) -> Outcome:
    if response.cut:
        return Outcome(f"the answer is longer than {len(response.body)} bytes", "error", metadata)
    try:
        value = parse_json(body)
    except NotJsonError as error:
        return Outcome(f"the answer is no JSON: {error}{_excerpt(body)}", "error", metadata)
    if select is not None:
        try:
            value = pointed(value, select)
        except LookupError:
            return Outcome(f"the answer has nothing at {select!r}{_excerpt(body)}", "error", metadata)
    return Outcome(text_of(value), metadata=metadata)


def pointed(value: Any, pointer: str) -> Any:
    """Return what a JSON Pointer names inside a value.

    Raises:
        LookupError: there is nothing.
    """
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and name.isascii() and name == str(int(name[:9])):
            value = value[int(name)]
        else:
            raise LookupError(pointer)
    return value


def _failure(status: int, body: str) -> str:
    try:
        phrase = f" {http.HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    note = "; redirects of this kind are not followed" if 300 <= status < 400 else ""
    return f"HTTP {status}{phrase}{note}{_excerpt(body)}"


def _excerpt(body: str) -> str:
    text = body.strip()
    if not text:
        return ""
    return f"\n{text[:EXCERPT]}{'…' if len(text) > EXCERPT else ''}"


def _text(response: Response) -> str:
    charset = response.headers.get("content-type", "").lower().partition("charset=")[2]
    name = charset.partition(";")[0].strip().strip("\"'") or "utf-8"
    try:
        name = codecs.lookup(name).name
        text = response.body.decode("utf-8" if name in _NO_CHARSETS else name, "replace")
    except (LookupError, ValueError):  # a charset that nobody knows, or one that is no text encoding
        text = response.body.decode("utf-8", "replace")
    return text.removeprefix("\ufeff")
