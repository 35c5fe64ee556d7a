"""Language-model tools and prompt templates declared in TOML, checked like code.

::

    import registry

    snapshot = registry.load("recipients.toml")
    snapshot["python"]            # a Recipient class
    snapshot.prompts["greet"]     # a Prompt

Names are imported when they are first used, so that ``import registry`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from registry.chat.anthropic import AnthropicChat
    from registry.chat.openai import OpenAIChat
    from registry.conversation import Transcript
    from registry.diagnostics import Diagnostic, Report, Severity
    from registry.dispatch import Dispatcher
    from registry.exceptions import (
        BackendUnavailable,
        ChatError,
        DuplicatePrompt,
        DuplicateRecipient,
        ExportRefused,
        InvalidArguments,
        InvalidMessage,
        InvalidRegistry,
        MissingSecret,
        NoSuchPrompt,
        NoSuchRecipient,
        RecipientFailed,
        RegistryError,
        RenderError,
        TemplateError,
        TransportError,
        UnreadableFile,
    )
    from registry.exporters import export
    from registry.frozen import thaw
    from registry.kinds.python import PythonRecipient
    from registry.loading.loader import check, load, loads
    from registry.manager import RecipientManager, RecipientSnapshot
    from registry.messages import Call, Outcome, address, reply
    from registry.progress import log, report_progress
    from registry.prompts.prompt import Prompt, PromptSnapshot
    from registry.prompts.roles import (
        AssistantRolePrompt,
        BasePrompt,
        RolePrompt,
        SystemRolePrompt,
        UserRolePrompt,
    )
    from registry.recipient import Recipient, RecipientMeta
    from registry.template import Template
    from registry.watcher import watch

#: Public name -> the module that defines it.
_HOMES: dict[str, str] = {
    "AnthropicChat": "chat.anthropic",
    "AssistantRolePrompt": "prompts.roles",
    "BackendUnavailable": "exceptions",
    "BasePrompt": "prompts.roles",
    "Call": "messages",
    "ChatError": "exceptions",
    "Diagnostic": "diagnostics",
    "Dispatcher": "dispatch",
    "DuplicatePrompt": "exceptions",
    "DuplicateRecipient": "exceptions",
    "ExportRefused": "exceptions",
    "InvalidArguments": "exceptions",
    "InvalidMessage": "exceptions",
    "InvalidRegistry": "exceptions",
    "MissingSecret": "exceptions",
    "NoSuchPrompt": "exceptions",
    "NoSuchRecipient": "exceptions",
    "OpenAIChat": "chat.openai",
    "Outcome": "messages",
    "Prompt": "prompts.prompt",
    "PromptSnapshot": "prompts.prompt",
    "PythonRecipient": "kinds.python",
    "Recipient": "recipient",
    "RecipientFailed": "exceptions",
    "RecipientManager": "manager",
    "RecipientMeta": "recipient",
    "RecipientSnapshot": "manager",
    "RegistryError": "exceptions",
    "RenderError": "exceptions",
    "Report": "diagnostics",
    "RolePrompt": "prompts.roles",
    "Severity": "diagnostics",
    "SystemRolePrompt": "prompts.roles",
    "Template": "template",
    "TemplateError": "exceptions",
    "Transcript": "conversation",
    "TransportError": "exceptions",
    "UnreadableFile": "exceptions",
    "UserRolePrompt": "prompts.roles",
    "address": "messages",
    "check": "loading.loader",
    "export": "exporters",
    "load": "loading.loader",
    "loads": "loading.loader",
    "log": "progress",
    "reply": "messages",
    "report_progress": "progress",
    "thaw": "frozen",
    "watch": "watcher",
}

__all__ = [
    "AnthropicChat",
    "AssistantRolePrompt",
    "BackendUnavailable",
    "BasePrompt",
    "Call",
    "ChatError",
    "Diagnostic",
    "Dispatcher",
    "DuplicatePrompt",
    "DuplicateRecipient",
    "ExportRefused",
    "InvalidArguments",
    "InvalidMessage",
    "InvalidRegistry",
    "MissingSecret",
    "NoSuchPrompt",
    "NoSuchRecipient",
    "OpenAIChat",
    "Outcome",
    "Prompt",
    "PromptSnapshot",
    "PythonRecipient",
    "Recipient",
    "RecipientFailed",
    "RecipientManager",
    "RecipientMeta",
    "RecipientSnapshot",
    "RegistryError",
    "RenderError",
    "Report",
    "RolePrompt",
    "Severity",
    "SystemRolePrompt",
    "Template",
    "TemplateError",
    "Transcript",
    "TransportError",
    "UnreadableFile",
    "UserRolePrompt",
    "address",
    "check",
    "export",
    "load",
    "loads",
    "log",
    "reply",
    "report_progress",
    "thaw",
    "watch",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
