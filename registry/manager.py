"""The registry of recipients: an immutable snapshot, and a manager that swaps one for the next."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from registry.digests import digest_of, digest_of_recipient
from registry.exceptions import DuplicateRecipient, NoSuchRecipient
from registry.prompts.prompt import PromptSnapshot
from registry.recipient import Recipient
from registry.snapshots import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeVar

    from registry.specs import ServerSpec

    R = TypeVar("R", bound=type[Recipient])

#: What a name stands for: a recipient class, or an instance made by the caller.
Entry = type[Recipient] | Recipient


def source_of(entry: Entry) -> str:
    """Say where a recipient comes from: the file that declares it, or its class."""
    kind = entry if isinstance(entry, type) else type(entry)
    if kind.SPEC is not None and kind.SPEC.source:
        return kind.SPEC.source
    return f"{kind.__module__}.{kind.__qualname__}"


class RecipientSnapshot(Snapshot[Entry]):
    """An immutable registry: recipients by name, in the order of registration, and the prompts beside them.

    Every change returns a new snapshot; equal content means equal snapshots, whatever the order.
    """

    __slots__ = ("_prompts", "_servers")

    WHAT = "recipient"
    MISSING = NoSuchRecipient
    TAKEN = DuplicateRecipient
    ADVICE = (
        "with_recipient(), without() and combine() return a new one;"
        " a RecipientManager can be changed in place"
    )

    _prompts: PromptSnapshot
    _servers: dict[str, ServerSpec]

    def __init__(
        self,
        entries: Mapping[str, Entry] | None = None,
        prompts: PromptSnapshot | None = None,
        servers: Mapping[str, ServerSpec] | None = None,
    ) -> None:
        super().__init__(entries)
        self._put("_prompts", PromptSnapshot() if prompts is None else prompts)
        self._put("_servers", dict(servers or {}))

    @classmethod
    def declared(
        cls,
        classes: Mapping[str, type[Recipient]],
        prompts: PromptSnapshot,
        servers: Mapping[str, ServerSpec],
    ) -> RecipientSnapshot:
        """Return the snapshot of a file that was checked: nothing is looked at before it is asked for."""
        snapshot = cls(None, prompts, servers)
        snapshot._put("_entries", classes)
        return snapshot

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

    def with_recipient(self, name: str, recipient: Entry) -> RecipientSnapshot:
        """Return a snapshot with one more recipient.

        Raises:
            DuplicateRecipient: the name is taken.
            TypeError: it is no recipient.
        """
        return self._with({name: recipient})

    def with_recipients(self, recipients: Mapping[str, Entry]) -> RecipientSnapshot:
        """Return a snapshot with more recipients; all of them or, on an error, none."""
        return self._with(recipients)

    def combine(self, other: RecipientSnapshot) -> RecipientSnapshot:
        """Return a snapshot of both; a name that both have is an error that says where each comes from."""
        joined = self.with_recipients(other)
        clash = next((name for name in other.servers if name in self._servers), None)
        if clash is not None and self._servers[clash] != other.servers[clash]:
            raise DuplicateRecipient(clash, ("servers of both snapshots",))
        return RecipientSnapshot(
            joined, self.prompts.combine(other.prompts), {**self._servers, **other.servers}
        )

    @classmethod
    def _checked(cls, value: Entry) -> Entry:
        if isinstance(value, Recipient) or (isinstance(value, type) and issubclass(value, Recipient)):
            return value
        raise TypeError(
            f"{value!r} is no recipient: register a subclass of registry.Recipient, or an instance of one"
        )

    @classmethod
    def _source(cls, value: Entry) -> str:
        return source_of(value)

    def _parts(self) -> list[str]:
        parts = [f"recipient {name} {digest_of_recipient(entry)}" for name, entry in self.items()]
        parts += [f"server {digest_of(spec)}" for spec in self._servers.values()]
        return [*parts, f"prompts {self.prompts.digest}"]

    def _replaced(self, entries: Mapping[str, Entry]) -> RecipientSnapshot:
        return RecipientSnapshot(entries, self._prompts, self._servers)

    def __repr__(self) -> str:
        names = ", ".join(self)
        return f"<RecipientSnapshot of {len(self)} recipients ({names}), {len(self.prompts)} prompts>"


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
            self[name or RecipientSnapshot._checked(recipient).RECIPIENT_NAME] = recipient  # noqa: SLF001 - its own kind of check
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
