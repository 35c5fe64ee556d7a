"""The http kind against httpbin, a server that was written by others for such tests."""

import asyncio
import json
import threading
import wsgiref.simple_server

import pytest

from registry.frozen import freeze
from registry.kinds.http import HttpRecipient
from registry.loading.build import recipient_class
from registry.specs import HttpBody, HttpOptions, RecipientSpec

httpbin = pytest.importorskip("httpbin")


class _Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_args):
        """Say nothing."""


@pytest.fixture(scope="module")
def url():
    """Serve httpbin on a port that the system chooses."""
    with wsgiref.simple_server.make_server("127.0.0.1", 0, httpbin.app, handler_class=_Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def ask(url, arguments=None, **options):
    """Return the outcome of a call."""
    spec = RecipientSpec("bin", "http", "Asks.", HttpOptions(url, **options), freeze({}), timeout=30)
    return asyncio.run(recipient_class(spec, HttpRecipient)().acall(arguments or {}))


def test_query_and_headers_arrive(url, monkeypatch):
    """What the server saw is what was given."""
    monkeypatch.setenv("BIN_TOKEN", "abc")
    options = {"query": {"q": "{q}", "l": "{l}"}, "headers": {"X-Token": "<${BIN_TOKEN}>"}}
    seen = json.loads(ask(f"{url}/get", {"q": "é &=#", "l": ["a", "b"]}, **options).text)
    assert (seen["args"], seen["headers"]["X-Token"]) == ({"q": "é &=#", "l": ["a", "b"]}, "<abc>")


@pytest.mark.parametrize(
    ("body", "select", "wanted"),
    [
        (HttpBody(json=True), "/json", '{"n":3,"x":"é&"}'),
        (HttpBody(form=freeze({"a": "{x}", "b": "{n}"})), "/form", '{"a":"é&","b":"3"}'),
        (HttpBody(text="<{x}>"), "/data", "<é&>"),
    ],
)
def test_bodies_arrive(url, body, select, wanted):
    """In each of the three forms."""
    found = ask(f"{url}/post", {"x": "é&", "n": 3}, method="POST", body=body, select=select)
    assert found.text == wanted


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
def test_packed_answers_are_read(url, packing):
    """Even though they were not asked for."""
    flag = {"gzip": "gzipped", "deflate": "deflated"}[packing]
    assert ask(f"{url}/{packing}", select=f"/{flag}").text == "true"


@pytest.mark.parametrize(("redirects", "status"), [("never", 302), ("same-host", 200)])
def test_redirects_are_followed_where_it_is_declared(url, redirects, status):
    """Within the same host."""
    assert ask(f"{url}/relative-redirect/2", follow_redirects=redirects).metadata["http_status"] == status


def test_a_status_is_told(url):
    """An error is one."""
    assert ask(f"{url}/status/418").text.startswith("HTTP 418 I'm a Teapot")
