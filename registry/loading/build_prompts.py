"""Prompt specs to prompts."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from registry.exceptions import DuplicatePrompt, TemplateError
from registry.prompts.includes import include_problems
from registry.prompts.prompt import Prompt, PromptSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from registry.prompts.prompt import Providers
    from registry.specs import InputSpec, PromptSpec


def build_prompts(specs: Iterable[PromptSpec], recipients: Mapping[str, Any] | None = None) -> PromptSnapshot:
    """Build the prompts that specs declare, beside the recipients that they may name.

    Raises:
        DuplicatePrompt: Two have one name.
        TemplateError: One includes itself, directly or by way of others (``include-cycle``), or another that
            cannot be included.
    """
    known: dict[str, PromptSpec] = {}
    for spec in specs:
        if spec.name in known:
            raise DuplicatePrompt(spec.name, filter(None, (known[spec.name].source, spec.source)))
        known[spec.name] = spec
    for problem in include_problems(known.values()):
        message = f"prompt {problem.prompt!r}, input {problem.input!r}: {problem.message}"
        raise TemplateError(problem.code, message, 1, 1, problem.hint)
    built: dict[str, Prompt] = {}
    return PromptSnapshot({name: _built(name, known, recipients or {}, built) for name in known})


def _built(
    name: str, known: Mapping[str, PromptSpec], recipients: Mapping[str, Any], built: dict[str, Prompt]
) -> Prompt:
    if name not in built:
        spec = known[name]
        own = (
            {key: recipients[key] for key in spec.recipients if key in recipients}
            if spec.recipients
            else recipients
        )
        included = {
            item.prompt: _built(item.prompt, known, recipients, built)
            for item in spec.inputs
            if item.prompt is not None
        }
        built[name] = Prompt(spec, included, providers_for(own), own)
    return built[name]


def providers_for(recipients: Mapping[str, Any]) -> Providers:
    """Return what fills the ``provided`` inputs of a prompt that goes with these recipients."""
    return {
        "api_docs": lambda _item: _api_docs(recipients),
        "current_date": lambda _item: dt.datetime.now().astimezone().date().isoformat(),
        "recipient_names": lambda item: _names(item, recipients),
    }


def _api_docs(recipients: Mapping[str, Any]) -> str:
    """Join the documentation of recipients by blank lines; one that has none is described in a line."""
    docs = (
        recipient.API_DOCS.strip() or f"{name}: {recipient.DESCRIPTION}"
        for name, recipient in recipients.items()
    )
    return "\n\n".join(docs)


def _names(item: InputSpec, recipients: Mapping[str, Any]) -> Any:
    return list(recipients) if item.schema.get("type") == "array" else ", ".join(recipients)
