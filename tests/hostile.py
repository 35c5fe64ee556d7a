"""What hostile code is run against: canary files, a secret variable, listeners, a watch on processes."""

import asyncio
import contextlib
import json
import os
import pathlib
import secrets
import select
import shutil
import socket
import tempfile
import time

import attrs

from registry.execution.cleaning import clean
from registry.execution.interface import Limits

ATTACKS = pathlib.Path(__file__).parent / "cases" / "attacks"
MANIFEST = json.loads((ATTACKS / "manifest.json").read_text(encoding="utf-8"))["attacks"]
TYPICAL = json.loads((ATTACKS / "typical.json").read_text(encoding="utf-8"))["snippets"]
EXEC = json.loads((ATTACKS.parent / "exec.json").read_text(encoding="utf-8"))

#: As the manifest's note says.
LIMITS = Limits(timeout=3.0, max_output=64 << 10, memory=512 << 20)


@attrs.define
class Surroundings:
    """New random values for one run, and what is to be looked at afterwards."""

    canary: pathlib.Path
    home: pathlib.Path
    secret: str
    variable: str
    tcp: socket.socket
    unix: socket.socket

    def source(self, data: bytes) -> str:
        """Return the code with its places filled in."""
        text = data.decode("utf-8", "surrogateescape")
        for name, value in (
            ("canary_dir", self.canary),
            ("tcp_port", self.tcp.getsockname()[1]),
            ("unix_socket", self.unix.getsockname()),
            ("env_name", self.variable),
        ):
            text = text.replace(f"{{{name}}}", str(value))
        return text

    def connected(self):
        """Return whether anybody has connected to a listener."""
        for listener in (self.tcp, self.unix):
            with contextlib.suppress(BlockingIOError):
                listener.accept()[0].close()
                return True
        return False

    def untouched(self):
        """Return whether the canary folder holds what it held before, with the same modes and times."""
        return snapshot_of(self.canary) == self.before

    before: dict = attrs.field(factory=dict)


def snapshot_of(folder):
    """Return contents, modes and times of a folder's files."""
    found = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_mode, status.st_mtime_ns, status.st_uid, content)
    return found


@contextlib.contextmanager
def surroundings(monkeypatch):
    """Set everything up, with the folders of runs in a place that tells them from all others."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="hostile-"))
    canary, home = place / "canary", place / "runs"
    canary.mkdir()
    home.mkdir()
    mark = secrets.token_hex(8)
    (canary / "secret.txt").write_text(f"CANARY-FILE-{mark}", encoding="utf-8")
    variable = f"SECRET_{secrets.token_hex(4).upper()}"
    monkeypatch.setenv(variable, f"CANARY-ENV-{mark}")
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
        tcp.bind(("127.0.0.1", 0))
        unix.bind(str(place / "u"))
        for listener in (tcp, unix):
            listener.listen()
            listener.setblocking(False)
        around = Surroundings(canary, home, mark, variable, tcp, unix)
        around.before = snapshot_of(canary)
        try:
            yield around
        finally:
            shutil.rmtree(place)


#: Seconds that a process which was killed may take to be gone.
DYING = 10


def leftovers(home):
    """Return the processes that run with one of our folders as their home, and go on running."""
    mark = f"HOME={home}".encode()
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                found.append(entry.name)
    return [pid for pid in found if not ends(int(pid))]


def ends(pid):
    """Say whether a process ends soon: a killed one is gone a moment later, on a busy machine."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        readable, _, _ = select.select([descriptor], [], [], DYING)
        return bool(readable)
    finally:
        os.close(descriptor)


async def run_once(backend, code):
    """Run code; returns the result, the seconds it took and the longest time the event loop stood still."""
    gaps = []

    async def tick():
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.005)
            now = time.monotonic()
            gaps.append(now - last)
            last = now

    async with backend:
        ticking = asyncio.ensure_future(tick())
        begun = time.monotonic()
        result = await backend.run(clean(code))
        took = time.monotonic() - begun
        ticking.cancel()
    return result, took, max(gaps, default=0.0)


def verdict(entry, result, took, around, status_key="status"):
    """Return everything in which a result differs from what the manifest expects of an attack."""
    expect = entry["expect"]
    said = result.stdout + result.stderr
    error = f"{result.error.type} {result.error.message} {result.error.traceback}" if result.error else ""
    most = expect.get("max_s", "timeout+2")
    limit = LIMITS.timeout + 2 if most == "timeout+2" else float(most)
    checks = {
        "status": result.status in expect[status_key],
        "time": took <= limit,
        "canary": around.untouched(),
        "connection": not around.connected(),
        "leftover": not leftovers(around.home) and not list(around.home.iterdir()),
        "secret": around.secret not in said + error,
        "encodable": bool(json.dumps(attrs.asdict(attrs.evolve(result, attachments=()))).encode()),
        "stdout_lacks": expect.get("stdout_lacks", "\0\0") not in said,
    }
    if result.status in ("ok", "error") and status_key == "status":
        checks["stdout_has"] = expect.get("stdout_has", "") in said
        checks["error_has"] = expect.get("error_has", "") in error + said
        checks["exit_code"] = result.exit_code == expect.get("exit_code", result.exit_code)
        checks["result"] = result.result == expect.get("result", result.result)
        checks["truncated"] = result.truncated == expect.get("truncated", result.truncated)
    return {name for name, good in checks.items() if not good}


def euid_is_root():
    """Return whether these tests run as root."""
    return os.geteuid() == 0
