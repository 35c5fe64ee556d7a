"""``python -m registry`` is the command ``recipients``."""

from registry.cli import entry

entry()
