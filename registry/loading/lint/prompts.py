"""The rules on prompts; what they need is imported only where there are prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.diagnostics import Severity
from registry.loading.lint.scene import list_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.diagnostics import Fault
    from registry.loading.lint.scene import Scene


def templates(scene: Scene) -> Iterator[Fault]:
    """Check the templates of every prompt against the inputs that it declares."""
    if scene.prompts:
        from registry.loading.lint.templates import check

        for entry in scene.prompts:
            yield from check(scene, entry)


def system_messages(scene: Scene) -> Iterator[Fault]:
    """Warn of a second system message: some models take only one, others join them."""
    for entry in scene.prompts:
        messages = enumerate(list_of(entry.table, "messages"))
        found = [
            i for i, message in messages if isinstance(message, dict) and message.get("role") == "system"
        ]
        for i in found[1:]:
            yield entry.fault(
                "second-system-message",
                "this is not the first system message of the prompt",
                *("messages", i, "role"),
                hint="join the two into one",
                severity=Severity.WARNING,
            )


def includes(scene: Scene) -> Iterator[Fault]:
    """Refuse an input that takes the text of a prompt which cannot be included."""
    if scene.prompts and scene.is_complete("prompts"):
        from registry.loading.lint.examples import bad_includes

        yield from bad_includes(scene)


def examples(scene: Scene) -> Iterator[Fault]:
    """Refuse an example that renders to another text than it says."""
    if any(entry.table.get("examples") for entry in scene.prompts):
        from registry.loading.lint.examples import mismatches

        yield from mismatches(scene)
