"""What the command line does, as its users see it: output, exit code, never a traceback."""

import json
import pathlib
import subprocess
import sys
import unicodedata

import pytest

from registry.cli import COMMANDS, FOUND, OK, UNABLE, main

ROOT = pathlib.Path(__file__).parent.parent
GOOD = """
version = 1
[recipients.shorten]
kind = "function"
description = "Shorten a text."
call = "textwrap:shorten"
required_args = ["text", "width"]
tags = ["text"]
[recipients.shorten.parameters]
text = { type = "string" }
width = { type = "integer" }
[[recipients.shorten.example_messages]]
arguments = { text = "Hello big world", width = 11 }
replies = ["Hello [...]"]
[recipients.python]
kind = "python"
description = "Runs Python."
[recipients.only]
kind = "function"
description = "Upper case."
call = "builtins:len"
parameters = { obj = { type = "string" } }
[prompts.greet]
description = "Greets."
role = "user"
template = "Hello {name}, you are {age}"
inputs.name = { type = "string", description = "Who" }
inputs.age = { type = "integer", default = 30 }
[prompts.talk]
description = "Talks."
inputs.q = { type = "string" }
[[prompts.talk.messages]]
role = "system"
template = "Be brief."
[[prompts.talk.messages]]
role = "user"
template = "{q}"
"""
BAD = GOOD + "\n[recipients.calc]\nkind = 'python'\ndescripton = 'x'\ndescription = 'y'\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A folder with a good and a bad registry, and a way to run a command in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipients.toml").write_text(GOOD)
    (tmp_path / "bad.toml").write_text(BAD)

    def go(*words):
        code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return go


@pytest.fixture
def give(monkeypatch):
    """A way to put bytes on standard input."""

    def put(raw):
        import io

        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))

    return put


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(run, name):
    """-h works everywhere and starts with the usage."""
    code, out, err = run(name, "-h")
    assert (OK, "") == (code, err)
    assert out.startswith(f"Usage: recipients {name}")


def test_help_lists_every_command(run):
    """The help of the whole command names them all, without importing them."""
    code, out, _ = run("--help")
    assert OK == code
    assert all(name in out for name in COMMANDS)


def test_an_unknown_command_is_bad_usage_with_a_hint(run):
    """A misspelt command names the nearest one."""
    code, _, err = run("chekc")
    assert UNABLE == code
    assert "Did you mean 'check'?" in err
    assert UNABLE == run("zzzzzz")[0]


def test_the_version_is_shown(run):
    """--version prints the version of the distribution."""
    assert (OK, "recipients, version 0.1.0\n", "") == run("--version")


def test_check_of_a_good_file(run):
    """A good file: exit 0 and a one-line summary."""
    code, out, err = run("check")
    assert (OK, "") == (code, err)
    assert 1 == len(out.splitlines())


def test_check_of_a_bad_file(run):
    """A bad file: exit 1 and the diagnostic with its place."""
    code, out, _ = run("check", "bad.toml")
    assert FOUND == code
    assert "unknown-key" in out
    assert "bad.toml:41:1" in out


def test_check_goes_on_after_a_file_that_cannot_be_read(run):
    """A missing file is exit 2, and the others are still reported."""
    code, out, err = run("check", "gone.toml", "bad.toml")
    assert UNABLE == code
    assert "unknown-key" in out
    assert "gone.toml: cannot be read" in err


def test_check_reads_folders_and_patterns(run, tmp_path):
    """A folder stands for its registries, a pattern for its files; none is exit 2."""
    summary = json.loads(run("check", "--format", "json", ".")[1])["summary"]
    assert 1 == summary["files"]
    assert FOUND == run("check", "*.toml")[0]
    (tmp_path / "empty").mkdir()
    assert UNABLE == run("check", "empty")[0]
    assert UNABLE == run("check", "no*.toml")[0]


def test_check_reads_standard_input(run, give):
    """- is standard input, named as asked."""
    give(BAD.encode())
    code, out, _ = run("check", "-", "--stdin-filename", "given.toml")
    assert FOUND == code
    assert "given.toml:41:1" in out
    give(GOOD.encode())
    assert OK == run("check", "-")[0]


def test_strict_turns_warnings_into_errors(run, tmp_path):
    """A warning alone is exit 0, and 1 with --strict."""
    (tmp_path / "warn.toml").write_text("version = 1\n[prompts.a]\nrole = 'user'\ntemplate = 'x'\n")
    code, out, _ = run("check", "warn.toml")
    assert OK == code
    assert "warning[missing-description]" in out
    assert FOUND == run("check", "--strict", "warn.toml")[0]


@pytest.mark.parametrize("name", ["json", "github", "sarif", "junit"])
def test_check_prints_every_format(run, name):
    """Each format of the table can be asked for."""
    code, out, _ = run("check", "--format", name, "bad.toml")
    assert FOUND == code
    assert "unknown" in out


def test_check_imports_only_when_asked(run, tmp_path):
    """--import finds what cannot be imported or called; without it nothing is imported."""
    (tmp_path / "r.toml").write_text(
        "version = 1\n"
        "[recipients.a]\nkind = 'function'\ndescription = 'x'\ncall = 'no_such_module:f'\n"
        "[recipients.b]\nkind = 'function'\ndescription = 'x'\ncall = 'math:pi'\n"
        "[recipients.c]\nkind = 'function'\ndescription = 'x'\ncall = 'math:nope'\n"
        "[recipients.d]\nkind = 'python'\ndescription = 'x'\n"
        "[recipients.e]\nkind = 'class'\ndescription = 'x'\nclass = 'math:sqrt'\n"
        "[recipients.f]\nkind = 'class'\ndescription = 'x'\nclass = 'registry:PythonRecipient'\n"
    )
    assert OK == run("check", "r.toml")[0]
    code, out, _ = run("check", "--import", "--format", "json", "r.toml")
    assert FOUND == code
    found = json.loads(out)["diagnostics"]
    assert [5, 9, 13, 20] == [diagnostic["line"] for diagnostic in found]
    assert OK == run("check", "--import")[0]
    code, out, err = run("check", "--import", "gone.toml", "bad.toml")
    assert (UNABLE, True) == (code, "unknown-key" in out)
    assert "gone.toml: cannot be read" in err


def test_list_in_a_pipe_and_as_json(run):
    """List prints a line each, or JSON."""
    code, out, _ = run("list")
    assert OK == code
    assert "recipient\tshorten\tfunction\tShorten a text." == out.splitlines()[0]
    assert "prompt\tgreet\tname, age\tGreets." in out
    listed = json.loads(run("list", "--format", "json")[1])
    assert ["shorten", "python", "only"] == [row["name"] for row in listed["recipients"]]


def test_a_faulty_file_is_reported_by_every_command(run):
    """Commands that load print the diagnostics on standard error and exit 1."""
    code, out, err = run("list", "--file", "bad.toml")
    assert (FOUND, "") == (code, out)
    assert "error[unknown-key]" in err


def test_a_missing_file_is_exit_2(run):
    """Commands that load say which file cannot be read."""
    code, _, err = run("list", "--file", "gone.toml")
    assert (UNABLE, "error: gone.toml: cannot be read: No such file or directory\n") == (code, err)


@pytest.mark.parametrize("command", ["check", "list", "test"])
def test_without_a_registry_a_newcomer_is_told_how_to_begin(run, tmp_path, command):
    """Where the usual file is missing there is no verdict, but a hint."""
    (tmp_path / "recipients.toml").unlink()
    code, out, err = run(command)
    assert (UNABLE, "") == (code, out)
    assert "error: recipients.toml: cannot be read: No such file or directory\nhint: go to the folder" in err
    assert "`recipients init`" in err
    assert 0 == json.loads(run("check", "--format", "json")[1])["summary"]["files"]


def test_a_prompt_is_rendered_and_a_recipient_is_called(run):
    """Who takes one for the other is told the right command."""
    code, _, err = run("render", "shorten", "text=x")
    assert (UNABLE, True) == (code, "call it with `recipients run shorten`" in err)
    code, _, err = run("run", "greet", "name=x")
    assert (UNABLE, True) == (code, "print it with `recipients render greet`" in err)


@pytest.mark.parametrize("name", ["shorten", "greet", "talk", "python"])
def test_show_prints_what_is_declared(run, name):
    """Show works for recipients and prompts, as text and JSON."""
    code, out, _ = run("show", name)
    assert OK == code
    assert name in out.splitlines()[0]
    assert "digest" in json.loads(run("show", name, "--format", "json")[1])


def test_show_of_an_unknown_name(run):
    """An unknown name gets a hint."""
    code, _, err = run("show", "shortn")
    assert UNABLE == code
    assert "Did you mean 'shorten'?" in err


def test_render_prints_the_text(run):
    """A prompt of one message is printed as it is; text for a number is read as one."""
    assert (OK, "Hello Ada, you are 36\n", "") == run("render", "greet", "name=Ada", "age=36")
    assert (OK, "Hello Ada, you are 7\n", "") == run("render", "greet", "name=Ada", "age:=7")


def test_render_prints_messages(run):
    """A prompt of several messages shows their roles; --format json and --to print JSON."""
    assert (OK, "[system]\nBe brief.\n[user]\nx\n", "") == run("render", "talk", "q=x")
    messages = json.loads(run("render", "talk", "q=x", "--format", "json")[1])
    assert ["system", "user"] == [message["role"] for message in messages]
    assert "system" in json.loads(run("render", "talk", "q=x", "--to", "anthropic")[1])


def test_render_reads_json_from_standard_input(run, give):
    """- reads all values at once; what is no JSON object is bad usage."""
    give(b'{"name": "Bo"}')
    assert (OK, "Hello Bo, you are 30\n", "") == run("render", "greet", "-")
    for raw in (b"[1]", b"{", b"\xff"):
        give(raw)
        assert UNABLE == run("render", "greet", "-")[0]


@pytest.mark.parametrize("words", [[], ["nmae=x"], ["name=x", "age=old"]])
def test_render_refuses_values_that_do_not_fit(run, words):
    """Missing, unknown and wrong values are exit 1 with the reason."""
    code, out, err = run("render", "greet", *words)
    assert (FOUND, "") == (code, out)
    assert err.startswith("error: ")


@pytest.mark.parametrize(
    "words",
    [["name"], ["name=a", "name=b"], ["age:=x"], ["age:=" + "[" * 100_000], ['age:={"a":1,"a":2}']],
    ids=range(5),
)
def test_words_that_are_no_values_are_bad_usage(run, words):
    """A word that is no KEY=VALUE, a double key and broken JSON are exit 2."""
    assert UNABLE == run("render", "greet", *words)[0]


def test_render_asks_on_a_terminal(run, give, monkeypatch):
    """Missing values are asked for when there is someone to ask."""
    give(b"Ada\n")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    code, out, err = run("render", "greet")
    assert (OK, "Hello Ada, you are 30\n") == (code, out)
    assert "name (Who)" in err
    give(b"why\n")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert "q: " in run("render", "talk")[2]


@pytest.mark.parametrize("name", ["größe", "gro\u0308ße", "नाम", "ชื่อ", "x1", "名前"])
@pytest.mark.parametrize("form", ["{}=7", "{}:=7"])
def test_values_have_names_of_any_script(run, tmp_path, name, form):
    """Whatever may be the name of an input can be given on the command line, in any spelling."""
    (tmp_path / "name.toml").write_text(
        f"version = 1\n[prompts.p]\ndescription = 'x'\nrole = 'user'\ntemplate = '{{{name}}}'\n"
        f"inputs.'{name}' = {{ type = 'integer' }}\n",
        encoding="utf-8",
    )
    for spelling in ("NFC", "NFD"):
        word = form.format(unicodedata.normalize(spelling, name))
        assert (OK, "7\n", "") == run("render", "p", word, "--file", "name.toml")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"name": NaN}', "NaN is no JSON value"),
        ('{"name": "a", "name": "b"}', "a name twice"),
        ('{"name": 1e999}', "a number is too large"),
        ("{", "line 1, column 2"),
    ],
)
def test_values_in_json_are_read_strictly(run, give, text, why):
    """What is no JSON is told so, in a word and on standard input; nothing is lost and nothing overflows."""
    give(text.encode())
    code, _, err = run("render", "greet", "-")
    assert (UNABLE, True) == (code, why in err)
    code, _, err = run("render", "greet", f"name:={text}")
    assert (UNABLE, True) == (code, why in err)
    code, _, err = run("render", "greet", "name=x", f"age={text}")
    assert (FOUND, True) == (code, "'age' must be an integer" in err)


@pytest.mark.parametrize("word", ["x", "-x=1", "1x=1", "a b=1", "=1", ":=1", "x.y=1", "x::=1"])
def test_what_is_no_value(run, word):
    """Anything else is told apart from a value."""
    code, _, err = run("render", "greet", "--", word)
    assert (UNABLE, True) == (code, "is neither name=text nor name:=JSON" in err)


def test_render_takes_files(run, tmp_path):
    """The value of an image is the path of a file, or a URL."""
    (tmp_path / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "see.toml").write_text(
        "version = 1\n[prompts.see]\ndescription = 'x'\ninputs.photo = {}\n"
        "[[prompts.see.messages]]\nrole = 'user'\ntemplate = 'Look'\nimage = '{photo}'\n"
    )
    code, out, err = run("render", "see", "photo=dot.png", "--file", "see.toml", "--to", "openai")
    assert (OK, "") == (code, err)
    assert "data:image/png;base64," in out
    assert (
        "https://x.example/a.png"
        in run("render", "see", "photo=https://x.example/a.png", "--file", "see.toml", "--to", "openai")[1]
    )
    _, out, _ = run("render", "see", "photo=dot.png", "--file", "see.toml", "--format", "json")
    image = {"type": "image", "mime_type": "image/png", "data": "iVBORw0KGgo="}
    assert [{"type": "text", "text": "Look"}, image] == json.loads(out)[0]["content"]
    assert (OK, "Look\n[image: image/png, 8 bytes]\n", "") == run(
        "render", "see", "photo=dot.png", "-f", "see.toml"
    )
    assert (
        "Look\n[image: HTTPS://x.example/a]\n"
        == run("render", "see", "photo=HTTPS://x.example/a", "-f", "see.toml")[1]
    )


def test_what_a_provider_does_not_take_is_an_error_of_the_values(run, tmp_path):
    """The prompt is in order, but cannot be sent there: exit 1, and nothing is printed."""
    (tmp_path / "see.toml").write_text(
        "version = 1\n[prompts.see]\ndescription = 'x'\ninputs.page = {}\n"
        "[[prompts.see.messages]]\nrole = 'user'\ntemplate = 'Look'\nfile = '{page}'\n"
    )
    words = ("page=https://x.example/a.pdf", "--file", "see.toml", "--to")
    code, out, err = run("render", "see", *words, "openai")
    assert (FOUND, "", True) == (code, out, "takes no file by its URL" in err)
    assert OK == run("render", "see", *words, "anthropic")[0]


def test_run_calls_a_recipient(run):
    """Run prints the answer; JSON values and texts can be mixed."""
    words = ["run", "shorten", "text=Hello big world", "width:=11"]
    assert (OK, "Hello [...]\n", "") == run(*words)
    assert "ok" == json.loads(run(*words, "--format", "json")[1])["metadata"]["status"]


def test_run_takes_one_text(run, give):
    """A text is code, a JSON object of arguments, or the only argument there is."""
    assert "42" in run("run", "python", "x=6; print(x * 7)")[1]
    assert "42" in run("run", "python", "code=print(6 * 7)")[1]
    give(b"print(6 * 7)")
    assert "42" in run("run", "python", "-")[1]
    assert (OK, "Hello [...]\n", "") == run("run", "shorten", '{"text": "Hello big world", "width": 11}')
    assert (OK, "5\n", "") == run("run", "only", "hello")
    assert UNABLE == run("run", "shorten", "hello")[0]


def test_run_answers_with_an_error(run):
    """Arguments that do not fit and a failing recipient are exit 1."""
    code, out, _ = run("run", "shorten", "txt=a")
    assert FOUND == code
    assert "text" in out
    assert FOUND == run("run", "shorten")[0]
    assert FOUND == run("run", "python", "1/0")[0]


def test_run_of_an_unknown_recipient(run):
    """An unknown name is exit 2 with a hint."""
    code, _, err = run("run", "shortn", "x")
    assert UNABLE == code
    assert "Did you mean" in err


def test_run_with_another_backend(run):
    """--backend replaces the declared one, for python recipients only."""
    assert "42" in run("run", "python", "--backend", "subprocess", "print(6 * 7)")[1]
    assert UNABLE == run("run", "python", "--backend", "none", "1")[0]
    assert UNABLE == run("run", "shorten", "--backend", "auto", "{}")[0]


def test_run_with_a_timeout(run):
    """--timeout bounds the call."""
    code, out, _ = run("run", "python", "--timeout", "0.5", "while True: pass")
    assert FOUND == code
    assert "0.5 seconds" in out


def test_export_prints_json(run):
    """Export prints the tools of a target; an unknown target is bad usage with a hint."""
    code, out, _ = run("export", "openai")
    assert OK == code
    assert ["shorten", "python", "only"] == [tool["function"]["name"] for tool in json.loads(out)]
    code, _, err = run("export", "opena")
    assert UNABLE == code
    assert "Did you mean 'openai'?" in err
    assert UNABLE == run("export", "cohere")[0]
    assert "openai-strict" in run("export", "--help")[1]
    assert FOUND == run("export", "openai", "bad.toml")[0]


def test_export_reports_what_a_target_cannot_express(run, tmp_path):
    """Nothing is printed when something would be lost."""
    (tmp_path / "root.toml").write_text(
        "version = 1\n[recipients.a]\nkind = 'function'\ndescription = 'x'\ncall = 'a:b'\n"
        "input_schema = { type = 'object', anyOf = [{ required = ['x'] }], properties = { x = {} } }\n"
    )
    code, out, err = run("export", "anthropic", "root.toml")
    assert (FOUND, "") == (code, out)
    assert "unsupported-schema" in err
    assert "root.toml:6:" in err


def test_schema_is_printed_and_installed(run, tmp_path):
    """Schema prints one schema, or writes all of them with the line to put into files."""
    assert "$schema" in json.loads(run("schema")[1])
    assert "title" in json.loads(run("schema", "prompt")[1])
    assert UNABLE == run("schema", "nothing")[0]
    code, out, _ = run("schema", "--install", "schemas")
    assert OK == code
    assert "#:schema schemas/registry.schema.json" in out
    assert (tmp_path / "schemas" / "recipient.schema.json").exists()


def test_explain_prints_a_page_or_the_list(run):
    """Explain knows every code, and hints at the nearest."""
    assert "unknown-key" in run("explain", "unknown-key")[1]
    assert "missing-key" in run("explain")[1]
    code, _, err = run("explain", "unknow-key")
    assert UNABLE == code
    assert "Did you mean 'unknown-key'?" in err
    assert UNABLE == run("explain", "zzzzzzz")[0]


def test_init_writes_a_file_that_checks_clean_and_runs(run, tmp_path):
    """The starter file has no finding, and its examples pass."""
    code, out, _ = run("init", "new/recipients.toml")
    assert OK == code
    assert "wrote new/recipients.toml" in out
    assert OK == run("check", "--strict", "new/recipients.toml")[0]
    assert OK == run("test", "--file", "new/recipients.toml")[0]


def test_init_writes_over_nothing(run, tmp_path):
    """An existing file is kept unless --force; a place that cannot be written is exit 2."""
    before = (tmp_path / "recipients.toml").read_text()
    assert FOUND == run("init")[0]
    assert before == (tmp_path / "recipients.toml").read_text()
    assert OK == run("init", "--force")[0]
    assert UNABLE == run("init", "recipients.toml/inside.toml")[0]


def test_examples_are_run(run):
    """Test runs all examples or those of a name, and prints what it did."""
    code, out, _ = run("test")
    assert (OK, "ok recipients.shorten example 1\n1 examples, 0 failed\n") == (code, out)
    assert UNABLE == run("test", "greet")[0]
    assert UNABLE == run("test", "nobody")[0]
    assert "testcase" in run("test", "--format", "junit")[1]
    assert json.loads(run("test", "--format", "json")[1])[0]["passed"]


def test_a_failing_example_is_shown_as_a_difference(run, tmp_path):
    """What is declared and what came stand against each other."""
    (tmp_path / "recipients.toml").write_text(GOOD.replace('"Hello [...]"', '"Hello"'))
    code, out, _ = run("test")
    assert FOUND == code
    assert "-Hello" in out
    assert "+Hello [...]" in out
    assert "failure" in run("test", "--format", "junit")[1]


def test_doctor_says_what_works(run):
    """Doctor lists backends and extras, as text and JSON."""
    code, out, _ = run("doctor")
    assert code in {OK, FOUND}
    assert "subprocess" in out
    assert {"backends", "extras", "python"} == set(json.loads(run("doctor", "--format", "json")[1]))


def test_the_module_is_the_command():
    """Python -m registry works as recipients does."""
    done = subprocess.run(
        [sys.executable, "-m", "registry", "check", "recipients.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stderr)


def test_a_closed_pipe_is_no_error():
    """A reader that stops reading ends the command quietly."""
    command = f"{sys.executable} -m registry schema | head -c 1"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ("{", "") == (done.stdout, done.stderr)
