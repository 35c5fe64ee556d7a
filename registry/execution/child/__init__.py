"""Programs that run inside the child process, next to the code they run. Only the standard library is used.

`start` is the script; it loads the others. Nothing here is imported by the rest of the package.
"""

from __future__ import annotations
