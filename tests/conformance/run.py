"""Run the official conformance suite against server and client, and the inspector against the server.

Installs their exact versions with npm into a temporary folder, or uses the folder that the environment
variable CONFORMANCE_NODE names, which is filled once and kept. Exits 0 when every result is as expected.
"""

# ruff: noqa: T201 - it reports to whoever runs it
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import registry

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = pathlib.Path(__file__).parent
FILE = HERE / "recipients.toml"
SERVE = [sys.executable, "-m", "registry", "serve", "--file", str(FILE)]
SUITE = "@modelcontextprotocol/conformance"
STABLE, NEWEST = f"{SUITE}@0.1.16", f"{SUITE}@0.2.0-alpha.12"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
REVISION = "2026-07-28"
#: Scenarios for a client that calls tools, by version of the suite. Those left out are about what the client
#: does not offer: OAuth, answers to questions of the server (elicitation, sampling, input-required), skills.
CLIENT_SCENARIOS = {
    STABLE: ("initialize", "tools_call", "sse-retry"),
    NEWEST: (
        "initialize",
        "tools_call",
        "sse-retry",
        "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation",
        "request-metadata",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
    ),
}


def install(folder: pathlib.Path, *packages: str) -> pathlib.Path:
    """Install npm packages beside a Node 22 of their own; return the folder they are in."""
    modules = folder / "node_modules"
    if not modules.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]
        subprocess.run([*command, str(folder), "node@22", *packages], check=True)
    return modules


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Serve over HTTP at a free port and yield the URL."""
    server = subprocess.Popen([*SERVE, "--http", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    try:
        line = server.stderr.readline()
        yield line.split()[-1]
    finally:
        server.terminate()
        server.communicate(timeout=60)


def suite(modules: pathlib.Path, url: str, baseline: str, *more: str) -> bool:
    """Run the suite; say whether exactly the scenarios of the baseline failed."""
    program = [
        str(modules / ".bin" / "node"),
        str(modules / SUITE / "dist" / "index.js"),
        "server",
        "--url",
        url,
    ]
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            [*program, "--expected-failures", str(HERE / baseline), "-o", out, *more],
            capture_output=True,
            text=True,
            check=False,
        )
    print(done.stdout[done.stdout.find("=== SUMMARY") :], done.stderr)
    return done.returncode == 0


def client(modules: pathlib.Path, scenario: str) -> bool:
    """Let the suite watch the client in a scenario; say whether it passed."""
    command = [str(modules / ".bin" / "node"), str(modules / SUITE / "dist" / "index.js"), "client"]
    ours = shlex.join([sys.executable, str(HERE / "client.py")])
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            [*command, "--scenario", scenario, "--command", ours, "-o", out],
            capture_output=True,
            text=True,
            check=False,
        )
    print(f"client {scenario}: {'ok' if done.returncode == 0 else done.stdout + done.stderr}")
    return done.returncode == 0


def inspect(modules: pathlib.Path, *arguments: str) -> tuple[int, str]:
    """Run the inspector's command line against the server on standard input and output."""
    program = [str(modules / ".bin" / "node"), str(modules / ".bin" / "mcp-inspector"), "--cli"]
    done = subprocess.run(
        [*program, *arguments, "--", *SERVE], capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


def inspected(modules: pathlib.Path) -> bool:
    """List and call every recipient with the inspector; only the failing one may fail."""
    snapshot = registry.load(FILE)
    code, listed = inspect(modules, "--method", "tools/list", "--strict")
    good = code == 0 and all(f'"{name}"' in listed for name in snapshot)
    print(f"inspector tools/list: {'ok' if good else listed}")
    for name in snapshot:
        arguments = json.dumps({"name": "x"} if name == "json_schema_2020_12_tool" else {})
        code, said = inspect(
            modules, "--method", "tools/call", "--tool-name", name, "--tool-args-json", arguments
        )
        # 5 is the inspector's way to say that the tool answered with an error.
        as_expected = code == (5 if name == "test_error_handling" else 0)
        print(f"inspector tools/call {name}: {'ok' if as_expected else said}")
        good = good and as_expected
    return good


def main() -> int:
    """Run everything; 0 when all is as expected."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(os.environ.get("CONFORMANCE_NODE", temporary))
        stable = install(folder / "stable", STABLE, INSPECTOR)
        newest = install(folder / "newest", NEWEST)
        with serving() as url:
            results = [
                suite(stable, url, "baseline.yml"),
                suite(newest, url, f"baseline-{REVISION}.yml", "--requirements", REVISION),
            ]
        results.append(inspected(stable))
        for modules, version in ((stable, STABLE), (newest, NEWEST)):
            print(f"client, {version.rpartition('@')[2]}:")
            results += [client(modules, scenario) for scenario in CLIENT_SCENARIOS[version]]
    print("as expected" if all(results) else "NOT as expected")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
