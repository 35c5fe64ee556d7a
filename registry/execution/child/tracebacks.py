"""What went wrong, told so that a model can act on it: the user's own frames, no path of this machine."""

from __future__ import annotations

import contextlib
import linecache
import sys
import traceback

#: Longest message and longest traceback that leave the child, in characters; the middle is cut.
MESSAGE_LIMIT = 2_000
TRACEBACK_LIMIT = 8_000

#: The file name of this program's own functions, as `start` gives it to them.
OWN = "<recipients>"

#: Where this interpreter finds modules, the innermost first.
_LIBRARIES = sorted({place for place in sys.path if len(place) > 1 and place[0] == "/"}, reverse=True)


def cut(text: str, limit: int) -> str:
    """Return ``text`` with its middle replaced by a count when it is longer than ``limit``."""
    excess = len(text) - limit
    if excess <= 0:
        return text
    head = limit // 2
    return f"{text[:head]}\n… {excess} characters cut …\n{text[len(text) - (limit - head) :]}"


def cut_bytes(text: str, limit: int) -> str:
    """Return ``text`` with its middle replaced by a count when it has more than ``limit`` bytes.

    Never more than ``limit`` characters are encoded at once: a long text may have filled the memory.
    """
    if len(text) <= limit and len(_encoded(text)) <= limit:
        return text
    half = limit // 2
    head = _encoded(text[:half])[:half].decode("utf-8", "ignore")
    half = limit - half
    tail = _encoded(text[-half:])[-half:].decode("utf-8", "ignore") if half else ""
    return f"{head}\n… {len(text) - len(head) - len(tail)} characters cut …\n{tail}"


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def remember(name: str, source: str) -> None:
    """Let tracebacks show the lines of ``source`` under this file name."""
    lines = [f"{line}\n" for line in source.split("\n")]  # as the compiler counts them
    # Without a modification time the entry is never compared with the disk.
    linecache.cache[name] = (len(source), None, lines, name)


def shown_name(filename: str, folder: str) -> str | None:
    """Return the name under which a frame is shown; None for frames that are not the user's."""
    if filename.startswith("<"):
        return None if filename.startswith(("<frozen ", OWN)) else filename
    if folder and filename.startswith(f"{folder}/"):
        return filename[len(folder) + 1 :]
    return None if filename.startswith("/") else filename


def describe(exc: BaseException, folder: str) -> dict[str, str]:
    """Return type, message, line and traceback of an exception as texts, whatever the code has broken."""
    kind = _name(exc)
    message = cut(_message(exc, kind), MESSAGE_LIMIT)
    text = f"{kind}: {message}\n"
    line = ""
    # A hostile __str__, attribute or audit hook and a patched module may raise whatever they like.
    with contextlib.suppress(BaseException):
        line = _line(exc, folder)
    with contextlib.suppress(BaseException):
        text = _plain(exc, folder, text)
    with contextlib.suppress(BaseException):
        text = _full(exc, folder)
    return {
        "type": kind,
        "message": without_paths(message, folder),
        "line": line,
        "traceback": cut(without_paths(text, folder), TRACEBACK_LIMIT),
        "traceback_cut": "1" if len(text) > TRACEBACK_LIMIT else "",
    }


def without_paths(text: str, folder: str) -> str:
    """Return ``text`` without the places where this machine keeps Python and the run's folder."""
    if folder:
        text = text.replace(folder, ".")
    for place in _LIBRARIES:
        text = text.replace(f"{place}/", "<lib>/")
    return text


def exactly(text: str) -> str:
    """Return ``text`` as a plain str: a subclass of the code's own may lie about its length and bytes."""
    return str.__str__(text)


def _name(exc: BaseException) -> str:
    try:
        return exactly(type.__dict__["__name__"].__get__(type(exc)))
    except BaseException:  # noqa: BLE001  # pragma: no cover -- only after the interpreter itself was damaged
        return "Exception"


def _message(exc: BaseException, kind: str) -> str:
    try:
        return exactly(str(exc))
    except BaseException:  # noqa: BLE001 - __str__ is the user's code
        return f"<unprintable {kind} object>"


def _line(exc: BaseException, folder: str) -> str:
    """Return the line of the innermost user frame, or of the syntax error in the user's code."""
    found = ""
    if isinstance(exc, SyntaxError) and exc.lineno and shown_name(str(exc.filename or "/"), folder):
        found = str(exc.lineno)
    trace = exc.__traceback__
    if not found:
        while trace is not None:
            if shown_name(trace.tb_frame.f_code.co_filename, folder):
                found = str(trace.tb_lineno)
            trace = trace.tb_next
    return found


def _full(exc: BaseException, folder: str) -> str:
    told = traceback.TracebackException.from_exception(exc, compact=True)
    todo = [told]
    while todo:
        one = todo.pop()
        for frame in one.stack:
            frame.filename = shown_name(frame.filename, folder) or ""
        one.stack[:] = [frame for frame in one.stack if frame.filename]
        todo += [other for other in (one.__cause__, one.__context__, *(one.exceptions or ())) if other]
    return "".join(told.format())


def _plain(exc: BaseException, folder: str, last: str) -> str:
    """Return a traceback made without the help of any other module."""
    lines = ["Traceback (most recent call last):\n"]
    trace = exc.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        name = shown_name(code.co_filename, folder)
        if name:
            lines.append(f'  File "{name}", line {trace.tb_lineno}, in {code.co_name}\n')
        trace = trace.tb_next
    return "".join([*lines[:50], last])
