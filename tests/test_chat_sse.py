"""The laws of reading server-sent events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.chat import sse
from registry.chat.sse import Decoder, Event, OversizedError


def decode(data, cuts=()):
    """Decode bytes that come in the chunks between the cuts."""
    decoder, found, start = Decoder(), [], 0
    for cut in [*sorted(cuts), len(data)]:
        found += decoder.feed(data[start:cut])
        start = cut
    return [*found, *decoder.feed(b"", last=True)]


@pytest.mark.parametrize(
    ("data", "events"),
    [
        (b"data: a\n\n", [Event("message", "a")]),
        (b"data:a\ndata: b\n\n", [Event("message", "a\nb")]),
        (b"event: x\ndata:  a\n\ndata: b\n\n", [Event("x", " a"), Event("message", "b")]),
        (b"\xef\xbb\xbfdata: a\n\n", [Event("message", "a")]),
        (b": comment\nid: 1\nretry: 2\nunknown\ndata\n\n", [Event("message", "")]),
        (b"event: x\n\n\n\n", []),
        (b"data: a", [Event("message", "a")]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c\r", [Event("message", name) for name in "abc"]),
        ("data: é\u2028\x85😀\n\n".encode(), [Event("message", "é\u2028\x85😀")]),
        (b"data: \xff\n\n", [Event("message", "\ufffd")]),
    ],
)
def test_events_are_read_as_the_format_says(data, events):
    """Fields, comments, line ends and a missing last empty line are read as events."""
    assert events == decode(data)


@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"))), max_size=4
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.data(),
)
def test_where_the_bytes_are_cut_does_not_matter(texts, end, data):
    """However the bytes are cut into chunks, the same events come out."""
    raw = "".join(f"event: x{end}data: {text}{end}{end}" for (text,) in texts).encode()
    cuts = data.draw(st.lists(st.integers(0, len(raw)), max_size=6))
    assert [Event("x", text) for (text,) in texts] == decode(raw, cuts)


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=3))
def test_no_bytes_are_an_error(raw, cuts):
    """Any bytes are read as some events, the same in one piece and in several."""
    assert decode(raw) == decode(raw, [min(cut, len(raw)) for cut in cuts])


@pytest.mark.parametrize("start", [b"data: ", b"data: a\ndata: b\n: "])
def test_an_endless_event_is_an_error(monkeypatch, start):
    """An event that grows beyond the limit is refused, whether it is one line or many."""
    monkeypatch.setattr(sse, "MAX_EVENT", 10)
    with pytest.raises(OversizedError):
        decode(start + b"x" * 10)
