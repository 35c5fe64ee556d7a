"""`recipients check` as a whole process, beside the validators of TOML."""

from __future__ import annotations

import pathlib
import shutil
import sys
import sysconfig
import tempfile

from bench.data import recipients
from bench.measure import processes, rows, show
from registry.resources import schema_folder

_SCRIPTS = pathlib.Path(sysconfig.get_path("scripts"))


def _program(name: str) -> str | None:
    return shutil.which(name, path=str(_SCRIPTS)) or shutil.which(name)


def commands(file: pathlib.Path) -> dict[str, list[str]]:
    """Return the command lines of the programs that are installed."""
    schema = schema_folder() / "registry.schema.json"
    wanted = {
        "recipients check": ["recipients", "check", str(file)],
        "check-jsonschema": ["check-jsonschema", "--schemafile", str(schema), str(file)],
        "taplo lint": ["taplo", "lint", "--schema", schema.as_uri(), str(file)],
        "tombi lint": ["tombi", "lint", "--offline", str(file)],
    }
    found = {"python -c pass": [sys.executable, "-c", "pass"]}
    for name, (program, *rest) in wanted.items():
        path = _program(program)
        if path is None:
            print(f"{program} is not installed")
        else:
            found[name] = [path, *rest]
    return found


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number, bar in ((10, "<= 1/3 of check-jsonschema"), (1_000, "<= 1/5 of check-jsonschema")):
            file = pathlib.Path(folder) / f"r{number}.toml"
            schema = schema_folder() / "registry.schema.json"
            file.write_text(f"#:schema {schema}\n{recipients(number)}")
            medians = processes(commands(file), rounds=7)
            floor = "check-jsonschema" if "check-jsonschema" in medians else "recipients check"
            show(f"Check {number} recipients, whole process", rows(medians, floor, {"recipients check": bar}))
