"""System calls by what happens to them, with their numbers: the one table the filter is made of.

Everything that is not listed here is denied. Numbers are those of x86-64 and of arm64 (None: no such call
there).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Harmless inside a process that can reach no file, network or process of others.
ALLOWED = {
    "read": (0, 63),
    "write": (1, 64),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "readv": (19, 65),
    "writev": (20, 66),
    "preadv": (295, 69),
    "pwritev": (296, 70),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    "lseek": (8, 62),
    "close": (3, 57),
    "close_range": (436, 436),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "creat": (85, None),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "stat": (4, None),
    "lstat": (6, None),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getdents": (78, None),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    "umask": (95, 166),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "fadvise64": (221, 223),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "flock": (73, 32),
    "sendfile": (40, 71),
    "copy_file_range": (326, 285),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "epoll_create": (213, None),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "epoll_pwait2": (441, 441),
    "eventfd": (284, None),
    "eventfd2": (290, 19),
    "timerfd_create": (283, 85),
    "timerfd_settime": (286, 86),
    "timerfd_gettime": (287, 87),
    "signalfd": (282, None),
    "signalfd4": (289, 74),
    "recvfrom": (45, 207),
    "sendmsg": (46, 211),
    "recvmsg": (47, 212),
    "shutdown": (48, 210),
    "getsockopt": (55, 209),
    "setsockopt": (54, 208),
    "getsockname": (51, 204),
    "getpeername": (52, 205),
    "brk": (12, 214),
    "mmap": (9, 222),
    "munmap": (11, 215),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "msync": (26, 227),
    "mincore": (27, 232),
    "membarrier": (324, 283),
    "futex": (202, 98),
    "futex_waitv": (449, 449),
    "set_robust_list": (273, 99),
    "get_robust_list": (274, 100),
    "set_tid_address": (218, 96),
    "rseq": (334, 293),
    "getcpu": (309, 168),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136),
    "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "pause": (34, None),
    "alarm": (37, None),
    "setitimer": (38, 103),
    "getitimer": (36, 102),
    "timer_create": (222, 107),
    "timer_settime": (223, 110),
    "timer_gettime": (224, 108),
    "timer_getoverrun": (225, 109),
    "timer_delete": (226, 111),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "getrusage": (98, 165),
    "getrandom": (318, 278),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "getgroups": (115, 158),
    "getpgrp": (111, None),
    "getpgid": (121, 155),
    "getsid": (124, 156),
    "getpriority": (140, 141),
    "getrlimit": (97, 163),
    "wait4": (61, 260),
    "waitid": (247, 95),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "arch_prctl": (158, None),
}

#: Allowed only with certain arguments; the filter in sandbox.py says which.
CHECKED = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "prlimit64": (302, 261),
    "prctl": (157, 167),
    "ioctl": (16, 29),
    "fcntl": (72, 25),
    "socketpair": (53, 199),
    "sendto": (44, 206),
}

#: Landlock does not see changes of mode and time, so they are not made. They answer success, because
#: `shutil.copy` and archive extraction make them in passing and would fail otherwise.
PRETENDED = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "utime": (132, None),
    "utimes": (235, None),
    "utimensat": (280, 88),
    "futimesat": (261, None),
}

#: Answered with ENOTSUP, as a file system that lacks them does: extended attributes, and `fallocate`, which
#: would take gigabytes of storage between two looks of the watch, while writing them takes its time.
UNSUPPORTED = {
    "fallocate": (285, 47),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "fgetxattr": (193, 10),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
}

#: What the sandbox itself calls by number.
OWN = {
    "seccomp": (317, 277),
    "capset": (126, 91),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}

#: Column of the tables above, by `os.uname().machine`.
COLUMNS = {"x86_64": 0, "aarch64": 1}


def number(table: Mapping[str, tuple[int, int | None]], name: str, machine: str) -> int | None:
    """Return the number of a system call on this machine, None where it does not exist."""
    return table[name][COLUMNS[machine]]


def numbers(table: Mapping[str, tuple[int, int | None]], machine: str) -> list[int]:
    """Return the numbers of all calls of one table that exist on this machine."""
    column = COLUMNS[machine]
    return [found for row in table.values() if (found := row[column]) is not None]
