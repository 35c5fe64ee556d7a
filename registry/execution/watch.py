"""Amounts that no resource limit bounds for every user: storage in many files, and threads.

They are looked at from outside while code runs. What a run can take between two looks is small.
"""
# ruff: noqa: PTH116, PTH123, PTH208 - a few plain calls, twenty times a second

from __future__ import annotations

import contextlib
import os

from registry.execution import folder

#: Seconds between two looks.
INTERVAL = 0.05
#: Bytes of storage, number of files, and of threads.
DISK = 256 << 20
ENTRIES = 10_000
THREADS = 256

#: What a person reads for each amount.
MEANING = {
    "output": "it printed more than 64 MiB",
    "disk": f"it stored more than {DISK >> 20} MiB",
    "entries": f"it made more than {ENTRIES:,} files, or folders nested too deeply",
    "threads": f"it started more than {THREADS} threads",
}


def excess(pid: int, work_folder: str) -> str:
    """Return the amount that a process went over, or an empty text."""
    if threads(pid) > THREADS:
        return "threads"
    used = folder.usage(work_folder, ENTRIES)
    if used.entries > ENTRIES:
        return "entries"
    return "disk" if used.size + unlinked(pid) > DISK else ""


def threads(pid: int) -> int:
    """Return how many threads a process has; 0 when it is gone."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/stat", "rb") as file:
            line = file.read()
        # The second field is a name in parentheses that may hold anything; the 20th is the number.
        return int(line.rpartition(b")")[2].split()[17])
    return 0


def unlinked(pid: int) -> int:
    """Return the storage of files that a process holds open after removing them."""
    size = 0
    with contextlib.suppress(OSError):
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found = os.stat(f"/proc/{pid}/fd/{descriptor}")
                size += found.st_blocks * 512 if found.st_nlink == 0 else 0
    return size
