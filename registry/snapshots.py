"""What the snapshot of recipients and that of prompts share: an immutable mapping, equal by content."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeVar

from registry.digests import digest_of_texts
from registry.suggest import close

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.exceptions import RegistryError

V = TypeVar("V")


class Snapshot(Mapping[str, V]):
    """An immutable mapping of names to values, in the order of declaration.

    Every change returns a new snapshot; equal content means equal snapshots, whatever the order.
    """

    __slots__ = ("_digest", "_entries")

    #: What one value is called.
    WHAT: ClassVar[str]
    #: What is raised for a name that is not there, with close names, and for one that is taken, with sources.
    MISSING: ClassVar[type[RegistryError]]
    TAKEN: ClassVar[type[RegistryError]]
    #: What to call instead of changing it.
    ADVICE: ClassVar[str]

    _digest: str | None
    _entries: Mapping[str, V]

    def __init__(self, entries: Mapping[str, V] | None = None) -> None:
        checked = {self._checked_name(name): self._checked(value) for name, value in (entries or {}).items()}
        self._put("_entries", checked)
        self._put("_digest", None)

    @classmethod
    @abc.abstractmethod
    def _checked(cls, value: V) -> V:
        """Return the value if it is one that this snapshot holds, else raise TypeError."""

    @classmethod
    @abc.abstractmethod
    def _source(cls, value: V) -> str:
        """Say where a value comes from; empty when nobody knows."""

    @abc.abstractmethod
    def _parts(self) -> list[str]:
        """Return the texts that make up the content, in any order."""

    @abc.abstractmethod
    def _replaced(self, entries: Mapping[str, V]) -> Self:
        """Return a snapshot with other entries and all else the same."""

    @property
    def digest(self) -> str:
        """SHA-256 of the content, in hex: unchanged by layout and order, changed by every value."""
        found = self._digest
        if found is None:
            found = digest_of_texts(sorted(self._parts()))
            self._put("_digest", found)
        return found

    def without(self, *names: str) -> Self:
        """Return a snapshot without the named values.

        Raises:
            NoSuchRecipient, NoSuchPrompt: a name is not there.
        """
        for name in names:
            self[name]
        return self._replaced({name: value for name, value in self.items() if name not in names})

    def _with(self, more: Mapping[str, V]) -> Self:
        for name, value in more.items():
            if name in self._entries:
                sources = (self._source(self._entries[name]), self._source(self._checked(value)))
                raise self.TAKEN(name, filter(None, sources))
        return self._replaced({**self._entries, **more})

    def _checked_name(self, name: object) -> str:
        if isinstance(name, str) and name:
            return name
        raise TypeError(f"a {self.WHAT}'s name is a text that is not empty, not {name!r}")

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __getitem__(self, name: str) -> V:
        try:
            return self._entries[name]
        except KeyError:
            raise self.MISSING(name, close(name, self._entries)) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Snapshot) or type(other) is not type(self):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        return self

    def _refuse(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise TypeError(f"a snapshot never changes: {self.ADVICE}")

    __setitem__ = __delitem__ = __setattr__ = __delattr__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse
