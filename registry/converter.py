"""The one cattrs converter: JSON-like data to specs and back, never changing a value's type.

Data reaches it only after validation; the strict hooks make a gap between schema and spec an error instead
of a silent conversion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from registry.frozen import FrozenDict, freeze, thaw
from registry.specs import ClassOptions, MessageSpec

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


CONVERTER = _make()


def structure(data: Mapping[str, Any], kind: type) -> Any:
    """Turn a validated table into a spec of the given class."""
    return CONVERTER.get_structure_hook(kind)(data, kind)


def unstructure(spec: Any) -> Any:
    """Turn a spec into plain data; fields at their defaults are left out."""
    return CONVERTER.unstructure(spec)
