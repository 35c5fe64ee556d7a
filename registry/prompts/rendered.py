"""A rendered prompt: its messages, and the shapes in which providers want them."""

from __future__ import annotations

from typing import Any

from registry.frozen import FrozenList, freeze


class RenderedPrompt(FrozenList):
    """The messages of a prompt, each ``{"role", "content"}``. Equal to a plain list of the same messages.

    ``content`` is a text, or a list of parts: ``{"type": "text", "text"}``, ``{"type": "image"}`` and
    ``{"type": "file"}`` with ``data`` (bytes) and ``mime_type``, or with ``url``.
    """

    __slots__ = ()

    def __init__(self, messages: Any = ()) -> None:
        super().__init__(freeze(dict(message)) for message in messages)

    def __reduce__(self) -> tuple[Any, ...]:
        return RenderedPrompt, (list(self),)

    def __repr__(self) -> str:
        return f"RenderedPrompt({super().__repr__()})"

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each message, without its images and files."""
        return tuple(text_of(message["content"]) for message in self)

    def to_openai(self) -> list[dict[str, Any]]:
        """Return the ``messages`` of OpenAI's chat completions.

        Raises:
            RenderError: A file is given by its URL, which that interface does not take, or a system message
                has an image or file.
        """
        from registry.prompts.wire import openai

        return openai(self)

    def to_anthropic(self) -> dict[str, Any]:
        """Return ``messages`` and, where there are any, the system messages joined as ``system``.

        Raises:
            RenderError: A system message has an image or file.
        """
        from registry.prompts.wire import anthropic

        return anthropic(self)

    def to_gemini(self) -> dict[str, Any]:
        """Return ``contents`` and, where there are any system messages, ``systemInstruction``.

        Raises:
            RenderError: A system message has an image or file.
        """
        from registry.prompts.wire import gemini

        return gemini(self)

    def to_mcp(self) -> dict[str, Any]:
        """Return the result of MCP's ``prompts/get``: one message for each part.

        That protocol knows the roles user and assistant only; messages of other roles are sent as the user's.
        """
        from registry.prompts.wire import mcp

        return mcp(self)


def text_of(content: Any) -> str:
    """Return the text of a message's content, its text parts one after the other."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part["text"] for part in content if part.get("type") == "text")
