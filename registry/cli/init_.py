"""``recipients init``."""

from __future__ import annotations

import pathlib

import click

from registry.cli.options import DEFAULT_FILE

STARTER = """\
# Recipients are the tools a language model may send messages to; prompts are the texts it is sent.
# Check this file:     recipients check
# Call a recipient:    recipients run python 'print(6 * 7)'
# Render a prompt:     recipients render greet name=Ada
#
# For completion in an editor, run `recipients schema --install schemas` and put this line first:
# #:schema schemas/registry.schema.json
version = 1

# Put further prompts into files of their own:
# include = ["prompts/*.toml"]

[recipients.python]
kind = "python"                 # runs in a sandbox; no network, no files but its own
description = "Run Python code and return what it prints."
api_docs = "Send Python source code; the answer is what it prints and the value of its last expression."
timeout = 10                    # seconds

[[recipients.python.example_messages]]
text = "print(6 * 7)"

[recipients.shorten]
kind = "function"               # calls a Python function: package.module:name
description = "Shorten a text to a number of characters."
call = "textwrap:shorten"
required_args = ["text", "width"]

[recipients.shorten.parameters]
text = { type = "string", description = "The text to shorten" }
width = { type = "integer", minimum = 5, description = "The most characters to keep" }

[[recipients.shorten.example_messages]]
arguments = { text = "Hello big world", width = 11 }

[prompts.greet]
description = "Greets a person by name."
role = "user"
template = "Hello {name}, you are {age} years old."     # {name} is filled; JSON braces may stay as they are
inputs.name = { type = "string", description = "Who is greeted" }
inputs.age = { type = "integer", minimum = 0, default = 30 }

[[prompts.greet.examples]]
inputs = { name = "Ada", age = 36 }
renders = "Hello Ada, you are 36 years old."
"""


@click.command("init")
@click.argument("file", default=DEFAULT_FILE, type=click.Path(dir_okay=False, path_type=pathlib.Path))
@click.option("--force", is_flag=True, help="Write over an existing file.")
def command(file: pathlib.Path, force: bool) -> int:
    """Write a commented starter file that checks clean."""
    if file.exists() and not force:
        click.echo(f"error: {file} exists; nothing was written (--force writes over it)", err=True)
        return 1
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(STARTER, encoding="utf-8", newline="\n")
    except OSError as error:
        click.echo(f"error: {file} cannot be written: {error.strerror}", err=True)
        return 2
    click.echo(f"wrote {file}\nnext: recipients check {file}")
    return 0
