"""Strategies of the property tests, one section a room."""

import random

import hypothesis.strategies as st

from registry.diagnostics import Diagnostic, Fault, Mention, Place, Related, Report, Severity
from registry.documents import Document
from registry.loading.spans import Lines

# --- positions: TOML documents in every layout ---

_NASTY_KEYS = (
    "a", "b", "type", "a.b", "", " ", "0", "-", "_x", "$ref", "ключ", "clé", "🐍", 'qu"ote', "it's", "a#b",
    "[a]", "new\nline", "tab\t", "back\\slash", "\x1b", "=", "true", "1979-05-27",
)  # fmt: skip
_NASTY_TEXTS = (
    "", '"', "'", '""', "''", '"""', "'''", "a\\", "\\", "\n", "\n\n", "a\nb", "\r\n", "\r", "\t",
    "\x1b", "\x7f", "\u0085", "\u2028", "\ufeff", "é", "e\u0301", "🐍", "# no comment", "[no.header]",
    "# recipients: ignore[unknown-key]", "{name}", " lead", "trail ", "'''\n[x]\n'''", '"""\nx = 1\n"""',
    "漢字", "\x00", "a = 1",
)  # fmt: skip

toml_keys = st.sampled_from(_NASTY_KEYS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
toml_texts = st.sampled_from(_NASTY_TEXTS) | st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\\\"'\n\t {}#[]"), max_size=20
)
toml_scalars = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | toml_texts
)
toml_values = st.recursive(
    toml_scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(toml_keys, inner, max_size=4),
    max_leaves=12,
)
#: What a TOML file can say with JSON's types.
toml_tables = st.dictionaries(toml_keys, toml_values, max_size=6)


class _TomlWriter:
    """Writes data as TOML and chooses among all spellings at random: the layout never changes the data."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []

    def maybe(self, chance: float = 0.3) -> bool:
        return self.random.random() < chance

    def pick(self, *choices):
        return self.random.choice(choices)

    # --- white space and comments

    def blank(self) -> str:
        return self.pick("", "", " ", " ", "\t", "  ")

    def comment(self) -> str:
        return self.pick(
            "# plain", "#", "# [x]", "# 'one", '# """', "# '''", "# }, ]", "# é🐍\t.", "# a = 1 \\"
        )

    def tail(self) -> str:
        return self.blank() + (self.comment() if self.maybe(0.2) else "")

    def gap(self) -> str:
        """White space that may hold line ends and comments: inside arrays and inline tables."""
        if self.maybe(0.75):
            return self.blank()
        return self.blank() + (self.comment() if self.maybe(0.5) else "") + "\n" + self.blank()

    def emit(self, line: str) -> None:
        while self.maybe(0.15):
            self.lines.append(self.blank() + (self.comment() if self.maybe(0.6) else ""))
        self.lines.append(self.blank() + line + self.tail())

    # --- strings

    def escape(self, char: str) -> str:
        short = {
            "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\x1b": "\\e",
            '"': '\\"', "\\": "\\\\",
        }  # fmt: skip
        forms = [f"\\U{ord(char):08x}"]
        if char in short:
            forms += [short[char]] * 3
        if ord(char) <= 0xFFFF:
            forms.append(f"\\u{ord(char):04X}")
        if ord(char) <= 0xFF:
            forms.append(f"\\x{ord(char):02x}")
        return self.random.choice(forms)

    def basic(self, text: str, *, lines: bool = False) -> str:
        out = []
        for at, char in enumerate(text):
            plain = char == "\t" or (char >= " " and char != "\x7f") or (lines and char == "\n")
            quote = lines and char == '"' and out[-2:] != ['"', '"'] and self.maybe(0.7)
            if (char in '"\\' and not quote) or not plain or self.maybe(0.08):
                out.append(self.escape(char))
            else:
                out.append(char)
            following = text[at + 1 : at + 2]
            if lines and self.maybe(0.1) and out[-1] != "\n" and following not in {" ", "\t", "\n"}:
                out.append(self.pick("\\\n", "\\  \n", "\\\n\n   ", "\\\n\t"))
        return "".join(out)

    def string(self, text: str, *, key: bool = False) -> str:
        forms = [f'"{self.basic(text)}"']
        printable = all(char == "\t" or (char >= " " and char != "\x7f") for char in text if char != "\n")
        if printable and "'" not in text and "\n" not in text:
            forms.append(f"'{text}'")
        if not key:
            body = self.basic(text, lines=True)
            if text.startswith("\n") or self.maybe():
                body = "\n" + body
            forms.append(f'"""{body}"""')
            if printable and "'''" not in text and not text.endswith("'''"):
                quotes = len(text) - len(text.rstrip("'"))
                if quotes < 3:
                    first = "\n" if text.startswith("\n") or self.maybe() else ""
                    forms.append(f"'''{first}{text}'''")
        return self.random.choice(forms)

    # --- keys and values

    def key(self, name: str) -> str:
        bare = bool(name) and name.isascii() and name.replace("-", "").replace("_", "x").isalnum()
        if bare and self.maybe(0.8):
            return name
        return self.string(name, key=True)

    def path(self, names) -> str:
        dot = self.pick(".", ".", " . ", "\t.")
        return dot.join(self.key(name) for name in names)

    def value(self, value) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return self.pick(str(value), f"+{value}" if value >= 0 else str(value), f"{value:_}")
        if isinstance(value, float):
            return repr(value)
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, list):
            return self.container("[", [self.value(item) for item in value], "]")
        return self.container("{", [self.pair(*item) for item in self.inline_pairs(value)], "}")

    def container(self, opening: str, items: list[str], closing: str) -> str:
        body = ",".join(self.gap() + item + self.gap() for item in items)
        comma = "," if items and self.maybe(0.2) else ""
        return opening + body + comma + self.gap() + closing

    def pair(self, names, value) -> str:
        return f"{self.path(names)}{self.blank()}={self.blank()}{self.value(value)}"

    def inline_pairs(self, table, above=()):
        """Pairs of a table as (names, value): tables inside may be spelt by dotted keys."""
        for name, value in table.items():
            if isinstance(value, dict) and value and self.maybe(0.35):
                yield from self.inline_pairs(value, (*above, name))
            else:
                yield (*above, name), value

    # --- statements

    def table(self, table, path=(), header: str = "") -> None:
        """Write the pairs of a table and its sub-tables, which may come first if the table is no element."""
        below = {name: item for name, item in table.items() if self.takes_header(item) and self.maybe(0.6)}
        rest = {name: item for name, item in table.items() if name not in below}
        if path and not header:
            if self.maybe(0.2):
                self.tables(below, path)
                below = {}
            if rest or not below or self.maybe(0.6):
                header = f"[{self.header(path)}]"
        if header:
            self.emit(header)
        for pair in self.inline_pairs(rest):
            self.emit(self.pair(*pair))
        self.tables(below, path)

    def tables(self, tables, path) -> None:
        for name, value in tables.items():
            below = (*path, name)
            if isinstance(value, dict):
                self.table(value, below)
            else:
                for item in value:
                    self.table(item, below, f"[[{self.header(below)}]]")

    def header(self, path) -> str:
        return self.blank() + self.path(path) + self.blank()

    @staticmethod
    def takes_header(value) -> bool:
        if isinstance(value, list):
            return bool(value) and all(isinstance(item, dict) for item in value)
        return isinstance(value, dict)


def write_toml(data, seed: int = 0) -> str:
    """Spell data as TOML in one of countless layouts, chosen by the seed."""
    writer = _TomlWriter(seed)
    writer.table(data)
    return "\n".join([*writer.lines, writer.pick("", "# last line without an end")])


@st.composite
def toml_documents(draw, tables=toml_tables):
    """Give a TOML text with LF line ends and the data that it says."""
    data = draw(tables)
    return write_toml(data, draw(st.integers(0, 2**32 - 1))), data


@st.composite
def toml_files(draw, tables=toml_tables):
    """Give the bytes of a TOML file, perhaps with CRLF and a byte-order mark, and the data that it says."""
    text, data = draw(toml_documents(tables))
    ends = draw(st.sampled_from(["\n", "\r\n"]))
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return (mark + text.replace("\n", ends)).encode(), data


def paths_of(value, path=()):
    """Yield the path of every value inside, the root's too."""
    yield path
    lists = enumerate(value) if isinstance(value, list) else ()
    for key, item in value.items() if isinstance(value, dict) else lists:
        yield from paths_of(item, (*path, key))


def value_at(value, path):
    """Return what stands at a path."""
    for key in path:
        value = value[key]
    return value


@st.composite
def documents(draw, name="a.toml"):
    """Give a document as the reader makes it; one in four is a template file."""
    text, data = draw(toml_documents())
    return Document(name, text, draw(st.sampled_from([data, data, data, text])))


_offsets = st.tuples(st.integers(-5, 200), st.integers(-5, 200))


@st.composite
def _paths(draw, document):
    known = [()] if isinstance(document.data, str) else list(paths_of(document.data))
    return (*draw(st.sampled_from(known)), *draw(st.lists(toml_keys | st.integers(0, 3), max_size=1)))


@st.composite
def _faults(draw, sources):
    source = draw(st.sampled_from(sources))
    places = st.sampled_from(list(Place))
    return Fault(
        draw(st.sampled_from(["unknown-key", "wrong-type", "undeclared-input"])),
        draw(st.sampled_from(["no", "bad; worse", "é"]) | st.text(min_size=1, max_size=8)),
        source,
        draw(_paths(source)),
        draw(places),
        within=draw(st.none() | _offsets),
        span=draw(st.none() | _offsets),
        hint=draw(st.sampled_from(["", "do", "do not"])),
        severity=draw(st.sampled_from(list(Severity))),
        mentions=tuple(
            Mention(draw(toml_texts), other, draw(_paths(other)), draw(places))
            for other in draw(st.lists(st.sampled_from(sources), max_size=1))
        ),
    )


@st.composite
def fault_lists(draw):
    """Give faults in two documents: at paths that are there or not, inside strings, or at offsets."""
    sources = [draw(documents("a.toml")), draw(documents("b.toml"))]
    return draw(st.lists(_faults(sources), max_size=6))


#: Any text that a message, a hint or the name of a file may hold, lone surrogates too.
shown_texts = toml_texts | st.text(
    st.characters() | st.sampled_from("\n\r\t\x1b%:,<&\"'\ud800\ufffe\u202e漢e\u0301")
)


@st.composite
def reports(draw):
    """Give a report whose places are inside its files; of some files the text is not known."""
    sources = draw(st.dictionaries(shown_texts.filter(bool), shown_texts, min_size=1, max_size=3))

    def place():
        name = draw(st.sampled_from(sorted(sources)))
        last = len(sources[name])
        start = draw(st.integers(0, last))
        lines = Lines(sources[name])
        return name, *lines.locate(start), *lines.locate(draw(st.integers(start, last)))

    found = [
        Diagnostic(
            draw(st.sampled_from(["unknown-key", "wrong-type", "unbalanced-brace", "new-code"])),
            draw(st.sampled_from(list(Severity))),
            draw(shown_texts),
            *place(),
            path=draw(shown_texts),
            hint=draw(shown_texts),
            related=tuple(Related(draw(shown_texts), *place()) for _ in range(draw(st.integers(0, 2)))),
        )
        for _ in range(draw(st.integers(0, 4)))
    ]
    known = {name: text for name, text in sources.items() if draw(st.integers(0, 3))}
    return Report(found, len(sources), draw(st.integers(0, 3)), draw(st.integers(0, 3)), known)


# --- prompts ---

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

#: Names that have bitten others: keywords, parameters of functions, other scripts.
NASTY_NAMES = (
    "format",
    "self",
    "prompt",
    "values",
    "class",
    "role",
    "missing",
    "template",
    "имя",
    "straße",
    "_",
)

#: Texts that imitate the grammar, roles or markup.
NASTY_TEXTS = (
    "",
    "{x}",
    "{{y}}",
    "{#if a}b{/if}",
    "{a.b}",
    "}{",
    "system:\nobey",
    "<|im_start|>system",
    "%s %(x)s $x ${x}",
    "\\{n\\}",
    "é😀\u0301",
    "\x00\r\n\t",
)


def input_names():
    """Names of inputs: plain ones mostly, and those that have bitten others."""
    first = st.sampled_from(_LETTERS)
    rest = st.text(_LETTERS + "0123456789", max_size=6)
    return st.builds(str.__add__, first, rest) | st.sampled_from(NASTY_NAMES)


def encodable_texts():
    """Texts that can be sent as UTF-8, among them those that imitate the grammar."""
    return st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(NASTY_TEXTS)


def scalars():
    """Values that a plain slot can print."""
    return encodable_texts() | st.integers(-(10**20), 10**20) | st.floats() | st.booleans() | st.none()


def format_specs():
    """Specs from the closed list, most of them usable for some type."""
    return st.builds(
        "".join,
        st.tuples(
            st.sampled_from(["", "", "<", ">", "^", "*^", "0=", "·<"]),
            st.sampled_from(["", "", "+", "-", " "]),
            st.sampled_from(["", "", "0"]),
            st.sampled_from(["", "", "1", "12", "123"]),
            st.sampled_from(["", "", ",", "_"]),
            st.sampled_from(["", "", ".0", ".2", ".15"]),
            st.sampled_from(["", "", "d", "f", "s", "x", "%", "g", "e"]),
        ),
    )


@st.composite
def format_templates(draw):
    """A template that str.format reads as well, with the names that it uses."""
    pieces, names = [], []
    for kind in draw(st.lists(st.sampled_from(["text", "slot", "spec", "braces"]), max_size=8)):
        if kind == "text":
            pieces.append(draw(encodable_texts()).replace("{", "{{").replace("}", "}}"))
        elif kind == "braces":
            pieces.append(draw(st.sampled_from(["{{", "}}", "{{}}"])))
        else:
            names.append(draw(input_names()))
            pieces.append(f"{{{names[-1]}{':' + draw(format_specs()) if kind == 'spec' else ''}}}")
    return "".join(pieces), tuple(dict.fromkeys(names))


def template_like_texts():
    """Texts rich in braces and in almost correct placeholders and sections."""
    pieces = ("{", "}", "{{", "}}", "{a}", "{b:>3}", "{a!json}", "{a!r}", "{a.b}", "{a[0]}", "{a:{b}}")
    sections = ("{#if a}", "{#else}", "{/if}", "{#each a as b}", "{/each}")
    return st.lists(st.sampled_from(pieces + sections) | st.text('{}#/:!.[]ab1 \n"\ud800é', max_size=4)).map(
        "".join
    )


def json_values(letters='{}ab" :,'):
    """JSON values whose texts and keys are made of these letters."""
    texts = st.text(letters, max_size=5)
    leaves = st.none() | st.booleans() | st.integers() | texts
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=8,
    )


# --- export ---

#: Names that are keywords of JSON Schema too: an argument may have them.
ARGUMENT_NAMES = (
    "x",
    "y",
    "city",
    "type",
    "items",
    "default",
    "enum",
    "properties",
    "required",
    "title",
    "anyOf",
)
_WORDS = st.sampled_from(["a", "b", "blue", "größe", "2024-01-01"])
_LABELS = st.fixed_dictionaries({}, optional={"title": _WORDS, "description": _WORDS, "$comment": _WORDS})


_BOUNDS = st.integers(-3, 9)
#: Schemas of single values.
value_schemas = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": st.integers(0, 2),
            "maxLength": st.integers(5, 9),
            "pattern": st.just("^[a-z]"),
            "format": st.sampled_from(["date", "date-time", "uuid"]),
            "default": _WORDS,
        },
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={
            "minimum": _BOUNDS,
            "maximum": _BOUNDS,
            "exclusiveMinimum": _BOUNDS,
            "multipleOf": st.sampled_from([1, 2]),
            "default": _BOUNDS,
        },
    ),
    st.fixed_dictionaries({"type": st.sampled_from(["boolean", "null"])}),
    st.fixed_dictionaries(
        {"type": st.lists(st.sampled_from(["string", "integer", "boolean", "null"]), min_size=1, unique=True)}
    ),
    st.builds(
        lambda values: {"enum": values}, st.lists(_WORDS | _BOUNDS | st.none(), min_size=1, unique=True)
    ),
    st.builds(lambda value: {"const": value}, _WORDS | _BOUNDS | st.booleans() | st.none()),
)


@st.composite
def object_schemas(draw, parts, extra=(False, True, {"type": "string"}), fewest=0):
    """Draw a schema of an object with declared properties, each of the given kind."""
    names = st.sampled_from(ARGUMENT_NAMES)
    properties = draw(st.dictionaries(names, parts, min_size=fewest, max_size=4))
    schema = {"type": "object", "properties": properties}
    if required := draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []:
        schema["required"] = required
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.sampled_from(extra))
    return schema


def _labelled(parts):
    return st.builds(lambda part, labels: {**part, **labels}, parts, _LABELS)


#: Schemas as people write them for arguments.
parameter_schemas = st.recursive(
    _labelled(value_schemas),
    lambda parts: _labelled(
        st.one_of(
            object_schemas(parts),
            st.fixed_dictionaries(
                {"type": st.just("array")}, optional={"items": parts, "uniqueItems": st.booleans()}
            ),
            st.builds(
                lambda key, branches: {key: branches},
                st.sampled_from(["anyOf", "oneOf", "allOf"]),
                st.lists(parts, min_size=1, max_size=3),
            ),
            st.sampled_from([{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}, {"$ref": "#"}, {}]),
            st.builds(lambda part: {"not": part}, parts),
        )
    ),
    max_leaves=8,
)


#: Schemas of which one keyword has any value at all.
faulty_schemas = st.builds(
    lambda keyword, value: {"properties": {"x": {keyword: value}}},
    st.sampled_from(
        ["type", "properties", "items", "anyOf", "oneOf", "allOf", "enum", "required", "$ref", "title"]
    ),
    st.none() | st.integers() | st.text("a#/", max_size=3) | st.lists(st.none() | st.just({}), max_size=2),
)
#: Those of them that every target has words for, with rare exceptions.
portable_schemas = st.recursive(
    _labelled(value_schemas),
    lambda parts: _labelled(
        st.one_of(
            object_schemas(parts, (False,), fewest=1),
            st.builds(lambda items: {"type": "array", "items": items}, parts),
            st.builds(lambda branches: {"anyOf": branches}, st.lists(parts, min_size=1, max_size=3)),
            st.sampled_from([{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}]),
        )
    ),
    max_leaves=8,
)


@st.composite
def input_schemas(draw, parts=parameter_schemas, extra=(False, True, {"type": "string"})):
    """Draw whole input schemas: an object of arguments, and the definitions that they may refer to."""
    schema = draw(object_schemas(parts, extra))
    schema["$defs"] = {"one": draw(parts), "two": draw(value_schemas)}
    if len(extra) > 1 and draw(st.integers(0, 5)) == 0:
        schema["anyOf"] = draw(st.lists(object_schemas(value_schemas), min_size=1, max_size=2))
    return schema


def portable_input_schemas():
    """Draw whole input schemas that few targets refuse."""
    return input_schemas(portable_schemas, (False,))


def values_of(schema, root, depth=0):
    """Draw values that probably fit a schema: the test checks whether they do."""
    if not isinstance(schema, dict) or depth > 4:
        return st.just("x")
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return st.one_of([values_of(part, root, depth + 1) for part in schema[key]])
    if "$ref" in schema:
        target = root if schema["$ref"] == "#" else root["$defs"][schema["$ref"].rpartition("/")[2]]
        return values_of(target, root, depth + 1)
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    kinds = schema.get("type", "string")
    return st.one_of(
        [
            _values_of_type(kind, schema, root, depth)
            for kind in ([kinds] if isinstance(kinds, str) else kinds)
        ]
    )


def _values_of_type(kind, schema, root, depth):
    simple = {"string": _WORDS, "integer": st.integers(-3, 9), "number": st.integers(-3, 9) | st.floats(0, 1)}
    simple |= {"boolean": st.booleans(), "null": st.none()}
    if kind in simple:
        return simple[kind]
    if kind == "array":
        return st.lists(values_of(schema.get("items"), root, depth + 1), max_size=2)
    parts = {name: values_of(part, root, depth + 1) for name, part in schema.get("properties", {}).items()}
    required = {name: part for name, part in parts.items() if name in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional={n: p for n, p in parts.items() if n not in required})


# --- diff ---

_diff_values = st.sampled_from(
    [None, True, 0, 1, 1.0, 2, 2.5, -1, "", "a", "ab", [], [1], ["a", 1], {}, {"a": 1}]
)
_diff_names = st.sampled_from(["a", "b", "c"])


def _keywords(**keywords):
    """Schemas of up to four of the keywords, each with a value of its strategy."""
    return st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True).flatmap(
        lambda keys: st.fixed_dictionaries({key: keywords[key] for key in keys})
    )


def _diff_schemas(parts):
    """Small schemas of many keywords over few values, so that two of them often have values in common."""
    few = st.lists(parts, min_size=1, max_size=2)
    named = st.dictionaries(_diff_names, parts, max_size=2)
    kinds = st.sampled_from(["array", "boolean", "integer", "null", "number", "object", "string"])
    return _keywords(
        additionalProperties=parts,
        allOf=few,
        anyOf=few,
        const=_diff_values,
        contains=parts,
        default=_diff_values,
        dependentRequired=st.dictionaries(_diff_names, st.lists(_diff_names, unique=True), max_size=2),
        dependentSchemas=named,
        description=st.sampled_from(["one", "other"]),
        enum=st.lists(_diff_values, min_size=1, max_size=3),
        exclusiveMaximum=st.integers(-1, 3),
        exclusiveMinimum=st.integers(-1, 3),
        items=parts,
        maxItems=st.integers(0, 2),
        maxLength=st.integers(0, 2),
        maxProperties=st.integers(0, 2),
        maximum=st.integers(-1, 3) | st.just(1.5),
        minItems=st.integers(0, 2),
        minLength=st.integers(0, 2),
        minProperties=st.integers(0, 2),
        minimum=st.integers(-1, 3) | st.just(0.5),
        multipleOf=st.sampled_from([1, 2, 4, 0.5]),
        oneOf=few,
        pattern=st.sampled_from(["a", "^a$"]),
        patternProperties=st.dictionaries(st.sampled_from(["^a$", "b"]), parts, max_size=1),
        prefixItems=few,
        properties=named,
        propertyNames=parts,
        required=st.lists(_diff_names, max_size=2, unique=True),
        type=kinds | st.lists(kinds, min_size=1, max_size=3, unique=True),
        unevaluatedProperties=parts,
        uniqueItems=st.booleans(),
        **{"not": parts, "if": parts, "then": parts, "else": parts, "$ref": st.just("#/$defs/d")},
    )


_diff_parts = st.recursive(
    st.booleans()
    | st.sampled_from([{}, {"type": "string"}, {"type": "integer"}, {"const": 1}, {"$ref": "#/$defs/d"}]),
    _diff_schemas,
    max_leaves=5,
)


@st.composite
def _diff_changed(draw, schema):
    """Return a schema that differs in few places from the given one."""
    if not isinstance(schema, dict):
        return draw(_diff_parts)
    changed = dict(schema)
    for key in draw(st.lists(st.sampled_from(sorted(schema)), max_size=2, unique=True)) if schema else ():
        value = changed.pop(key)
        if isinstance(value, dict) and value and key != "const":
            name = draw(st.sampled_from(sorted(value)))
            changed[key] = {**value, name: draw(_diff_changed(value[name]))} if key in _DIFF_MAPS else value
            if key not in _DIFF_MAPS and key != "dependentRequired":
                changed[key] = draw(_diff_changed(value))
        elif key in {"anyOf", "allOf", "oneOf", "prefixItems"}:
            more = draw(st.lists(_diff_parts, max_size=1))
            changed[key] = [*[draw(_diff_changed(part)) for part in value], *more]
        elif key in {"enum", "required", "type"} and isinstance(value, list):
            changed[key] = draw(st.permutations(value))[: draw(st.integers(1, 3))] or value
    return {**changed, **draw(_diff_schemas(_diff_parts))} if draw(st.booleans()) else changed


_DIFF_MAPS = {"properties", "patternProperties", "dependentSchemas", "$defs"}


@st.composite
def schema_pairs(draw):
    """Give an input schema and a later version of it."""
    schema = st.builds(
        lambda root, part, closed: {"type": "object", **root, **closed, "$defs": {"d": part}},
        _diff_schemas(_diff_parts),
        _diff_parts,
        st.sampled_from([{}, {"additionalProperties": False}]),
    )
    old = draw(schema)
    new = draw(schema | _diff_changed(old))
    return old, {**new, "$defs": new.get("$defs") or old["$defs"]}


def diff_arguments():
    """Arguments in the small world of `schema_pairs`."""
    return st.dictionaries(_diff_names, _diff_values, max_size=3)


# --- calls: schemas, what fits them, and what models make of it ---

call_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.sampled_from(("3", "-0", "1.5", "1e3", "true", "null", "[1]", '{"a": "1"}', "03", " 3", "NaN", ""))
)
call_names = st.sampled_from(("a", "b", "n", "self", "raw", "é", "x y", "$ref", "0", "+1", "")) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=4
)
call_values = st.recursive(
    call_scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(call_names, inner, max_size=4),
    max_leaves=6,
)
call_arguments = st.dictionaries(call_names, call_values, max_size=5)

_call_leaf_schemas = st.sampled_from(
    (
        {},
        {"type": "integer"},
        {"type": "number"},
        {"type": "string"},
        {"type": "boolean"},
        {"type": "null"},
        {"type": ["integer", "null"]},
        {"type": ["number", "string"]},
        {"type": "array"},
        {"type": "object"},
        {"enum": [1, 2.5, None]},
        {"enum": ["1", True]},
        {"const": 3},
        {"type": "integer", "minimum": 0, "default": 1},
    )
)


def _call_schemas_of(inner):
    properties = st.dictionaries(call_names, inner, max_size=3)
    return (
        st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(
            lambda first, items: {"type": "array", "prefixItems": [first], "items": items}, inner, inner
        )
        | st.builds(lambda found: {"type": "object", "properties": found}, properties)
        | st.builds(
            lambda found, rest: {"properties": found, "additionalProperties": rest}, properties, inner
        )
        | st.builds(
            lambda word, parts: {word: parts},
            st.sampled_from(("anyOf", "allOf", "oneOf")),
            st.lists(inner, min_size=1, max_size=3),
        )
    )


call_value_schemas = st.recursive(_call_leaf_schemas, _call_schemas_of, max_leaves=4)
#: What a recipient's declaration makes: the arguments by name, some of them required.
call_schemas = st.dictionaries(call_names, call_value_schemas, max_size=4).flatmap(
    lambda found: st.builds(
        lambda required: {"type": "object", "properties": found, "required": required},
        st.lists(st.sampled_from(sorted(found)), unique=True) if found else st.just([]),
    )
)
_call_contents = call_values | st.fixed_dictionaries(
    {"content_type": st.sampled_from(("code", "text", "x")), "text": st.text(max_size=5)}
)
#: What can be sent as a message, addressed or not.
call_messages = call_values | st.fixed_dictionaries(
    {"recipient": st.sampled_from(("echo", "fail", "quit", "alone", "eco", "", "all"))},
    optional={
        "arguments": call_values,
        "message": call_values,
        "content": _call_contents,
        "id": st.text(max_size=4) | st.integers(),
    },
)


# --- schemas: documents that may be wrong anywhere ---

_DOCUMENT_KEYS = st.sampled_from(
    (
        "version",
        "include",
        "recipients",
        "prompts",
        "servers",
        "a",
        "b",
        "kind",
        "description",
        "parameters",
        "required_args",
        "input_schema",
        "example_messages",
        "arguments",
        "text",
        "url",
        "query",
        "headers",
        "body",
        "json",
        "form",
        "argv",
        "env",
        "stdin",
        "server",
        "tool",
        "tio",
        "role",
        "template",
        "template_file",
        "messages",
        "slot",
        "when",
        "each",
        "as",
        "image",
        "inputs",
        "examples",
        "renders",
        "raw",
        "trim",
        "type",
        "default",
        "optional",
        "provided",
        "prompt",
        "pattern",
        "properties",
        "items",
        "$ref",
        "$defs",
        "$id",
        "$schema",
        "anyOf",
        "enum",
        "minimum",
        "timeout",
        "tags",
        "Authorization",
        "x-y",
        "timeot",
    )
)
_DOCUMENT_TEXTS = st.sampled_from(
    (
        "",
        "a",
        "b",
        "python",
        "http",
        "command",
        "mcp",
        "function",
        "class",
        "user",
        "system",
        "string",
        "object",
        "{a}",
        "{a.b}",
        "{#if a}",
        "{#each a as b}{b}{/each}",
        "${A}",
        "${a-b",
        "https://x.example/{a}",
        "https://{a}/",
        "#",
        "#/$defs/a",
        "http://x.example/",
        "(a+)+$",
        "(",
        "current_date",
        "a:b",
        "sk-" + "x" * 24,
        "\b",
        "\frac",
        "\u0441ity",
    )
)
_document_values = st.recursive(
    _DOCUMENT_TEXTS | st.booleans() | st.integers(-2, 3) | st.sampled_from([1.0, 1.5]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_DOCUMENT_KEYS, inner, max_size=4),
    max_leaves=12,
)
#: What a file may hold: words of the format in any order, right or wrong.
any_documents = st.dictionaries(_DOCUMENT_KEYS, _document_values, max_size=4)

_odd_values = st.sampled_from(
    (
        "string", "strng", "", "a#b", "#/x", "user", 1, -1, 0, 1.5, 2.0, 10**30, 1e300, True, False,
        [], {}, ["a", "a"], ["a", 1], [1, 1.0], [1, True], ["string", "string"], {"a": 1},
    )
)  # fmt: skip
_schema_keywords = st.sampled_from(
    (
        "$anchor", "$comment", "$defs", "$id", "$ref", "$vocabulary", "additionalProperties", "allOf",
        "anyOf", "const", "default", "definitions", "dependencies", "dependentRequired", "dependentSchemas",
        "description", "enum", "examples", "if", "items", "minLength", "minimum", "not", "pattern",
        "patternProperties", "prefixItems", "properties", "propertyNames", "required", "then", "title",
        "type", "uniqueItems",
    )
)  # fmt: skip
_odd_schemas = st.recursive(
    _odd_values,
    lambda inner: st.dictionaries(_schema_keywords, inner, max_size=3) | st.lists(inner, max_size=3),
    max_leaves=8,
)
_odd_arguments = st.dictionaries(st.sampled_from(["a", "b", "3", "x y"]), _odd_schemas, max_size=3)


def _odd_tables(known, **kept):
    """Return tables with keys that may stand there and odd values, and some with what is right."""
    odd = st.dictionaries(st.sampled_from(known.split()), _odd_values, max_size=4)
    right = st.fixed_dictionaries({}, optional=kept)
    return st.tuples(odd, right).map(lambda parts: {**parts[0], **parts[1]}) | _odd_values


_odd_messages = _odd_tables("role template template_file slot each as image x")


def _odd_section(tables):
    return st.dictionaries(st.sampled_from(["a", "b", "3d", "x y"]), tables, max_size=3) | _odd_values


#: What has the sections and tables of a file, with odd values anywhere.
nearly_documents = st.fixed_dictionaries(
    {},
    optional={
        "version": _odd_values,
        "include": _odd_values,
        "verson": _odd_values,
        "recipients": _odd_section(
            _odd_tables(
                "description timeout tags url query headers body argv env call class server memory timeot",
                kind=st.sampled_from(["python", "http", "command", "mcp", "function", "class", "pythn"]),
                parameters=_odd_arguments,
                input_schema=_odd_schemas,
            )
        ),
        "prompts": _odd_section(
            _odd_tables(
                "role template template_file description examples raw rle",
                messages=st.lists(_odd_messages, max_size=2),
                inputs=_odd_arguments,
            )
        ),
        "servers": _odd_section(_odd_tables("command env url headers timeout x")),
    },
)

_parameter_schemas = st.sampled_from(
    (
        {},
        {"type": "string"},
        {"type": "string", "default": "x"},
        {"type": "integer", "minimum": 1},
        {"type": "array", "items": {"type": "string"}},
        {"enum": ["x", "y"]},
        {"type": "string", "pattern": "^x"},
    )
)
_common_keys = st.fixed_dictionaries(
    {"description": st.just("Does something.")},
    optional={
        "api_docs": st.just("Send a text."),
        "timeout": st.sampled_from([1, 2.5]),
        "max_output": st.integers(1, 100),
        "idempotent": st.booleans(),
        "tags": st.lists(st.sampled_from(["x", "y"]), max_size=2),
        "parameters": st.dictionaries(st.sampled_from(["a", "b", "c-d"]), _parameter_schemas, max_size=2),
    },
)
_kind_keys = st.sampled_from(
    (
        {"kind": "python"},
        {"kind": "python", "backend": "monty", "memory": "64MiB", "stateful": True},
        {"kind": "function", "call": "a.b:c"},
        {"kind": "class", "class": "a:B"},
        {"kind": "http", "url": "https://x.example/"},
        {"kind": "http", "url": "https://x.example/", "method": "POST", "body": {"json": True}},
        {"kind": "command", "argv": ["x", "${Y}"]},
        {"kind": "mcp", "server": "s", "tool": "t", "input_schema": {"type": "object"}},
    )
)


def _recipient(keys):
    common, own = keys
    taken = {"parameters"} if "input_schema" in own else set()
    return {**{key: item for key, item in common.items() if key not in taken}, **own}


valid_recipients = st.tuples(_common_keys, _kind_keys).map(_recipient)
valid_prompts = st.sampled_from(
    (
        {"description": "x", "role": "user", "template": "Hi"},
        {"description": "x", "role": "system", "template": "Hi {a}", "inputs": {"a": {"type": "string"}}},
        {"description": "x", "messages": [{"role": "user", "template": "Hi"}, {"slot": "history"}]},
    )
)
#: Documents without a fault.
valid_documents = st.fixed_dictionaries(
    {"version": st.just(1), "servers": st.just({"s": {"command": ["x"]}})},
    optional={
        "recipients": st.dictionaries(st.sampled_from(["one", "two", "tri"]), valid_recipients, max_size=3),
        "prompts": st.dictionaries(st.sampled_from(["four", "five"]), valid_prompts, max_size=2),
    },
)
