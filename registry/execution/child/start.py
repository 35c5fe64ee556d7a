"""The script of the child process: ``python -I -X utf8 start.py IN OUT``, two descriptors.

It loads the other modules of this folder with their own copy of the builtins, so that code which tampers with
``builtins`` cannot make the report of what it did go wrong.
"""
# ruff: noqa: PTH100, PTH118, PTH120 - pathlib is slow to import, and each child would have to

from __future__ import annotations

import builtins
import os
import sys
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType

#: Shown in place of the path of these modules, for example in a warning that the interpreter gives when the
#: code's last coroutine was never awaited.
NAME = "<recipients>"

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = "_recipients_child"


def load(name: str, private: dict[str, object]) -> ModuleType:
    """Load one module of this folder under the package name of the child."""
    path = os.path.join(_FOLDER, f"{name}.py")
    full = f"{_PACKAGE}.{name}"
    module = ModuleType(full)
    vars(module).update(__file__=path, __package__=_PACKAGE, __builtins__=private)
    sys.modules[full] = module
    code = SourceFileLoader(full, path).get_code(full)
    exec(without_path(code), vars(module))  # type: ignore[arg-type]  # noqa: S102 - a file beside this one
    setattr(sys.modules[_PACKAGE], name, module)
    return module


def without_path(code: CodeType) -> CodeType:
    """Return code that tells no place of this machine, with all that is defined in it."""
    inner = (without_path(held) if isinstance(held, CodeType) else held for held in code.co_consts)
    return code.replace(co_filename=NAME, co_consts=tuple(inner))


def main() -> int:
    """Serve the two descriptors named on the command line; returns the exit code."""
    package = ModuleType(_PACKAGE)
    package.__path__ = []
    sys.modules[_PACKAGE] = package
    private = dict(vars(builtins))
    for name in ("syscalls", "sandbox", "tracebacks"):
        load(name, private)
    runner = load("runner", private)
    source, sink = map(int, sys.argv[1:])
    return int(runner.serve(source, sink))


if __name__ == "__main__":  # pragma: no cover -- the script of a process that is not measured
    try:
        exit_code = main()
    except BaseException:  # noqa: BLE001 - the code broke what its report is made with; the exit code tells
        exit_code = 1
    raise SystemExit(exit_code)  # the code may have replaced sys.exit
