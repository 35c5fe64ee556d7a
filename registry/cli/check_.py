"""``recipients check``."""

from __future__ import annotations

import pathlib
from functools import partial

import click

from registry.cli.options import DEFAULT_FILE
from registry.cli.output import show_error, show_report
from registry.diagnostics import Report
from registry.exceptions import UnreadableFile
from registry.reporters import REPORTERS

_WILDCARDS = frozenset("*?[")


@click.command("check")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--format", "format_name", type=click.Choice(list(REPORTERS)), default="text", show_default=True
)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option("--stdin-filename", metavar="NAME", help="Name of what is read from standard input (FILE '-').")
@click.option("--import", "imports", is_flag=True, help="Also import the functions and classes named.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes (extra: watch).")
def command(
    files: tuple[str, ...],
    format_name: str,
    strict: bool,
    stdin_filename: str | None,
    imports: bool,
    watch: bool,
) -> int:
    """Check registry files (recipients.toml unless named): every fault at once, with its place.

    A folder stands for every recipients.toml below it. '-' reads standard input. Nothing that the files
    name is run or imported (unless --import), and nothing is read outside the root file's folder.

    Exit code: 0 no errors, 1 errors, 2 could not check.
    """
    files = files or (DEFAULT_FILE,)
    check = partial(check_and_show, files, format_name, stdin_filename, strict=strict, imports=imports)
    if watch:
        from registry.cli.watching import watch_check

        return watch_check(files, check)
    return check()


def check_and_show(
    files: tuple[str, ...],
    format_name: str = "text",
    stdin_filename: str | None = None,
    *,
    strict: bool = False,
    imports: bool = False,
) -> int:
    """Check every file, print what was found, and return the exit code."""
    report, unreadable = check_all(files, stdin_filename, imports=imports)
    report = report.strict() if strict else report
    if report.files or not unreadable or format_name != "text":  # "no problems" would be no answer
        show_report(report, format_name)
    for error in unreadable:
        show_error(error)
    if unreadable:
        return 2
    return 0 if report.ok else 1


def check_all(
    files: tuple[str, ...], stdin_filename: str | None = None, *, imports: bool = False
) -> tuple[Report, list[UnreadableFile]]:
    """Check every file, whatever is wrong with the others."""
    from registry.loading.loader import check

    reports: list[Report] = []
    unreadable: list[UnreadableFile] = []
    for file in files:
        try:
            if file == "-":
                reports.append(_check_input(stdin_filename))
                continue
            for name in expand(file):
                reports.append(check(name))
                if imports:
                    from registry.cli.importing import import_report

                    reports.append(import_report(name))
        except UnreadableFile as error:
            unreadable.append(error)
    return Report.combine(reports), unreadable


def _check_input(filename: str | None) -> Report:
    import sys

    from registry.loading.loader import checks

    name = filename or "<stdin>"
    folder = pathlib.Path(filename).parent.resolve() if filename else None
    return checks(sys.stdin.buffer.read(), name=name, folder=folder)


def expand(file: str) -> list[str]:
    """Return the files that a name stands for: itself, those of a folder, or those that match a pattern.

    Raises:
        UnreadableFile: a folder has no registry, or nothing matches.
    """
    path = pathlib.Path(file)
    if path.is_dir():
        found = sorted(str(item) for item in path.rglob(DEFAULT_FILE))
        if not found:
            raise UnreadableFile(file, f"the folder has no {DEFAULT_FILE}")
        return found
    if not _WILDCARDS.isdisjoint(file) and not path.exists():
        import glob

        found = sorted(glob.glob(file, recursive=True))  # noqa: PTH207 - the pattern may be absolute
        if not found:
            raise UnreadableFile(file, "no file matches")
        return found
    return [file]
