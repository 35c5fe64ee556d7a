"""Every diagnostic code, its severity and what it means in one line. Each has a page in ``docs/rules``."""

from __future__ import annotations

import attrs


@attrs.frozen
class Code:
    """How much a diagnostic of this code matters by default, and what it says."""

    severity: str
    summary: str


def _error(summary: str) -> Code:
    return Code("error", summary)


def _warning(summary: str) -> Code:
    return Code("warning", summary)


CODES: dict[str, Code] = {
    "attribute-access": _error("A template reaches into a value, as in {user.name}."),
    "backslash-in-basic-string": _warning("A backslash in a basic string became a control character."),
    "bad-conversion": _error("A placeholder has a conversion other than !json."),
    "bad-environment-name": _error("An environment variable has a name that no variable can have."),
    "bad-format-spec": _error("A placeholder has a format outside the allowed list."),
    "bad-import-path": _error("A function or class is not named as package.module:name."),
    "bad-name": _error("A name has characters that names may not have, or is too long."),
    "bad-parameter-schema": _error("The schema of an argument or input is no valid JSON Schema."),
    "bad-url": _error("A URL is not http or https, has no host, or holds what no URL may hold."),
    "confusable-name": _warning("A name looks like another one, or mixes scripts that look alike."),
    "date-not-allowed": _error("An unquoted date or time stands where JSON data is wanted."),
    "default-violates-schema": _error("A default value does not fit its own schema."),
    "duplicate-prompt": _error("Two files declare a prompt of the same name."),
    "duplicate-recipient": _error("Two files declare a recipient of the same name."),
    "duplicate-server": _error("Two files declare a server of the same name."),
    "empty-include": _error("An include pattern matches no file."),
    "example-mismatch": _error("An example of a prompt renders to another text."),
    "example-violates-schema": _error("An example does not fit the schema of the arguments or inputs."),
    "file-too-large": _error("A file is larger than 16 MiB."),
    "host-placeholder": _error("A placeholder stands in the scheme or host of a URL."),
    "include-cycle": _error("A file or prompt includes itself, directly or through others."),
    "include-outside-root": _error("A file outside the folder of the root file is named."),
    "looks-like-placeholder": _warning("Text in braces looks like a placeholder but is none."),
    "missing-description": _warning("A recipient or prompt has no description."),
    "missing-file": _error("A file that is named cannot be read."),
    "missing-key": _error("A table lacks a key that it must have."),
    "name-collision": _error("Two names become the same in an export."),
    "name-not-portable": _error("A name is not allowed by the target of an export."),
    "needs-json": _error("An array or object is used without !json or a loop."),
    "nesting-too-deep": _error("Tables, arrays or sections are nested too deeply."),
    "not-finite": _error("A number is infinite or not a number."),
    "not-utf8": _error("A file or text is not valid UTF-8."),
    "number-too-long": _error("An integer has more digits than can be read."),
    "optional-outside-section": _error("An optional input is used where it may be absent."),
    "remote-ref": _error("A schema refers to something outside itself."),
    "required-arg-not-declared": _error("A required argument is not declared."),
    "second-system-message": _warning("A prompt has more than one system message."),
    "secret-in-file": _error("A literal credential is written into the file."),
    "stray-section-close": _error("A section is closed or continued that is not open."),
    "toml-syntax": _error("The file is no valid TOML."),
    "too-many-faults": _error("A file has more faults of shape than are told."),
    "too-many-tools": _error("More tools are exported than the target takes."),
    "unbalanced-brace": _warning("A brace in a template has no partner."),
    "unclosed-section": _error("A section of a template is never closed."),
    "undeclared-argument": _error("A placeholder names an argument that is not declared."),
    "undeclared-input": _error("A template uses an input that is not declared."),
    "unknown-key": _error("A key is not known where it stands."),
    "unknown-kind": _error("A recipient has a kind that does not exist."),
    "unknown-recipient": _error("A prompt names a recipient that does not exist."),
    "unknown-role": _error("A message has a role that does not exist."),
    "unknown-server": _error("A recipient names a server that is not declared."),
    "unresolved-ref": _error("A reference inside a schema leads nowhere."),
    "unsafe-pattern": _warning("A pattern takes exponential time in a backtracking engine."),
    "unsupported-schema": _error("The target of an export cannot express a schema."),
    "unused-ignore": _warning("A comment silences a diagnostic that does not occur."),
    "unused-input": _error("A declared input is used by no template of its prompt."),
    "wrong-type": _error("A value is of the wrong type."),
    "wrong-value": _error("A value is not one of those allowed."),
}
