"""The closed list of format specs that a placeholder may have.

``[[fill]align][sign][0][width, up to 3 digits][, or _][.precision, up to 2 digits][type]``: what a prompt
needs to print numbers and to align texts. Width and precision are bounded so that no template can ask for
gigabytes, and there are no nested fields.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

#: Matches a spec from the closed list together with the brace that ends its placeholder.
SPEC_AND_END = re.compile(
    r"(?:[^{}]?[<>=^])?[-+ ]?0?[0-9]{0,3}[,_]?(?:\.[0-9]{1,2})?[bcdeEfFgGnosxX%]?(?=\})",
)

#: For each type of JSON that can be printed, what a declared prompt hands to the format.
_SAMPLES: dict[str, tuple[object, ...]] = {
    "boolean": ("true",),
    "integer": (0,),
    "null": ("null",),
    "number": (0, 0.0),
    "string": ("",),
}


@functools.lru_cache(maxsize=512)
def is_usable(spec: str) -> bool:
    """Return whether any number or text can be printed with this spec; ``,s`` for instance fits nothing."""
    return can_print(spec, _SAMPLES.keys())


def can_print(spec: str, types: AbstractSet[str]) -> bool:
    """Return whether a value of any of these JSON types may be printed with this spec.

    Of a type that does not exist nothing is said: that is reported by itself.
    """
    if not types <= _SAMPLES.keys():
        return True
    return any(_fits(sample, spec) for kind in types for sample in _SAMPLES[kind])


def _fits(sample: object, spec: str) -> bool:
    try:
        format(sample, spec)
    except ValueError:
        return False
    return True
