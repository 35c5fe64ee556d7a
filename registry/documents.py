"""What reading a file yields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Mapping


@attrs.frozen(eq=False)
class Document:
    """One file: its text and the data that the text declares. Neither is changed after reading.

    A template file is a document too; its data is its text.
    """

    #: The file's name as shown to people: as given on the command line, or joined to that for an include.
    name: str
    #: Decoded, without a byte-order mark, line ends as LF.
    text: str
    data: Any
    #: None for text that came from no file.
    path: pathlib.Path | None = None
    #: The template files it names, by the name it gives them.
    templates: Mapping[str, Document] = attrs.field(factory=dict)


@attrs.frozen(eq=False)
class Sources:
    """All documents of one registry: the root first, then its includes in the order they were reached."""

    documents: tuple[Document, ...]
    #: The folder that includes and template files must stay inside; modules of functions are found there too.
    folder: pathlib.Path | None = None

    @property
    def root(self) -> Document:
        """The document that includes the others."""
        return self.documents[0]
