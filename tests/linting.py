"""What the tests of lint rules share: texts in, what was found out."""

import tomli

from registry.documents import Document, Sources
from registry.loading.lint import lint
from registry.loading.validate import validate


def document(text, name="main.toml", **templates):
    files = {file: Document(file, content, content) for file, content in templates.items()}
    return Document(name, text, tomli.loads(text), templates=files)


def faults(*documents):
    """Return the faults of lint in documents or texts, after validation."""
    made = [
        document(one, f"{number or 'main'}.toml") if isinstance(one, str) else one
        for number, one in enumerate(documents)
    ]
    known = [fault for one in made for fault in validate(one)]
    return lint(Sources(tuple(made)), known)


def found(*documents):
    """Return ``code path`` of each fault, sorted; a text's part is added in brackets."""
    return sorted(map(shown, faults(*documents)))


def shown(fault):
    path = ".".join(map(str, fault.path))
    if fault.within is None:
        return f"{fault.code} {path}"
    text = fault.document.data
    for key in fault.path:
        text = text[key]
    return f"{fault.code} {path} [{text[slice(*fault.within)]}]"


def only(*documents):
    """Return the one fault."""
    [fault] = faults(*documents)
    return fault
