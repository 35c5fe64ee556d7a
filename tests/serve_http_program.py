"""Serves the test registry over HTTP; options come as JSON."""

import json
import sys

import mcp_registry

from registry import RecipientManager, load
from registry.serve import serve_http


def main(options):
    path = options.get("path")
    manager = mcp_registry.manager() if path is None else RecipientManager(load(path))
    serve_http(manager, **options)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
