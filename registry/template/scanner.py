"""Reads the text of a template once, in linear time, and says everything there is to know about it.

The scanner walks from brace to brace. A brace opens a placeholder or a section only when it spells one
exactly; every other brace is text. Literal braces are balanced with a stack: a literal ``{`` is closed by one
``}``, a literal ``{{`` by ``}}``, so JSON may be pasted as it is or with its braces doubled.
"""

from __future__ import annotations

import re
from typing import ClassVar

import attrs

from registry.diagnostics import Severity
from registry.template.format_spec import SPEC_AND_END, is_usable
from registry.template.parts import Each, If, Node, Placeholder, Problem, Scan, Slot, nfc

#: How deep sections may stand inside each other.
MAX_DEPTH = 16

#: How far (in code points) the end of a faulty placeholder is looked for, so that reading stays linear.
_WINDOW = 400

#: Letters, digits, underscores and all that is not ASCII. (Said by what they are not: Python takes
#: milliseconds to compile a range up to the last character.)
_NAME = r"[^\x00-/:-@\[-^`{-\x7f]++"
_SPECIAL = re.compile(r"\{\{|\{([A-Za-z_][A-Za-z0-9_]*+)\}|\{|\}")
_BRACE = re.compile(r"[{}]")
_NAMED = re.compile(_NAME)
_ACCESS = re.compile(r"(?:\.\w++|\[[^\[\]{}]*+\])++(?=[}!:])")
_SECTION = re.compile(
    rf"\{{(?:#if ({_NAME})|#each ({_NAME}) as ({_NAME})|(#else)|(/if)|(/each))\}}",
)
_LOOKS = re.compile(
    r"\{(?:"
    rf"\s++{_NAME}\s*+|{_NAME}\s++"  # { name }
    rf"|{_NAME}(?:-{_NAME})+"  # {first-name}
    r"|(?<![\w}\])\\^]\{)[0-9]++"  # {0}, but neither x^{2} nor \d{3}
    rf"|(?![0-9]){_NAME}[.\[|(][^{{}};=\s]{{0,80}}"  # {user.name()} {name|upper}
    r"|\s*+[#/]\s*+(?:if|else|elif|each|endif|end)\b[^{}\n]{0,80}"  # {# if x}
    r")\}"
)
_PLACEHOLDERS = "a placeholder is an identifier in braces without spaces"
_SECTIONS = "sections are {#if x}...{#else}...{/if} and {#each xs as x}...{/each}"
_SURROGATES = re.compile("[\ud800-\udfff]+")


def scan(text: str) -> Scan:
    """Read a template; never raises, whatever the text."""
    return _Scanner(text).run()


@attrs.define
class _Section:
    """A section that is being read; the outermost one is the template itself."""

    kind: str = ""
    start: int = 0
    end: int = 0
    name: str = ""
    item: str = ""
    guards: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    nodes: list[Node] = attrs.field(factory=list)
    then: list[Node] | None = None
    #: Its close came too early, inside an inner section, and was reported there.
    crossed: bool = False

    def node(self) -> Node:
        if self.kind == "each":
            return Each(self.name, self.item, _merged(self.nodes))
        if self.then is None:
            return If(self.name, _merged(self.nodes), ())
        return If(self.name, _merged(self.then), _merged(self.nodes))


def _merged(nodes: list[Node]) -> tuple[Node, ...]:
    """Join neighbouring texts."""
    merged: list[Node] = []
    pending: list[str] = []
    for node in nodes:
        if isinstance(node, str):
            pending.append(node)
            continue
        if pending:
            merged.append("".join(pending))
            pending.clear()
        merged.append(node)
    if pending:
        merged.append("".join(pending))
    return tuple(merged)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.last_close = text.rfind("}")
        self.problems: list[Problem] = []
        self.placeholders: list[Placeholder] = []
        self.sections = [_Section()]
        #: Open sections beyond the allowed depth; they are counted, not read.
        self.beyond = 0
        self.guards: tuple[str, ...] = ()
        self.loops: tuple[str, ...] = ()
        self.lists: tuple[str, ...] = ()
        #: Literal braces not yet closed: the offset of a single one, -1 for a doubled one.
        self.open: list[int] = []
        self.singles = 0

    def run(self) -> Scan:
        text, position = self.text, 0
        while match := _SPECIAL.search(text, position):
            start = match.start()
            if start > position:
                self.sections[-1].nodes.append(text[position:start])
            if name := match[1]:
                position = self._slot(name, start, match.end())
            elif text[start] == "}":
                position = self._close(start)
            elif match.end() - start == 2:
                self.open.append(-1)
                position = self._text("{", match.end())
            else:
                position = self._form(start) or self._single(start)
        if position < len(text):
            self.sections[-1].nodes.append(text[position:])
        self._finish()
        problems = tuple(sorted(self.problems, key=lambda problem: problem.start))
        return Scan(text, _merged(self.sections[0].nodes), problems, tuple(self.placeholders))

    def _finish(self) -> None:
        for section in self.sections[1:]:
            if not section.crossed:
                message = f"{{#{section.kind} {section.name}}} is never closed"
                hint = f"close it with {{/{section.kind}}}"
                self._error("unclosed-section", message, section.start, section.end, hint)
        for start in self.open:
            if start >= 0:
                self._unbalanced(start, "'{' is never closed")
        if not self.text.isascii():
            for match in _SURROGATES.finditer(self.text):
                message = f"lone surrogate U+{ord(match[0][0]):04X} is no character"
                self._error("not-utf8", message, *match.span(), "remove it: it cannot be sent as UTF-8")

    # Literal braces.

    def _text(self, brace: str, end: int) -> int:
        self.sections[-1].nodes.append(brace)
        return end

    def _single(self, start: int) -> int:
        if match := _LOOKS.match(self.text, start):
            shown = match[0] if len(match[0]) <= 40 else match[0][:37] + "...}"
            message = f"{shown!r} is text, but looks like a placeholder"
            known = _SECTIONS if match[0].lstrip("{ ").startswith(("#", "/")) else _PLACEHOLDERS
            hint = f"{known}; double the braces if text is meant"
            problem = Problem("looks-like-placeholder", message, *match.span(), hint, Severity.WARNING)
            self.problems.append(problem)
        self.open.append(start)
        self.singles += 1
        return self._text("{", start + 1)

    def _close(self, start: int) -> int:
        doubled = self.text.startswith("}}", start)
        if self.open and self.open[-1] < 0 and doubled:
            self.open.pop()
            return self._text("}", start + 2)
        if self.singles and (self.open[-1] >= 0 or not doubled):
            while self.open.pop() < 0:  # an escaped brace need not be closed
                pass
            self.singles -= 1
        elif doubled:
            return self._text("}", start + 2)
        else:
            self._unbalanced(start, "'}' closes nothing")
        return self._text("}", start + 1)

    # Placeholders.

    def _form(self, start: int) -> int:
        """Read what a lone brace opens; 0 when it is only text."""
        text = self.text
        match = _NAMED.match(text, start + 1)
        if not match:
            return self._section(start) if text.startswith(("#", "/"), start + 1) else 0
        name, end = match[0], match.end()
        if not name.isidentifier() or self.last_close < end:
            return 0
        read = self._AFTER_NAME.get(text[end])
        return read(self, name, start, end) if read else 0

    def _plain(self, name: str, start: int, end: int) -> int:
        return self._slot(nfc(name), start, end + 1)

    def _access(self, name: str, start: int, end: int) -> int:
        match = _ACCESS.match(self.text, end)
        if not match:
            return 0
        flat = re.sub(r"\W+", "_", name + match[0]).strip("_")
        message = f"{{{name}{match[0]}}} reaches into a value"
        hint = f"declare an input {flat} and write {{{flat}}}"
        return self._faulty("attribute-access", message, name, start, hint)

    def _slot(self, name: str, start: int, end: int, spec: str = "", json: bool = False) -> int:
        self._use(name, start, end, "value", spec, json)
        self.sections[-1].nodes.append(Slot(name, spec, json))
        return end

    def _use(self, name: str, start: int, end: int, form: str, spec: str = "", json: bool = False) -> None:
        role = "item" if name in self.loops else form
        self.placeholders.append(
            Placeholder(name, start, end, spec, json, self.guards, self.loops, role, self.lists, form),
        )

    def _formatted(self, name: str, start: int, end: int) -> int:
        match = SPEC_AND_END.match(self.text, end + 1)
        if match and is_usable(match[0]):
            return self._slot(nfc(name), start, match.end() + 1, match[0])
        message = f"{{{name}:...}} has no format from the list of allowed ones"
        hint = (
            "allowed: [[fill]align][sign][0][width up to 999][, or _][.precision up to 99][type]; "
            "if text is meant, double the braces: {{ }}"
        )
        return self._faulty("bad-format-spec", message, name, start, hint)

    def _converted(self, name: str, start: int, end: int) -> int:
        if self.text.startswith("!json}", end):
            return self._slot(nfc(name), start, end + 6, json=True)
        message = f"{{{name}!...}} has an unknown conversion; the only one is !json"
        hint = f"write {{{name}}} or {{{name}!json}}; if text is meant, double the braces: {{{{ }}}}"
        return self._faulty("bad-conversion", message, name, start, hint)

    #: What may follow a name in braces.
    _AFTER_NAME: ClassVar = {"}": _plain, ":": _formatted, "!": _converted, ".": _access, "[": _access}

    def _faulty(self, code: str, message: str, name: str, start: int, hint: str) -> int:
        end = self._end_of_faulty(start)
        self._error(code, message, start, end, hint)
        self._use(nfc(name), start, end, "faulty")
        return end

    def _end_of_faulty(self, start: int) -> int:
        depth = 0
        for match in _BRACE.finditer(self.text, start, start + _WINDOW):
            depth += 1 if match[0] == "{" else -1
            if not depth:
                return match.end()
        return self.text.index("}", start) + 1

    # Sections.

    def _section(self, start: int) -> int:
        match = _SECTION.match(self.text, start)
        if not match or not all(match[i] is None or match[i].isidentifier() for i in (1, 2, 3)):
            return 0
        end = match.end()
        if match[1]:
            self._open_section("if", nfc(match[1]), "", start, end)
        elif match[2]:
            self._open_section("each", nfc(match[2]), nfc(match[3]), start, end)
        elif match[4]:
            self._else(start, end)
        else:
            self._close_section("if" if match[5] else "each", start, end)
        return end

    def _open_section(self, kind: str, name: str, item: str, start: int, end: int) -> None:
        self._use(name, start, end, kind)
        if len(self.sections) > MAX_DEPTH:
            if not self.beyond:
                message = f"sections stand more than {MAX_DEPTH} deep inside each other"
                self._error("nesting-too-deep", message, start, end, "split the prompt")
            self.beyond += 1
            return
        self.sections.append(_Section(kind, start, end, name, item, self.guards, self.loops, self.lists))
        if kind == "if":
            self.guards = (*self.guards, name)
        else:
            self.loops = (*self.loops, item)
            self.lists = (*self.lists, name)
            # The loop's own name hides an input of the same name, and what was known about it.
            self.guards = tuple(guard for guard in self.guards if guard != item)

    def _else(self, start: int, end: int) -> None:
        if self.beyond:
            return
        section = self.sections[-1]
        if section.kind != "if" or section.then is not None:
            why = "stands outside {#if}" if section.kind != "if" else "is the second one of its {#if}"
            self._error("stray-section-close", f"{{#else}} {why}", start, end, "remove it")
            return
        section.then, section.nodes = section.nodes, []
        self.guards = section.guards

    def _close_section(self, kind: str, start: int, end: int) -> None:
        if self.beyond:
            self.beyond -= 1
            return
        section = self.sections[-1]
        if section.kind == kind:
            self.sections.pop()
            self.guards, self.loops, self.lists = section.guards, section.loops, section.lists
            self.sections[-1].nodes.append(section.node())
            return
        outer = [open_ for open_ in self.sections if open_.kind == kind and not open_.crossed]
        message = f"{{/{kind}}} closes nothing"
        hint = f"remove it, or open the section with {{#{kind} ...}}"
        if outer:
            outer[-1].crossed = True
            message = f"{{/{kind}}} comes before {{#{section.kind} {section.name}}} is closed"
            hint = f"close the inner section first: {{/{section.kind}}}"
        self._error("stray-section-close", message, start, end, hint)

    # Problems.

    def _error(self, code: str, message: str, start: int, end: int, hint: str) -> None:
        self.problems.append(Problem(code, message, start, end, hint))

    def _unbalanced(self, start: int, message: str) -> None:
        hint = "it is kept as text; double it if that is meant"
        self.problems.append(
            Problem("unbalanced-brace", message, start, start + 1, hint, Severity.WARNING),
        )


def renamed(text: str, name: str, alias: str) -> str:
    """Return a template in which a value has another name: in placeholders, ``{#if}`` and ``{#each}``."""
    here = re.escape(name)
    places = rf"#if +(?={here}\}})|#each +(?={here} )|(?={here}[}}:!])"
    return re.sub(rf"(?<!\{{)\{{({places}){here}", lambda found: f"{{{found[1]}{alias}", text)
