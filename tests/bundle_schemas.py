"""Write the schemas of single parts from the schema of the whole file: `python tests/bundle_schemas.py`.

`registry.schema.json` is written by hand. The others say the same about a recipient, a prompt or a server
alone, so that each can be used where there is no file around it. References stay inside one file because
editors do not follow them elsewhere.
"""

import json
import pathlib
import re

SCHEMAS = pathlib.Path(__file__).parent.parent / "schemas"
PARTS = ("recipient", "prompt", "server")


def whole():
    return json.loads((SCHEMAS / "registry.schema.json").read_text("utf-8"))


def part(name):
    """Return the schema of one part, with the definitions that it needs."""
    schema = whole()
    definitions = schema["$defs"]
    needed, todo = set(), [definitions[name]]
    while todo:
        named = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(todo.pop()))) - needed
        needed |= named
        todo += [definitions[one] for one in named]
    return {
        "$schema": schema["$schema"],
        "$id": f"urn:recipients:schema:{name}",
        **definitions[name],
        "$defs": {key: value for key, value in definitions.items() if key in needed},
    }


def text(schema):
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for one in PARTS:
        (SCHEMAS / f"{one}.schema.json").write_text(text(part(one)), "utf-8")
