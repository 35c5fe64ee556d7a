"""What a file declares, as frozen values: no behaviour, no I/O.

The JSON Schemas in ``schemas/`` decide which keys a file may have; a spec has one field per key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from registry.frozen import FrozenDict


@attrs.frozen
class ExampleMessage:
    """An example of a call: its arguments, or the text sent, and the replies it may bring."""

    arguments: FrozenDict | None = None
    text: str | None = None
    replies: tuple[str, ...] = ()


@attrs.frozen
class TioOptions:
    """How to reach a Tio server."""

    url: str = "https://tio.run/cgi-bin/run/api/"
    language: str = "python3"


@attrs.frozen
class PythonOptions:
    """How a ``python`` recipient runs code."""

    backend: str = "auto"
    #: Text with a binary or decimal unit, such as "512MiB".
    memory: str = "512MiB"
    stateful: bool = False
    sandbox: str = "require"
    tio: TioOptions = TioOptions()


@attrs.frozen
class FunctionOptions:
    """Which function a ``function`` recipient calls: ``package.module:name``."""

    call: str


@attrs.frozen
class ClassOptions:
    """Which `Recipient` subclass a ``class`` recipient is: ``package.module:Name``."""

    class_: str


@attrs.frozen
class HttpBody:
    """The body of a request: exactly one of the three forms."""

    #: Fields of a form, each a text with placeholders.
    form: FrozenDict | None = None
    #: ``True``: the arguments not used elsewhere; else a value whose texts have placeholders.
    json: Any = None
    #: A text with placeholders.
    text: str | None = None
    content_type: str | None = None


@attrs.frozen
class HttpOptions:
    """The request an ``http`` recipient makes and what it takes from the response."""

    url: str
    method: str = "GET"
    query: Mapping[str, str] = attrs.field(factory=dict)
    headers: Mapping[str, str] = attrs.field(factory=dict)
    body: HttpBody | None = None
    response: str = "text"
    #: A JSON Pointer into a JSON response.
    select: str | None = None
    follow_redirects: str = "never"
    #: How often to try again after a failure; only idempotent requests are repeated.
    retries: int = 0
    #: Seconds; None means the recipient's ``timeout``.
    connect_timeout: float | None = None
    read_timeout: float | None = None


@attrs.frozen
class CommandOptions:
    """The program a ``command`` recipient starts. Never a shell."""

    argv: tuple[str, ...]
    stdin: str | None = None
    env: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class McpOptions:
    """Which tool of which declared server an ``mcp`` recipient calls."""

    server: str
    tool: str
    on_change: str = "refuse"


Options = PythonOptions | FunctionOptions | ClassOptions | HttpOptions | CommandOptions | McpOptions


@attrs.frozen
class RecipientSpec:
    """One ``[recipients.NAME]`` table."""

    name: str
    kind: str
    #: Empty when the file gives none.
    description: str
    options: Options
    #: JSON Schema of the arguments: declared whole, or made of ``parameters`` and ``required_args``; None
    #: leaves it to the class of a ``class`` recipient.
    input_schema: FrozenDict | None
    api_docs: str = ""
    example_messages: tuple[ExampleMessage, ...] = ()
    #: Seconds a call may take.
    timeout: float | None = None
    #: Bytes of reply text.
    max_output: int | None = None
    #: Whether a call may be repeated without a second effect.
    idempotent: bool = False
    #: Whether calls may run beside others.
    parallel: bool = True
    tags: tuple[str, ...] = ()
    #: Shown name of the file that declares it.
    source: str = attrs.field(default="", eq=False)

    @property
    def required_args(self) -> tuple[str, ...]:
        """Names of the arguments that every call must have."""
        return () if self.input_schema is None else tuple(self.input_schema.get("required", ()))


@attrs.frozen
class ServerSpec:
    """One ``[servers.NAME]`` table: an MCP server, started by a command or reached at a URL."""

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = attrs.field(factory=dict)
    url: str | None = None
    headers: Mapping[str, str] = attrs.field(factory=dict)
    timeout: float | None = None


@attrs.frozen
class InputSpec:
    """One input of a prompt: its JSON Schema and where its value comes from when the caller gives none."""

    name: str
    schema: FrozenDict
    #: `attrs.NOTHING` when there is none. (Given directly, attrs would take that for "no default here".)
    default: Any = attrs.field(factory=lambda: attrs.NOTHING)
    optional: bool = False
    #: ``current_date``, ``api_docs`` or ``recipient_names``.
    provided: str | None = None
    #: Name of the prompt whose text is the value.
    prompt: str | None = None

    @property
    def required(self) -> bool:
        """Whether the caller must give a value."""
        return not self.optional and self.default is attrs.NOTHING and not (self.provided or self.prompt)


@attrs.frozen
class MessageSpec:
    """One message of a prompt, or the slot where the caller's messages go."""

    role: str = ""
    template: str = ""
    #: Name of the slot; such an entry has no role and no template.
    slot: str | None = None
    #: Name of the input whose presence decides whether the message is sent.
    when: str | None = None
    #: Name of the list input that gives one message per item; the template uses it under ``as_``.
    each: str | None = None
    #: The name of one item of ``each`` in the template.
    as_: str | None = None
    #: ``{input}`` that holds an image or a file sent along with the text.
    image: str | None = None
    file: str | None = None


@attrs.frozen
class PromptExample:
    """Values for a prompt and, where given, the exact text of each of its messages."""

    inputs: FrozenDict
    renders: tuple[str, ...] | None = None


@attrs.frozen
class PromptSpec:
    """One ``[prompts.NAME]`` table."""

    name: str
    messages: tuple[MessageSpec, ...]
    description: str = ""
    inputs: tuple[InputSpec, ...] = ()
    recipients: tuple[str, ...] = ()
    examples: tuple[PromptExample, ...] = ()
    version: str = ""
    #: The texts are sent as they are: no placeholder, no section.
    raw: bool = False
    #: White space at both ends of each text is dropped.
    trim: bool = False
    source: str = attrs.field(default="", eq=False)


@attrs.frozen
class RegistrySpec:
    """Everything one root file and its includes declare."""

    recipients: tuple[RecipientSpec, ...] = ()
    prompts: tuple[PromptSpec, ...] = ()
    servers: tuple[ServerSpec, ...] = ()
