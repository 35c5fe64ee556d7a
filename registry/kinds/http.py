"""The ``http`` kind: one request to one host."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Self

import attrs

from registry.exceptions import RecipientFailed, TransportError
from registry.kinds.declared import Declared
from registry.messages import Outcome
from registry.redaction import hide, variables_of

if TYPE_CHECKING:
    from types import TracebackType

    from registry.specs import HttpOptions
    from registry.transports import Policy

#: Bytes of a text answer that are read, or ``max_output`` where that is more.
MOST_TEXT = 1 << 20
#: Bytes of a JSON answer, of which often only a part is wanted.
MOST_JSON = 16 << 20
#: Seconds for a phase of a call where the declaration has no ``timeout``.
PHASE = 30.0


@attrs.define(slots=False, eq=False)
class HttpRecipient(Declared):
    """Sends the request and returns what is wanted of the answer.

    Inside ``async with`` connections are kept for the next call; all recipients of an event loop share them.
    """

    _open: contextlib.AsyncExitStack | None = attrs.field(default=None, init=False, repr=False)

    async def acall(self, arguments: dict[str, Any]) -> Outcome:
        """Make the request of a call.

        Raises:
            MissingSecret: an environment variable that the request needs is unset.
            TransportError: the server did not answer as it should.
            RecipientFailed: a value does not fit into its place in the request.
        """
        import asyncio

        from registry.kinds.http_request import build_request
        from registry.kinds.http_response import outcome_of
        from registry.transports import fetch

        options: HttpOptions = self.SPEC.options  # type: ignore[assignment]
        variables = variables_of(type(self))
        request = build_request(self.SPEC, arguments)
        try:
            async with asyncio.timeout(self.SPEC.timeout):
                response = await fetch(request, self._policy(options))
        except TimeoutError:
            return Outcome(f"no complete answer within {self.SPEC.timeout:g} seconds", "timeout")
        except TransportError as error:
            raise TransportError(hide(str(error), variables)) from None
        outcome = outcome_of(response, options, lambda text: hide(text, variables))
        # Once more: what was escaped in the answer's JSON is plain now.
        return attrs.evolve(outcome, text=hide(outcome.text, variables))

    def _policy(self, options: HttpOptions) -> Policy:
        from registry.transports import Policy

        phase = self.SPEC.timeout or PHASE
        plain = options.response == "text" and options.select is None
        return Policy(
            connect=options.connect_timeout or phase,
            read=options.read_timeout or phase,
            most=max(MOST_TEXT, self.SPEC.max_output or 0) if plain else MOST_JSON,
            redirects=options.follow_redirects,
            retries=options.retries,
        )

    async def __aenter__(self) -> Self:
        from registry.transports import connections

        if self._open is not None:
            raise RecipientFailed("this recipient is open already")
        self._open = contextlib.AsyncExitStack()
        await self._open.enter_async_context(connections())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            await opened.aclose()
