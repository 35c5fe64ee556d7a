"""Locks the process it runs in: files (Landlock), system calls (seccomp), amounts (rlimits), privileges.

Everything is done by the process to itself, before any foreign code runs, and cannot be undone. No root,
no user namespace and no other program is needed.
"""
# ruff: noqa: PTH112, PTH118, PTH123 - pathlib is slow to import, and each child would have to

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import socket
import struct
import sys

from . import syscalls

# --- Landlock: linux/landlock.h -------------------------------------------------------------------------
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_MAKE_FIFO, _MAKE_SYM, _REFER, _TRUNCATE, _IOCTL_DEV = 1 << 10, 1 << 12, 1 << 13, 1 << 14, 1 << 15
_READ = _READ_FILE | _READ_DIR
_WRITE = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_FIFO | _MAKE_SYM
_DEVICE = _READ_FILE | _WRITE_FILE
#: Every right the first version knows: executing, all of reading and writing, and making devices and sockets.
_VERSION_1 = (1 << 13) - 1
_BIND_TCP_AND_CONNECT_TCP = 0b11
_SCOPE_SOCKETS_AND_SIGNALS = 0b11
_VERSION_FLAG = 1
_PATH_BENEATH = 1

# --- seccomp: linux/seccomp.h, linux/filter.h, linux/audit.h -----------------------------------------------
_LOAD, _EQUAL, _GREATER_EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_AT_NUMBER, _AT_ARCH, _AT_ARGUMENTS = 0, 4, 16
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
_SET_MODE_FILTER, _ALL_THREADS = 1, 1

# --- prctl, capset, clone, fcntl, ioctl -------------------------------------------------------------------
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_NAME, _PR_GET_NAME = 1, 38, 15, 16
_CAPABILITIES_3 = 0x20080522
_CAP_DAC_READ_SEARCH = 1 << 2
_CLONE_THREAD = 0x00010000
#: No F_SETOWN or F_SETSIG (they signal others) and no F_SETPIPE_SZ (memory that no limit counts).
_FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
#: TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
_SOCK_STREAM_FLAGS = (
    ~(socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK) & 0xFFFFFFFF if sys.platform == "linux" else 0
)

_MIB = 1 << 20


class Refused(OSError):  # noqa: N818 - named as what the kernel did
    """The kernel did not apply a part of the sandbox; nothing may be run."""


def supported() -> str:
    """Return why this machine cannot be locked down, or an empty text."""
    machine = os.uname().machine
    if sys.platform != "linux" or machine not in syscalls.COLUMNS:
        return f"the sandbox needs Linux on x86-64 or arm64, not {sys.platform} on {machine}"
    if sys.maxsize < 1 << 32:
        return "the sandbox needs a 64-bit Python"
    try:
        version = landlock_version()
    except Refused as exc:
        return f"the kernel has no Landlock (Linux 5.13 or newer is needed): {exc.strerror}"
    return "" if version else "the kernel's Landlock is switched off"


def lock(folder: str, *, memory: int, file_size: int, open_files: int) -> None:
    """Confine this process for good.

    Args:
        folder: The only place where files may be written.
        memory: Bytes of address space.
        file_size: Bytes of one file.
        open_files: How many descriptors may be open.

    Raises:
        Refused: The machine or its kernel lacks a part; the process must not run foreign code.
    """
    if reason := supported():
        raise Refused(errno.ENOSYS, reason)
    set_limits(memory=memory, file_size=file_size, open_files=open_files)
    be_first_to_go()
    end_with_parent()
    libc = _libc()
    _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")
    version = landlock_version()
    restrict_files(version, folder)
    drop_capabilities()
    install(program(os.uname().machine, os.getpid(), truncate=version >= 3))


def be_first_to_go() -> None:
    """Ask the kernel to end this process before any other when the machine runs out of memory."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("1000")


def end_with_parent() -> None:
    """Let the kernel kill this process when the one that started it ends; only Linux can."""
    with contextlib.suppress(AttributeError):
        _checked(_libc().prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")


def set_limits(*, memory: int, file_size: int, open_files: int) -> None:
    """Bound what this process can take. All limits are hard."""
    import resource  # absent on Windows, where only the limits would be missed

    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_FSIZE: file_size,
        resource.RLIMIT_NOFILE: open_files,
        resource.RLIMIT_CORE: 0,
    }
    for which, amount in limits.items():
        hard = resource.getrlimit(which)[1]
        value = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        # Kernels that ignore a limit (macOS: address space) refuse to set it.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(which, (value, value))


# --- Landlock ----------------------------------------------------------------------------------------------
def landlock_version() -> int:
    """Return the version of Landlock that the kernel speaks.

    Raises:
        Refused: It has none.
    """
    return _call("landlock_create_ruleset", None, 0, _VERSION_FLAG)


def rights(version: int) -> int:
    """Return all file rights that this version can take away."""
    newer = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
    return _VERSION_1 | sum(right for since, right in newer if version >= since)


def readable() -> list[str]:
    """Return the folders that an interpreter needs: its libraries, shared libraries, time zones.

    A prefix such as ``/usr`` is not opened as a whole, and folders that an editable install put on the path
    (somebody's project, with whatever lies in it) are left out.
    """
    bases = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    inside = tuple(os.path.join(base, "lib") for base in sorted(bases))
    found = {*inside, *(base + "64" for base in inside), "/lib", "/lib64", "/usr/lib", "/usr/lib64"}
    found.update(
        path for path in sys.path if path.startswith(tuple(f"{base}/" for base in bases)) and "/lib" in path
    )
    return sorted(found | {"/usr/share/zoneinfo"})


def restrict_files(version: int, folder: str) -> None:
    """Take away all access to files but reading the interpreter and working in ``folder``."""
    handled = rights(version)
    # The kernel takes a shorter structure of older callers; an older kernel refuses a longer one.
    fields = [handled]
    if version >= 4:
        fields.append(_BIND_TCP_AND_CONNECT_TCP)
    if version >= 6:
        fields.append(_SCOPE_SOCKETS_AND_SIGNALS)
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    ruleset = _call("landlock_create_ruleset", attributes, len(attributes), 0)
    try:
        for path in readable():
            _open_up(ruleset, path, _READ)
        for path in ("/dev/null", "/dev/zero", "/dev/full"):
            _open_up(ruleset, path, _DEVICE)
        for path in ("/dev/urandom", "/dev/random"):
            _open_up(ruleset, path, _READ_FILE)
        _open_up(ruleset, folder, (_READ | _WRITE | _REFER | _TRUNCATE) & handled)
        _call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _open_up(ruleset: int, path: str, allowed: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a folder that does not exist, or that this user cannot reach, needs no rule
    if not os.path.isdir(path):
        allowed &= _DEVICE  # a file has no further rights
    try:
        _call("landlock_add_rule", ruleset, _PATH_BENEATH, struct.pack("=Qi", allowed, place), 0)
    finally:
        os.close(place)


# --- privileges --------------------------------------------------------------------------------------------
def drop_capabilities() -> None:
    """Give up root's powers. Reading past file modes is kept: an interpreter may belong to another user."""
    header = struct.pack("=Ii", _CAPABILITIES_3, 0)
    kept = _CAP_DAC_READ_SEARCH if os.geteuid() == 0 else 0
    _call("capset", header, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


# --- seccomp -----------------------------------------------------------------------------------------------
def program(machine: str, pid: int, *, truncate: bool) -> bytes:
    """Return the filter: an allow-list, everything else answers EPERM.

    Args:
        machine: ``x86_64`` or ``aarch64``.
        pid: The one process that may be signalled.
        truncate: Whether Landlock watches over ``truncate``, which takes a path.
    """
    denied, absent = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
    lines = [
        *_unless(_AT_ARCH, _AUDIT_ARCH[machine], _KILL),
        _line(_LOAD, _AT_NUMBER),
    ]
    if machine == "x86_64":  # the x32 calls have other numbers for the same things
        lines += [_line(_GREATER_EQUAL, _X32, 0, 1), _line(_RETURN, _KILL)]
    for name in syscalls.ALLOWED:
        if truncate or name != "truncate":
            lines += _answer(syscalls.number(syscalls.ALLOWED, name, machine), _ALLOW)
    for number in syscalls.numbers(syscalls.PRETENDED, machine):
        lines += _answer(number, _ERRNO)
    for number in syscalls.numbers(syscalls.UNSUPPORTED, machine):
        lines += _answer(number, _ERRNO | errno.ENOTSUP)
    lines += _answer(syscalls.number(syscalls.CHECKED, "clone3", machine), absent)
    for name, checks in _checks(pid).items():
        block = [*checks, _line(_RETURN, denied)]
        lines += [
            _line(_EQUAL, syscalls.CHECKED[name][syscalls.COLUMNS[machine]] or 0, 0, len(block)),
            *block,
        ]
    return b"".join([*lines, _line(_RETURN, denied)])


def _checks(pid: int) -> dict[str, list[bytes]]:
    """Return for each call that depends on its arguments the lines that allow it."""
    return {
        # A thread, never a process.
        "clone": [_argument(0), _line(_ANY_BIT, _CLONE_THREAD, 0, 1), _line(_RETURN, _ALLOW)],
        "kill": _one_of(0, (pid,)),
        "tgkill": _one_of(0, (pid,)),
        # Reading a limit; the third argument is the new one.
        "prlimit64": _null(2),
        "prctl": _one_of(0, (_PR_SET_NAME, _PR_GET_NAME)),
        "fcntl": _one_of(1, _FCNTL),
        "ioctl": _one_of(1, _IOCTL),
        # A stream pair reaches nobody else; a datagram pair could be sent to any address.
        "socketpair": [
            *_unless_argument(0, 1),
            _argument(1),
            _line(0x54, _SOCK_STREAM_FLAGS),  # A &= K
            _line(_EQUAL, 1, 0, 1),
            _line(_RETURN, _ALLOW),
        ],
        # Without an address.
        "sendto": _null(4),
    }


def _line(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, if_true, if_false, value)


def _argument(index: int, *, high: bool = False) -> bytes:
    return _line(_LOAD, _AT_ARGUMENTS + 8 * index + (4 if high else 0))


def _answer(number: int | None, verdict: int) -> list[bytes]:
    return [] if number is None else [_line(_EQUAL, number, 0, 1), _line(_RETURN, verdict)]


def _unless(offset: int, value: int, verdict: int) -> list[bytes]:
    return [_line(_LOAD, offset), _line(_EQUAL, value, 1, 0), _line(_RETURN, verdict)]


def _unless_argument(index: int, value: int) -> list[bytes]:
    return _unless(_AT_ARGUMENTS + 8 * index, value, _ERRNO | errno.EPERM)


def _one_of(index: int, values: tuple[int, ...]) -> list[bytes]:
    return [_argument(index), *(line for value in values for line in _answer(value, _ALLOW))]


def _null(index: int) -> list[bytes]:
    denied = _ERRNO | errno.EPERM
    return [
        *_unless(_AT_ARGUMENTS + 8 * index, 0, denied),
        *_unless(_AT_ARGUMENTS + 8 * index + 4, 0, denied),
        _line(_RETURN, _ALLOW),
    ]


def install(filter_program: bytes) -> None:
    """Put a filter in force for every thread of this process."""
    buffer = ctypes.create_string_buffer(filter_program, len(filter_program))
    header = struct.pack("HxxxxxxP", len(filter_program) // 8, ctypes.addressof(buffer))
    _call("seccomp", _SET_MODE_FILTER, _ALL_THREADS, header)


# --- calls by number ---------------------------------------------------------------------------------------
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: int | bytes | None) -> int:
    number = syscalls.number(syscalls.OWN, name, os.uname().machine)
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return _checked(_libc().syscall(ctypes.c_long(number or 0), *wide), name)


def _checked(answer: int, name: str) -> int:
    if answer < 0:
        code = ctypes.get_errno()
        raise Refused(code, f"{name}: {os.strerror(code)}")
    return answer
