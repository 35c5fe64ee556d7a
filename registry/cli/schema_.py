"""``recipients schema``."""

from __future__ import annotations

import pathlib

import click

from registry.resources import schema_folder

#: The schema of a whole registry file, which stands for the others.
_MAIN = "registry"
_SUFFIX = ".schema.json"


@click.command("schema")
@click.argument("name", default=_MAIN)
@click.option(
    "--install",
    "folder",
    type=click.Path(file_okay=False, path_type=pathlib.Path),
    help="Write all schemas into this folder, for `#:schema` lines.",
)
def command(name: str, folder: pathlib.Path | None) -> None:
    """Print the JSON Schema of registry files (or of one part), or install all of them for editors."""
    found = {path.name.removesuffix(_SUFFIX): path for path in sorted(schema_folder().glob(f"*{_SUFFIX}"))}
    if name not in found:
        raise click.UsageError(f"there is no schema {name!r}; there are: {', '.join(found)}")
    if folder is None:
        click.echo(found[name].read_text("utf-8"), nl=False)
        return
    folder.mkdir(parents=True, exist_ok=True)
    for path in found.values():
        (folder / path.name).write_bytes(path.read_bytes())
        click.echo(f"wrote {folder / path.name}", err=True)
    click.echo(f"Put this line first in a registry file:\n#:schema {(folder / found[_MAIN].name).as_posix()}")
