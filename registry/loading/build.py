"""Specs to classes and prompts: the last step before the snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.kinds import KINDS
from registry.loading.build_prompts import build_prompts
from registry.manager import RecipientSnapshot
from registry.recipient import RecipientMeta

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Mapping

    from registry.recipient import Recipient
    from registry.specs import RecipientSpec, RegistrySpec, ServerSpec


def build(spec: RegistrySpec, folder: pathlib.Path | None) -> RecipientSnapshot:
    """Build the snapshot that a registry's specs declare. Nothing is imported that the specs name."""
    servers = {server.name: server for server in spec.servers}
    bases = {kind: KINDS[kind].load() for kind in {recipient.kind for recipient in spec.recipients}}
    classes = {
        recipient.name: recipient_class(recipient, bases[recipient.kind], folder, servers)
        for recipient in spec.recipients
    }
    return RecipientSnapshot(classes, build_prompts(spec.prompts, classes), servers)


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
