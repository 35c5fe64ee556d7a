"""``recipients chat``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from registry.cli.options import file_option
from registry.cli.output import show_report
from registry.cli.values import pairs_of, standard_input
from registry.exceptions import ExportRefused
from registry.loading.loader import load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.chat.base import ProviderChat
    from registry.manager import Entry, RecipientSnapshot
    from registry.prompts.rendered import RenderedPrompt

#: Provider -> its chat's class, in `registry.chat`.
PROVIDERS = {"anthropic": "AnthropicChat", "openai": "OpenAIChat"}


@click.command("chat")
@click.argument("question", required=False)
@click.option(
    "--provider", type=click.Choice(list(PROVIDERS)), default="openai", show_default=True, help="Whose API."
)
@click.option("--base-url", metavar="URL", help="Where the API is, if not at the provider's own address.")
@click.option("--model", required=True, metavar="NAME", help="The model to talk to.")
@click.option(
    "--api", type=click.Choice(["chat", "responses"]), help="Which of OpenAI's APIs. [default: chat]"
)
@click.option(
    "--max-turns", type=click.IntRange(min=1), default=10, show_default=True, help="Answers per question."
)
@file_option
@click.option("--prompt", "prompt_name", metavar="NAME", help="Begin with this prompt of the registry.")
@click.option(
    "--set", "words", multiple=True, metavar="KEY=VALUE", help="A value for that prompt; repeatable."
)
@click.option("--yes", is_flag=True, help="Make every call without asking.")
@click.option("--save", metavar="FILE", help="Write the transcript to this file, as JSON Lines.")
def command(  # noqa: PLR0917 - click gives one for each option
    question: str | None,
    provider: str,
    base_url: str | None,
    model: str,
    api: str | None,
    max_turns: int,
    file: str,
    prompt_name: str | None,
    words: tuple[str, ...],
    yes: bool,
    save: str | None,
) -> int:
    """Let a model talk to the recipients, and print its answer to QUESTION.

    The key is in OPENAI_API_KEY or ANTHROPIC_API_KEY. Calls are shown on standard error. On a terminal each
    is asked for before it is made (unless --yes), and without QUESTION the talk goes on until Ctrl-D; Ctrl-C
    stops an answer. With no terminal, calls are made without asking, and the question is read from standard
    input when it is missing or '-'.

    Exit code: 0 answered, 1 stopped before the answer was complete, 2 could not ask.
    """
    from registry.cli.talking import Screen, Talk

    interactive = question is None and sys.stdin.isatty()
    if question == "-" or (question is None and not interactive):
        question = standard_input().strip()
        if not question:
            raise click.UsageError("give a QUESTION, as an argument or on standard input")
    recipients, prompt = opening(load(file), prompt_name, words)
    try:
        chat = chat_of(provider, api, model, recipients, base_url)
    except ExportRefused as error:
        show_report(error.report, err=True)
        return 2
    chat.begin(prompt)
    asks = sys.stdin.isatty() and not yes
    with Talk(chat, recipients, Screen(), max_turns=max_turns, asks=asks, save=save) as talk:
        return talk.on() if question is None else talk.once(question)


def chat_of(
    provider: str, api: str | None, model: str, recipients: Mapping[str, Entry], base_url: str | None
) -> ProviderChat:
    """Return a new chat with a provider.

    Raises:
        click.UsageError: the provider has no such API.
    """
    import registry.chat

    options: dict[str, Any] = {"base_url": base_url}
    if api is not None:
        if provider != "openai":
            raise click.UsageError("--api is for the provider openai")
        options["api"] = api
    chat: ProviderChat = getattr(registry.chat, PROVIDERS[provider])(model, recipients, **options)
    return chat


def opening(
    snapshot: RecipientSnapshot, name: str | None, words: tuple[str, ...]
) -> tuple[Mapping[str, Entry], RenderedPrompt]:
    """Return the recipients to talk to and what the model is told first.

    That is the prompt of this name with its recipients, or the documentation of all recipients that have any.

    Raises:
        click.UsageError: values are given without a prompt.
        RenderError: the values do not fit the prompt.
    """
    from registry.cli.render_ import typed
    from registry.prompts.rendered import RenderedPrompt

    if name is None:
        if words:
            raise click.UsageError("--set gives values to a prompt: name one with --prompt")
        docs = [f"# {each}\n\n{entry.API_DOCS.strip()}" for each, entry in snapshot.items() if entry.API_DOCS]
        return snapshot, RenderedPrompt([{"role": "system", "content": "\n\n".join(docs)}] if docs else [])
    prompt = snapshot.prompts[name]
    names = prompt.spec.recipients or tuple(snapshot)
    return {each: snapshot[each] for each in names}, prompt.render(typed(prompt, pairs_of(words)))
