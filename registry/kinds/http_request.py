"""A declaration and a call's arguments to one HTTP request. No value can leave the place it is put into."""

from __future__ import annotations

import contextlib
import re
import urllib.parse
from typing import TYPE_CHECKING, Any

import attrs

from registry.exceptions import RecipientFailed
from registry.placeholders import Absent, Filler, Origin, Piece, text_of, text_of_json
from registry.transports import Request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry.specs import HttpBody, HttpOptions, RecipientSpec

_IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
_AUTHORITY = re.compile(r"([^\x00-,/:-@\[-`{-\x7f]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
#: What is no part of a header's value: control characters but the tab.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
#: What the file may write into a URL as it is, besides letters and digits.
_WRITTEN = "%:/?#[]@!$&'()*+,;=-._~"
#: The part of a URL that is never sent; a section of a template begins with another #.
_FRAGMENT = re.compile(r"(?<!\{)#.*", re.DOTALL)
#: Start, authority, path.
_PARTS = re.compile(r"(https?://)([^/]*)(.*)", re.IGNORECASE | re.DOTALL)
#: Stands for a value in a URL's structure; noncharacters that no URL has.
_MARK = re.compile("\ufdd2([0-9]+)\ufdd3")
_DOTS = re.compile(r"(?:\.|%2[eE]){1,2}")


def build_request(spec: RecipientSpec, arguments: Mapping[str, Any]) -> Request:
    """Return the request of a call whose arguments fit the input schema.

    Raises:
        MissingSecret: an environment variable is unset.
        RecipientFailed: a value does not fit into its place.
    """
    return _Building(spec, spec.options, Filler.of(arguments, spec.input_schema)).request()  # type: ignore[arg-type]


@attrs.frozen
class _Building:
    spec: RecipientSpec
    options: HttpOptions
    filler: Filler

    def request(self) -> Request:
        content, media_type = self._body()
        headers = dict(self._headers())
        if content is not None:
            headers.setdefault("content-type", media_type.encode())
        headers = {"user-agent": b"recipients", "accept": b"*/*", **headers, "accept-encoding": b"identity"}
        method = self.options.method
        return Request(
            method,
            self._url(),
            tuple((name.encode("ascii"), value) for name, value in headers.items()),
            content,
            idempotent=self.spec.idempotent or method in _IDEMPOTENT,
        )

    def _path(self, *keys: str) -> str:
        return ".".join(("recipients", self.spec.name, *keys))

    # --- URL

    def _url(self) -> str:
        where = self._path("url")
        start, _, query = _FRAGMENT.sub("", self.options.url).partition("?")
        try:
            skeleton = _Skeleton.of(self.filler.pieces(start, where))
        except Absent as absent:
            raise RecipientFailed(f"{where} needs the argument {absent}, which was not given") from None
        match = _PARTS.match(skeleton.text)
        if match is None or not _AUTHORITY.fullmatch(authority := skeleton.host(match[2])):
            raise RecipientFailed(f"{where} does not start with http:// or https:// and a host")
        segments = [skeleton.segment(text, where) for text in match[3].split("/")]
        pairs = list(self._written_query(query, where)) if query else []
        pairs += [
            f"{_quote(name)}={_quote(value)}" for name, value in self._pairs(self.options.query, "query")
        ]
        return match[1] + authority + "/".join(segments) + ("?" + "&".join(pairs) if pairs else "")

    def _written_query(self, text: str, where: str) -> Iterator[str]:
        """Yield the parts of the query in the URL itself, without those whose argument is absent."""
        try:
            parts = [self.filler.pieces(text, where)]
        except Absent:
            parts = []
            for pair in text.split("&"):
                with contextlib.suppress(Absent):
                    parts.append(self.filler.pieces(pair, where))
        for pieces in parts:
            skeleton = _Skeleton.of(pieces)
            yield skeleton.encoded(skeleton.text)

    def _pairs(self, table: Mapping[str, str], key: str) -> Iterator[tuple[str, str]]:
        """Yield names and values; those whose argument is absent are left out, a list gives one each."""
        for name, text in table.items():
            only = self.filler.only(text)
            value = self.filler.values.get(only) if only is not None else None
            if isinstance(value, (list, tuple)):
                yield from ((name, text_of(item)) for item in value)
                continue
            try:
                yield name, self.filler.text(text, self._path(key, name))
            except Absent:
                continue

    # --- headers

    def _headers(self) -> Iterator[tuple[str, bytes]]:
        for name, text in self.options.headers.items():
            where = self._path("headers", name)
            try:
                value = self.filler.text(text, where).strip()
            except Absent:
                continue
            if _CONTROL.search(value):
                raise RecipientFailed(f"{where}: the value has a line break or another control character")
            yield name.lower(), _utf8(value, where)

    # --- body

    def _body(self) -> tuple[bytes | None, str]:
        body = self.options.body
        if body is None:
            return None, ""
        if body.form is not None:
            pairs = list(self._pairs(body.form, "body.form"))
            content = "&".join(f"{_quote(name)}={_quote(value)}" for name, value in pairs)
            usual = "application/x-www-form-urlencoded"
        elif body.text is not None:
            content = self.filler.needed(body.text, self._path("body.text"))
            usual = "text/plain; charset=utf-8"
        else:
            content, usual = text_of_json(self._json(body)), "application/json"
        return _utf8(content, self._path("body")), body.content_type or usual

    def _json(self, body: HttpBody) -> Any:
        if body.json is not True:
            filled = self._filled(body.json, "body.json")
            return None if filled is _LEFT_OUT else filled
        texts = [self.options.url, *self.options.query.values(), *self.options.headers.values()]
        used = {name for text in texts for name in self.filler.names(text)}
        return {name: value for name, value in self.filler.values.items() if name not in used}

    def _filled(self, value: Any, key: str) -> Any:
        """Fill in the texts of a JSON value; a text that is one placeholder becomes the argument's value."""
        if isinstance(value, dict):
            done = {name: self._filled(item, f"{key}.{name}") for name, item in value.items()}
            return {name: item for name, item in done.items() if item is not _LEFT_OUT}
        if isinstance(value, (list, tuple)):
            items = [self._filled(item, f"{key}.{index}") for index, item in enumerate(value)]
            return [item for item in items if item is not _LEFT_OUT]
        if not isinstance(value, str):
            return value
        only = self.filler.only(value)
        if only is not None:
            return self.filler.values.get(only, _LEFT_OUT)
        try:
            return self.filler.text(value, self._path(key))
        except Absent:
            return _LEFT_OUT


_LEFT_OUT: Any = object()


@attrs.frozen
class _Skeleton:
    """A filled text with a mark for each value: its structure is the file's alone."""

    text: str
    values: list[Piece]

    @classmethod
    def of(cls, pieces: list[Piece]) -> _Skeleton:
        values: list[Piece] = []
        text = ""
        for piece in pieces:
            if piece.origin is Origin.FILE:
                text += _MARK.sub("", piece.text)
            else:
                text += f"\ufdd2{len(values)}\ufdd3"
                values.append(piece)
        return cls(text, values)

    def host(self, text: str) -> str:
        """Return the authority: the environment may have a say in it, a caller never."""
        found = [self.values[int(index)] for index in _MARK.findall(text)]
        if any(piece.origin is Origin.CALLER for piece in found):
            raise RecipientFailed("the host of a URL cannot come from an argument")
        return _MARK.sub(lambda match: self.values[int(match[1])].text, text)

    def encoded(self, text: str) -> str:
        """Return a part of the URL, each value percent-encoded whole."""
        parts = _MARK.split(text)
        return "".join(
            _quote(self.values[int(part)].text) if index % 2 else _quote(part, _WRITTEN)
            for index, part in enumerate(parts)
        )

    def segment(self, text: str, where: str) -> str:
        """Return a segment of the path: a value may neither remove it nor lead out of it."""
        done = self.encoded(text)
        if _MARK.search(text) and (not done or _DOTS.fullmatch(done)):
            raise RecipientFailed(f'{where}: a part of the path must not be empty, "." or ".."')
        return done


def _quote(text: str, safe: str = "") -> str:
    try:
        return urllib.parse.quote(text, safe=safe)
    except UnicodeEncodeError:
        raise RecipientFailed("a value has a lone surrogate, which cannot be sent") from None


def _utf8(text: str, where: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise RecipientFailed(f"{where}: a value has a lone surrogate, which cannot be sent") from None
