"""Serves the test registry over standard input and output; arguments choose how."""

import sys
import threading

import mcp_registry

from registry import RecipientManager, load
from registry.serve import serve_stdio


def swapping(manager, stop):
    """Swap two snapshots every ten milliseconds until told to stop."""
    both = [manager.snapshot(), mcp_registry.RecipientSnapshot({"echo": mcp_registry.Echo})]
    while not stop.wait(0.01):
        both.reverse()
        manager.replace(both[0])


def main(mode, *arguments):
    if mode == "file":
        path = arguments[0]
        serve_stdio(RecipientManager(load(path)), path=path)
        return
    manager = mcp_registry.manager()
    stop = threading.Event()
    if mode == "swap":
        threading.Thread(target=swapping, args=(manager, stop), daemon=True).start()
    serve_stdio(manager, grace=float(arguments[0]) if arguments else 10)
    stop.set()
    # Standard output is the caller's again.
    print("after")  # noqa: T201 - to see that it arrives


if __name__ == "__main__":
    main(*sys.argv[1:])
