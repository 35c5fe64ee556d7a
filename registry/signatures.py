"""What a function asks for: a call's arguments in, its parameters out, structured to their annotations."""

from __future__ import annotations

import contextlib
import enum
import functools
import inspect
import types
import typing
from typing import TYPE_CHECKING, Any

import attrs

from registry.converter import NoConversionError, structure_argument
from registry.exceptions import InvalidArguments, RecipientFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@attrs.frozen
class Signature:
    """A function's parameters, read once."""

    call: str
    #: Names of the parameters that are given by position.
    positional: tuple[str, ...]
    #: Names of all parameters but ``*args`` and ``**kwargs``.
    names: frozenset[str]
    #: Those without a default.
    required: frozenset[str]
    #: Whether there is ``**kwargs``, or nothing is known.
    open_ended: bool
    #: The parameter that gets the recipient itself.
    recipient: str | None
    annotations: Mapping[str, Any]
    #: The annotation of ``**kwargs``; `Any` where there is none.
    rest: Any = Any
    #: The classes that values have which need no structuring; none where arguments cannot go by name alone.
    kinds: Mapping[str, Any] = attrs.field(
        init=False,
        default=attrs.Factory(
            lambda self: {} if self.positional or self.recipient is not None else self.annotations,
            takes_self=True,
        ),
    )

    @classmethod
    def of(cls, function: Callable[..., Any], call: str, kind: type) -> Signature:
        """Read a function's signature; ``call`` is its import path, ``kind`` the class of recipients."""
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):  # some functions written in C have none
            return cls(call, (), frozenset(), frozenset(), open_ended=True, recipient=None, annotations={})
        found = _annotations(function)
        known = {
            name: parameter
            for name, parameter in parameters.items()
            if parameter.kind in _NAMED or parameter.kind is inspect.Parameter.POSITIONAL_ONLY
        }
        annotations = {name: found[name] for name in known if name in found}
        catching = [p.name for p in parameters.values() if p.kind is inspect.Parameter.VAR_KEYWORD]
        return cls(
            call,
            tuple(name for name, parameter in known.items() if parameter.kind not in _NAMED),
            frozenset(known),
            frozenset(n for n, parameter in known.items() if parameter.default is inspect.Parameter.empty),
            bool(catching),
            _recipient_parameter(known, annotations, kind),
            annotations,
            found.get(catching[0], Any) if catching else Any,
        )

    def bind(self, arguments: Mapping[str, Any], recipient: Any) -> tuple[list[Any], dict[str, Any]]:
        """Return the positional and the named arguments of a call.

        Raises:
            InvalidArguments: a value does not fit its annotation.
            RecipientFailed: the function does not take the arguments that the declaration has.
        """
        named = self._named(arguments)
        errors = []
        for name, value in named.items():
            annotation = self.annotations.get(name, Any if name in self.names else self.rest)
            if annotation is Any or type(value) is annotation:
                continue
            try:
                named[name] = structure_argument(value, annotation)
            except NoConversionError as error:
                kind = _shown(annotation)
                raise RecipientFailed(
                    f"{self.call} annotates {name} as {kind}, which no JSON value can be turned into"
                ) from error
            except Exception:  # noqa: BLE001 - annotations may be the user's own types, which raise what they like
                errors.append(f"{name}: must be {_shown(annotation)}")
        if errors:
            raise InvalidArguments("invalid-arguments", errors)
        if self.recipient is not None:
            named.setdefault(self.recipient, recipient)
        missing = sorted(self.required - named.keys())
        if missing:
            raise RecipientFailed(f"{self.call} needs {', '.join(missing)}, which the call does not give")
        return self._positional(named), named

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        """Say whether the arguments can be passed on by name as they are: the usual, quick case."""
        kinds = self.kinds
        for name, value in arguments.items():
            if kinds.get(name) is not type(value):
                return False
        return self.required <= arguments.keys()

    def _named(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Give each argument its parameter's name: a dash in a name is an underscore in Python."""
        named = {}
        for name, value in arguments.items():
            spelt = name if name in self.names or self.open_ended else name.replace("-", "_")
            if spelt not in self.names and not self.open_ended:
                raise RecipientFailed(f"{self.call} takes no argument {name!r}, which the declaration has")
            named[spelt] = value
        return named

    def _positional(self, named: dict[str, Any]) -> list[Any]:
        given: list[Any] = []
        for name in self.positional:
            if name not in named:
                break
            given.append(named.pop(name))
        left = [name for name in self.positional if name in named]
        if left:
            raise RecipientFailed(
                f"{self.call} takes {left[0]} by position, after one that the call does not give"
            )
        return given


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations as types; those that cannot be resolved do not count."""
    target: Any = function
    while isinstance(target, functools.partial):
        target = target.func
    if isinstance(target, type):
        target = target.__init__  # type: ignore[misc] # of the very class that is called
    elif not inspect.isroutine(target):
        target = type(target).__call__
    target = inspect.unwrap(target)
    found: dict[str, Any] = {}
    for name, annotation in getattr(target, "__annotations__", {}).items():
        one = types.SimpleNamespace(
            __annotations__={name: annotation}, __globals__=getattr(target, "__globals__", {})
        )
        # Annotations are code, and may name what only a type checker imports.
        with contextlib.suppress(Exception):
            found |= typing.get_type_hints(one, include_extras=True)
    return found


def _recipient_parameter(
    parameters: Mapping[str, Any], annotations: dict[str, Any], kind: type
) -> str | None:
    """Find the parameter for the recipient and take its annotation out: it is not an argument's."""
    for name in parameters:
        annotation = annotations.get(name)
        if (isinstance(annotation, type) and issubclass(annotation, kind)) or (
            name == "recipient" and annotation is None
        ):
            annotations.pop(name, None)
            return name
    return None


def _shown(annotation: Any) -> str:
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        text += f", one of {', '.join(repr(member.value) for member in annotation)}"
    return text[:200]
