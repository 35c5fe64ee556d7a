"""Run the examples that a registry declares, and compare what comes with what is written."""

from __future__ import annotations

import difflib
import itertools
from typing import TYPE_CHECKING, Any

import attrs

from registry.exceptions import NoSuchRecipient
from registry.prompts.examples import example_of
from registry.suggest import close

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from registry.manager import RecipientSnapshot
    from registry.prompts.examples import ExampleResult
    from registry.prompts.prompt import Prompt
    from registry.specs import ExampleMessage


@attrs.frozen
class Example:
    """One example of a recipient or prompt, ready to run."""

    title: str
    snapshot: RecipientSnapshot = attrs.field(repr=False)
    name: str
    #: Its number among the examples of that recipient or prompt, from 0.
    index: int
    #: The prompt; None for a recipient.
    prompt: Prompt | None = None


@attrs.frozen
class Result:
    """What an example came to."""

    title: str
    passed: bool
    #: Texts as declared: alternatives for a recipient's reply, one per message for a prompt. None: anything.
    expected: tuple[str, ...] | None
    actual: tuple[str, ...]

    def difference(self) -> Iterator[str]:
        """Yield the lines of a unified diff; none when the example passed."""
        if self.passed:
            return
        if self.expected is None:
            yield from ("\n".join(self.actual)).splitlines()
            return
        expected, actual = ("\n".join(texts).splitlines() for texts in (self.expected, self.actual))
        yield from difflib.unified_diff(expected, actual, "declared", "actual", lineterm="")

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        return {
            "example": self.title,
            "passed": self.passed,
            "expected": None if self.expected is None else list(self.expected),
            "actual": list(self.actual),
        }


def select(snapshot: RecipientSnapshot, names: Iterable[str] = ()) -> list[Example]:
    """Return the examples of the named recipients and prompts, or of all.

    Raises:
        NoSuchRecipient: a name is neither a recipient nor a prompt.
    """
    wanted = set(names)
    for name in wanted:
        if name not in snapshot and name not in snapshot.prompts:
            raise NoSuchRecipient(name, close(name, [*snapshot, *snapshot.prompts]))
    found = [
        Example(f"recipients.{name} example {index + 1}", snapshot, name, index)
        for name, entry in snapshot.items()
        for index in range(len(entry.EXAMPLE_MESSAGES))
        if not wanted or name in wanted
    ]
    found += [
        Example(f"prompts.{name} example {index + 1}", snapshot, name, index, prompt)
        for name, prompt in snapshot.prompts.items()
        for index in range(len(prompt.spec.examples))
        if not wanted or name in wanted
    ]
    return found


def run_examples(
    examples: Iterable[Example], *, jobs: int = 1, timeout: float | None = None
) -> Iterator[Result]:
    """Run examples, several at a time, and yield their results in the order of the examples.

    Those of a recipient with ``parallel = false`` run alone.
    """
    from concurrent.futures import ThreadPoolExecutor

    def run(example: Example) -> Result:
        return _run(example, timeout)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for alone, group in itertools.groupby(examples, _runs_alone):
            together = list(group)
            yield from map(run, together) if alone else pool.map(run, together)


def _runs_alone(example: Example) -> bool:
    spec = None if example.prompt is not None else example.snapshot[example.name].SPEC
    return spec is not None and not spec.parallel


def _run(example: Example, timeout: float | None) -> Result:
    if example.prompt is not None:
        return _result_of(example.title, example_of(example.prompt, example.index))
    from registry.dispatch import Dispatcher
    from registry.messages import reply_text

    declared: ExampleMessage = example.snapshot[example.name].EXAMPLE_MESSAGES[example.index]
    body = {"message": declared.text} if declared.arguments is None else {"arguments": declared.arguments}
    reply = Dispatcher(example.snapshot, timeout=timeout).dispatch({"recipient": example.name, **body})
    actual = reply_text(reply)
    good = reply["metadata"]["status"] == "ok"
    matches = not declared.replies or any(text.strip() == actual.strip() for text in declared.replies)
    return Result(example.title, good and matches, declared.replies or None, (actual,))


def _result_of(title: str, found: ExampleResult) -> Result:
    actual = (str(found.error),) if found.rendered is None else found.rendered
    return Result(title, found.ok, found.expected, actual)


def junit(name: str, results: Iterable[Result]) -> str:
    """Return results as JUnit XML."""
    from xml.etree import ElementTree as ET  # only written, never parsed

    listed = list(results)
    suite = ET.Element(
        "testsuite", name=name, tests=str(len(listed)), failures=str(sum(not r.passed for r in listed))
    )
    for result in listed:
        case = ET.SubElement(suite, "testcase", classname=name, name=result.title)
        if not result.passed:
            text = "\n".join(result.difference())
            ET.SubElement(case, "failure", message="not as declared").text = _printable(text)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _printable(text: str) -> str:
    """Replace what XML cannot hold."""
    return "".join(char if char in "\t\n" or char.isprintable() else "\ufffd" for char in text)
