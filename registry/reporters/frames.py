"""The line of a file that a diagnostic is about, with a mark under the place."""

from __future__ import annotations

from registry.reporters.visible import visible, width

#: Cells of a line that are shown; of a longer one, the part around the place.
LIMIT = 100
_BEFORE = LIMIT // 3
_TAB = "    "
_CUT = "…"


def frame(line: str, start: int, end: int, mark: str = "^") -> tuple[str, str]:
    """Return the line as shown and the marks under its characters from ``start`` up to ``end``.

    There is one mark at least. Tabs are shown as four spaces, control characters as escapes.
    """
    first, last = _window(line, start)
    left = _CUT if first > 0 else ""
    right = _CUT if last < len(line) else ""
    before, marked, after = (
        line[first:start],
        line[start : min(end, last)],
        line[max(start, min(end, last)) : last],
    )
    before, marked, after = _shown(before), _shown(marked), _shown(after)
    indent = " " * (width(left) + width(before))
    return f"{left}{before}{marked}{after}{right}", indent + mark * max(width(marked), 1)


def _shown(text: str) -> str:
    return _TAB.join(map(visible, text.split("\t")))


def _window(line: str, start: int) -> tuple[int, int]:
    """Return the indexes of the characters to show."""
    if len(line) <= LIMIT and width(_shown(line)) <= LIMIT:
        return 0, len(line)
    first, room = start, _BEFORE
    while first > 0 and (room := room - width(_shown(line[first - 1]))) >= 0:
        first -= 1
    last, room = start, LIMIT - width(_shown(line[first:start]))
    while last < len(line) and (room := room - width(_shown(line[last]))) >= 0:
        last += 1
    return first, last
