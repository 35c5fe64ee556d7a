"""Declared prompts and the snapshot that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from registry.digests import digest_of, digest_of_texts
from registry.exceptions import DuplicatePrompt, NoSuchPrompt
from registry.frozen import thaw
from registry.prompts.faults import Faults
from registry.prompts.messages import MessageTemplate, slot_messages
from registry.prompts.rendered import RenderedPrompt, text_of
from registry.prompts.values import checked, complete, given, is_media, note_unexpected
from registry.snapshots import Snapshot
from registry.suggest import close
from registry.template.parts import nfc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from registry.schema_check import Checker
    from registry.specs import InputSpec, PromptSpec

#: What a prompt can be given by the registry: name of the source -> function of the input that asks.
Providers = Mapping[str, "Callable[[InputSpec], Any]"]


@attrs.frozen(eq=False, repr=False)
class Prompt:
    """A declared prompt. Equal by content; never changes.

    It does not read its templates before they are needed: what comes from a checked file is in order, and in
    a prompt made by hand `TemplateError` is raised by the first use.
    """

    spec: PromptSpec
    #: The prompts whose text it includes, by name.
    included: Mapping[str, Prompt] = attrs.field(factory=dict)
    #: What fills its ``provided`` inputs.
    providers: Providers = attrs.field(factory=dict)
    #: The recipients it goes with, by name: those it names, or all when it names none.
    recipients: Mapping[str, Any] = attrs.field(factory=dict)
    #: Compiled schemas of the inputs, by name; filled at first use.
    _checkers: dict[str, Checker] = attrs.field(init=False, factory=dict)

    @property
    def name(self) -> str:
        """The name it was declared under."""
        return self.spec.name

    @property
    def description(self) -> str:
        """What it is for."""
        return self.spec.description

    @property
    def version(self) -> str:
        """The name of this state of the prompt, as declared."""
        return self.spec.version

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content, included prompts too, in hex: changed by every value, not by layout."""
        others = [f"{name} {prompt.digest}" for name, prompt in sorted(self.included.items())]
        return digest_of_texts([digest_of(self.spec), *others])

    @cached_property
    def inputs(self) -> tuple[InputSpec, ...]:
        """Its inputs, and those of the prompts it includes that it does not declare itself."""
        found = {nfc(item.name): item for item in self.spec.inputs}
        for prompt in self._inclusions.values():
            for item in prompt.inputs:
                found.setdefault(nfc(item.name), item)
        return tuple(found.values())

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Names of the places where the caller's messages go."""
        return tuple(
            dict.fromkeys(message.slot for message in self.spec.messages if message.slot is not None)
        )

    @cached_property
    def _own(self) -> dict[str, InputSpec]:
        """Its own inputs by name; other prompts' texts last, for they may use the values of any other."""
        ordered = sorted(self.spec.inputs, key=lambda item: item.prompt is not None)
        return {nfc(item.name): item for item in ordered}

    @cached_property
    def media_inputs(self) -> tuple[str, ...]:
        """Names of the inputs that hold an image or a file."""
        found = (name for message in self._messages for name in message.media_inputs)
        return tuple(dict.fromkeys(found))

    @cached_property
    def _messages(self) -> tuple[MessageTemplate, ...]:
        return tuple(
            MessageTemplate(message, self.spec.raw, self.spec.trim) for message in self.spec.messages
        )

    @cached_property
    def _inclusions(self) -> dict[str, Prompt]:
        """The included prompts by the input that they fill."""
        found = {}
        for item in self.spec.inputs:
            if item.prompt is not None:
                if item.prompt not in self.included:
                    raise NoSuchPrompt(item.prompt, close(item.prompt, self.included))
                found[nfc(item.name)] = self.included[item.prompt]
        return found

    def render(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        history: Iterable[Mapping[str, Any]] | None = None,
        slots: Mapping[str, Iterable[Mapping[str, Any]]] | None = None,
    ) -> RenderedPrompt:
        """Return the messages with the values put in.

        Defaults are applied first, then every value is checked, then the texts are made. None means that a
        value is not given.

        Args:
            values: One mapping from input names to values.
            history: The caller's messages for the slot ``history``.
            slots: The caller's messages for any slot, by its name. A slot that gets none is empty.

        Raises:
            RenderError: Whatever is missing, unknown or does not fit, all of it in one error.
        """
        faults = Faults()
        asked = given(values)
        filled = self._filled(asked, faults)
        placed = self._placed(history, slots, faults)
        if asked.keys() - self._own.keys():
            note_unexpected(asked, [nfc(item.name) for item in self.inputs], faults)
        faults.raise_for(f"prompt {self.name!r}")
        messages: list[Mapping[str, Any]] = []
        for message in self._messages:
            if message.spec.slot is None:
                messages.extend(message.render(filled, faults))
            else:
                messages.extend(placed.get(message.spec.slot, ()))
        faults.raise_for(f"prompt {self.name!r}")
        return RenderedPrompt(messages)

    def _filled(self, asked: Mapping[str, Any], faults: Faults) -> dict[str, Any]:
        """Complete and check the values of the prompt's own inputs."""

        def fill(item: InputSpec, found: Mapping[str, Any]) -> Any:
            if item.prompt is None:
                return self._provided(item, faults)
            return self._inclusions[nfc(item.name)].include({**asked, **found}, faults)

        completed = complete(self._own, asked, fill, faults)
        return {name: self._checked(self._own[name], value, faults) for name, value in completed.items()}

    def include(self, values: Mapping[str, Any], faults: Faults) -> str:
        """Return the text of its messages, joined by blank lines, for use inside another prompt."""
        filled = self._filled(values, faults)
        plain = (message for message in self._messages if message.spec.slot is None)
        return "\n\n".join(
            text_of(made["content"]) for message in plain for made in message.render(filled, faults)
        )

    def _provided(self, item: InputSpec, faults: Faults) -> Any:
        provider = self.providers.get(item.provided or "")
        if provider is not None:
            return provider(item)
        text = f"no value for {item.name!r}: nothing here provides {item.provided!r}"
        faults.add("missing-input", nfc(item.name), text)
        return None

    def _checked(self, item: InputSpec, value: Any, faults: Faults) -> Any:
        if nfc(item.name) in self.media_inputs and is_media(value):
            return value
        return checked(item, value, self._checker(item), faults)

    def _checker(self, item: InputSpec) -> Checker:
        checker = self._checkers.get(item.name)
        if checker is None:
            from registry import schema_check

            checker = self._checkers[item.name] = schema_check.compile(thaw(item.schema))
        return checker

    def _placed(
        self,
        history: Iterable[Mapping[str, Any]] | None,
        slots: Mapping[str, Iterable[Mapping[str, Any]]] | None,
        faults: Faults,
    ) -> dict[str, list[dict[str, Any]]]:
        wanted = dict(slots or {})
        if history is not None:
            wanted["history"] = history
        for name in wanted:
            if name not in self.slots:
                faults.add("unexpected-input", name, f"there is no slot {name!r}")
        return {name: slot_messages(name, messages, faults) for name, messages in wanted.items()}

    def bind(self, values: Mapping[str, Any]) -> Prompt:
        """Return a prompt with these values as the defaults of its inputs; they may still be given.

        Raises:
            RenderError: A value is of no input, or does not fit.
        """
        faults = Faults()
        asked = given(values)
        specs = {nfc(item.name): item for item in self.inputs}
        note_unexpected(asked, list(specs), faults)
        bound = {name for name, value in asked.items() if value is not None and name in specs}
        for name in bound:
            value = self._checked(specs[name], asked[name], faults)
            specs[name] = attrs.evolve(specs[name], default=value)
        faults.raise_for(f"prompt {self.name!r}")
        own = {nfc(item.name) for item in self.spec.inputs}
        inputs = tuple(item for name, item in specs.items() if name in own or name in bound)
        return attrs.evolve(self, spec=attrs.evolve(self.spec, inputs=inputs))

    def tools(self, target: str, recipients: Mapping[str, Any] | None = None) -> Any:
        """Return the recipients it goes with in the shape of an export target, such as ``openai``.

        Args:
            target: A target of `registry.export`.
            recipients: Where to take them from instead of the registry it was loaded with.

        Raises:
            NoSuchRecipient: It names one that is not there.
            ExportRefused: One cannot be said in the target's shape.
        """
        from registry.exporters import export

        known = self.recipients if recipients is None else recipients
        return export({name: known[name] for name in self.spec.recipients or known}, target)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prompt):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        inputs = ", ".join(item.name for item in self.inputs)
        return f"<Prompt {self.name}({inputs})>"


class PromptSnapshot(Snapshot[Prompt]):
    """Immutable prompts by name, in the order of declaration. Every change returns a new snapshot."""

    __slots__ = ()

    WHAT = "prompt"
    MISSING = NoSuchPrompt
    TAKEN = DuplicatePrompt
    ADVICE = "with_prompt(), without() and combine() return a new one"

    def with_prompt(self, name: str, prompt: Prompt) -> PromptSnapshot:
        """Return a snapshot with one more prompt.

        Raises:
            DuplicatePrompt: The name is taken.
            TypeError: It is no prompt.
        """
        return self._with({name: prompt})

    def with_prompts(self, prompts: Mapping[str, Prompt]) -> PromptSnapshot:
        """Return a snapshot with more prompts; all of them or, on an error, none."""
        return self._with(prompts)

    def combine(self, other: PromptSnapshot) -> PromptSnapshot:
        """Return a snapshot of both.

        Raises:
            DuplicatePrompt: Both have a name; the error says where each comes from.
        """
        return self._with(other)

    @classmethod
    def _checked(cls, value: Prompt) -> Prompt:
        if isinstance(value, Prompt):
            return value
        raise TypeError(f"{value!r} is no prompt: make one with registry.Prompt(spec)")

    @classmethod
    def _source(cls, value: Prompt) -> str:
        return value.spec.source

    def _parts(self) -> list[str]:
        return [f"{name} {prompt.digest}" for name, prompt in self.items()]

    def _replaced(self, entries: Mapping[str, Prompt]) -> PromptSnapshot:
        return PromptSnapshot(entries)

    def __repr__(self) -> str:
        return f"<PromptSnapshot of {len(self)} prompts ({', '.join(self)})>"
