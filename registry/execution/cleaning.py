"""Code as models and people send it, made into the code they mean. Done once, before any backend."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<label>[^`\n]*)$")
_INLINE = re.compile(r"\A(?P<mark>`+)(?P<code>[^`\n]+)(?P=mark)\Z")
_LANGUAGE = re.compile(r"\A\s*(?:py|python|python3|py3|ipython|ipython3)[ \t]*\n", re.IGNORECASE)


def clean(code: str) -> str:
    r"""Return ``code`` without Markdown fences, byte-order mark, carriage returns and common indentation.

    >>> clean("```py\nprint(1)\n```")
    'print(1)'
    """
    text = code.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = _unfenced(text)
    text = _LANGUAGE.sub("", text.lstrip("\ufeff"))
    return _dedented(text)


def _unfenced(text: str) -> str:
    """Return what the fences hold: of several blocks, those labelled as the first one.

    A fence outside a string is no Python, so text before the first one is prose, unless it may open a string.
    """
    inline = _INLINE.match(text.strip())
    if inline:
        return inline["code"]
    lines = text.split("\n")
    start = next((number for number, line in enumerate(lines) if _FENCE.match(line)), None)
    if start is None or any('"""' in line or "'''" in line for line in lines[:start]):
        return text
    blocks = _blocks(lines[start:])
    first = blocks[0][0]
    return "\n".join(block for label, block in blocks if label == first)


def _blocks(lines: list[str]) -> list[tuple[str, str]]:
    """Return label and content of every fenced block; one that is never closed ends with the text."""
    blocks: list[tuple[str, str]] = []
    label, mark = "", ""
    held: list[str] = []
    for line in lines:
        fence = _FENCE.match(line)
        if not mark:
            if fence:
                label, mark, held = fence["label"].strip().lower(), fence["mark"], []
        elif fence and not fence["label"].strip() and fence["mark"].startswith(mark):
            blocks.append((label, "\n".join(held)))
            mark = ""
        else:
            held.append(line)
    if mark:
        blocks.append((label, "\n".join(held)))
    return blocks


def _dedented(text: str) -> str:
    """Take away the first line's indentation if every line has it."""
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    margin = first[: len(first) - len(first.lstrip())]
    if not margin or any(line.strip() and not line.startswith(margin) for line in lines):
        return text
    return "\n".join(line.removeprefix(margin) for line in lines)
