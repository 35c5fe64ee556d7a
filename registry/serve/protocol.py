"""Words of the Model Context Protocol that the serving rooms share."""

from __future__ import annotations

from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

#: Revisions that open with an ``initialize`` handshake, oldest first.
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
#: Where a request of a newer revision, which has no handshake, says its revision.
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
#: Where such a request says from which level on it wants log messages.
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"


class ProtocolError(Exception):
    """A request that cannot be answered; becomes a JSON-RPC error and never leaves the server."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def wire(self) -> dict[str, Any]:
        """Return the error object of a JSON-RPC response."""
        return {"code": self.code, "message": self.message}
