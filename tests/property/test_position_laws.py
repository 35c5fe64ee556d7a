"""Laws of positions: what the scanner, the places and the reporters promise for every text."""

import attrs
import tomli
from hypothesis import given
from hypothesis import strategies as st
from strategies import fault_lists, paths_of, toml_documents, toml_texts, value_at, write_toml

from registry.diagnostics import Fault, Place
from registry.documents import Document
from registry.loading.locate import locate
from registry.loading.spans import Lines, StringOffsets, comments, index, long_strings


@given(toml_documents())
def test_the_scanner_finds_the_paths_that_the_parser_finds(document):
    """The set of paths in the index is that of the parser's data, for every layout."""
    text, data = document
    assert set(paths_of(data)) == set(index(text))


@given(toml_documents())
def test_spans_parse_to_what_they_stand_for(document):
    """The text of a key's span is that key; the text of a value's span is that value."""
    text, data = document
    for path, span in index(text).items():
        if path and isinstance(path[-1], str):
            assert {path[-1]: 1} == tomli.loads(f"{text[span.key_start : span.key_end]} = 1")
        value = value_at(data, path)
        if path and (not isinstance(value, dict | list) or text[span.value_start] == "{"):
            assert repr(value) == repr(tomli.loads(f"x = {text[span.value_start : span.value_end]}")["x"])


@given(toml_texts, st.integers(0, 2**32 - 1))
def test_every_character_of_a_string_has_its_piece_of_the_text(value, seed):
    """Each character's piece decodes to it, and the pieces follow each other."""
    text = write_toml({"x": value}, seed)
    span = index(text)["x",]
    offsets = StringOffsets(text, span.value_start, span.value_end)
    assert len(value) == len(offsets)
    behind = span.value_start
    for at, char in enumerate(value):
        start, end = offsets.span(at, at + 1)
        assert behind <= start < end <= span.value_end
        piece = text[start:end]
        assert char == (tomli.loads(f'x = "{piece}"')["x"] if len(piece) > 1 else piece)
        behind = end


@given(st.text(st.characters() | st.sampled_from("\"'\n[]{}=.,#\\ a1")))
def test_no_text_breaks_the_scanner(text):
    """Any text gives spans inside itself, and never an error."""
    for span in index(text).values():
        assert 0 <= min(span) <= max(span) <= len(text)
    for start, end in [*comments(text), *long_strings(text)]:
        assert 0 <= start < end <= len(text)


@given(st.text(st.characters() | st.just("\n")), st.integers(-3, 30))
def test_lines_and_offsets_are_one_to_one(text, offset):
    """Line and column lead back to the offset."""
    line, column = Lines(text).locate(offset)
    before = "".join(f"{part}\n" for part in text.split("\n")[: line - 1])
    assert min(max(offset, 0), len(text)) == len(before) + column - 1


@given(fault_lists())
def test_places_are_inside_the_file(found):
    """Whatever a fault names, its places are inside their files, and no end comes before its start."""
    texts = {fault.document.name: fault.document.text for fault in found}
    texts |= {mention.document.name: mention.document.text for fault in found for mention in fault.mentions}
    diagnostics = locate(found)
    for place in [*diagnostics, *(related for one in diagnostics for related in one.related)]:
        lines = texts[place.file].split("\n")
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1
        assert 1 <= place.end_line <= len(lines)
        assert 1 <= place.end_column <= len(lines[place.end_line - 1]) + 1
        assert (place.line, place.column) <= (place.end_line, place.end_column)


@given(fault_lists())
def test_one_report_for_one_code_at_one_place(found):
    """No two diagnostics have the same code and place, and none of the messages is lost."""
    diagnostics = locate(found)
    places = [(d.code, d.file, d.line, d.column, d.end_line, d.end_column) for d in diagnostics]
    assert len(set(places)) == len(places)
    for fault in found:
        assert any(fault.code == d.code and fault.message in d.message for d in diagnostics)
    assert diagnostics == locate([*found, *found])


@given(toml_documents(), st.data())
def test_a_fault_is_reported_exactly_where_it_is(document, data):
    """The place of a fault at a key is the text of the key; of one at a value, the text of the value."""
    text, values = document
    path = data.draw(st.sampled_from([path for path in paths_of(values) if path] or [()]))
    known = index(text)[path]
    source = Document("a.toml", text, values)
    for place, (start, end) in ((Place.KEY, known[:2]), (Place.VALUE, known[2:])):
        (found,) = locate([Fault("wrong-type", "wrong", source, path, place)])
        assert text[start:end] == text_at(text, found)


def text_at(text, place):
    """Return the text between a diagnostic's two places."""
    lines = [line + "\n" for line in text.split("\n")]
    lines = lines[place.line - 1 : place.end_line]
    lines[-1] = lines[-1][: place.end_column - 1]
    return "".join(lines)[place.column - 1 :] if lines else ""


@given(toml_documents(), st.integers(0, 60), st.integers(0, 60))
def test_template_files_are_counted_as_they_are(document, start, length):
    """In a template file the place inside the text is the place in the file."""
    text, _ = document
    text = text.rstrip("\n") + "."
    fault = Fault("undeclared-input", "no", Document("t.txt", text, text), (), within=(start, start + length))
    (found,) = locate([fault])
    assert text[start : start + length] == text_at(text, found)
    (again,) = locate([attrs.evolve(fault, within=None, span=(start, start + length))])
    assert found == again
