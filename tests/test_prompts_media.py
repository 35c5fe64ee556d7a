"""Images and files that are sent along with a prompt."""

from __future__ import annotations

import base64

import pytest

from registry.exceptions import RenderError
from registry.frozen import freeze
from registry.prompts import media
from registry.prompts.media import media_part
from registry.prompts.prompt import Prompt
from registry.specs import InputSpec, MessageSpec, PromptSpec

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 10
PDF = b"%PDF-1.7 ..."


def photo_prompt(message, **schema):
    inputs = (
        InputSpec("photo", freeze(schema), optional=True),
        InputSpec("text", freeze({"type": "string"}), default="Look"),
    )
    return Prompt(PromptSpec("p", (message,), inputs=inputs))


ONE = photo_prompt(MessageSpec("user", "{text}", image="{photo}"), type="string")


def fault(made, values):
    with pytest.raises(RenderError) as caught:
        made.render(values)
    return caught.value


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
    ],
)
def test_images_are_known_by_their_bytes(data, mime_type):
    """The type of an image is read from its content, whatever it is called."""
    expected = {"type": "image", "mime_type": mime_type, "data": data}
    url = f"data:text/plain;base64,{base64.b64encode(data).decode()}"
    for value in (data, bytearray(data), memoryview(data), url):
        assert media_part("image", value) == expected


def test_files_are_pdf_or_text(tmp_path):
    """A file is a PDF or a text in UTF-8; a path gives it its name."""
    path = tmp_path / "é.txt"
    path.write_bytes("ä".encode())
    text = {"type": "file", "mime_type": "text/plain", "data": "ä".encode(), "name": "é.txt"}
    assert media_part("file", path) == text
    pdf = {"type": "file", "mime_type": "application/pdf", "data": PDF, "name": "file"}
    assert media_part("file", PDF) == pdf
    assert media_part("file", "data:,a%20b")["data"] == b"a b"


def test_web_addresses_are_not_fetched():
    """A URL is passed on."""
    for url in ("https://example.org/a.png", "http://[::1]/x?y=1"):
        assert media_part("image", url) == {"type": "image", "url": url}


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("image", "/etc/passwd", "give the path of a image as pathlib.Path"),
        ("image", "file:///etc/passwd", "must be an http"),
        ("image", "https://", "must be an http"),
        ("image", "http://[", "must be an http"),
        ("image", "https://a b/c", "must be an http"),
        ("image", "https://a/\n", "must be an http"),
        ("image", "javascript:alert(1)", "must be an http"),
        ("image", "data:image/png", "without a comma"),
        ("image", "data:image/png;base64,é", "base64 is broken"),
        ("image", "data:image/png;base64,a", "base64 is broken"),
        ("image", b"", "1 to 20,971,520 bytes"),
        ("image", PDF, "must be a PNG"),
        ("image", b"RIFF\0\0\0\0WAVE", "must be a PNG"),
        ("image", 5, "not int"),
        ("file", PNG, "must be a PDF or a text"),
        ("file", b"a\0b", "must be a PDF or a text"),
        ("file", b"\xff", "must be a PDF or a text"),
    ],
)
def test_what_is_no_image_or_file(kind, value, text):
    """A wrong value is told what was expected; a plain text never names a file of this machine."""
    with pytest.raises(ValueError, match=text.replace("(", "[(]")):
        media_part(kind, value)


def test_paths_that_cannot_be_read(tmp_path, monkeypatch):
    """A path that is no file, or cannot be opened, is an error with the reason."""
    with pytest.raises(ValueError, match="names no file"):
        media_part("image", tmp_path)
    path = tmp_path / "x.png"
    path.write_bytes(PNG)

    def refuse(*_args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(ValueError, match="cannot be read: Permission denied"):
        media_part("image", path)


def test_size_is_bounded(tmp_path, monkeypatch):
    """Nothing larger than the bound is read or sent."""
    monkeypatch.setattr(media, "MAX_MEDIA", 20)
    assert media_part("image", PNG)
    path = tmp_path / "x.png"
    path.write_bytes(PNG + b"y" * 3)
    for value in (path, PNG + b"y" * 3, "data:," + "x" * 50, "data:,%41%41" + "x" * 19):
        with pytest.raises(ValueError, match="1 to 20 bytes"):
            media_part("image", value)


def test_an_image_makes_parts_of_the_content(tmp_path):
    """With an image the content is a list of parts; without one it is the text."""
    path = tmp_path / "x.png"
    path.write_bytes(PNG)
    image = {"type": "image", "mime_type": "image/png", "data": PNG}
    text = {"type": "text", "text": "Look"}
    for value in (PNG, path):
        assert ONE.render({"photo": value}) == [{"role": "user", "content": [text, image]}]
    assert ONE.render() == [{"role": "user", "content": "Look"}]
    assert ONE.render({"photo": PNG, "text": ""})[0]["content"] == [image]
    assert ONE.render({"photo": PNG}).texts == ("Look",)
    assert ONE.media_inputs == ("photo",)


def test_wrong_images_are_named_by_input():
    """The fault of an image names the input, with all others."""
    error = fault(ONE, {"photo": "cat.png"})
    assert ("wrong-type", ("photo",)) == (error.code, error.names)
    assert "prompt 'p': 'photo' must be an http(s) or data URL" in str(error)
    assert fault(ONE, {"photo": 5}).names == ("photo",)
    assert fault(ONE, {"text": PNG}).names == ("text",)


def test_bytes_are_never_printed():
    """An image that the text prints too is an error."""
    made = photo_prompt(MessageSpec("user", "{photo}", image="{photo}"))
    assert fault(made, {"photo": PNG}).names == ("photo",)


def test_an_address_may_be_made_of_values():
    """An image may be a URL with placeholders."""
    made = photo_prompt(MessageSpec("user", "x", image="https://example.org/{text}.png"))
    assert made.render({"text": "a"})[0]["content"][1] == {
        "type": "image",
        "url": "https://example.org/a.png",
    }
    assert fault(made, {"text": "a b"}).names == ("text",)
    assert made.media_inputs == ()
    spec = photo_prompt(MessageSpec("user", "x", file="https://example.org/{text:d}"))
    assert fault(spec, {}).names == ("text",)
    literal = photo_prompt(MessageSpec("user", "x", image="nowhere"))
    assert fault(literal, {}).names == ()


def test_images_for_each_item():
    """A list of images makes a message for each; a fault names the list."""
    made = photo_prompt(MessageSpec("user", "{text}", each="photo", as_="one", image="{one}", file="{one}"))
    assert made.media_inputs == ("photo",)
    error = fault(made, {"photo": [PNG, PDF]})
    assert ("wrong-type", ("photo",)) == (error.code, error.names)
    only = photo_prompt(MessageSpec("user", "{text}", each="photo", as_="one", image="{one}"))
    assert len(only.render({"photo": [PNG, "https://example.org/b.png"]})) == 2
