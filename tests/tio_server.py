"""A stand-in for a Tio server: it speaks the protocol on a loopback port and really runs Python.

Written from the protocol, not from our client, so that each can prove the other. Use as a context manager.
"""

import base64
import gzip
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import zlib

TOKEN = re.compile(r"\A/cgi-bin/run/(?:api/)?(?:[0-9a-f]{32})?\Z")
NAME = re.compile(r"\A(args|lang|TIO_[A-Z_]+)\Z")
CAP = 131_072
LANGUAGES = {
    "python3": {
        "name": "Python 3",
        "categories": ["practical"],
        "encoding": "UTF-8",
        "link": "https://python.example",
        "prettify": "py",
        "tests": {},
        "unmask": [],
        "update": "",
    }
}


class RefusedError(Exception):
    """The server's message about a request that it does not run."""


def run_request(data, seconds):
    """Return the parts of a response for inflated request bytes."""
    files, variables, outputs, errors, notices = {}, {}, [], [], []
    position = 0

    def word():
        nonlocal position
        end = data.index(b"\0", position)
        found = data[position:end]
        position = end + 1
        return found.decode("utf-8", "replace")

    def count():
        text = word()
        if not text.isdigit():
            raise RefusedError(f"'{text}' is not an unsigned decimal integer literal.")
        return int(text)

    while position < len(data):
        command = data[position : position + 1].decode("latin-1")
        position += 1
        if command == "\0":
            continue
        if command == "V":
            name = word()
            if not NAME.match(name):
                raise RefusedError(f"The variable '{name}' could not be declared.")
            variables[name] = [word() for _ in range(count())]
        elif command == "F":
            name, size = word(), count()
            files[name] = data[position : position + size]
            position += size
        elif command == "R":
            out, err, told = execute(files, variables, seconds)
            outputs.append(out)
            errors.append(err)
            notices += told
        else:
            raise RefusedError(f"The instruction '{command}' is not implemented.")
    return [*outputs, *errors, "".join(f"{notice}\n" for notice in notices).encode()]


def execute(files, variables, seconds):
    """Run the program; returns stdout, stderr with the trailer, and notices."""
    language = variables.get("lang", [""])[0]
    if language not in LANGUAGES:
        raise RefusedError(f"The language '{language}' could not be found on the server.")
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {".input.tio": b"", **files}.items():
            pathlib.Path(folder, name).write_bytes(content)
        words = [
            sys.executable,
            "-u",
            *variables.get("TIO_OPTIONS", []),
            ".code.tio",
            *variables.get("args", []),
        ]
        with pathlib.Path(folder, ".input.tio").open("rb") as stdin:
            process = subprocess.Popen(
                words, cwd=folder, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        notices = []
        try:
            out, err = process.communicate(timeout=seconds)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            code = 124
            notices.append("The request exceeded the 60 second time limit and was terminated.")
    err += (
        f"\nReal time: 0.036 s\nUser time: 0.036 s\nSys. time: 0.000 s\nCPU share: 99.00 %\nExit code: {code}"
    ).encode()
    if len(out) > CAP - 16:
        out = out[: CAP - 16]
        notices.append("The output exceeded 128 KiB and was truncated.")
    if len(err) > CAP - 16:
        err = err[: CAP - 16]
        notices.append("The debugging information exceeded 128 KiB and was truncated.")
    return out, err, notices


def respond(body, seconds):
    """Return the bytes of a response, not yet gzipped."""
    separator = base64.b64encode(os.urandom(12))
    try:
        data = zlib.decompress(body, -15)
    except zlib.error:
        return separator
    try:
        return separator + separator.join(run_request(data, seconds))
    except RefusedError as refusal:
        return separator + f"{refusal}\n".encode()


class Handler(http.server.BaseHTTPRequestHandler):
    """Speaks HTTP as the server's script does."""

    def do_GET(self):
        if self.path == "/languages.json":
            self.answer(200, json.dumps(LANGUAGES).encode(), "application/json")
        else:
            self.answer(405, b"")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.received.append(body)
        if self.server.canned is not None:
            self.answer(*self.server.canned)
        elif not TOKEN.match(self.path):
            self.answer(400, b"")
        elif len(body) > 1_000_000:
            self.answer(413, b"")
        else:
            packed = gzip.compress(respond(body, self.server.seconds))
            self.answer(200, packed, gzipped="/api/" in self.path)

    def answer(self, status, body, kind="application/octet-stream", *, gzipped=False):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if gzipped:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Say nothing."""


class TioServer:
    """A server on a free port of 127.0.0.1, served by a thread of its own.

    ``canned``: answer every POST with this (status, body) instead. ``received``: the bodies of all POSTs.
    """

    def __init__(self, *, seconds=60.0, canned=None):
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.seconds = seconds
        self._server.canned = canned
        self._server.received = []
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def received(self):
        return self._server.received

    @property
    def root(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def url(self):
        return f"{self.root}/cgi-bin/run/api/"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
