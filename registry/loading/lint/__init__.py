"""The third stage: what a schema cannot express. `RULES` is where a new rule is added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.loading.lint import calls, escapes, names, prompts, references, schemas, values
from registry.loading.lint.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from registry.diagnostics import Fault
    from registry.documents import Sources

    Rule = Callable[[Scene], Iterator[Fault]]

#: Each yields faults. None is troubled with what an earlier one found.
RULES: tuple[Rule, ...] = (
    calls.calls,
    escapes.escapes,
    names.confusables,
    names.descriptions,
    names.duplicates,
    names.identifiers,
    references.recipients,
    references.servers,
    schemas.keywords,
    schemas.patterns,
    schemas.references,
    schemas.required,
    schemas.dialects,
    prompts.system_messages,
    prompts.templates,
    values.values,
    prompts.includes,
    prompts.examples,
)


def lint(sources: Sources, faults: Iterable[Fault] = ()) -> tuple[Fault, ...]:
    """Return what the rules find. ``faults`` are known already: what is wrong is not looked at again."""
    scene = Scene.of(sources, faults)
    found: list[Fault] = []
    for rule in RULES:
        new = list(rule(scene))
        if new:
            found += new
            scene.note(new)
    return tuple(found)
