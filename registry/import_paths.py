"""Import what a declaration names as ``package.module:name``, when a call first needs it."""

from __future__ import annotations

import importlib
import sys
import threading
from typing import TYPE_CHECKING, Any

from registry.exceptions import RecipientFailed

if TYPE_CHECKING:
    import pathlib

_LOCK = threading.Lock()


def import_object(path: str, folder: pathlib.Path | None) -> Any:
    """Return the object at an import path such as ``package.module:name``.

    Modules are found on the normal path first, then in the folder of the root file; ``sys.path`` is as before
    afterwards.

    Raises:
        RecipientFailed: the module cannot be imported or has no such name.
    """
    module_name, _, names = path.partition(":")
    try:
        found: Any = _import(module_name, folder)
    except Exception as error:
        message = f"{path} cannot be imported: {type(error).__name__}: {error}"
        raise RecipientFailed(message) from error
    for name in names.split("."):
        try:
            found = getattr(found, name)
        except AttributeError as error:
            raise RecipientFailed(f"{path} cannot be imported: {module_name} has no {name!r}") from error
    return found


def _import(module: str, folder: pathlib.Path | None) -> Any:
    if folder is None or module in sys.modules:
        return importlib.import_module(module)
    with _LOCK:
        extra = str(folder)
        sys.path.append(extra)
        importlib.invalidate_caches()
        try:
            return importlib.import_module(module)
        finally:
            # Removes the one added at the end, never an equal entry that was there before.
            del sys.path[len(sys.path) - 1 - sys.path[::-1].index(extra)]
