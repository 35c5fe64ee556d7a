"""``python -m registry`` is the command ``recipients``."""

from __future__ import annotations

import gc
import sys

#: So many new objects start a collection. Starting up makes many objects and hardly any garbage.
_OBJECTS = 100_000


def entry() -> None:
    """Run the command line as a program."""
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    from registry.cli import main

    code = main()
    gc.freeze()  # The process ends: searching all that it has for garbage once more would only take time.
    sys.exit(code)


if __name__ == "__main__":
    entry()
