"""Prompts that take the text of others (an input with ``prompt = "name"``): which go round in a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from registry.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from registry.specs import PromptSpec

#: How many prompts may stand inside each other.
MAX_INCLUDES = 8


@attrs.frozen
class IncludeProblem:
    """An input that names a prompt whose text it cannot have."""

    code: str
    message: str
    prompt: str
    input: str
    hint: str = ""


def include_problems(specs: Iterable[PromptSpec]) -> tuple[IncludeProblem, ...]:
    """Return every input that names an unknown prompt, one that sends more than texts, or a circle."""
    known = {spec.name: spec for spec in specs}
    heights: dict[str, int] = {}
    found = []
    for spec in known.values():
        for item in spec.inputs:
            if item.prompt is None:
                continue
            text, code, hint = _problem(spec.name, item.prompt, known, heights)
            if code:
                found.append(IncludeProblem(code, text, spec.name, item.name, hint))
    return tuple(found)


def _problem(
    name: str, included: str, known: Mapping[str, PromptSpec], heights: dict[str, int]
) -> tuple[str, str, str]:
    if included not in known:
        near = nearest(included, known)
        hint = f"did you mean {near!r}?" if near else "declare it, or name another"
        return f"there is no prompt {included!r}", "wrong-value", hint
    path = _path(included, name, known)
    if path:
        circle = " -> ".join((name, *path))
        return f"prompts include each other in a circle: {circle}", "include-cycle", "break the circle"
    if any(message.image or message.file or message.each for message in known[included].messages):
        text = f"prompt {included!r} sends more than texts and cannot stand inside another"
        return text, "wrong-value", "include a prompt of plain messages"
    if _height(included, known, heights) >= MAX_INCLUDES:
        text = f"prompts stand more than {MAX_INCLUDES} deep inside each other"
        return text, "nesting-too-deep", "include fewer"
    return "", "", ""


def _names(spec: PromptSpec, known: Mapping[str, PromptSpec]) -> list[str]:
    return [item.prompt for item in spec.inputs if item.prompt is not None and item.prompt in known]


def _path(start: str, goal: str, known: Mapping[str, PromptSpec]) -> tuple[str, ...]:
    """Return a way along inclusions, both ends included; empty when there is none."""
    before: dict[str, str | None] = {start: None}
    pending = [start]
    while pending:
        name = pending.pop()
        if name == goal:
            way: list[str] = []
            step: str | None = name
            while step is not None:
                way.append(step)
                step = before[step]
            return tuple(reversed(way))
        for other in _names(known[name], known):
            if other not in before:
                before[other] = name
                pending.append(other)
    return ()


def _height(name: str, known: Mapping[str, PromptSpec], heights: dict[str, int]) -> int:
    """Count the prompts inside each other below a prompt; a circle below counts as none."""
    pending = [name]
    while pending:
        current = pending[-1]
        heights.setdefault(current, 0)
        new = [other for other in _names(known[current], known) if other not in heights]
        if new:
            pending.extend(new)
            continue
        inner = [heights[other] + 1 for other in _names(known[current], known)]
        heights[current] = max(inner, default=0)
        pending.pop()
    return heights[name]
