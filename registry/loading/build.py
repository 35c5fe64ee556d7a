"""Specs to classes and prompts: the last step before the snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from registry.kinds import KINDS
from registry.loading.build_prompts import build_prompts
from registry.manager import RecipientSnapshot
from registry.recipient import RecipientMeta

if TYPE_CHECKING:
    import pathlib

    from registry.recipient import Recipient
    from registry.specs import RecipientSpec, RegistrySpec, ServerSpec


def build(spec: RegistrySpec, folder: pathlib.Path | None) -> RecipientSnapshot:
    """Build the snapshot that a registry's specs declare. Nothing is imported that the specs name."""
    servers = {server.name: server for server in spec.servers}
    classes = Classes(spec.recipients, folder, servers)
    return RecipientSnapshot.declared(classes, build_prompts(spec.prompts, classes), servers)


class Classes(Mapping[str, "type[Recipient]"]):
    """The classes of declared recipients, each made when it is first asked for and the same from then on.

    Most programs call a few recipients of many, and a class takes as long to make as a declaration to lint
    and to structure.
    """

    __slots__ = ("_bases", "_folder", "_made", "_servers", "_specs")

    def __init__(
        self,
        specs: tuple[RecipientSpec, ...],
        folder: pathlib.Path | None,
        servers: Mapping[str, ServerSpec],
    ) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self._bases = {kind: KINDS[kind].load() for kind in {spec.kind for spec in specs}}
        self._folder = folder
        self._servers = servers
        self._made: dict[str, type[Recipient]] = {}

    def __getitem__(self, name: str) -> type[Recipient]:
        made = self._made.get(name)
        if made is None:
            spec = self._specs[name]
            new = recipient_class(spec, self._bases[spec.kind], self._folder, self._servers)
            made = self._made.setdefault(name, new)  # another thread may have been quicker
        return made

    def __contains__(self, name: object) -> bool:
        return name in self._specs

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)


def recipient_class(
    spec: RecipientSpec,
    base: type[Recipient],
    folder: pathlib.Path | None = None,
    servers: Mapping[str, ServerSpec] | None = None,
) -> type[Recipient]:
    """Make the class of one declared recipient: a subclass of its kind's class with the spec's constants.

    No attrs code is generated for it: that would cost more than all the rest of a load.
    """
    namespace = {"__module__": base.__module__, "__slots__": (), "FOLDER": folder, "SERVERS": servers or {}}
    made: type[Recipient] = RecipientMeta(spec.name, (base,), namespace, spec=spec)  # type: ignore[assignment]
    return made
