"""Laws of turning bytes into a document."""

import hypothesis
import hypothesis.strategies as st
import pytest

from registry.diagnostics import Fault
from registry.loading.parse import MAX_BYTES, MAX_DEPTH, parse


def only_fault(raw):
    document, faults = parse(raw if isinstance(raw, bytes) else raw.encode(), "x.toml")
    assert 1 == len(faults), faults
    assert document.data is None or isinstance(document.data, dict)
    return document, faults[0]


def text_at(document, fault):
    start, end = fault.span
    return document.text[start:end]


def test_a_plain_file_is_parsed():
    """Text, data and name of a good file are kept."""
    document, faults = parse(b"a = 1\n", "x.toml")
    assert ((), "a = 1\n", {"a": 1}, "x.toml") == (faults, document.text, document.data, document.name)


@pytest.mark.parametrize("raw", ["\ufeffa = '''x\ny'''", "a = '''x\r\ny'''", "\ufeffa = '''x\r\ny'''"])
def test_byte_order_mark_and_line_ends_do_not_matter(raw):
    """One byte-order mark and CRLF line ends give the same document as the plain file."""
    document, faults = parse(raw.encode(), "x.toml")
    assert ((), "a = '''x\ny'''", {"a": "x\ny"}) == (faults, document.text, document.data)


def test_two_byte_order_marks_are_named():
    """A second byte-order mark is a syntax error that names U+FEFF."""
    _, fault = only_fault("\ufeff\ufeffa = 1")
    assert ("toml-syntax", (0, 1)) == (fault.code, fault.span)
    assert "U+FEFF" in fault.message


@pytest.mark.parametrize(
    ("raw", "before"),
    [(b"a = 1\nb = '\xff'", "a = 1\nb = '"), (b"\xef\xbb\xbfa\r\n\xc3", "a\n"), (b"\xff\xfea\0", "")],
)
def test_bytes_that_are_not_utf8_are_reported_at_their_place(raw, before):
    """The first byte that is not UTF-8 is reported where it stands."""
    document, fault = only_fault(raw)
    assert "not-utf8" == fault.code
    assert before == document.text[: fault.span[0]]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
def test_utf16_is_called_by_its_name(encoding):
    """What an old editor of Windows calls Unicode is told apart from other bytes."""
    faults = parse("a = 'ü'".encode(encoding), "x.toml")[1]
    assert ("it is UTF-16 now" in "".join(fault.hint for fault in faults)) == (encoding == "utf-16")


def test_a_file_too_large_is_refused():
    """More than the stated size is not even decoded."""
    _, fault = only_fault(b"#" * (MAX_BYTES + 1))
    assert "file-too-large" == fault.code
    assert () == parse(b"#" * MAX_BYTES, "x.toml")[1]


@pytest.mark.parametrize("text", ["a = ", "a = 1\na = 2", "[a", 'a = "x', "a.b = 1\na = 2", "\0"])
def test_a_syntax_error_is_one_fault_inside_the_file(text):
    """A syntax error has a place inside the text or at its end, and a lower-case message."""
    document, fault = only_fault(text)
    assert "toml-syntax" == fault.code
    assert 0 <= fault.span[0] <= fault.span[1] <= len(document.text)
    assert not fault.message[0].isupper()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("a = 1\n|a = 2\n", "a"),
        ('a = 1\n|"a" = """\n\nx\n"""\n', '"a"'),
        ("a = 1\n|a = [\n  1,\n]\nb = 1\na = 3\n", "a"),
        ("a = 1\na.|b = 2\n", "b"),
        ('a = { b = 1 }\na.|c = """\n"""\n', "c"),
        ("[t]\na = { b = 1,\n |b = [\n] }\n", "b"),
        ("a.b = 1\n[t]\nx = 1\n|x = { y = [\n2] }", "x"),
        ("[a.b]\n[a]\nb.|c = 1\n", "c"),
        ("a = 1\n|[a]\n", ""),
        ("[a]\n|[a]\n", ""),
    ],
)
def test_a_key_given_twice_is_reported_at_the_second_key(text, key):
    """However many lines its value has; a table given twice is reported at its header."""
    document, fault = only_fault(text.replace("|", ""))
    start = text.index("|")
    assert ("toml-syntax", text[:start].count("\n")) == (
        fault.code,
        document.text.count("\n", 0, fault.span[0]),
    )
    if key:
        assert (start, key) == (fault.span[0], text_at(document, fault))


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 3_000])
@pytest.mark.parametrize(
    "shape",
    [
        lambda n: "x = " + "[" * n + "]" * n,
        lambda n: "x = " + "{a = " * n + "1" + "}" * n,
        lambda n: "x." + "a." * n + "b = 1",
        lambda n: "x" + " . 'a'.\"b\"" * n + " = 1",
        lambda n: "[x" + ".a" * n + "]",
    ],
)
def test_deep_nesting_is_a_declared_fault(shape, depth):
    """Whatever the nesting is made of, too much of it is one fault on its own line."""
    document, fault = only_fault("ok = '[[[['\n" + shape(depth))
    assert "nesting-too-deep" == fault.code
    if fault.span is not None:
        assert 1 == document.text[: fault.span[0]].count("\n")
    else:
        assert "x" == fault.path[0]


def test_brackets_in_texts_and_comments_are_no_nesting():
    """Only real arrays and tables count towards the depth."""
    text = '# [[[\na = "[[\\"["\nb = """[["[\n"""\nc = \'\'\'[[\'\'\'\nd = \'[[\'\nx = [' + "[]," * 200 + "]"
    assert () == parse(text.encode(), "x.toml")[1]
    document, fault = only_fault(text + "\ny = " + "[" * 3_000)
    assert document.text[fault.span[0] :].startswith("[")
    assert text.count("\n") + 1 == document.text[: fault.span[0]].count("\n")


def test_dots_in_texts_and_long_words_are_no_nesting():
    """A deep key is found behind texts that look like one, and behind words of any length in linear time."""
    before = f'a = "{"a." * 200}a"\n# {"a" * 1_000_000}\n'
    document, fault = only_fault(before + ".".join("b" * 3_000) + " = 1")
    assert ("nesting-too-deep", len(before)) == (fault.code, fault.span[0])
    assert ".".join("b" * 3_000) == text_at(document, fault)


def test_deep_failure_without_a_place_points_at_the_start(monkeypatch):
    """Where the caller's own stack is nearly used up, the fault is still declared."""

    def overflow(*_args, **_kwargs):
        raise RecursionError

    monkeypatch.setattr("tomli.loads", overflow)
    _, fault = only_fault("a = 1")
    assert ("nesting-too-deep", (0, 1)) == (fault.code, fault.span)


def test_long_integers_are_reported_and_the_rest_is_read():
    """Each integer too long for Python is a fault; digits in texts and comments are none."""
    digits = "9" * 5_000
    text = f'# {digits}\na = {digits}\nt = "{digits}"\nb = [-{digits}, 1]\nh = 0x1F\nd = 1979-05-27\n'
    document, faults = parse(text.encode(), "x.toml")
    assert ["number-too-long", "number-too-long", "date-not-allowed"] == [fault.code for fault in faults]
    assert [digits, f"-{digits}"] == [text_at(document, fault) for fault in faults[:2]]
    assert text == document.text
    assert digits == document.data["t"]
    assert all(fault.document is document for fault in faults)


@pytest.mark.parametrize(
    "number", ["0x" + "f" * 5_000, "0o" + "7_7" * 2_500, "0b" + "1" * 20_000, "+" + "9" * 4_301]
)
def test_long_integers_of_any_base_are_reported(number):
    """What cannot be printed is refused in every spelling, and the rest of the file is judged."""
    document, faults = parse(f"a.b = [1, {number}]\nc = nan".encode(), "x.toml")
    assert ["number-too-long", "not-finite"] == [fault.code for fault in faults]
    assert (number, ("a", "b", 1)) == (text_at(document, faults[0]), faults[0].path)


def test_what_only_looks_like_a_long_integer_stays():
    """Keys and fractions of thousands of digits are none, nor are texts and numbers of a usual length."""
    digits = "9" * 5_000
    small = "0x" + "0" * 600 + "1"
    text = f'{digits} = 0x1F\nx.{digits} = "0x{"f" * 5_000}"\nf = 0.{digits}\ne = 1e-{digits}\nh = {small}\n'
    document, faults = parse(text.encode(), "x.toml")
    assert ((), {digits: 31, "x": {digits: f"0x{'f' * 5_000}"}, "f": 1.0, "e": 0.0, "h": 1}) == (
        faults,
        document.data,
    )
    document, faults = parse(f"{text}n = {digits}".encode(), "x.toml")
    assert [("n",)] == [fault.path for fault in faults]
    assert {digits, "x", "f", "e", "h", "n"} == document.data.keys()


def test_many_long_integers_take_linear_time():
    """A file of megabytes of long integers is read as any other."""
    _, faults = parse(f"a = [{','.join(['9' * 4_301] * 2_000)}]".encode(), "x.toml")
    assert 2_000 == len(faults)


def test_long_integer_beside_a_syntax_error():
    """A file may have both faults."""
    _, faults = parse(b"a = " + b"9" * 5_000 + b"\nb = ", "x.toml")
    assert ["number-too-long", "toml-syntax"] == [fault.code for fault in faults]


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "+nan", "1e999"])
def test_numbers_that_json_lacks_are_reported_at_their_path(value):
    """Infinity and not-a-number have a code of their own, at any depth."""
    _, fault = only_fault(f"a = {{ b = [1.5, {value}] }}")
    assert ("not-finite", ("a", "b", 1)) == (fault.code, fault.path)


@pytest.mark.parametrize("value", ["1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00"])
def test_dates_and_times_are_reported_at_their_path(value):
    """An unquoted date or time has a code of its own; quoted ones are texts."""
    _, fault = only_fault(f'q = "{value}"\nx = {value}')
    assert ("date-not-allowed", ("x",)) == (fault.code, fault.path)


@hypothesis.given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_give_a_document_and_declared_faults(raw):
    """No bytes make the reader raise."""
    document, faults = parse(raw, "x.toml")
    assert all(isinstance(fault, Fault) for fault in faults)
    assert faults or document.data is not None
