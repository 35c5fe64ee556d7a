"""Lint: what http and command recipients and servers send."""

import pytest
from linting import faults, found, only

from registry.diagnostics import Severity

BARE = '[recipients.a]\nkind = "http"\ndescription = "x"\nurl = "https://x.example/{city}"\n'
HTTP = BARE + "parameters.city = {}\n"
URL = '[recipients.a]\nkind = "http"\ndescription = "x"\nparameters = {{ city = {{}} }}\nurl = "{}"\n'
COMMAND = (
    '[recipients.a]\nkind = "command"\ndescription = "x"\nparameters = {{ word = {{}}, on-x = {{}} }}\n{}\n'
)
SERVER = "[servers.s]\n{}\n"


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ('query = { q = "{ctiy}" }', "query.q [{ctiy}]"),
        ('headers = { X-Q = "a {ctiy} b" }', "headers.X-Q [{ctiy}]"),
        ('body.form = { a = "{city}", b = "{ctiy:>3}" }', "body.form.b [{ctiy:>3}]"),
        ('body.text = "{city} {#if ctiy}x{/if}"', "body.text [{#if ctiy}]"),
        ('body.json = { a = [1, "{ctiy!json}"] }', "body.json.a.1 [{ctiy!json}]"),
    ],
)
def test_a_placeholder_names_a_declared_argument(line, where):
    """In every text of a request; the fault is at the placeholder and suggests the nearest name."""
    assert [f"undeclared-argument recipients.a.{where}"] == found(HTTP + line + "\n")
    assert "did you mean `city`?" == only(HTTP + line + "\n").hint


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ('argv = ["x", "--w={wrod}"]', "argv.1 [{wrod}]"),
        ('argv = ["x"]\nstdin = "{wrod}"', "stdin [{wrod}]"),
        ('argv = ["x"]\nenv = { W = "{wrod}" }', "env.W [{wrod}]"),
    ],
)
def test_a_placeholder_of_a_command_names_a_declared_argument(line, where):
    """In the program's arguments, its input and its environment."""
    assert [f"undeclared-argument recipients.a.{where}"] == found(COMMAND.format(line))


def test_arguments_with_a_dash_may_stand_in_braces():
    """The name of such an argument is no identifier, and a placeholder all the same."""
    assert [] == found(COMMAND.format('argv = ["x", "{on-x}", "{word}"]'))
    assert [] == found(COMMAND.format('argv = ["x", "{#if on-x}{on-x}{/if}", "{#each on-x as w}{w}{/each}"]'))
    assert ["undeclared-argument recipients.a.argv.1 [{on_x}]"] == found(
        COMMAND.format('argv = ["x", "{on_x}"]')
    )
    assert ["looks-like-placeholder recipients.a.argv.1 [{no-x}]"] == found(
        COMMAND.format('argv = ["x", "{no-x}"]')
    )


def test_names_of_loops_need_no_declaration():
    """An item of a list is no argument."""
    assert [] == found(COMMAND.format('argv = ["x", "{#each word as w}{w},{/each}"]'))


def test_faults_of_templates_are_those_of_every_text():
    """The texts of calls follow the grammar of templates."""
    assert [
        "attribute-access recipients.a.argv.1 [{word.x}]",
        "unbalanced-brace recipients.a.argv.2 [}]",
    ] == found(COMMAND.format('argv = ["x", "{word.x}", "}"]'))


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ("{ properties = { city = {} } }", []),
        ("{ type = 'object' }", ["undeclared-argument"]),
        ("{ type = 'object', additionalProperties = false }", ["undeclared-argument"]),
        ("{ additionalProperties = true }", []),
        ("{ patternProperties = { x = {} } }", []),
        ("{ anyOf = [{ properties = { city = {} } }, { required = ['x'] }] }", []),
        ("{ anyOf = [{ properties = { town = {} } }] }", ["undeclared-argument"]),
        ("{ allOf = [{ '$ref' = '#/$defs/a' }], '$defs' = { a = {} } }", []),
        ("{ '$ref' = '#/$defs/a', '$defs' = { a = {} } }", []),
    ],
)
def test_arguments_of_a_whole_schema_are_its_properties(schema, wanted):
    """Where a schema takes any name, or others by reference, nothing is said."""
    assert wanted == [fault.code for fault in faults(f"{BARE}input_schema = {schema}\n")]


@pytest.mark.parametrize(
    "rest",
    [
        "paramaters.city = {}",
        "parameters = 3",
        "input_schema = 3",
        "input_schema.required = 3",
        "input_schema.allOf = 3",
    ],
)
def test_nothing_is_undeclared_where_the_declaration_is_in_error(rest):
    """One fault, one report."""
    assert () == faults(f"{BARE}{rest}\n")


def test_without_parameters_no_argument_is_declared():
    """The hint says where to declare it."""
    fault = only(BARE)
    assert ("undeclared-argument", "declare it under `parameters`") == (fault.code, fault.hint)


@pytest.mark.parametrize("name", ["MY-TOKEN", "1ST", "", " X", "a.b", "Ä"])
def test_a_reference_to_the_environment_has_a_good_name(name):
    """The fault is at the reference, and there is no other."""
    assert [f"bad-environment-name recipients.a.headers.Authorization [${{{name}}}]"] == found(
        HTTP + f'headers.Authorization = "Bearer ${{{name}}}"\n'
    )
    assert [f"bad-environment-name servers.s.env.K [${{{name}}}]"] == found(
        SERVER.format(f'command = ["x"]\nenv = {{ K = "a ${{{name}}}" }}')
    )


def test_a_reference_to_the_environment_is_closed():
    """An opening without an end is no text."""
    assert ["bad-environment-name servers.s.headers.A [${]"] == found(
        SERVER.format('url = "https://x.example"\nheaders = { A = "${B" }')
    )


@pytest.mark.parametrize(
    "line",
    [
        'headers = { Authorization = "Bearer ${TOKEN}", X-City = "{city}" }',
        'query = { key = "${API_KEY}", q = "{city}" }',
        'body.json = { a = "${API_KEY}", b = true }',
        'headers = { Accept = "a/b" }',
    ],
)
def test_texts_that_are_right_bring_nothing(line):
    """Variables, arguments and plain texts."""
    assert [] == found(HTTP + line + "\n")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/hosts",
        "https:///x",
        "/x",
        "x",
        "",
        "ftp://x.example",
        "https://",
        "https://u:p@x.example/",
        "https://x.example:port/",
        "https://x.example:99999/",
        "https://x y.example/",
        "https://x.example/a b",
        "https://x.example/\\\\a",
        "https://x_y.example/",
        "http:/x.example",
        "https://x.example:/",
        "{city",
    ],
)
def test_a_url_that_cannot_be_called_is_refused(url):
    """The fault is at the value."""
    assert "bad-url recipients.a.url" in found(URL.format(url))
    assert "bad-url servers.s.url" in found(SERVER.format(f'url = "{url}"'))


@pytest.mark.parametrize(
    "url",
    [
        "https://x.example",
        "HTTP://X.example:8080/a?b=c#d",
        "http://127.0.0.1:9/",
        "http://[::1]:80/x",
        "https://bücher.example/ü",
        "https://${HOST}/x",
        "https://x.example/{city}/${KEY}?q={city}",
        "https://x.example/{{}}",
        "https://x.example:65535/",
    ],
)
def test_a_url_that_can_be_called_is_fine(url):
    """Ports, addresses, other alphabets, and a host from the environment."""
    assert [] == found(URL.format(url))


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("https://{city}.x.example/x", "{city}"),
        ("https://x.example:{city}/", "{city}"),
        ("{city}://x.example/", "{city}"),
        ("{city}/x", "{city}"),
        ("https://{town}/{city}", "{town}"),
        ("https://{city!json}@x.example/", "{city!json}"),
    ],
)
def test_a_placeholder_in_the_host_is_refused(url, where):
    """The fault is at the placeholder."""
    assert f"host-placeholder recipients.a.url [{where}]" in found(URL.format(url))


@pytest.mark.parametrize("use", ["{town}", "{town.name}", "{town!r}", "{town:%d}"])
def test_a_placeholder_where_none_may_stand_is_one_fault(use):
    """Whether it is declared or well-formed does not matter: it has to go."""
    host = f"https://{use}.example/{{city}}"
    assert [f"host-placeholder recipients.a.url [{use}]"] == found(URL.format(host))
    program = f'[recipients.a]\nkind = "command"\ndescription = "x"\nargv = ["{use}"]\n'
    assert [f"wrong-value recipients.a.argv.0 [{use}]"] == found(program)


@pytest.mark.parametrize("url", ["/v1/{city}", "x.example/{city}", "//x.example/{city}", "http:/x/{city}"])
def test_a_url_without_scheme_is_no_matter_of_its_placeholders(url):
    """What is missing is the scheme; the placeholder stands in the path."""
    assert ["bad-url recipients.a.url"] == found(URL.format(url))


def test_the_address_of_a_tio_server_is_a_url():
    """Wherever a URL stands."""
    text = '[recipients.a]\nkind = "python"\ndescription = "x"\ntio = {{ {} }}\n'
    assert ["bad-url recipients.a.tio.url"] == found(text.format('url = "tio"'))
    assert [] == found(text.format('url = "https://tio.example/"'))
    assert [] == found(text.format('language = "c"'))


@pytest.mark.parametrize(
    "line",
    [
        'headers.Authorization = "Bearer 0000111122223333"',
        'headers.authorization = "Basic dTpw"',
        'headers.X-API-Key = "abc"',
        'headers.api_key = "abc"',
        'headers.X-Auth-Token = "abc"',
        'headers.Proxy-Authorization = "x"',
        'headers.Cookie = "session=1"',
        'headers.X-Whatever = "AKIAABCDEFGHIJKLMNOP"',
        'query = { api_key = "abcdefabcdef" }',
        'query = { q = "sk-abcdefabcdefabcdefabcdef" }',
        'body.text = "ghp_abcdefabcdefabcdefabcdefabcdefabcdef"',
    ],
)
def test_a_credential_in_the_file_is_refused(line):
    """In headers and parameters that are made for one, and by its looks anywhere; it is never repeated."""
    fault = only(HTTP + line + "\n")
    assert "secret-in-file" == fault.code
    assert "put it into an environment variable and write ${A_TOKEN}" == fault.hint
    assert "abc" not in fault.message


def test_a_credential_of_a_server_is_refused():
    """In its headers and its environment."""
    assert ["secret-in-file servers.s.headers.Authorization"] == found(
        SERVER.format('url = "https://x.example"\nheaders.Authorization = "Bearer abcdef"')
    )
    assert ["secret-in-file servers.s.env.T"] == found(
        SERVER.format('command = ["x"]\nenv.T = "xoxb-123456789012"')
    )


@pytest.mark.parametrize(
    "line",
    [
        'headers.Authorization = "Bearer ${TOKEN}"',
        'headers.Authorization = "Bearer {city}"',
        'headers.Authorization = "Bearer"',
        'headers.X-Count = "5"',
        'headers.Idempotency-Key = "a"',
        'headers.Accept-Language = "de"',
        'query = { key = "short" }',
        'query = { api_key = "DEMO_KEY" }',
    ],
)
def test_what_is_no_credential_is_fine(line):
    """A variable, an argument, and headers of other meaning."""
    assert [] == found(HTTP + line + "\n")


def test_the_program_is_not_for_the_caller_to_choose():
    """A placeholder in the first element of argv is refused."""
    assert ["wrong-value recipients.a.argv.0 [{word}]"] == found(COMMAND.format('argv = ["{word}", "x"]'))
    assert [] == found(COMMAND.format('argv = ["${PROGRAM}", "{word}"]'))


@pytest.mark.parametrize(
    "line",
    [
        "query = 3",
        "headers = 3",
        "body = 3",
        "query = { a = 3 }",
        "headers = { a = 3 }",
        "body = { form = 3 }",
        "body = { form = { a = 3 } }",
        "body = { text = 3 }",
    ],
)
def test_misshapen_texts_are_passed_over(line):
    """They are reported by their type; the others are still read."""
    text = HTTP.replace("{city}", "{town}").replace("parameters.city = {}", "parameters = {}")
    assert ["undeclared-argument recipients.a.url [{town}]"] == found(text + line + "\n")


def test_misshapen_commands_and_servers_are_passed_over():
    """They are reported by their type."""
    assert [] == found(COMMAND.format("argv = [3]\nstdin = 3\nenv = { A = 3 }"))
    assert [] == found(SERVER.format("command = [3]"))
    assert [] == found('[recipients.a]\nkind = "http"\ndescription = "x"\nurl = 3\n')
    assert [] == found('[recipients.a]\nkind = "python"\ndescription = "x"\ntio = { url = 3 }\n')


def test_severities_are_those_of_the_template_rules():
    """What is only suspicious in a template is only suspicious here."""
    assert Severity.WARNING is only(COMMAND.format('argv = ["x", "{ word }"]')).severity
