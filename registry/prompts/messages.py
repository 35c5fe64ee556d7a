"""One declared message of a prompt, parsed, and what it becomes with values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from registry.exceptions import RenderError
from registry.prompts.rendered import text_of
from registry.prompts.roles import ROLES
from registry.suggest import nearest
from registry.template import Template
from registry.template.parts import Slot, nfc
from registry.template.run import MAX_OUTPUT, Run, is_encodable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.prompts.faults import Faults
    from registry.specs import MessageSpec

Message = dict[str, Any]

#: Values that are printed in another way than Python prints them, or not at all.
_SPECIAL = (bool, list, tuple, dict, bytes, bytearray, memoryview, os.PathLike)
_TOO_MUCH = f"makes messages of more than {MAX_OUTPUT:,} characters"
_WORDS = {True: "true", False: "false", None: "null"}


def _print_declared(slot: Slot, value: Any) -> str:
    """Print a value of a declared prompt: never as Python's own notation."""
    if slot.json:
        return slot.print(value)
    if value is None or isinstance(value, bool):
        return slot.print(_WORDS[value])
    if isinstance(value, _SPECIAL):
        raise TypeError("such a value is printed with !json only")
    return slot.print(value)


def render_declared(template: Template, values: Mapping[str, Any]) -> str:
    """Render with those of the values that the template uses.

    Raises:
        RenderError: As `Template.render`.
    """
    used = {name: values[name] for name in template.variables if name in values}
    if any(isinstance(value, _SPECIAL) for value in used.values()):
        return Run(template.variables, used, printer=_print_declared).render(template.nodes)
    return template.render(used)


@attrs.frozen
class MessageTemplate:
    """A declared message with its texts parsed, when they are first needed.

    Raises:
        TemplateError: A text is no template; at first use.
    """

    spec: MessageSpec
    raw: bool = False
    trim: bool = False

    @cached_property
    def template(self) -> Template | None:
        """The text; None when it is sent as it is."""
        return None if self.raw else Template(self.spec.template)

    @cached_property
    def media(self) -> tuple[tuple[str, Template], ...]:
        """The image and the file sent along: what it is, and where its value comes from."""
        declared = (("image", self.spec.image), ("file", self.spec.file))
        return tuple((kind, Template(text)) for kind, text in declared if text is not None)

    @property
    def media_inputs(self) -> tuple[str, ...]:
        """Names of the inputs that are sent along as an image or file of their own."""
        names = [name for _, template in self.media if (name := _whole(template))]
        return tuple(
            nfc(self.spec.each or "") if name == nfc(self.spec.as_ or "") else name for name in names
        )

    def render(self, values: Mapping[str, Any], faults: Faults) -> Iterator[Message]:
        """Yield the message, or one for each item, or none; faults are noted."""
        spec = self.spec
        if spec.when is not None and values.get(nfc(spec.when)) is None:
            return
        if spec.each is None:
            yield from self._one(values, faults)
            return
        items = values.get(nfc(spec.each), ())
        if not isinstance(items, (list, tuple)):
            faults.add(
                "wrong-type",
                nfc(spec.each),
                f"{spec.each!r} must be a list: there is a message for each item",
            )
            return
        size = 0
        for item in items:
            for message in self._one({**values, nfc(spec.as_ or ""): item}, faults):
                size += len(text_of(message["content"]))
                yield message
            if size > MAX_OUTPUT:
                faults.add("wrong-type", nfc(spec.each), f"{spec.each!r} {_TOO_MUCH}")
                return

    def _one(self, values: Mapping[str, Any], faults: Faults) -> Iterator[Message]:
        content: Any = self._text(values, faults)
        parts = [part for kind, template in self.media for part in self._part(kind, template, values, faults)]
        if parts:
            content = [*([{"type": "text", "text": content}] if content else []), *parts]
        yield {"role": self.spec.role, "content": content}

    def _text(self, values: Mapping[str, Any], faults: Faults) -> str:
        text = self.spec.template
        if self.template is not None:
            try:
                text = render_declared(self.template, values)
            except RenderError as error:
                faults.absorb(self._renamed(error))
        return text.strip() if self.trim else text

    def _renamed(self, error: RenderError) -> RenderError:
        """Name the list at fault, not the name that its items have in the template."""
        spec = self.spec
        if spec.each is None or spec.as_ is None:
            return error
        names = [nfc(spec.each) if name == nfc(spec.as_) else name for name in error.names]
        return RenderError(error.code, f"{spec.each!r}: {error.message}", names)

    def _part(
        self, kind: str, template: Template, values: Mapping[str, Any], faults: Faults
    ) -> Iterator[Message]:
        from registry.prompts.media import media_part

        name = _whole(template)
        try:
            value = values.get(name) if name else render_declared(template, values)
            if value is not None:
                yield media_part(kind, value)
        except RenderError as error:
            faults.absorb(self._renamed(error))
        except ValueError as error:
            at_fault = name or next(iter(template.variables), "")
            owner = self.spec.each if at_fault == self.spec.as_ and self.spec.each else at_fault
            faults.add("wrong-type", nfc(owner), f"{owner!r} {error}")


def _whole(template: Template) -> str:
    """Return the name of the one input that a text is, when it is nothing else."""
    node = template.nodes[0] if len(template.nodes) == 1 else None
    return node.name if isinstance(node, Slot) and node == Slot(node.name) else ""


def slot_messages(name: str, messages: Iterable[Mapping[str, Any]], faults: Faults) -> list[Message]:
    """Return the caller's messages for a slot, as they are; what is no message is noted."""
    found: list[Message] = []
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Iterable):
        faults.add("wrong-type", name, f"slot {name!r} must be a list of messages")
        return found
    for index, message in enumerate(messages):
        code, problem = _problem_of(message)
        if problem:
            faults.add(code, name, f"slot {name!r}[{index}] {problem}")
        else:
            found.append({"content": None, **message})
    return found


def _problem_of(message: object) -> tuple[str, str]:
    if not isinstance(message, Mapping):
        return "wrong-type", f"must be a message, not {type(message).__name__}"
    role, content = message.get("role"), message.get("content")
    if role not in ROLES:
        near = nearest(role, ROLES) if isinstance(role, str) else None
        meant = f"did you mean {near!r}?" if near else f"use one of: {', '.join(ROLES)}"
        return "wrong-type", f"has no known role: {meant}"
    texts: list[Any] = [content]
    if content is None and "tool_calls" in message:
        texts = []
    elif isinstance(content, (list, tuple)) and all(isinstance(part, Mapping) for part in content):
        texts = [part.get("text", None if part.get("type") == "text" else "") for part in content]
        if any("data" in part and not isinstance(part.get("mime_type"), str) for part in content):
            return "wrong-type", "has a part with data that does not say its mime_type"
    if not all(isinstance(text, str) for text in texts):
        return "wrong-type", "must have a content: a text or a list of parts"
    if not all(map(is_encodable, texts)):
        return "not-utf8", "has a lone surrogate, which is no character"
    return "", ""
