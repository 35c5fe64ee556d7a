"""Which backend runs a declaration's code. Nothing unsandboxed or remote is ever taken unasked."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import attrs

from registry.exceptions import BackendUnavailable

if TYPE_CHECKING:
    from registry.execution.interface import ExecBackend
    from registry.specs import PythonOptions


@attrs.frozen
class Choice:
    """Where a backend's class is; it is imported when it is asked for."""

    module: str
    class_name: str

    def load(self) -> type[ExecBackend]:
        """Import the backend's class. Optional dependencies are imported later, by its probe."""
        found: type[ExecBackend] = getattr(import_module(self.module), self.class_name)
        return found


BACKENDS: dict[str, Choice] = {
    "jupyter": Choice("registry.execution.jupyter", "JupyterBackend"),
    "monty": Choice("registry.execution.monty", "MontyBackend"),
    "subprocess": Choice("registry.execution.process", "ProcessBackend"),
    "tio": Choice("registry.execution.tio", "TioBackend"),
}
#: What ``auto`` tries, in this order: both are sandboxed and stay on this machine.
AUTOMATIC = ("subprocess", "monty")


def get_backend(
    options: PythonOptions, timeout: float | None = None, max_output: int | None = None
) -> ExecBackend:
    """Return the backend that a declaration asks for, not yet open.

    Probing ``auto`` starts a process once: call this in a thread where an event loop must not wait.

    Args:
        options: The declaration.
        timeout: Seconds a run may take.
        max_output: Bytes kept of each stream.

    Raises:
        BackendUnavailable: No backend that may be taken works here, or ``memory`` is no size.
    """
    from registry.execution.interface import Limits, parse_size

    try:
        memory = parse_size(options.memory)
    except ValueError as exc:
        raise BackendUnavailable(str(exc)) from exc
    usual = Limits()
    limits = Limits(
        timeout=usual.timeout if timeout is None else timeout,
        max_output=usual.max_output if max_output is None else max_output,
        memory=memory,
    )
    return BACKENDS[backend_name(options)].load().of(options, limits)


def backend_name(options: PythonOptions) -> str:
    """Return the name of the backend that a declaration asks for; ``auto`` is resolved by probing.

    Raises:
        BackendUnavailable: ``auto`` finds none, or there is no such backend.
    """
    if options.backend in BACKENDS:
        return options.backend
    if options.backend != "auto":
        known = ", ".join(["auto", *BACKENDS])
        raise BackendUnavailable(f"there is no backend {options.backend!r}; there are: {known}")
    if options.sandbox == "none":
        return "subprocess"
    reasons = {}
    for name in AUTOMATIC:
        usable, reasons[name] = BACKENDS[name].load().probe()
        if usable:
            return name
    found = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
    raise BackendUnavailable(
        f"no sandbox works here ({found}). Ways out: "
        "install the extra with `pip install 'recipients[monty]'`, "
        'or declare sandbox = "none" to run code with all of your own rights, or declare backend = "tio" to '
        "send it to a server"
    )


def probe_all() -> dict[str, tuple[bool, str]]:
    """Return for each backend whether it works here, and why (not)."""
    return {name: choice.load().probe() for name, choice in BACKENDS.items()}
