"""A recipient of its own class: it keeps state, which a plain function cannot."""

from __future__ import annotations

from typing import Any

from registry import Outcome, Recipient, address, reply


class Notebook(Recipient):
    """Keeps notes as long as the instance lives."""

    def __init__(self) -> None:
        self._notes: list[str] = []

    def process(self, message: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
        """Add, list or clear notes."""
        arguments = self.bind_arguments(address(message).raw)
        if arguments["action"] == "add":
            self._notes.append(arguments.get("note", ""))
        elif arguments["action"] == "clear":
            self._notes.clear()
        else:
            return self._reply("\n".join(self._notes) or "no notes")
        return self._reply(f"{len(self._notes)} note{'' if len(self._notes) == 1 else 's'}")

    def _reply(self, text: str) -> dict[str, Any]:
        return reply(self.RECIPIENT_NAME, Outcome(text))
