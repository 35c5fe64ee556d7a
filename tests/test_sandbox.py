"""The sandbox of the default backend: what is denied is shown denied, what must work is shown working."""
# ruff: noqa: E501, ISC004 - programs are easier to read in one line each

import asyncio
import contextlib
import errno
import io
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import hostile
import pytest

from registry.execution.child import runner, sandbox, syscalls
from registry.execution.interface import Limits
from registry.execution.process import ProcessBackend

pytestmark = pytest.mark.skipif(not ProcessBackend.probe()[0], reason=ProcessBackend.probe()[1])


def run(code, **options):
    """Run code in the sandbox."""
    result, _, _ = asyncio.run(hostile.run_once(ProcessBackend(Limits(timeout=5, **options)), code))
    return result


DENIED = {
    "read a file of the host": "open('/etc/passwd').read()",
    "read by a way up": "open('../../../../../../etc/passwd').read()",
    "read through a link": "import os\nos.symlink('/etc/passwd', 'p')\nopen('p').read()",
    "read by a hard link": "import os\nos.link('/etc/passwd', 'p')\nopen('p').read()",
    "list a folder": "import os\nos.listdir('{canary_dir}')",
    "read a canary": "open('{canary_dir}/secret.txt').read()",
    "write outside": "open('{canary_dir}/new', 'w')",
    "write through a link": "import os\nos.symlink('{canary_dir}/secret.txt', 'p')\nopen('p', 'w').write('x')",
    "append": "open('{canary_dir}/secret.txt', 'a').write('x')",
    "truncate": "import os\nos.truncate('{canary_dir}/secret.txt', 0)",
    "remove": "import os\nos.unlink('{canary_dir}/secret.txt')",
    "rename": "import os\nos.rename('{canary_dir}/secret.txt', '{canary_dir}/other')",
    "move in": "import os\nos.rename('{canary_dir}/secret.txt', 'mine')",
    "make a folder": "import os\nos.mkdir('{canary_dir}/folder')",
    "change owner": "import os\nos.chown('{canary_dir}/secret.txt', 1, 1)",
    "write into the interpreter": "import os\nopen(os.path.join(os.path.dirname(os.__file__), 'x.py'), 'w')",
    "make a device": "import os, stat\nos.mknod('d', 0o600 | stat.S_IFBLK, os.makedev(7, 0))",
    "own environment by /proc": "open('/proc/self/environ').read()",
    "memory of the parent": "import os\nopen(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "folder of the parent": "import os\nos.readlink(f'/proc/{os.getppid()}/cwd')",
    "connect by TCP": "import socket\nsocket.create_connection(('127.0.0.1', {tcp_port}), 1)",
    "send by UDP": "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
    "connect to a unix socket": "import socket\nsocket.socket(socket.AF_UNIX).connect('{unix_socket}')",
    "connect to an abstract socket": "import socket\nsocket.socket(socket.AF_UNIX).connect('\\0abc')",
    "open netlink": "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "pair of datagram sockets": "import socket\nsocket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "send to an address": "import socket\nsocket.socketpair()[0].sendto(b'x', '{unix_socket}')",
    "listen": "import socket\nsocket.create_server(('127.0.0.1', 0))",
    "fork": "import os\nos.fork()",
    "start a program": "import subprocess\nsubprocess.run(['true'])",
    "become a program": "import os\nos.execv('/bin/true', ['true'])",
    "start a shell": "import os\nif os.system('true'): raise PermissionError",
    "start by spawn": "import os\nos.posix_spawn('/bin/true', ['true'], {})",
    "signal the parent": "import os\nos.kill(os.getppid(), 0)",
    "signal all": "import os\nos.kill(-1, 0)",
    "signal the group": "import os\nos.killpg(0, 0)",
    "be told by signals": "import fcntl, os\nfcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, os.getppid())",
    "grow a pipe": "import fcntl, os\nfcntl.fcntl(os.pipe()[0], 1031, 1 << 20)",
    "raise a limit": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "file in memory": "import os\nos.memfd_create('x')",
    "shared memory": "from multiprocessing import shared_memory\nshared_memory.SharedMemory(create=True, size=9)",
    "leave the session": "import os\nos.setsid()",
    "change user": "import os\nos.setuid(12345)",
    "change root": "import os\nos.chroot('.')",
    "bind to a processor": "import os\nos.sched_setaffinity(0, {0})",
}


@pytest.mark.parametrize("name", DENIED)
def test_denied(name, monkeypatch):
    """What reaches out of the sandbox fails and changes nothing."""
    with hostile.surroundings(monkeypatch) as around:
        result = run(around.source(DENIED[name].encode()))
        assert "error" == result.status, result
        # A link between two places fails as between two disks; Python has its own error for limits.
        assert result.error.type in ("PermissionError", "OSError", "ValueError"), result.error
        assert (True, False) == (around.untouched(), around.connected())
        assert around.secret not in result.stdout + result.error.traceback
        assert not hostile.leftovers(around.home)


#: Calls that reach the kernel past Python, by their x86-64 numbers.
RAW = {
    "fork": 57, "vfork": 58, "clone": 56, "execve": 59, "execveat": 322, "ptrace": 101, "memfd_create": 319,
    "memfd_secret": 447, "add_key": 248, "request_key": 249, "keyctl": 250, "io_uring_setup": 425, "bpf": 321,
    "userfaultfd": 323, "perf_event_open": 298, "unshare": 272, "setns": 308, "mount": 165, "umount2": 166,
    "pivot_root": 155, "open_tree": 428, "fsopen": 430, "name_to_handle_at": 303, "open_by_handle_at": 304,
    "pidfd_open": 434, "pidfd_send_signal": 424, "pidfd_getfd": 438, "process_vm_readv": 310,
    "process_vm_writev": 311, "process_madvise": 440, "kcmp": 312, "shmget": 29, "semget": 64, "msgget": 68,
    "mq_open": 240, "inotify_init1": 294, "fanotify_init": 300, "socket": 41, "connect": 42, "bind": 49,
    "accept4": 288, "sendmmsg": 307, "kexec_load": 246, "reboot": 169, "init_module": 175, "syslog": 103,
    "acct": 163, "swapon": 167, "settimeofday": 164, "sethostname": 170, "personality": 135, "iopl": 172,
    "quotactl": 179, "vhangup": 153, "setsid": 112, "setpgid": 109, "setuid": 105, "chroot": 161,
    "prctl": 157, "seccomp": 317, "landlock_create_ruleset": 444, "tkill": 200, "rt_sigqueueinfo": 129,
    "vmsplice": 278, "sync": 162, "mlockall": 151, "nice of others": 141, "beyond all": 2000,
}  # fmt: skip


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86-64")
def test_denied_calls():
    """System calls that no ordinary code makes are answered with EPERM, also those made past Python."""
    code = (
        "import ctypes\ncall = ctypes.CDLL(None, use_errno=True).syscall\n"
        f"for name, number in {RAW!r}.items():\n"
        "    print(name, call(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno(), sep='/')\n"
        "print(call(435, 0, 0), ctypes.get_errno())"
    )
    wanted = [f"{name}/-1/{errno.EPERM}" for name in RAW]
    assert [*wanted, f"-1 {errno.ENOSYS}"] == run(code).stdout.splitlines()


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x86-64 has two other sets of numbers")
@pytest.mark.parametrize(
    "code",
    [
        "import ctypes\nctypes.CDLL(None).syscall(0x40000000 + 39)",
        "import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(bytes.fromhex('b802000000cd80c3'))\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()",
    ],
    ids=["x32", "int 0x80"],
)
def test_foreign_numbers(code):
    """Calls by the numbers of another architecture end the process."""
    result = run(code)
    assert ("crashed", "SIGSYS") == (result.status, result.signal)


ALLOWED = {
    "threads": "from concurrent.futures import ThreadPoolExecutor as T\nlist(T(8).map(abs, [-1, 2]))",
    "asyncio": "import asyncio\nasyncio.run(asyncio.sleep(0.001))",
    "await": "import asyncio\nawait asyncio.gather(asyncio.sleep(0), asyncio.to_thread(len, 'a'))",
    "files": "import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('x')\nos.rename('a/b/c', 'd')\nopen('d').read()",
    "copies": "import shutil\nopen('a', 'w').write('x')\nshutil.copy('a', 'b')\nshutil.copy2('a', 'c')\n"
    "shutil.make_archive('z', 'zip', '.')\nshutil.unpack_archive('z.zip', 'out')",
    "temporary files": "import tempfile\ntempfile.NamedTemporaryFile()\ntempfile.TemporaryDirectory()",
    "a database": "import sqlite3\nsqlite3.connect('x.db').execute('create table t (a)')",
    "time zones": "import datetime, zoneinfo\ndatetime.datetime.now(zoneinfo.ZoneInfo('UTC'))",
    "random numbers": "import os, random, secrets, uuid\nuuid.uuid4(), os.urandom(3), secrets.token_hex()",
    "own signals": "import os, signal\nsignal.signal(signal.SIGUSR1, lambda *_: None)\nos.kill(os.getpid(), 10)",
    "an alarm": "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)",
    "own modules": "open('mine.py', 'w').write('x = 1')\nimport mine\nassert mine.x == 1",
    "who am I": "import getpass, os, platform\ngetpass.getuser(), os.getcwd(), platform.platform(), os.cpu_count()",
    "own limits": "import resource\nresource.getrlimit(resource.RLIMIT_AS)",
    "pickles": "import pickle\nclass A: pass\npickle.loads(pickle.dumps(A()))",
    "reserved storage": "import os\nf = open('a', 'wb')\nos.posix_fallocate(f.fileno(), 0, 9999)\n"
    "assert os.stat('a').st_size == 9999",
    "pretended mode": "import os\nopen('a', 'w')\nos.chmod('a', 0)\nos.utime('a', (1, 1))",
}


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(name):
    """Ordinary code works in the sandbox."""
    result = run(ALLOWED[name])
    assert ("ok", None) == (result.status, result.error)


def test_no_change_of_modes(monkeypatch):
    """Changing mode or time of a file answers success and does nothing, whoever owns the file."""
    with hostile.surroundings(monkeypatch) as around:
        code = "import os\nos.chmod('{canary_dir}/secret.txt', 0o777)\nos.utime('{canary_dir}/secret.txt', (1, 1))"
        assert "ok" == run(around.source(code.encode())).status
        assert around.untouched()


def test_no_storage_without_writing():
    """Storage cannot be taken faster than it is written, so that the watch sees it in time."""
    code = (
        "import ctypes, os\nf = os.open('f', os.O_CREAT | os.O_WRONLY)\n"
        "call = ctypes.CDLL(None, use_errno=True).fallocate\n"
        "call(f, 0, ctypes.c_long(0), ctypes.c_long(1 << 20)), ctypes.get_errno(), os.stat('f').st_blocks"
    )
    assert str((-1, errno.ENOTSUP, 0)) == run(code).result


def test_environment_is_empty(monkeypatch):
    """Nothing of the host's environment reaches the code."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    result = run("import os\nsorted(os.environ)")
    assert "OPENAI_API_KEY" not in result.result
    assert "PATH" in result.result


AMOUNTS = {
    "many files": (
        "i = 0\nwhile True:\n    open(f'{i}', 'wb').write(b'x' * 1_000_000)\n    i += 1",
        "256 MiB",
    ),
    "unlinked files": (
        "import os\nkept = []\nwhile True:\n    kept.append(open('f', 'wb'))\n    os.unlink('f')\n"
        "    kept[-1].write(b'x' * 20_000_000)\n    kept[-1].flush()",
        "256 MiB",
    ),
    "empty files": ("i = 0\nwhile True:\n    open(f'{i}', 'w').close()\n    i += 1", "10,000 files"),
    "deep folders": ("import os\nwhile True:\n    os.mkdir('d')\n    os.chdir('d')", "nested too deeply"),
    "threads": (
        "import threading\nthreading.stack_size(32768)\nlock = threading.Lock()\nlock.acquire()\n"
        "while True:\n    threading.Thread(target=lock.acquire, daemon=True).start()",
        "256 threads",
    ),
    "output": ("while True:\n    print('x' * 10000)", "64 MiB"),
}


@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts(name, monkeypatch):
    """Storage, files, threads and output have a bound each, and a run that goes over one is ended."""
    code, said = AMOUNTS[name]
    with hostile.surroundings(monkeypatch) as around:
        result, _, _ = asyncio.run(hostile.run_once(ProcessBackend(Limits(timeout=60)), code))
        assert ("error", "LimitExceeded", "SIGKILL") == (result.status, result.error.type, result.signal)
        assert said in result.error.message
        assert [] == list(around.home.iterdir())


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("x = []\nwhile True:\n    x.append(str(len(x)) * 200)", "MemoryError"),
        ("x = []\nwhile True:\n    x.append(bytearray(1 << 20))", "MemoryError"),
        ("open('f', 'wb').write(b'x' * 200_000_000)", "OSError"),
        ("import os\nwhile True:\n    os.pipe()", "OSError"),
    ],
    ids=["growth", "blocks", "one file", "descriptors"],
)
def test_limits(code, kind):
    """Memory, the size of a file and the number of descriptors are errors that the code itself meets."""
    result = run(code)
    assert ("error", kind) == (result.status, result.error.type)


DROPPED = """
import asyncio, os, sys, tempfile
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.path[:0] = {path!r}
tempfile.tempdir = {folder!r}
from registry.execution.interface import Limits
from registry.execution.process import ProcessBackend
async def main():
    async with ProcessBackend(Limits(timeout=5)) as backend:
        for code in ("6 * 7", "open('/etc/passwd')", "import os; os.fork()", "open('f', 'w').write('x')"):
            result = await backend.run(code)
            print(result.status, result.result, result.error and result.error.type)
print(ProcessBackend.probe()[0])
asyncio.run(main())
print(os.listdir(tempfile.tempdir))
"""


@pytest.mark.skipif(not hostile.euid_is_root(), reason="only root can become another user")
def test_as_another_user():
    """The sandbox needs no privilege: it works for a user that has none."""
    python = interpreter_for_all()
    # Imported as a copy, since the user may not be able to reach this folder.
    with tempfile.TemporaryDirectory(dir=folder_for_all()) as place:
        pathlib.Path(place).chmod(0o755)
        folder = pathlib.Path(place, "own")
        folder.mkdir()
        os.chown(folder, 65534, 65534)
        path = copied_packages(pathlib.Path(place))
        code = DROPPED.format(path=[path], folder=str(folder))
        done = subprocess.run(
            [python, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env={"LANG": "C.UTF-8"},
        )
    assert ("", 0) == (done.stderr, done.returncode)
    assert [
        "True",
        "ok 42 None",
        "error None PermissionError",
        "error None PermissionError",
        "ok 1 None",
        "[]",
    ] == done.stdout.splitlines()


def folder_for_all():
    """Return a folder for temporary files that every user can reach, or skip."""
    for candidate in map(pathlib.Path, (tempfile.gettempdir(), "/var/tmp", "/dev/shm")):
        if candidate.is_dir() and all(
            folder.stat().st_mode & 1 for folder in (candidate, *candidate.parents)
        ):
            return candidate
    pytest.skip("no temporary folder that every user can reach")


def interpreter_for_all():
    """Return an interpreter that every user can start, or skip."""
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        words = [candidate, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        with contextlib.suppress(OSError):
            if not subprocess.run(words, check=False, user=65534, group=65534, cwd="/").returncode:
                return candidate
    pytest.skip("no interpreter that every user can start")


def copied_packages(place):
    """Copy what running needs to where every user can read it; returns the folder."""
    import shutil

    import attr
    import attrs

    import registry

    target = place / "packages"
    for module in (attr, attrs, registry):
        source = pathlib.Path(module.__file__).parent
        shutil.copytree(source, target / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    return str(target)


# --- the parts, without a kernel that could be older or newer -------------------------------------------------
class Kernel:
    """Stands for the system calls of a kernel with a certain version of Landlock."""

    def __init__(self, version):
        self.version = version
        self.calls = []

    def call(self, name, *arguments):
        self.calls.append((name, arguments))
        if name == "landlock_create_ruleset":
            return self.version if arguments[0] is None else os.open("/dev/null", os.O_RDONLY)
        return 0


@pytest.fixture
def kernel(monkeypatch):
    """Return a function that puts a stand-in kernel in place."""

    def install(version):
        stand_in = Kernel(version)
        monkeypatch.setattr(sandbox, "_call", stand_in.call)
        monkeypatch.setattr(sandbox, "_libc", lambda: type("Libc", (), {"prctl": staticmethod(lambda *_: 0)}))
        monkeypatch.setattr(sandbox, "set_limits", lambda **_: None)
        monkeypatch.setattr(sandbox, "be_first_to_go", lambda: None)
        return stand_in

    return install


@pytest.mark.parametrize(
    ("version", "size", "all_rights"),
    [
        (1, 8, 0x1FFF),
        (2, 8, 0x3FFF),
        (3, 8, 0x7FFF),
        (4, 16, 0x7FFF),
        (5, 16, 0xFFFF),
        (6, 24, 0xFFFF),
        (7, 24, 0xFFFF),
    ],
)
def test_lock(kernel, tmp_path, version, size, all_rights):
    """Each version of Landlock is asked for all it can take away, and never for more."""
    stand_in = kernel(version)
    sandbox.lock(str(tmp_path), memory=1, file_size=1, open_files=1)
    names = [name for name, _ in stand_in.calls]
    assert ["landlock_restrict_self", "capset", "seccomp"] == names[-3:]
    asked = [arguments[0] for name, arguments in stand_in.calls if name == "landlock_create_ruleset"]
    (attributes,) = filter(None, asked)
    assert (size, all_rights) == (len(attributes), struct.unpack("Q", attributes[:8])[0])
    added = [arguments[2] for name, arguments in stand_in.calls if name == "landlock_add_rule"]
    rules = [struct.unpack("=Qi", rule)[0] for rule in added]
    assert all(rule & ~all_rights == 0 for rule in rules)
    # Only the run's own folder may be written to, and nothing may be executed.
    assert [rules[-1]] == [rule for rule in rules if rule & 0x1FF0]
    assert not any(rule & 1 for rule in rules)


@pytest.mark.parametrize("machine", syscalls.COLUMNS)
@pytest.mark.parametrize("watched", [True, False])
def test_program(machine, watched):
    """The filter ends in a denial, knows its architecture, and allows `truncate` only where it is watched."""
    program = sandbox.program(machine, 4711, truncate=watched)
    lines = [struct.unpack("=HBBI", program[i : i + 8]) for i in range(0, len(program), 8)]
    assert (6, 0, 0, 0x00050000 | errno.EPERM) == lines[-1]
    assert (0x15, 1, 0, sandbox._AUDIT_ARCH[machine]) == lines[1]
    number = syscalls.number(syscalls.ALLOWED, "truncate", machine)
    assert watched == any(line[:1] == (0x15,) and line[3] == number for line in lines[3:])
    assert any(line[3] == 4711 for line in lines)
    assert len(lines) < 4096


def test_tables():
    """No system call is in two tables, and each has a number on x86-64."""
    tables = (syscalls.ALLOWED, syscalls.CHECKED, syscalls.PRETENDED, syscalls.UNSUPPORTED)
    for machine in syscalls.COLUMNS:
        numbers = [number for table in tables for number in syscalls.numbers(table, machine)]
        assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize(
    ("machine", "header"),
    [
        ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        ("x86_64", "/usr/include/asm/unistd_64.h"),
        ("aarch64", "/usr/include/asm-generic/unistd.h"),  # arm64 has no numbers of its own
    ],
)
def test_numbers_are_those_of_the_kernel(machine, header):
    """Every number is the one in the kernel's header of that architecture; what it lacks has none."""
    try:
        lines = pathlib.Path(header).read_text(encoding="utf-8")
    except FileNotFoundError:
        pytest.skip("the kernel's headers are not installed here")
    known = {
        name: int(number)
        for name, number in re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)$", lines, re.MULTILINE)
    }
    tables = (syscalls.ALLOWED, syscalls.CHECKED, syscalls.PRETENDED, syscalls.UNSUPPORTED, syscalls.OWN)
    ours = {name: syscalls.number(table, name, machine) for table in tables for name in table}
    newest = max(known.values())
    # The arm64 header names calls that are the same under both their names.
    same = {"newfstatat": "fstatat"} if machine == "aarch64" else {}
    wanted = {name: known.get(same.get(name, name)) for name in ours}
    assert {name: number for name, number in ours.items() if (number or 0) <= newest} == {
        name: wanted[name] for name, number in ours.items() if (number or 0) <= newest
    }


@pytest.mark.parametrize(
    ("attribute", "value", "said"),
    [
        ("platform", "darwin", "needs Linux"),
        ("maxsize", 1 << 31, "64-bit"),
    ],
)
def test_unsupported_machines(monkeypatch, attribute, value, said):
    """A machine that the sandbox is not made for is told so."""
    monkeypatch.setattr(sandbox.sys, attribute, value)
    assert said in sandbox.supported()


def test_kernel_without_landlock(monkeypatch, kernel):
    """A kernel without Landlock, or with Landlock switched off, is told so."""
    assert "" == sandbox.supported()
    kernel(0)
    assert "switched off" in sandbox.supported()

    def absent(*_arguments):
        raise sandbox.Refused(errno.ENOSYS, "landlock_create_ruleset: Function not implemented")

    monkeypatch.setattr(sandbox, "_call", absent)
    assert "5.13" in sandbox.supported()


def test_lock_nowhere(kernel, tmp_path):
    """A machine that cannot be locked down refuses before anything is done."""
    kernel(0)
    with pytest.raises(sandbox.Refused, match="switched off"):
        sandbox.lock(str(tmp_path), memory=1, file_size=1, open_files=1)


def test_failing_call():
    """A refused system call is an error that names the call."""
    with pytest.raises(sandbox.Refused, match="landlock_restrict_self: "):
        sandbox._call("landlock_restrict_self", -1, 0)


def test_drop_capabilities(kernel, monkeypatch):
    """Root keeps but the power to read, another user keeps none."""
    stand_in = kernel(1)
    for user, kept in ((0, 4), (1, 0)):
        monkeypatch.setattr(sandbox.os, "geteuid", lambda user=user: user)
        sandbox.drop_capabilities()
        assert struct.pack("=6I", kept, kept, 0, 0, 0, 0) == stand_in.calls[-1][1][1]


def test_first_to_go(monkeypatch):
    """A process that may not say that it is to go first goes on."""

    def refuse(*_args, **_options):
        raise PermissionError

    written = io.StringIO()
    written.close = lambda: None
    for opener in (lambda *_args, **_options: written, refuse):
        monkeypatch.setattr(sandbox, "open", opener, raising=False)
        sandbox.be_first_to_go()
    assert "1000" == written.getvalue()


def test_end_with_parent(monkeypatch):
    """Where the system cannot end a process with its parent, it goes on without."""
    asked = []

    class Libc:
        def prctl(self, *arguments):
            asked.append(arguments)
            return 0

    for libc in (Libc(), object()):
        monkeypatch.setattr(sandbox, "_libc", lambda libc=libc: libc)
        sandbox.end_with_parent()
    assert [(1, 9, 0, 0, 0)] == asked


def test_limits_within_those_of_the_host(monkeypatch):
    """Limits are never set above the host's own, and one that a kernel refuses is passed over."""
    import resource

    given = []
    hard = {resource.RLIMIT_NOFILE: 100}

    def setrlimit(which, limits):
        given.append((which, limits))
        if which == resource.RLIMIT_CORE:
            raise ValueError

    monkeypatch.setattr(resource, "getrlimit", lambda which: (0, hard.get(which, resource.RLIM_INFINITY)))
    monkeypatch.setattr(resource, "setrlimit", setrlimit)
    sandbox.set_limits(memory=1000, file_size=2000, open_files=3000)
    assert [
        (resource.RLIMIT_AS, (1000, 1000)),
        (resource.RLIMIT_FSIZE, (2000, 2000)),
        (resource.RLIMIT_NOFILE, (100, 100)),
        (resource.RLIMIT_CORE, (0, 0)),
    ] == given


def test_readable(monkeypatch):
    """What an editable install puts on the path is not readable; libraries and nothing of `/usr` else are."""
    monkeypatch.setattr(sandbox.sys, "path", ["/home/me/project/lib", f"{sys.prefix}/lib/x/site-packages"])
    found = sandbox.readable()
    assert "/home/me/project/lib" not in found
    assert {f"{sys.prefix}/lib/x/site-packages", "/usr/lib", f"{sys.base_prefix}/lib"} <= set(found)
    assert "/usr" not in found


def test_self_test(tmp_path, capsys, monkeypatch):
    """The self-test names what is possible and should not be."""

    def denied(*_arguments):
        raise PermissionError

    for name in ("open", "kill", "fork"):
        monkeypatch.setattr(runner.os, name, denied)
    monkeypatch.setattr("socket.socket", denied)
    assert 0 == runner.self_test(str(tmp_path))
    monkeypatch.setattr("socket.socket", io.BytesIO)
    monkeypatch.setattr(runner.os, "fork", lambda: 1)
    assert 2 == runner.self_test(str(tmp_path))
    assert "opening a socket, starting a process" == capsys.readouterr().out.splitlines()[-1]
