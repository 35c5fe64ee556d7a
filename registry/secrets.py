"""Values that a declaration takes from the environment, read at the call that needs them and never kept."""

from __future__ import annotations

import os
import re

from registry.exceptions import MissingSecret

#: A reference to an environment variable.
REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def secret(variable: str, path: str) -> str:
    """Return the value that an environment variable has now.

    Raises:
        MissingSecret: it is unset; ``path`` says which key needs it.
    """
    value = os.environ.get(variable)
    if value is None:
        raise MissingSecret(variable, path)
    return value


def expand(text: str, path: str) -> str:
    """Return a text with the current value in place of each ``${NAME}``; values are not looked at again.

    Raises:
        MissingSecret: a variable is unset; ``path`` says which key needs it, such as ``servers.clock.env.K``.
    """
    return REFERENCE.sub(lambda match: secret(match[1], path), text)
