"""The ``function`` kind: a Python function, imported at its first call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs

from registry.exceptions import RecipientFailed
from registry.kinds.declared import Declared
from registry.messages import STRUCTURED, Outcome
from registry.recipient import Recipient

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from registry.printing import Printing
    from registry.signatures import Signature
    from registry.specs import FunctionOptions


def _plain(value: Any) -> Any:
    """Return JSON data for a value that is none, wherever it stands in a result."""
    from registry.converter import unstructure_result

    if isinstance(value, (set, frozenset)):
        try:
            return sorted(value)
        except TypeError:  # not all of them can be compared
            return sorted(value, key=repr)
    found = unstructure_result(value)
    if type(found) is type(value):
        raise TypeError(f"there is no JSON for a {type(value).__name__}")
    return found


#: Results that need no structuring to be JSON.
_SCALARS = frozenset({bool, float, int})
#: Integers below this are the same as text and as JSON, and never too long to print.
_PLAIN = 1 << 64
#: Characters of what Python says about a result.
_LONGEST_REASON = 200
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_plain)


@attrs.frozen
class _Target:
    """A function, ready to be called, with what a call needs: all found out once."""

    #: The function where it is ``async``, else a call of it in a thread.
    call: Callable[..., Awaitable[Any]]
    signature: Signature
    printing: Callable[[str], Printing]


@attrs.define(slots=False, eq=False)
class FunctionRecipient(Declared):
    """Calls the function with the call's arguments and returns its result: a text as it is, else as JSON.

    A function that is not ``async`` runs in a thread. A parameter called ``recipient``, or annotated with
    `Recipient`, gets this object. What the function prints goes to the log ``registry.function``.
    """

    _target: _Target | None = attrs.field(default=None, init=False, repr=False)

    async def acall(self, arguments: dict[str, Any]) -> Outcome:
        """Call the function. What it raises passes through.

        Raises:
            InvalidArguments: a value does not fit the annotation of its parameter.
            RecipientFailed: the function cannot be imported, does not take these arguments, or returns what
                is no JSON data.
        """
        target = self._target
        if target is None:
            target = self._target = await self._prepared()
        printing = target.printing(self.RECIPIENT_NAME)
        signature = target.signature
        try:
            if signature.fits(arguments):
                result = await target.call(**arguments)
            else:
                positional, named = signature.bind(arguments, self)
                result = await target.call(*positional, **named)
        except SystemExit as error:
            raise RecipientFailed(f"{signature.call} asked the program to end") from error
        finally:
            printing.end()
        kind = type(result)
        if kind is str or (kind is int and -_PLAIN < result < _PLAIN):
            return Outcome(str(result))
        return self._outcome(result)

    async def _prepared(self) -> _Target:
        """Import the function in a thread: a module may take its time."""
        import inspect

        from registry.printing import Printing, call_aside
        from registry.threads import in_thread

        printing = Printing(self.RECIPIENT_NAME)
        try:
            function, signature = await in_thread(call_aside, self._import)
        finally:
            printing.end()
        if inspect.iscoroutinefunction(function):
            return _Target(function, signature, Printing)

        async def call(*positional: Any, **named: Any) -> Any:
            result = await in_thread(call_aside, function, *positional, **named)
            return await result if inspect.isawaitable(result) else result

        return _Target(call, signature, Printing)

    def _import(self) -> tuple[Callable[..., Any], Signature]:
        from registry.import_paths import import_object
        from registry.signatures import Signature

        call = self._call
        try:
            function = import_object(call, self.FOLDER)
        except SystemExit as error:
            raise RecipientFailed(f"{call} cannot be imported: its module ends the program") from error
        if not callable(function):
            raise RecipientFailed(f"{call} is no function: it cannot be called")
        return function, Signature.of(function, call, Recipient)

    @property
    def _call(self) -> str:
        options: FunctionOptions = self.SPEC.options  # type: ignore[assignment]
        return options.call

    def _outcome(self, result: Any) -> Outcome:
        if isinstance(result, Outcome):
            return result
        if result is None or isinstance(result, str):
            return Outcome(result or "")
        try:
            if type(result) not in _SCALARS:
                from registry.converter import unstructure_result

                result = unstructure_result(result)
            text = _ENCODER.encode(result)
        except (TypeError, ValueError, RecursionError) as error:
            what = f"{self._call} returned a value of type {type(result).__name__}"
            reason = str(error)[:_LONGEST_REASON]
            raise RecipientFailed(f"{what}, which is not all JSON data: {reason}") from error
        # Read again: a set or a key that is a number is in the text as JSON has it.
        return Outcome(text, metadata={STRUCTURED: json.loads(text)} if type(result) is dict else {})
