"""Chats with OpenAI, and with servers that speak one of its two APIs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from registry.chat.base import ProviderChat
from registry.chat.completions import Completions
from registry.chat.responses import Responses

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

    from registry.chat.retry import Retry
    from registry.chat.wire import Wire
    from registry.manager import Entry, RecipientManager

#: What ``api`` may be -> the API.
APIS: dict[str, type[Wire]] = {"chat": Completions, "responses": Responses}


class OpenAIChat(ProviderChat):
    """A conversation over Chat Completions (``api="chat"``) or the Responses API (``api="responses"``).

    See `ProviderChat` for the other arguments; the key is in ``OPENAI_API_KEY``.

    Raises:
        ValueError: there is no such API.
    """

    KEY_VARIABLE = "OPENAI_API_KEY"
    BASE_URL = "https://api.openai.com/v1"

    def __init__(
        self,
        model: str,
        recipients: RecipientManager | Mapping[str, Entry] | None = None,
        *,
        api: str = "chat",
        base_url: str | None = None,
        api_key: str | None = None,
        system: str = "",
        max_tokens: int | None = None,
        stream: bool = True,
        timeout: float = 120.0,
        retry: Retry | None = None,
        options: Mapping[str, Any] | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        if api not in APIS:
            raise ValueError(f"there is no API {api!r}; there are: {', '.join(APIS)}")
        super().__init__(
            APIS[api](),
            model,
            recipients,
            base_url=base_url,
            api_key=api_key,
            system=system,
            max_tokens=max_tokens,
            stream=stream,
            timeout=timeout,
            retry=retry,
            options=options,
            client=client,
        )
