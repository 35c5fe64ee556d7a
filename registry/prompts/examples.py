"""A prompt's examples, run: what they should give and what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from registry.exceptions import RenderError

if TYPE_CHECKING:
    from registry.prompts.prompt import Prompt


@attrs.frozen
class ExampleResult:
    """One example of a prompt. ``rendered`` is None when it could not be rendered; ``error`` says why."""

    index: int
    expected: tuple[str, ...] | None
    rendered: tuple[str, ...] | None
    error: RenderError | None = None

    @property
    def ok(self) -> bool:
        """Whether it rendered, and to the texts expected, if any are."""
        return self.rendered is not None and self.expected in (None, self.rendered)


def examples(prompt: Prompt) -> tuple[ExampleResult, ...]:
    """Render each example of a prompt and compare the text of each of its messages."""
    return tuple(example_of(prompt, index) for index in range(len(prompt.spec.examples)))


def example_of(prompt: Prompt, index: int) -> ExampleResult:
    """Render one example of a prompt and compare."""
    example = prompt.spec.examples[index]
    try:
        rendered = prompt.render(example.inputs).texts
    except RenderError as error:
        return ExampleResult(index, example.renders, None, error)
    return ExampleResult(index, example.renders, rendered)
