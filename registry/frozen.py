"""Read-only dicts and lists, so that what a snapshot hands out cannot be changed behind its back."""

from __future__ import annotations

from typing import Any, NoReturn

_CONTAINERS = frozenset({dict, list, tuple})
_ADVICE = "{} is part of a snapshot and cannot be changed; work on a copy: registry.thaw(value)"


def _refuse(self: object, *_args: Any, **_kwargs: Any) -> NoReturn:
    raise TypeError(_ADVICE.format(type(self).__name__))


class FrozenDict(dict[str, Any]):
    """A dict that refuses every change. Equal to a plain dict of the same content."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return freeze, (dict(self),)

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> FrozenDict:
        return self


class FrozenList(list[Any]):
    """A list that refuses every change. Equal to a plain list of the same content."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return freeze, (list(self),)

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> FrozenList:
        return self


def freeze(value: Any) -> Any:
    """Return JSON-like data as read-only data of the same content; what is frozen already is kept."""
    kind = type(value)
    if kind is dict:
        # A load freezes tens of thousands of small tables: most hold scalars only, and a plain copy does.
        frozen = FrozenDict(value)
        for key, item in value.items():
            if type(item) in _CONTAINERS:
                dict.__setitem__(frozen, key, freeze(item))
        return frozen
    if kind is list or kind is tuple:
        return FrozenList([freeze(item) if type(item) in _CONTAINERS else item for item in value])
    return value


def thaw(value: Any) -> Any:
    """Return JSON-like data as plain dicts and lists that may be changed."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [thaw(item) for item in value]
    return value
