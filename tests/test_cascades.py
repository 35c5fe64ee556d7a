"""One mistake is one diagnostic: what only follows from it is not reported as well."""

import copy

import pytest
import tomli
from strategies import paths_of, value_at, write_toml

from registry.loading.loader import checks

REGISTRY = """
version = 1
[recipients.calc]
kind = "python"
description = "S"
timeout = 5
memory = "64MiB"
tags = ["a","b"]
tio = { url = "https://e.org/", language = "x" }
[[recipients.calc.example_messages]]
text = "print(1)"
replies = ["1"]
[recipients.weather]
kind = "http"
description = "S"
method = "POST"
url = "https://e.org/{city}/{days}"
query = { d = "{days}" }
headers = { Authorization = "Bearer ${TOKEN}", X-A = "{city}" }
body = { json = { c = "{city}" } }
required_args = ["city"]
[recipients.weather.parameters]
city = { type = "string", description = "x", minLength = 1 }
days = { type = "integer", minimum = 1, maximum = 7, default = 2 }
[[recipients.weather.example_messages]]
arguments = { city = "Oslo", days = 3 }
[recipients.short]
kind = "function"
description = "S"
call = "a:b"
[recipients.short.input_schema]
type = "object"
required = ["t"]
properties.t = { "$ref" = "#/$defs/x" }
properties.w = { type = "array", items = { type = "string", pattern = "^a+$", default = "a" } }
"$defs" = { x = { type = "string", enum = ["a", "b"] } }
[[recipients.short.example_messages]]
arguments = { t = "a", w = ["a"] }
[recipients.say]
kind = "command"
description = "S"
argv = ["echo", "{word}"]
stdin = "{word}"
env = { A = "{word}", B = "${HOME}" }
parameters = { word = { type = "string" } }
[recipients.clock]
kind = "mcp"
description = "S"
server = "clock"
tool = "now"
input_schema = { type = "object" }
[servers.clock]
command = ["clock"]
env = { K = "${KEY}" }
[servers.web]
url = "https://e.org/mcp"
headers = { Authorization = "${T}" }
[prompts.greet]
description = "S"
role = "user"
template = "Hi {name}{#if mood}, {mood}{/if} {#each xs as x}{x}{/each}"
recipients = ["calc", "weather"]
[prompts.greet.inputs]
name = { type = "string" }
mood = { type = "string", optional = true }
xs = { type = "array", items = { type = "string" }, default = ["q"] }
[[prompts.greet.examples]]
inputs = { name = "Mia" }
renders = "Hi Mia q"
[prompts.chat]
description = "S"
messages = [
  { role = "system", template = "Be {tone}. {day}" },
  { slot = "history" },
  { role = "user", template = "{q}", when = "q" },
  { role = "user", template = "{z}", each = "zs", as = "z" },
]
[prompts.chat.inputs]
tone = { type = "string", default = "kind" }
day = { type = "string", provided = "current_date" }
q = { type = "string", optional = true }
zs = { type = "array", items = { type = "string" } }
[prompts.outer]
description = "S"
role = "user"
template = "{inner} {g}"
inputs = { inner = { prompt = "greet" }, g = { type = "string" } }
[[prompts.outer.examples]]
inputs = { name = "Mia", g = "x" }
renders = "Hi Mia q x"
"""
DATA = tomli.loads(REGISTRY)
#: Tables whose keys are names.
NAMING = {
    "recipients", "prompts", "servers", "parameters", "inputs", "properties", "$defs", "query", "headers",
    "env", "arguments", "json",
}  # fmt: skip


def keys():
    """Yield the path of every key that the format or JSON Schema knows."""
    for path in paths_of(DATA):
        if path and isinstance(path[-1], str) and not (len(path) > 1 and path[-2] in NAMING):
            yield path


def renamed(path, name):
    """Return the data with another name for one key, in its place."""
    data = copy.deepcopy(DATA)
    table = value_at(data, path[:-1])
    pairs = list(table.items())
    table.clear()
    table |= {name if key == path[-1] else key: value for key, value in pairs}
    return data


def test_the_registry_is_right():
    """There is nothing to report before a mistake is made."""
    assert () == checks(REGISTRY).diagnostics


@pytest.mark.parametrize("path", list(keys()), ids=lambda path: ".".join(map(str, path)))
def test_a_misspelt_key_is_one_error(path):
    """It is unknown where it stands; what its value would have declared is not missed."""
    key = path[-1]
    name = key.upper() if len(key) < 3 else key + "x" if len(key) == 3 else key[0] + key[2:]
    found = checks(write_toml(renamed(path, name))).errors
    assert ["unknown-key"] == [one.code for one in found], [str(one) for one in found]
