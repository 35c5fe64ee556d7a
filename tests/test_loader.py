"""Laws of the whole line: load, loads, check."""

import concurrent.futures
import gc
import pathlib
import threading

import attrs
import hypothesis
import hypothesis.strategies as st
import pytest
import strategies
import tomli

import registry
from registry import InvalidRegistry, Recipient, check, load, loads
from registry.converter import structure, unstructure
from registry.documents import Document, Sources
from registry.kinds import KINDS
from registry.loading.loader import checks
from registry.loading.structure import structure as structure_sources
from registry.specs import ServerSpec

ROOT = pathlib.Path(__file__).parent.parent
#: The main promise, that any bytes have a declared outcome, gets ten times the examples of the others.
MANY = 10 * hypothesis.settings.default.max_examples
EVERYTHING = """
version = 1

[servers.clock]
command = ["clock-server", "--utc"]
env = { TOKEN = "${CLOCK_TOKEN}" }
timeout = 5

[recipients.calc]
kind = "python"
description = "Sums."
backend = "subprocess"
memory = "256MiB"
stateful = true
sandbox = "none"
tio = { url = "https://tio.example/", language = "python3" }
timeout = 2.5
max_output = 1000
idempotent = true
parallel = false
tags = ["a", "b"]
api_docs = "Send code."
[[recipients.calc.example_messages]]
text = "1"
replies = ["1"]

[recipients.pinned]
kind = "python"
description = "With its own schema."
parameters = { code = { type = "string" }, seed = { type = "integer", default = 1 } }

[recipients.own]
kind = "class"
description = "Own."
class = "package.module:Name"

[recipients.own_with_schema]
kind = "class"
description = "Own."
class = "package.module:Name"
parameters = {}

[recipients.shorten]
kind = "function"
description = "Cuts."
call = "textwrap:shorten"
required_args = ["text"]
parameters.text = { type = "string" }
[[recipients.shorten.example_messages]]
arguments = { text = "x" }

[recipients.weather]
kind = "http"
description = "Weather."
method = "POST"
url = "https://weather.example/{city}"
query = { q = "{city}" }
headers = { X-Token = "${WEATHER_TOKEN}" }
body = { json = { city = "{city}" } }
response = "json"
select = "/a/0"
follow_redirects = "same-host"
retries = 2
connect_timeout = 1
read_timeout = 2.5
parameters.city = { type = "string" }

[recipients.say]
kind = "command"
description = "Says."
argv = ["echo", "{word}"]
stdin = "{word}"
env = { LANG = "C" }
parameters.word = { type = "string" }

[recipients.now]
kind = "mcp"
description = "Time."
server = "clock"
tool = "now"
on_change = "warn"
[recipients.now.input_schema]
type = "object"
properties = { zone = { type = "string" } }

[prompts.greet]
description = "Greets."
role = "user"
template = "Hi {name}"
inputs.name = { type = "string", default = "you" }
version = "1"
trim = true
recipients = ["calc"]
examples = [{ inputs = { name = "Bo" }, renders = "Hi Bo" }]

[prompts.talk]
description = "Talks."
inputs.note = { type = "string", optional = true }
inputs.names = { type = "array", items = { type = "string" } }
inputs.docs = { type = "string", provided = "api_docs" }
inputs.hello = { prompt = "greet" }
inputs.photo = {}
[[prompts.talk.messages]]
role = "system"
template = "{docs}{hello}{#if note}{note}{/if}"
when = "note"
[[prompts.talk.messages]]
slot = "history"
[[prompts.talk.messages]]
role = "user"
template = "{name}"
each = "names"
as = "name"
image = "{photo}"
"""


def test_everything_a_file_can_declare_is_loaded():
    """Every key of every kind reaches the spec of its recipient or prompt."""
    snapshot = loads(EVERYTHING)
    assert set(KINDS) == {entry.SPEC.kind for entry in snapshot.values()}
    calc = snapshot["calc"].SPEC
    assert (2.5, 1000, True, False, ("a", "b")) == (
        calc.timeout,
        calc.max_output,
        calc.idempotent,
        calc.parallel,
        calc.tags,
    )
    assert "https://tio.example/" == calc.options.tio.url
    assert ("1",) == calc.example_messages[0].replies
    assert {"city": "{city}"} == snapshot["weather"].SPEC.options.body.json
    assert ("echo", "{word}") == snapshot["say"].SPEC.options.argv
    assert "package.module:Name" == snapshot["own"].SPEC.options.class_
    assert "clock" == snapshot["now"].SPEC.options.server
    assert ("clock-server", "--utc") == snapshot.servers["clock"].command
    talk = snapshot.prompts["talk"].spec
    assert ("history", "names", "name") == (
        talk.messages[1].slot,
        talk.messages[2].each,
        talk.messages[2].as_,
    )
    assert {"note"} == {item.name for item in talk.inputs if item.optional}


def test_class_constants_come_from_the_declaration():
    """A declared recipient is a subclass of its kind's class with all constants filled."""
    snapshot = loads(EVERYTHING, name="all.toml")
    shorten = snapshot["shorten"]
    assert issubclass(shorten, Recipient)
    assert ("shorten", "Cuts.", ("text",)) == (
        shorten.RECIPIENT_NAME,
        shorten.DESCRIPTION,
        shorten.REQUIRED_ARGS,
    )
    assert {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    } == shorten.INPUT_SCHEMA
    assert "all.toml" == shorten.SPEC.source
    assert snapshot["own"].INPUT_SCHEMA is None
    assert {} == snapshot["own_with_schema"].INPUT_SCHEMA["properties"]
    assert ["code"] == snapshot["calc"].INPUT_SCHEMA["required"]
    assert ["code", "seed"] == list(snapshot["pinned"].INPUT_SCHEMA["properties"])
    assert {"zone": {"type": "string"}} == snapshot["now"].INPUT_SCHEMA["properties"]


def test_specs_survive_a_round_trip():
    """Unstructured and structured again, a spec is equal to itself."""
    sources = Sources((Document("x", EVERYTHING, tomli.loads(EVERYTHING)),))
    spec = structure_sources(sources)
    for recipient in spec.recipients:
        options = unstructure(recipient.options)
        assert recipient.options == structure(options, type(recipient.options))
    for prompt in spec.prompts:
        for message in prompt.messages:
            assert message == structure(unstructure(message), type(message))


@pytest.mark.parametrize(("key", "value"), [("timeout", "1"), ("timeout", True), ("name", 1), ("url", 1)])
def test_nothing_is_coerced(key, value):
    """A value of the wrong type that reached structuring is an error, never silently another value."""
    table = {"name": "a", "command": ["x"], key: value}
    with pytest.raises(TypeError, match="expected"):
        structure(table, ServerSpec)


def test_load_and_check_of_a_file_agree():
    """This repository's own registry loads, and its report counts what is in it."""
    snapshot = load(ROOT / "recipients.toml")
    report = check(ROOT / "recipients.toml")
    assert report.ok
    assert (len(snapshot), len(snapshot.prompts)) == (report.recipients, report.prompts)
    assert ["python", "days_between", "word_count", "notebook"] == list(snapshot)


def test_load_raises_one_error_with_every_diagnostic():
    """All faults are collected; the error's text shows the first three."""
    text = "version = 1\n" + "".join(f"[recipients.r{n}]\ndescription = 'x'\n" for n in range(5))
    with pytest.raises(InvalidRegistry) as error:
        loads(text)
    assert 5 == len(error.value.report.errors)
    shown = str(error.value).splitlines()
    assert (5, "5 errors", "  … and 2 more") == (len(shown), shown[0], shown[-1])
    assert error.value.report == checks(text)


def test_warnings_do_not_stop_a_load():
    """A file with warnings only is loaded."""
    text = "version = 1\n[prompts.a]\nrole = 'user'\ntemplate = 'x'\n"
    assert ["a"] == list(loads(text).prompts)
    assert 1 == len(checks(text).warnings)
    assert not checks(text).strict().ok


def test_an_error_that_a_comment_silences_does_not_stop_a_load():
    """What check accepts because of a comment, load accepts too."""
    text = (
        "version = 1\n[prompts.a]\ndescription = 'x'\nrole = 'user'\ntemplate = 'x'\n"
        "inputs.b = {}  # recipients: ignore[unused-input]\n"
    )
    assert checks(text).ok
    assert ["a"] == list(loads(text).prompts)


def test_several_files_are_several_registries(tmp_path):
    """check() of several files reports on all of them; equal names in two registries are no fault."""
    (tmp_path / "a.toml").write_text("version = 1\n[recipients.x]\nkind = 'python'\ndescription = 'x'\n")
    report = check(tmp_path / "a.toml", tmp_path / "a.toml")
    assert (True, 2, 2) == (report.ok, report.files, report.recipients)


def test_the_collector_is_as_before():
    """A load pauses the cyclic collector and leaves it as it was."""
    assert gc.isenabled()
    loads("version = 1")
    assert gc.isenabled()
    gc.disable()
    try:
        loads("version = 1")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_changing_the_input_later_changes_nothing():
    """A snapshot hands out read-only data."""
    schema = loads(EVERYTHING)["shorten"].INPUT_SCHEMA
    with pytest.raises(TypeError):
        schema["properties"]["text"]["type"] = "integer"
    assert {"type": "string"} == registry.thaw(schema)["properties"]["text"]


def test_lone_surrogates_in_a_text_are_declared():
    """Text that is no UTF-8 is reported, not passed on."""
    with pytest.raises(InvalidRegistry) as error:
        loads("version = 1 # \ud800")
    assert ["not-utf8"] == [diagnostic.code for diagnostic in error.value.report.errors]


def outcome_of(raw):
    """Load, and return the report that the outcome stands for."""
    report = checks(raw)
    if report.ok:
        snapshot = loads(raw)
        return attrs.evolve(report, recipients=len(snapshot), prompts=len(snapshot.prompts))
    with pytest.raises(InvalidRegistry) as error:
        loads(raw)
    return error.value.report


@hypothesis.settings(max_examples=MANY)
@hypothesis.given(strategies.toml_files())
def test_any_document_gives_a_report_or_a_snapshot(file):
    """Whatever a TOML file says, the outcome is declared, and load agrees with check."""
    raw, _ = file
    assert checks(raw) == outcome_of(raw)


@hypothesis.settings(max_examples=MANY)
@hypothesis.given(st.binary())
def test_any_bytes_give_a_report_or_a_snapshot(raw):
    """Whatever a file holds, the outcome is declared."""
    assert checks(raw) == outcome_of(raw)


MUTATIONS = st.lists(
    st.tuples(st.integers(0, len(EVERYTHING)), st.integers(0, 12), st.text(max_size=6)),
    min_size=1,
    max_size=3,
)


@hypothesis.settings(max_examples=MANY)
@hypothesis.given(MUTATIONS)
def test_a_damaged_file_gives_positions_inside_the_file(mutations):
    """Whatever is changed in a good file, each diagnostic stands inside its text."""
    text = EVERYTHING
    for start, length, insert in mutations:
        text = text[:start] + insert + text[start + length :]
    raw = text.encode("utf-8", "surrogatepass")
    lines = raw.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    for found in checks(raw).diagnostics:
        assert 1 <= found.line <= len(lines)
        assert 1 <= found.column <= len(lines[found.line - 1]) + 1
        assert (found.line, found.column) <= (found.end_line, found.end_column)


def test_the_digest_does_not_depend_on_layout():
    """Comments, order of keys, line ends, quoting and a byte-order mark do not count."""
    text = "version = 1\n[recipients.a]\nkind = 'python'\ndescription = 'x'\ntimeout = 1\n"
    same = (
        "\ufeff# c\r\nrecipients.a = { description = 'x', timeout = 1, 'kind' = '''python''' }\r\nversion = 1"
    )
    assert loads(text).digest == loads(same).digest
    assert loads(text) == loads(same)


VALUES = ["1", "2", "1.0", "true", '"1"', "[1]", "[1, 2]", "[2, 1]", "{}", "{ a = 1 }", "{ b = 1 }"]


@pytest.mark.parametrize("value", VALUES)
def test_the_digest_changes_with_every_value(value):
    """1, 1.0, true and "1" are four values; so are lists in another order."""
    text = (
        "version = 1\n[recipients.a]\nkind = 'function'\ncall = 'a:b'\ndescription = 'x'\n"
        "parameters.p = { const = VALUE }\n"
    )
    others = {"1", "2", "1.0", "true", '"1"', "[1]", "[1, 2]", "[2, 1]", "{}", "{ a = 1 }", "{ b = 1 }"} - {
        value
    }
    mine = loads(text.replace("VALUE", value)).digest
    assert mine not in {loads(text.replace("VALUE", other)).digest for other in others}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"--utc"', '"--local"'),
        ("[recipients.say]", "[recipients.tell]"),
        ('"Sums."', '"Sums!"'),
        ('role = "system"', 'role = "developer"'),
        ('version = "1"', 'version = "2"'),
    ],
)
def test_the_digest_covers_every_part(before, after):
    """A change of a server, a name, a recipient or a prompt changes the digest of the whole."""
    assert EVERYTHING.count(before) == 1
    assert loads(EVERYTHING).digest != loads(EVERYTHING.replace(before, after)).digest


def test_a_class_is_made_once():
    """However many threads ask for a recipient first, all get the same class."""
    text = "version = 1\n" + "".join(
        f'[recipients.r{n}]\nkind = "python"\ndescription = "x"\n' for n in range(50)
    )
    snapshot = registry.loads(text)
    barrier = threading.Barrier(4)

    def ask():
        barrier.wait()
        return list(snapshot.values())

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = [asked.result() for asked in [pool.submit(ask) for _ in range(4)]]
    assert [list(map(id, found[0]))] * 4 == [list(map(id, classes)) for classes in found]
    assert list(snapshot) == [kind.RECIPIENT_NAME for kind in found[0]]
