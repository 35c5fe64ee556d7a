"""The ``function`` kind: a Python function, imported at its first call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs

from registry.exceptions import RecipientFailed
from registry.kinds.declared import Declared
from registry.messages import Outcome
from registry.recipient import Recipient

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.signatures import Signature
    from registry.specs import FunctionOptions


@attrs.define(slots=False, eq=False)
class FunctionRecipient(Declared):
    """Calls the function with the call's arguments and returns its result: a text as it is, else as JSON.

    A function that is not ``async`` runs in a thread. A parameter called ``recipient``, or annotated with
    `Recipient`, gets this object. What the function prints goes to the log ``registry.function``.
    """

    _target: tuple[Callable[..., Any], Signature] | None = attrs.field(default=None, init=False, repr=False)

    async def acall(self, arguments: dict[str, Any]) -> Outcome:
        """Call the function. What it raises passes through.

        Raises:
            InvalidArguments: a value does not fit the annotation of its parameter.
            RecipientFailed: the function cannot be imported, does not take these arguments, or returns what
                is no JSON data.
        """
        import inspect

        from registry.printing import call_aside, printing_to_log
        from registry.threads import in_thread

        with printing_to_log(self.RECIPIENT_NAME):
            target = self._target
            if target is None:
                target = self._target = await in_thread(self._import)
            function, signature = target
            positional, named = signature.bind(arguments, self)
            try:
                if inspect.iscoroutinefunction(function):
                    result = await function(*positional, **named)
                else:
                    result = await in_thread(call_aside, function, *positional, **named)
                    if inspect.isawaitable(result):
                        result = await result
            except SystemExit as error:
                raise RecipientFailed(f"{signature.call} asked the program to end") from error
        return self._outcome(result)

    def _import(self) -> tuple[Callable[..., Any], Signature]:
        from registry.import_paths import import_object
        from registry.signatures import Signature

        options: FunctionOptions = self.SPEC.options  # type: ignore[assignment]
        try:
            function = import_object(options.call, self.FOLDER)
        except SystemExit as error:
            raise RecipientFailed(
                f"{options.call} cannot be imported: its module ends the program"
            ) from error
        if not callable(function):
            raise RecipientFailed(f"{options.call} is no function: it cannot be called")
        return function, Signature.of(function, options.call, Recipient)

    def _outcome(self, result: Any) -> Outcome:
        if isinstance(result, Outcome):
            return result
        if result is None or isinstance(result, str):
            return Outcome(result or "")
        from registry.converter import unstructure_result

        try:
            text = json.dumps(
                unstructure_result(result), ensure_ascii=False, allow_nan=False, default=_listed
            )
        except (TypeError, ValueError, RecursionError) as error:
            options: FunctionOptions = self.SPEC.options  # type: ignore[assignment]
            kind = type(result).__name__
            raise RecipientFailed(f"{options.call} returned a {kind}, which is not all JSON data") from error
        return Outcome(text)


def _listed(value: Any) -> list[Any]:
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError
