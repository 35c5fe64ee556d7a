"""The folder a run works in: what lies in it is hostile, so nothing in it is followed or trusted."""
# ruff: noqa: PTH101, PTH104, PTH106, PTH108 - pathlib cannot work relative to an open folder

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import secrets
import stat
import tempfile
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW if hasattr(os, "O_DIRECTORY") else os.O_RDONLY


@attrs.frozen
class Usage:
    """What a run takes on disk."""

    #: Bytes of storage.
    size: int
    #: Files, folders and links.
    entries: int


def make() -> str:
    """Make a new empty folder that only this user can reach; returns its real path."""
    return os.path.realpath(tempfile.mkdtemp(prefix="recipients-"))


def usage(folder: str, most: int) -> Usage:
    """Return what lies in a folder; counting stops once there are more than ``most`` entries."""
    size = entries = 0
    todo = [folder]
    while todo and entries <= most:
        try:
            with os.scandir(todo.pop()) as found:
                for entry in found:
                    entries += 1
                    if entries > most:
                        break
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
        except OSError as exc:
            # A folder may vanish meanwhile. One whose path is too long to be looked into hides what it holds.
            if exc.errno == errno.ENAMETOOLONG:
                return Usage(size, most + 1)
    return Usage(size, entries)


def remove(folder: str) -> None:
    """Remove a folder whatever the code left in it; links are unlinked, never followed.

    Folders inside are moved to the top one by one, so that neither the depth of the tree nor the length of a
    path matters. A folder that is gone already is fine. What was mounted over it, or inside it, is not the
    run's: the kernel refuses to rename the place of a mount, so everything is renamed before it is touched.

    Raises:
        OSError: Something in the way could not be removed.
    """
    with contextlib.suppress(FileNotFoundError):
        gone = f"{folder}-{secrets.token_hex(8)}"
        os.rename(folder, gone)
        if not stat.S_ISDIR(os.lstat(gone).st_mode):
            os.unlink(gone)
            return
        os.chmod(gone, stat.S_IRWXU)
        top = os.open(gone, _DIRECTORY)
        try:
            _remove_all(top)
        finally:
            os.close(top)
        os.rmdir(gone)


def _remove_all(top: int) -> None:
    token = secrets.token_hex(8)
    names = (f"{token}-{number}" for number in itertools.count())
    todo = _strip(top, top, names)
    while todo:
        name = todo.pop()
        inner = os.open(name, _DIRECTORY, dir_fd=top)
        try:
            todo += _strip(inner, top, names)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=top)


def _strip(place: int, top: int, names: Iterator[str]) -> list[str]:
    """Unlink all but folders, which are made accessible and moved to the top; returns their new names."""
    moved = []
    for entry in os.listdir(place):
        try:
            os.unlink(entry, dir_fd=place)
        except (IsADirectoryError, PermissionError):  # systems differ in what they call it
            name = next(names)
            try:
                os.rename(entry, name, src_dir_fd=place, dst_dir_fd=top)
            except PermissionError:  # a folder is only moved by whom may write into it
                os.chmod(entry, stat.S_IRWXU, dir_fd=place)
                os.rename(entry, name, src_dir_fd=place, dst_dir_fd=top)
            os.chmod(name, stat.S_IRWXU, dir_fd=top)
            moved.append(name)
    return moved
