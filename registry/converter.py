"""The one cattrs converter: JSON-like data to specs and back, never changing a value's type.

Data reaches it only after validation; the strict hooks make a gap between schema and spec an error instead
of a silent conversion.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import types
import typing
from collections import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cattrs import Converter, StructureHandlerNotFoundError
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from registry.frozen import FrozenDict, freeze, thaw
from registry.specs import ClassOptions, MessageSpec

if TYPE_CHECKING:
    from collections.abc import Callable

#: Field names that are Python keywords, and the keys they stand for in a file.
_KEYS: dict[type, dict[str, str]] = {ClassOptions: {"class_": "class"}, MessageSpec: {"as_": "as"}}


def _strict(*allowed: type) -> Any:
    names = " or ".join(kind.__name__ for kind in allowed)

    def check(value: Any, _type: Any) -> Any:
        if type(value) not in allowed:
            raise TypeError(f"expected {names}, not {type(value).__name__}")
        return value

    return check


def _frozen(value: Any, _type: Any) -> Any:
    return freeze(value)


def _is_mapping(kind: Any) -> bool:
    return getattr(kind, "__origin__", None) in {Mapping, dict} or kind is FrozenDict


def _make() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=False, omit_if_default=True)
    for primitive in (str, bool, int):
        converter.register_structure_hook(primitive, _strict(primitive))
    converter.register_structure_hook(float, _strict(float, int))
    converter.register_structure_hook_func(_is_mapping, _frozen)
    converter.register_structure_hook_func(lambda kind: kind is Any, _frozen)
    converter.register_unstructure_hook_func(_is_mapping, thaw)
    for kind, keys in _KEYS.items():
        renames: Any = {field: override(rename=key) for field, key in keys.items()}
        converter.register_structure_hook(
            kind,
            make_dict_structure_fn(
                kind, converter, _cattrs_forbid_extra_keys=True, _cattrs_detailed_validation=False, **renames
            ),
        )
        converter.register_unstructure_hook(
            kind, make_dict_unstructure_fn(kind, converter, _cattrs_omit_if_default=True, **renames)
        )
    return converter


#: Raised where an annotation is nothing that JSON values can be turned into.
NoConversionError = StructureHandlerNotFoundError
CONVERTER = _make()


def structure(data: Mapping[str, Any], kind: type) -> Any:
    """Turn a validated table into a spec of the given class."""
    return CONVERTER.get_structure_hook(kind)(data, kind)


def unstructure(spec: Any) -> Any:
    """Turn a spec into plain data; fields at their defaults are left out."""
    return CONVERTER.unstructure(spec)


# --- arguments of functions: this half is used by calls only, so it imports what it needs when it is


def _plain(*allowed: type) -> Any:
    """Take values of these classes only; a subclass, such as an enum of texts, is made of one."""
    strict = _strict(*allowed)

    def hook(value: Any, kind: Any) -> Any:
        found = strict(value, kind)
        return found if kind in allowed else kind(found)

    return hook


def _text_hook(read: Callable[[str], Any], *, numbers: bool = False) -> Any:
    def hook(value: Any, kind: Any) -> Any:
        if isinstance(value, kind):
            return value
        if type(value) is not str and not (numbers and type(value) in {int, float}):
            raise TypeError("expected a text")
        return read(str(value))

    return hook


def _float(value: Any, kind: Any) -> float:
    if type(value) not in {int, float}:
        raise TypeError("expected a number")
    found: float = kind(value)
    return found


def _literal(value: Any, kind: Any) -> Any:
    """Return the member that the value is: 1 is neither True nor 1.0."""
    for member in typing.get_args(kind):
        plain = member.value if isinstance(member, enum.Enum) else member
        if type(value) is type(plain) and value == plain:
            return member
    raise TypeError("expected one of the listed values")


def _union(value: Any, kind: Any) -> Any:
    """Return the value as it is where its class is a member, else as the first member that it fits."""
    members = typing.get_args(kind)
    if type(value) in members:
        return value
    for member in members:
        with contextlib.suppress(
            Exception
        ):  # annotations may be the user's own types, which raise what they like
            return structure_argument(value, member)
    raise TypeError("expected a value of one of several types")


#: What an annotation of several values is made as; the names without a class of their own as the plainest.
_COLLECTIONS: dict[Any, Callable[[Any], Any]] = {
    list: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    abc.Collection: list,
    abc.Iterable: list,
    abc.Sequence: tuple,
    abc.MutableSequence: list,
    abc.Set: frozenset,
    abc.MutableSet: set,
}
_MAPPINGS = frozenset({dict, abc.Mapping, abc.MutableMapping})


def _origin(kind: Any) -> Any:
    return typing.get_origin(kind) or kind


def _among(kinds: Any) -> Callable[[Any], bool]:
    return lambda kind: isinstance(_origin(kind), abc.Hashable) and _origin(kind) in kinds


def _collection(value: Any, kind: Any) -> Any:
    if not isinstance(value, list):
        raise TypeError("expected an array")
    args = typing.get_args(kind) or (Any,)
    if _origin(kind) is tuple and args[-1] is not ... and args != (Any,):
        return tuple(structure_argument(item, one) for item, one in zip(value, args, strict=True))
    return _COLLECTIONS[_origin(kind)](structure_argument(item, args[0]) for item in value)


def _mapping(value: Any, kind: Any) -> Any:
    if not isinstance(value, dict):
        raise TypeError("expected an object")
    key, item = typing.get_args(kind) or (Any, Any)
    return {_key(name, key): structure_argument(one, item) for name, one in value.items()}


def _key(name: str, kind: Any) -> Any:
    """Return a key as its annotation asks; JSON has texts only, so that a number stands in one."""
    return structure_argument(int(name) if kind is int else name, kind)


@functools.cache
def _arguments_converter() -> Converter:
    """Make the converter of function arguments: JSON values to what annotations ask for, nothing coerced."""
    import datetime as dt
    import decimal
    import pathlib
    import uuid

    def seconds(value: Any, _type: Any) -> dt.timedelta:
        return value if isinstance(value, dt.timedelta) else dt.timedelta(seconds=_float(value, float))

    converter = Converter(forbid_extra_keys=True, detailed_validation=False)
    for primitive in (str, bool, int, type(None)):
        converter.register_structure_hook(primitive, _plain(primitive))
    converter.register_structure_hook(float, _float)
    converter.register_structure_hook(bytes, _strict(bytes))  # JSON has none
    for moment in (dt.datetime, dt.date, dt.time):
        converter.register_structure_hook(moment, _text_hook(moment.fromisoformat))
        converter.register_unstructure_hook(moment, moment.isoformat)
    for kind in (pathlib.Path, pathlib.PurePath, uuid.UUID, decimal.Decimal):
        converter.register_structure_hook(kind, _text_hook(kind, numbers=kind is decimal.Decimal))
        converter.register_unstructure_hook(kind, str)
    converter.register_structure_hook(dt.timedelta, seconds)
    converter.register_unstructure_hook(dt.timedelta, dt.timedelta.total_seconds)
    for which, hook in (
        (_among({object, Any}), lambda value, _type: value),
        (_among(_COLLECTIONS), _collection),
        (_among(_MAPPINGS), _mapping),
        (_among({typing.Literal}), _literal),
        (_among({typing.Union, types.UnionType}), _union),
        (_among({typing.Annotated}), lambda value, kind: structure_argument(value, kind.__origin__)),
    ):
        converter.register_structure_hook_func(which, hook)
    return converter


def structure_argument(value: Any, annotation: Any) -> Any:
    """Turn a JSON value into what a parameter's annotation asks for.

    Raises:
        NoConversionError: no JSON value can be turned into it.
        Exception: of many types: it does not fit. The text may repeat the value.
    """
    return _arguments_converter().structure(value, annotation)


def unstructure_result(value: Any) -> Any:
    """Turn what a function returned into JSON data, as far as it is made of known types."""
    return _arguments_converter().unstructure(value)
