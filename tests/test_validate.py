"""The shape of documents: what is wrong, where, and in which words."""

import datetime as dt
import itertools
import socket
import sys
import urllib.request

import pytest
import tomli

from registry.diagnostics import Place, Severity
from registry.documents import Document
from registry.loading import problems as problems_module
from registry.loading.problems import Problem, problems
from registry.loading.validate import validate
from registry.loading.validators import place_of_fault
from registry.loading.wording import value_problem


def faults(text, skip=frozenset()):
    return validate(Document("main.toml", text, tomli.loads(text)), skip)


def found(text, skip=frozenset()):
    """Return code, dotted path and place of each fault, sorted."""
    return sorted(
        (fault.code, ".".join(map(str, fault.path)), fault.place.value) for fault in faults(text, skip)
    )


def only(text):
    """Return the one fault."""
    [fault] = faults(text)
    return fault


NAME = "1 to 64 letters, digits, `_` and `-`, not starting with a digit or `-`"
TYPES = "`type` must be one of array, boolean, integer, null, number, object, string, or an array of them"
RECIPIENT = 'recipients.a.kind = "python"\nrecipients.a.{}\n'


def test_a_document_that_fits_has_no_faults():
    """What the schema allows is not commented on."""
    assert () == faults('version = 1\n[recipients.a]\nkind = "python"\ndescription = "x"\n')
    assert () == faults("")


@pytest.mark.parametrize(
    ("line", "code", "path", "place"),
    [
        ("timeot = 1", "unknown-key", "recipients.a.timeot", "key"),
        ("url = 'x'", "unknown-key", "recipients.a.url", "key"),
        ("timeout = true", "wrong-type", "recipients.a.timeout", "value"),
        ("timeout = 0", "wrong-value", "recipients.a.timeout", "value"),
        ("timeout = -0.5", "wrong-value", "recipients.a.timeout", "value"),
        ("max_output = 1.5", "wrong-type", "recipients.a.max_output", "value"),
        ("max_output = 0", "wrong-value", "recipients.a.max_output", "value"),
        ("tags = 'x'", "wrong-type", "recipients.a.tags", "value"),
        ("tags = ['x', 7]", "wrong-type", "recipients.a.tags.1", "value"),
        ("backend = 'docker'", "wrong-value", "recipients.a.backend", "value"),
        ("memory = 'much'", "wrong-value", "recipients.a.memory", "value"),
        ("tio.lang = 'x'", "unknown-key", "recipients.a.tio.lang", "key"),
        ("parameters.x = 'string'", "wrong-type", "recipients.a.parameters.x", "value"),
        ("parameters.'a b' = {}", "bad-name", "recipients.a.parameters.a b", "key"),
        ("parameters.x.type = 'strng'", "bad-parameter-schema", "recipients.a.parameters.x.type", "value"),
        ("parameters.x.items = 3", "bad-parameter-schema", "recipients.a.parameters.x.items", "value"),
        (
            "parameters.x.maxLength = -1",
            "bad-parameter-schema",
            "recipients.a.parameters.x.maxLength",
            "value",
        ),
        ("parameters.x.$id = 'a#b'", "bad-parameter-schema", "recipients.a.parameters.x.$id", "value"),
        (
            "input_schema.required = 'x'",
            "bad-parameter-schema",
            "recipients.a.input_schema.required",
            "value",
        ),
        ("required_args = ['x', 'x']", "wrong-value", "recipients.a.required_args", "value"),
        ("example_messages = [{}]", "missing-key", "recipients.a.example_messages.0", "table"),
        (
            "example_messages = [{arguments = 1}]",
            "wrong-type",
            "recipients.a.example_messages.0.arguments",
            "value",
        ),
    ],
)
def test_a_fault_in_a_recipient_is_reported_at_its_place(line, code, path, place):
    """One fault, one report: at an unknown key, at a wrong value, or at the table that lacks a key."""
    line = line.replace(".$id", '."$id"')
    assert [(code, path, place)] == found(RECIPIENT.format(line))


@pytest.mark.parametrize(
    ("text", "code", "path", "place"),
    [
        ("verbose = true", "unknown-key", "verbose", "key"),
        ("version = 2", "wrong-value", "version", "value"),
        ("version = '1'", "wrong-type", "version", "value"),
        ("include = 'x'", "wrong-type", "include", "value"),
        ("recipients = 'x'", "wrong-type", "recipients", "value"),
        ("recipients.a = 1", "wrong-type", "recipients.a", "value"),
        ("recipients.a.description = 'x'", "missing-key", "recipients.a", "table"),
        ("recipients.a.kind = 'pythn'", "unknown-kind", "recipients.a.kind", "value"),
        ("recipients.a.kind = 3", "wrong-type", "recipients.a.kind", "value"),
        ("recipients.3d.kind = 'python'", "bad-name", "recipients.3d", "key"),
        ("recipients.a = {kind = 'http'}", "missing-key", "recipients.a", "table"),
        ("recipients.a = {kind = 'command', argv = []}", "wrong-value", "recipients.a.argv", "value"),
        ("recipients.a = {kind = 'function', call = 'a.b'}", "bad-import-path", "recipients.a.call", "value"),
        (
            "recipients.a = {kind = 'class', class = 'a:b:c'}",
            "bad-import-path",
            "recipients.a.class",
            "value",
        ),
        ("recipients.a = {kind = 'mcp', server = 's', tool = 't'}", "missing-key", "recipients.a", "table"),
        ("recipients.a = {kind = 'mcp', server = 's'}", "missing-key", "recipients.a", "table"),
        ("servers.s = {}", "missing-key", "servers.s", "table"),
        ("servers.s = {url = 'x', command = ['y']}", "unknown-key", "servers.s.command", "key"),
        ("servers.s = {command = ['y'], headers = {}}", "unknown-key", "servers.s.headers", "key"),
        (
            "servers.s = {command = ['y'], env = {'1X' = ''}}",
            "bad-environment-name",
            "servers.s.env.1X",
            "key",
        ),
        ("prompts.p = {role = 'wizard', template = 'x'}", "unknown-role", "prompts.p.role", "value"),
        ("prompts.p = {role = 'user'}", "missing-key", "prompts.p", "table"),
        ("prompts.p = {role = 'user', template = 4}", "wrong-type", "prompts.p.template", "value"),
        ("prompts.p = {messages = []}", "wrong-value", "prompts.p.messages", "value"),
        ("prompts.p = {messages = [{role = 'user'}]}", "missing-key", "prompts.p.messages.0", "table"),
        (
            "prompts.p = {messages = [{slot = 'h', role = 'user'}]}",
            "unknown-key",
            "prompts.p.messages.0.role",
            "key",
        ),
        (
            "prompts.p = {messages = [{role = 'user', template = 'x', each = 'y'}]}",
            "missing-key",
            "prompts.p.messages.0",
            "table",
        ),
        (
            "prompts.p = {role = 'user', template = 'x', inputs.a-b = {}}",
            "bad-name",
            "prompts.p.inputs.a-b",
            "key",
        ),
        (
            "prompts.p = {role = 'user', template = 'x', inputs.a.optional = 3}",
            "wrong-type",
            "prompts.p.inputs.a.optional",
            "value",
        ),
        (
            "prompts.p = {role = 'user', template = 'x', inputs.a.provided = 'x'}",
            "wrong-value",
            "prompts.p.inputs.a.provided",
            "value",
        ),
        (
            "prompts.p = {role = 'user', template = 'x', inputs.a = {type = ['string', 3]}}",
            "bad-parameter-schema",
            "prompts.p.inputs.a.type",
            "value",
        ),
    ],
)
def test_a_fault_elsewhere_is_reported_at_its_place(text, code, path, place):
    """One fault, one report, in every part of a file."""
    assert [(code, path, place)] == found(text)


def test_independent_faults_are_all_reported():
    """Faults that have nothing to do with each other are found in one run."""
    text = "x = 1\n[recipients.a]\nkind = 'python'\ntimeot = 1\nmemory = 3\n[prompts.p]\nrole = 'usr'\n"
    assert [
        ("missing-key", "prompts.p", "table"),
        ("unknown-key", "recipients.a.timeot", "key"),
        ("unknown-key", "x", "key"),
        ("unknown-role", "prompts.p.role", "value"),
        ("wrong-type", "recipients.a.memory", "value"),
    ] == found(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # The keys of a recipient mean nothing while its kind is unknown.
        (
            "[recipients.a]\nkind = 'x'\nurl = 3\nzz = 1\ntags = 1",
            ["unknown-kind recipients.a.kind", "wrong-type recipients.a.tags"],
        ),
        # A misspelt key is not missing as well, nor what would do in its place.
        ("[recipients.a]\nknd = 'python'", ["unknown-key recipients.a.knd"]),
        ("[prompts.p]\nmesages = []", ["unknown-key prompts.p.mesages"]),
        ("[servers.s]\nurll = 'x'", ["unknown-key servers.s.urll"]),
        # A key that may not stand here is not looked into.
        (
            "[recipients.a]\nkind = 'python'\nurl = 3\nheaders = {a = 1}",
            ["unknown-key recipients.a.headers", "unknown-key recipients.a.url"],
        ),
        (
            "[prompts.p]\nrole = 'x'\nmessages = [{slot = 'h'}]",
            ["unknown-key prompts.p.role"],
        ),
        # A value of the wrong type is not also out of range.
        ("[prompts.p]\nrole = 3\ntemplate = 'x'", ["wrong-type prompts.p.role"]),
    ],
)
def test_what_only_follows_from_a_fault_is_not_reported(text, wanted):
    """One fault gives one diagnostic."""
    assert wanted == [f"{code} {path}" for code, path, _ in found(text)]


def test_all_missing_keys_of_a_table_are_one_fault():
    """A table that lacks two keys is named once, with both."""
    fault = only("[prompts.p]\n")
    assert "`role` and `template` are missing in prompt `p`" == fault.message
    assert "add them, or name a `template_file`, or declare `messages`" == fault.hint
    assert Place.TABLE is fault.place


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            RECIPIENT.format("descripton = 'x'"),
            "`descripton` is no known key",
            "did you mean `description`?",
        ),
        (
            RECIPIENT.format("url = 'x'"),
            "`url` is not allowed here: it belongs to the kind `http`",
            "remove it",
        ),
        ("x = 1", "`x` is no known key", "known keys: version, include, recipients, prompts, servers"),
        ("servers.s = {}", "`command` is missing in server `s`", "add it, or give a `url`"),
        ("recipients.a = {kind = 'http'}", "`url` is missing in recipient `a`", "add it"),
        (
            "prompts.p = {role = 'user', template = 'x', template_file = 'y'}",
            "`template` is not allowed here: it cannot stand beside `template_file`",
            "remove one of them",
        ),
        (
            "recipients.a.kind = 'pythn'",
            '`kind` must be one of "class", "command", "function", "http", "mcp", "python"',
            'did you mean "python"?',
        ),
        ("version = 7", "`version` must be 1", ""),
        (RECIPIENT.format("timeout = 0"), "`timeout` must be more than 0", ""),
        (RECIPIENT.format("max_output = 0"), "`max_output` must be at least 1", ""),
        (RECIPIENT.format("max_output = 1.5"), "`max_output` must be an integer, not a fraction", ""),
        (RECIPIENT.format("tags = {}"), "`tags` must be an array, not a table", ""),
        (RECIPIENT.format("tags = [[]]"), "item 1 of `tags` must be a text, not an array", ""),
        (RECIPIENT.format("stateful = 'x'"), "`stateful` must be true or false, not a text", ""),
        (RECIPIENT.format("description = true"), "`description` must be a text, not a boolean", ""),
        (RECIPIENT.format("description = 1.0"), "`description` must be a text, not a number", ""),
        (RECIPIENT.format("memory = ''"), "`memory` must be a size such as `512MiB`", ""),
        (
            RECIPIENT.format("required_args = ['a', 'a']"),
            "`required_args` must not hold the same item twice",
            "",
        ),
        ("recipients.a = {kind = 'http', url = 'x', retries = 11}", "`retries` must be at most 10", ""),
        ("servers.s = {command = []}", "`command` must not be empty", ""),
        (
            "prompts.p = {role = 'user', template_file = ''}",
            "`template_file` must not be empty",
            "",
        ),
        (
            "recipients.'3d'.kind = 'python'",
            f"`3d` is no name here: it must be {NAME}",
            "rename it",
        ),
        (
            RECIPIENT.format("parameters.x.type = 'strng'"),
            f"{TYPES}; did you mean string?",
            "",
        ),
        (
            RECIPIENT.format("parameters.x.type = 3"),
            TYPES,
            "",
        ),
        (
            RECIPIENT.format("parameters.x.'$anchor' = '3'"),
            "`$anchor` must be of another form",
            "",
        ),
        (RECIPIENT.format("parameters.x.type = 'Int'"), f"{TYPES}; did you mean integer?", ""),
        (
            RECIPIENT.format("parameters.x = 'str'"),
            "`x` must be a table, not a text",
            'write { type = "string" }',
        ),
        (
            "prompts.p = {role = 'user', template = '', inputs = {x = 'bool'}}",
            "`x` must be a table, not a text",
            'write { type = "boolean" }',
        ),
        (
            "prompts.p = {role = 'user', template = '', inputs = {x = {required = false}}}",
            "`required` must be an array, not a boolean",
            "an input must be given, unless it has a `default` or says `optional = true`",
        ),
        (
            RECIPIENT.format("parameters.x = {required = true}"),
            "`required` must be an array, not a boolean",
            "name the arguments that must be given in `required_args`",
        ),
        (
            "[[prompts.p]]\nrole = 'user'",
            "prompt `p` must be a table, not an array",
            "write [prompts.p], in single brackets",
        ),
        ("[[prompts]]\nrole = 'user'", "`prompts` must be a table, not an array", ""),
    ],
)
def test_a_fault_says_what_is_wrong_and_what_to_do(text, message, hint):
    """Messages are in words, name the key, and never show a schema."""
    fault = only(text)
    assert (message, hint) == (fault.message, fault.hint)
    assert Severity.ERROR is fault.severity


def test_long_names_are_cut_in_messages():
    """What a file says is repeated only in part."""
    assert len(only(f"{'x' * 10_000} = 1").message) < 100


def test_values_are_not_repeated():
    """A wrong value may be a secret."""
    text = 'recipients.a = {kind = "http", url = "x", headers = {A = "s3cr3t\\n"}}'
    assert "`A` must be one line without control characters" == only(text).message


def test_a_whole_number_written_as_a_fraction_is_an_integer():
    """For JSON, and so for JSON Schema, 1.0 is an integer."""
    assert () == faults(RECIPIENT.format("max_output = 1.0"))


def test_names_end_where_they_end():
    """A line break at the end of a name is not overlooked."""
    assert ["bad-name"] == [fault.code for fault in faults('[recipients."a\\n"]\nkind = "python"\n')]


@pytest.mark.parametrize("kind", ["class", "command", "function", "http", "mcp", "python"])
def test_every_kind_refuses_the_keys_of_the_others(kind):
    """`kind` decides which keys may stand in the table."""
    others = {
        "class": "call",
        "command": "url",
        "function": "class",
        "http": "argv",
        "mcp": "call",
        "python": "url",
    }
    text = f"[recipients.a]\nkind = '{kind}'\n{others[kind]} = 1\n"
    assert ("unknown-key", f"recipients.a.{others[kind]}", "key") in found(text)


def test_what_reading_refused_is_not_reported_again():
    """A date has its own report; neither it nor what is around it is also of the wrong type."""
    text = "recipients.a.kind = 'python'\nrecipients.a.timeout = 2024-01-01\nrecipients.a.tags = [inf, 3]"
    skip = frozenset({("recipients", "a", "timeout"), ("recipients", "a", "tags", 0), ()})
    assert [("wrong-type", "recipients.a.tags.1", "value")] == found(text, skip)


def test_the_data_is_left_as_it_was():
    """Values that are no JSON are taken out of a copy."""
    document = Document("x", "", {"version": dt.date(2024, 1, 1)})
    assert () == validate(document, frozenset({("version",)}))
    assert {"version": dt.date(2024, 1, 1)} == document.data


@pytest.mark.parametrize("data", [[], "x", 3, None, True])
def test_a_document_is_a_table(data):
    """Data that is no table is one fault of the whole file."""
    [fault] = validate(Document("x", "", data))
    assert ("wrong-type", (), True) == (
        fault.code,
        fault.path,
        fault.message.startswith("the file must be a table"),
    )


def test_a_failure_without_words_of_its_own_is_still_one():
    """A keyword that a later schema may have gets a general text."""
    problem = Problem("contains", ("x",), rule={}, expected={}, instance=[])
    assert "`x` is not as it must be" == value_problem(problem)


def test_a_place_that_is_gone_is_passed_over():
    """A path to skip may lead into a value that is no table."""
    document = Document("x", "", {"version": {"a": "b"}})
    assert () == validate(document, frozenset({("version", "a", "b")}))


def in_argument(schema):
    """Return a document that is right but for the schema of an argument."""
    return Document("main.toml", "", {"recipients": {"a": {"kind": "python", "parameters": {"x": schema}}}})


@pytest.mark.parametrize(
    ("items", "twice"),
    [
        ([1, 1.0], True),
        ([1, True], False),
        ([0, False, "", [], {}], False),
        ([[1], [1.0]], True),
        ([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}], True),
        ([{"a": 1}, {"a": True}], False),
        (["1", 1], False),
        ([0.5, 0.25], False),
        ([{"a": "b,c"}, {"a": "b", "c": ""}], False),
    ],
)
def test_items_are_equal_as_they_are_in_json(items, twice):
    """Numbers are compared by their value, and nothing else is equal to another type."""
    found, complete = problems([{"recipients": {"a": {"kind": "python", "required_args": items}}}])
    assert complete
    assert twice == ("uniqueItems" in {problem.keyword for problem in found})


def test_an_argument_may_be_called_by_a_number():
    """A key of digits is a key, and no index."""
    text = RECIPIENT.format("parameters.x.properties.3.type = 'strng'")
    assert [("bad-parameter-schema", "recipients.a.parameters.x.properties.3.type", "value")] == found(text)


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"dependencies": {"k": {"type": "strng"}}}, "dependencies.k.type"),
        ({"dependencies": {"k": 3}}, "dependencies.k"),
        ({"dependencies": {"k": ["a", "a"]}}, "dependencies.k"),
        ({"dependencies": {"k": ["a"], "l": {"type": "string"}, "m": True}}, None),
        ({"properties": {"$ref": {"type": 1}}}, "properties.$ref.type"),
        ({"patternProperties": {"^a": {"items": []}}}, "patternProperties.^a.items"),
        ({"anyOf": [{}, {"anyOf": [{"minimum": "1"}]}]}, "anyOf.1.anyOf.0.minimum"),
        ({"default": {"type": "strng"}, "enum": [{"type": "strng"}]}, None),
    ],
)
def test_every_schema_inside_a_schema_is_checked(schema, path):
    """Wherever the metaschema wants a schema there is one, and only there."""
    places = [".".join(map(str, fault.path)) for fault in validate(in_argument(schema))]
    assert ([f"recipients.a.parameters.x.{path}"] if path else []) == places


def deep_in_the_stack(work, left):
    """Call a function with so many frames left."""
    frame, depth = sys._getframe(), 0
    while frame:
        frame, depth = frame.f_back, depth + 1

    def step(more):
        return step(more - 1) if more else work()

    return step(sys.getrecursionlimit() - depth - left)


def test_a_deep_file_is_explained_also_to_a_caller_deep_in_its_stack():
    """Explaining recurses neither as deep as the data nor on top of the caller."""
    schema = 3
    for _ in range(96):
        schema = {"not": schema}
    [fault] = deep_in_the_stack(lambda: validate(in_argument(schema)), 90)
    assert 100 == len(fault.path)
    assert "`not` must be a table or true or false, not an integer" == fault.message
    items = [1]
    for _ in range(96):
        items = [items]
    [fault] = deep_in_the_stack(lambda: validate(in_argument({"required": [items, items]})), 90)[-1:]
    assert "bad-parameter-schema" == fault.code


def test_values_refused_before_are_taken_out_of_deep_data_too():
    """Replacing a value copies what is around it, without recursion."""
    data, path = dt.date(2024, 1, 1), ()
    for _ in range(98):
        data, path = {"not": data}, (*path, "not")
    document = Document("x", "", {"x": data})
    [fault] = deep_in_the_stack(lambda: validate(document, frozenset({("x", *path)})), 90)
    assert ("unknown-key", ("x",)) == (fault.code, fault.path)


def test_a_fault_of_the_gate_alone_is_reported_at_its_place(monkeypatch):
    """What the fast validator refuses is refused, also where the other one finds nothing."""
    monkeypatch.setattr(problems_module, "problems", lambda _parts: ([], True))
    fault = only(RECIPIENT.format("timeout = 0"))
    assert ("wrong-value", ("recipients", "a", "timeout")) == (fault.code, fault.path)
    assert "`timeout` is not as it must be" == fault.message


def test_what_the_gate_accepts_is_not_looked_at_again(monkeypatch):
    """The fast validator decides; the other one is not even asked."""
    monkeypatch.setattr(problems_module, "problems", lambda _parts: 1 / 0)
    assert () == faults(RECIPIENT.format("timeout = 1"))


def test_what_the_gate_accepts_has_no_place_of_a_fault():
    """There is a place only where there is a fault."""
    assert () == place_of_fault({})
    assert ("version",) == place_of_fault({"version": 2})


def test_an_error_while_explaining_reaches_the_caller(monkeypatch):
    """Nothing is lost in the thread."""
    monkeypatch.setattr(problems_module, "problems", lambda _parts: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        faults(RECIPIENT.format("timeout = 0"))


def test_a_hostile_file_is_explained_in_part():
    """After so many problems, the rest is summed up in one fault of the file."""
    data = {f"x{i}": 1 for i in range(problems_module.MAX_PROBLEMS + 5)}
    *told, last = validate(Document("x", "", data))
    assert {("unknown-key", problems_module.MAX_PROBLEMS)} == {(f.code, len(told)) for f in told}
    assert ("too-many-faults", (), Place.TABLE) == (last.code, last.path, last.place)


def test_faults_summed_up_are_so_beside_values_refused_before(monkeypatch):
    """That there is more is said also when some values are not to be reported again."""
    monkeypatch.setattr(problems_module, "MAX_PROBLEMS", 1)
    text = "version = 2024-01-01\nx = 1\ny = 2"
    assert ["unknown-key", "too-many-faults"] == [f.code for f in faults(text, frozenset({("version",)}))]


def test_a_search_that_takes_too_long_ends():
    """Time is bounded by the steps taken; what was found until then is told."""
    good = {"recipients": {"a": {"kind": "python", "tags": ["x"] * 1_000}}}
    bad = {"version": 2}
    assert ([], False) == problems([good, bad], steps=500)
    [problem], complete = problems([bad, good], steps=500)
    assert (("version",), False) == (problem.path, complete)


def test_a_place_where_the_search_ended_is_still_told(monkeypatch):
    """A fault that is not found in time is one without a reason, at its place."""
    search = problems_module.problems
    monkeypatch.setattr(problems_module, "problems", lambda parts: search(parts, steps=100))
    text = RECIPIENT.format("tags = [" + "'x', " * 1_000 + "7]")
    assert [("wrong-value", "recipients.a.tags.1000"), ("too-many-faults", "")] == [
        (fault.code, ".".join(map(str, fault.path))) for fault in faults(text)
    ]


def test_nothing_is_fetched(monkeypatch):
    """Schemas are explained without a connection, whatever they refer to."""

    def refuse(*_args, **_kwargs):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    schema = {
        "$ref": "http://x.example/a",
        "$schema": "http://x.example/b",
        "$id": "http://x.example/",
        "type": 1,
    }
    [fault] = validate(in_argument(schema))
    assert "type" == fault.path[-1]


def test_tables_without_faults_are_not_looked_at(monkeypatch):
    """Only what the fast validator refuses is explained: a large file with one fault costs little."""
    asked = []
    search = problems_module.problems

    def watched(parts):
        kept, parts = itertools.tee(parts)
        asked.extend(kept)
        return search(parts)

    monkeypatch.setattr(problems_module, "problems", watched)
    text = """
        recipients.good.kind = "python"
        recipients.bad = {kind = "python", parameters = {fine.type = "string", wrong.type = "strng"}}
        recipients.odd = 3
        prompts.good = {role = "user", template = "x"}
        prompts.bad = {role = "user", template = "x", inputs = {fine.type = "string", wrong.type = "strng"}}
    """
    assert ["bad-parameter-schema", "bad-parameter-schema", "wrong-type"] == [
        code for code, _, _ in found(text)
    ]
    assert [
        {"recipients": {"bad": {"kind": "python", "parameters": {"wrong": {"type": "strng"}}}}},
        {"recipients": {"odd": 3}},
        {
            "prompts": {
                "bad": {"role": "user", "template": "", "inputs": {"wrong": {"type": "strng"}}},
            }
        },
    ] == asked
