"""The closed list of format specs that a placeholder may have.

``[[fill]align][sign][0][width, up to 3 digits][, or _][.precision, up to 2 digits][type]``: what a prompt
needs to print numbers and to align texts. Width and precision are bounded so that no template can ask for
gigabytes, and there are no nested fields.
"""

from __future__ import annotations

import functools
import re

#: Matches a spec from the closed list together with the brace that ends its placeholder.
SPEC_AND_END = re.compile(
    r"(?:[^{}]?[<>=^])?[-+ ]?0?[0-9]{0,3}[,_]?(?:\.[0-9]{1,2})?[bcdeEfFgGnosxX%]?(?=\})",
)

#: One value for each family of types that reads specs in its own way.
_SAMPLES: tuple[object, ...] = (0, 0.0, "")


@functools.lru_cache(maxsize=512)
def is_usable(spec: str) -> bool:
    """Return whether any number or text can be printed with this spec; ``,s`` for instance fits nothing."""
    return any(_fits(sample, spec) for sample in _SAMPLES)


def _fits(sample: object, spec: str) -> bool:
    try:
        format(sample, spec)
    except ValueError:
        return False
    return True
