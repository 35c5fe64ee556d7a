"""Chats with model providers over HTTP, for `registry.dispatch.Dispatcher.converse`.

One conversation each: `OpenAIChat` for Chat Completions and the Responses API, `AnthropicChat` for Messages;
with whatever server speaks one of these.
"""

from __future__ import annotations

from registry.chat.anthropic import AnthropicChat
from registry.chat.openai import OpenAIChat
from registry.chat.recording import Recorder
from registry.chat.retry import Retry

__all__ = ["AnthropicChat", "OpenAIChat", "Recorder", "Retry"]
