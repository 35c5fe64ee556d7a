"""``recipients check --import``: import the functions and classes that a registry names, because asked to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from registry.diagnostics import Fault, Report
from registry.exceptions import RecipientFailed
from registry.import_paths import import_object
from registry.loading.locate import locate
from registry.loading.read import read
from registry.recipient import Recipient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents import Document, Sources

#: Kind -> the key that names what to import.
_KEYS = {"class": "class", "function": "call"}


def import_report(path: str) -> Report:
    """Import everything that the registry at a path names, and report what cannot be imported."""
    sources, _ = read(path)
    faults = [fault for document in sources.documents for fault in _faults(document, sources)]
    return Report(locate(faults), sources={doc.name: doc.text for doc in sources.documents} if faults else {})


def _faults(document: Document, sources: Sources) -> Iterator[Fault]:
    for name, key, wanted in _named(document.data):
        try:
            found = import_object(wanted, sources.folder)
        except RecipientFailed as error:
            yield Fault("bad-import-path", str(error), document, ("recipients", name, key))
            continue
        message = ""
        if key == "class" and not (isinstance(found, type) and issubclass(found, Recipient)):
            message = f"{wanted} is no subclass of registry.Recipient"
        elif not callable(found):
            message = f"{wanted} is a {type(found).__name__}, which cannot be called"
        if message:
            yield Fault("bad-import-path", message, document, ("recipients", name, key))


def _named(data: Any) -> Iterator[tuple[str, str, str]]:
    recipients = data.get("recipients") if isinstance(data, dict) else None
    for name, table in recipients.items() if isinstance(recipients, dict) else ():
        key = _KEYS.get(str(table.get("kind"))) if isinstance(table, dict) else None
        if key is not None and isinstance(table.get(key), str):
            yield name, key, table[key]
