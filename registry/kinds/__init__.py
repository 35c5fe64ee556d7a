"""The kinds of recipient a file can declare: one module each, imported when a file first uses it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import attrs

from registry import specs
from registry.frozen import FrozenDict, freeze

if TYPE_CHECKING:
    from registry.recipient import Recipient


@attrs.frozen
class Kind:
    """Where a kind's class is and which options its table has."""

    module: str
    class_name: str
    options: type
    #: Input schema of a declaration that gives none; None where ``parameters`` alone decide.
    default_schema: FrozenDict | None = None

    def load(self) -> type[Recipient]:
        """Import the kind's class."""
        found: type[Recipient] = getattr(import_module(self.module), self.class_name)
        return found


_CODE_SCHEMA: FrozenDict = freeze(
    {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "Python source code to run."}},
        "required": ["code"],
        "additionalProperties": False,
    }
)

KINDS: dict[str, Kind] = {
    "class": Kind("registry.kinds.own_class", "ClassRecipient", specs.ClassOptions),
    "command": Kind("registry.kinds.command", "CommandRecipient", specs.CommandOptions),
    "function": Kind("registry.kinds.function", "FunctionRecipient", specs.FunctionOptions),
    "http": Kind("registry.kinds.http", "HttpRecipient", specs.HttpOptions),
    "mcp": Kind("registry.kinds.mcp", "McpRecipient", specs.McpOptions),
    "python": Kind("registry.kinds.python", "PythonRecipient", specs.PythonOptions, _CODE_SCHEMA),
}
