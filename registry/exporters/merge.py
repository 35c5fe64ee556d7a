"""One schema for the values that fit two, where plain keywords can say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from registry.exporters.schemas import asked_types

if TYPE_CHECKING:
    from registry.exporters.schemas import Schema

#: The outer schema's word wins: it is about this use of the value.
_LABELS = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly")
_HIGHER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_LOWER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_CLOSING = ("additionalProperties", "unevaluatedProperties", "patternProperties")


class Unmergeable(Exception):  # noqa: N818 - it is a verdict, caught by the caller, not an error of the package
    """No plain schema says what both say. The argument is the keyword in the way."""


def merge(outer: Any, inner: Any) -> Any:
    """Return the schema of the values that fit both.

    Raises:
        Unmergeable: plain keywords cannot say it.
    """
    if inner is True or outer is True:
        return outer if inner is True else inner
    if not isinstance(inner, dict) or not isinstance(outer, dict):
        raise Unmergeable("false")
    _refuse_closing(outer, inner)
    done = {**inner, **outer}
    for key in outer:
        if key in inner and key not in _LABELS and outer[key] != inner[key]:
            done[key] = _both(key, outer[key], inner[key])
    kinds = _common_types(asked_types(outer), asked_types(inner))
    if "type" in done and kinds:
        done["type"] = kinds if len(kinds) > 1 else kinds[0]
    return done


def _refuse_closing(outer: Schema, inner: Schema) -> None:
    """Refuse names declared in one schema only where the other says what names it does not declare are."""
    for key in _CLOSING:
        for one, other in ((outer, inner), (inner, outer)):
            known, declared = (set(schema.get("properties", {})) for schema in (one, other))
            if one.get(key, True) is not True and not declared <= known:
                raise Unmergeable(key)


def _both(key: str, outer: Any, inner: Any) -> Any:
    if key == "type":
        return _common_types(asked_types({"type": outer}), asked_types({"type": inner}))
    if key == "properties":
        shared = {name: merge(outer[name], inner[name]) for name in outer if name in inner}
        return {**inner, **outer, **shared}
    if key == "required":
        return list(dict.fromkeys([*inner, *outer]))
    if key == "items":
        return merge(outer, inner)
    if key in _HIGHER:
        return max(outer, inner)
    if key in _LOWER:
        return min(outer, inner)
    raise Unmergeable(key)


def _common_types(outer: list[str], inner: list[str]) -> list[str]:
    if not outer or not inner:
        return outer or inner
    wide = [{*kinds, "integer"} if "number" in kinds else set(kinds) for kinds in (outer, inner)]
    common = [kind for kind in dict.fromkeys([*outer, *inner]) if kind in wide[0] and kind in wide[1]]
    if not common:
        raise Unmergeable("type")
    return [kind for kind in common if kind != "integer" or "number" not in common]
