"""What is wrong with the values of one rendering: collected, then raised once."""

from __future__ import annotations

from registry.exceptions import RenderError

#: The codes of a `RenderError`, gravest first: an error has the code of its gravest fault.
CODES = (
    "missing-input",
    "unexpected-input",
    "wrong-type",
    "number-too-long",
    "not-finite",
    "not-utf8",
)


class Faults:
    """Faults by code and input."""

    def __init__(self) -> None:
        self._texts: dict[str, dict[str, list[str]]] = {}

    def add(self, code: str, name: str, text: str) -> None:
        """Note a fault of an input; the text says all, the input's name included."""
        self._texts.setdefault(code, {}).setdefault(name, []).append(text)

    def absorb(self, error: RenderError) -> None:
        """Note the faults of an error raised by a part of the same rendering."""
        for name in error.names or ("",):
            self.add(error.code, name, error.message)

    def raise_for(self, whose: str) -> None:
        """Raise for all faults at once, if there are any.

        Raises:
            RenderError: Its names are all inputs at fault under its code; its text names the others too.
        """
        if not self._texts:
            return
        found = sorted(self._texts.items(), key=lambda item: CODES.index(item[0]))
        texts = dict.fromkeys(text for _, names in found for lines in names.values() for text in lines)
        code, names = found[0]
        raise RenderError(code, f"{whose}: {'; '.join(texts)}", filter(None, names))
