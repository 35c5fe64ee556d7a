"""The registry of recipients: an immutable snapshot, and a manager that swaps one for the next."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from registry.digests import digest_of, digest_of_recipient, digest_of_texts
from registry.exceptions import DuplicateRecipient, NoSuchRecipient
from registry.prompts import PromptSnapshot
from registry.recipient import Recipient
from registry.suggest import close

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from registry.specs import ServerSpec

    R = TypeVar("R", bound=type[Recipient])

#: What a name stands for: a recipient class, or an instance made by the caller.
Entry = type[Recipient] | Recipient


def _checked(value: object) -> Entry:
    if isinstance(value, Recipient) or (isinstance(value, type) and issubclass(value, Recipient)):
        return value
    raise TypeError(
        f"{value!r} is no recipient: register a subclass of registry.Recipient, or an instance of one"
    )


def _checked_name(name: object) -> str:
    if isinstance(name, str) and name:
        return name
    raise TypeError(f"a recipient's name is a text that is not empty, not {name!r}")


def source_of(entry: Entry) -> str:
    """Say where a recipient comes from: the file that declares it, or its class."""
    kind = entry if isinstance(entry, type) else type(entry)
    if kind.SPEC is not None and kind.SPEC.source:
        return kind.SPEC.source
    return f"{kind.__module__}.{kind.__qualname__}"


class RecipientSnapshot(Mapping[str, Entry]):
    """An immutable registry: recipients by name, in the order of registration, and the prompts beside them.

    Every change returns a new snapshot; equal content means equal snapshots, whatever the order.
    """

    __slots__ = ("_digest", "_entries", "_prompts", "_servers")

    _digest: str | None
    _entries: dict[str, Entry]
    _prompts: PromptSnapshot
    _servers: dict[str, ServerSpec]

    def __init__(
        self,
        entries: Mapping[str, Entry] | None = None,
        prompts: PromptSnapshot | None = None,
        servers: Mapping[str, ServerSpec] | None = None,
    ) -> None:
        checked = {_checked_name(name): _checked(entry) for name, entry in (entries or {}).items()}
        put = super().__setattr__
        put("_entries", checked)
        put("_prompts", PromptSnapshot() if prompts is None else prompts)
        put("_servers", dict(servers or {}))
        put("_digest", None)

    @property
    def prompts(self) -> PromptSnapshot:
        """The prompts declared beside the recipients."""
        return self._prompts

    @property
    def servers(self) -> dict[str, ServerSpec]:
        """A copy of the declared MCP servers by name."""
        return dict(self._servers)

    @property
    def available_recipients(self) -> dict[str, str]:
        """A new dict of each recipient's name and description, in the order of registration."""
        return {name: entry.DESCRIPTION for name, entry in self._entries.items()}

    @property
    def digest(self) -> str:
        """SHA-256 of the content, in hex: unchanged by layout and order, changed by every value."""
        found = self._digest
        if found is None:
            parts = [f"recipient {name} {digest_of_recipient(entry)}" for name, entry in self.items()]
            parts += [f"server {digest_of(spec)}" for spec in self._servers.values()]
            parts.append(f"prompts {self.prompts.digest}")
            found = digest_of_texts(sorted(parts))
            super().__setattr__("_digest", found)
        return found

    def with_recipient(self, name: str, recipient: Entry) -> RecipientSnapshot:
        """Return a snapshot with one more recipient.

        Raises:
            DuplicateRecipient: the name is taken.
            TypeError: it is no recipient.
        """
        return self.with_recipients({name: recipient})

    def with_recipients(self, recipients: Mapping[str, Entry]) -> RecipientSnapshot:
        """Return a snapshot with more recipients; all of them or, on an error, none."""
        for name, entry in recipients.items():
            if name in self._entries:
                raise DuplicateRecipient(name, (source_of(self._entries[name]), source_of(_checked(entry))))
        return self._replaced({**self._entries, **recipients})

    def without(self, *names: str) -> RecipientSnapshot:
        """Return a snapshot without the named recipients.

        Raises:
            NoSuchRecipient: a name is not registered.
        """
        for name in names:
            self[name]
        return self._replaced({name: entry for name, entry in self.items() if name not in names})

    def combine(self, other: RecipientSnapshot) -> RecipientSnapshot:
        """Return a snapshot of both; a name that both have is an error that says where each comes from."""
        joined = self.with_recipients(other)
        clash = next((name for name in other.servers if name in self._servers), None)
        if clash is not None and self._servers[clash] != other.servers[clash]:
            raise DuplicateRecipient(clash, ("servers of both snapshots",))
        return RecipientSnapshot(
            joined, self.prompts.combine(other.prompts), {**self._servers, **other.servers}
        )

    def _replaced(self, entries: Mapping[str, Entry]) -> RecipientSnapshot:
        return RecipientSnapshot(entries, self.prompts, self._servers)

    def __getitem__(self, name: str) -> Entry:
        try:
            return self._entries[name]
        except KeyError:
            raise NoSuchRecipient(name, close(name, self._entries)) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecipientSnapshot):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        names = ", ".join(self)
        return f"<RecipientSnapshot of {len(self)} recipients ({names}), {len(self.prompts)} prompts>"

    def __copy__(self) -> RecipientSnapshot:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> RecipientSnapshot:
        return self

    def _refuse(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise TypeError(
            "a snapshot never changes: with_recipient(), without() and combine() return a new one;"
            " a RecipientManager can be changed in place"
        )

    __setitem__ = __delitem__ = __setattr__ = __delattr__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


class RecipientManager:
    """A registry that can be changed. It holds one snapshot and swaps it for the next.

    Thread-safe: readers never wait and never see half of a change. Names keep the order of registration.
    """

    __slots__ = ("_lock", "_snapshot")

    def __init__(self, snapshot: RecipientSnapshot | None = None) -> None:
        self._lock = threading.Lock()
        self._snapshot = RecipientSnapshot() if snapshot is None else snapshot

    def snapshot(self) -> RecipientSnapshot:
        """Return the current content, which later changes do not touch."""
        return self._snapshot

    def replace(self, snapshot: RecipientSnapshot) -> RecipientSnapshot:
        """Put another snapshot in place at once, such as a reloaded one; return the one before."""
        with self._lock:
            previous, self._snapshot = self._snapshot, snapshot
        return previous

    def register(self, name: str = "") -> Callable[[R], R]:
        """Return a decorator that registers a recipient class under a name (by default its own) as it is.

        Raises:
            DuplicateRecipient: the name is taken.
        """

        def add(recipient: R) -> R:
            self[name or _checked(recipient).RECIPIENT_NAME] = recipient
            return recipient

        return add

    @property
    def available_recipients(self) -> dict[str, str]:
        """A new dict of each recipient's name and description, in the order of registration."""
        return self._snapshot.available_recipients

    def __getitem__(self, name: str) -> Entry:
        return self._snapshot[name]

    def __setitem__(self, name: str, recipient: Entry) -> None:
        with self._lock:
            self._snapshot = self._snapshot.with_recipient(name, recipient)

    def __delitem__(self, name: str) -> None:
        with self._lock:
            self._snapshot = self._snapshot.without(name)

    def __contains__(self, name: object) -> bool:
        return name in self._snapshot

    def __iter__(self) -> Iterator[str]:
        return iter(self._snapshot)

    def __len__(self) -> int:
        return len(self._snapshot)

    def __repr__(self) -> str:
        return f"<RecipientManager of {self._snapshot!r}>"
