"""`hpcsched trace fetch`: downloads of logs of the Parallel Workloads Archive."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hpcsched.cli.old_spellings import ToFolder, chosen_path

if TYPE_CHECKING:
    from hpcsched.workload.archive.catalogue import Log

FOLDER = "HPCSCHED_TRACES"
"""Environment variable with the folder of traces."""


def fetch(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="The name of the log in --list.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help=f"The folder to write to; ${FOLDER} by default.", show_default=False
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the available logs.")] = False,
    *,
    to: ToFolder = None,
) -> None:
    """Download a log of the Parallel Workloads Archive.

    Checks that it is complete, and shows the work to cite. An interrupted transfer is resumed.
    """
    from hpcsched.workload.archive import catalogue

    logs = catalogue.read_catalogue()
    if listed:
        width = max(len(log.name) for log in logs)
        for log in logs:
            typer.echo(f"{log.name:{width}}  {log.about}")
        return
    if name is None:
        raise typer.BadParameter("expected the name of a log, or --list", param_hint="NAME")
    log = catalogue.find_log(name, logs)
    _fetch(log, _folder(chosen_path(out, to, "--to")))


def _folder(given: Path | None) -> Path:
    """Return the folder for logs; raise InputError without an option or environment variable."""
    import os

    from hpcsched.errors import Finding, InputError

    if given is not None:
        return given
    named = os.environ.get(FOLDER)
    if not named:
        message = f"expected --out DIR, or a folder in the environment variable {FOLDER}"
        raise InputError(Finding("no-folder", message))
    return Path(named)


def _fetch(log: "Log", folder: Path) -> None:
    import sys

    from hpcsched.workload.archive.download import fetch as download

    def show(size: int, whole: int | None) -> None:
        of = f" of {whole / 1e6:.1f}" if whole else ""
        typer.echo(f"\r{size / 1e6:.1f}{of} MB", nl=False, err=True)

    path = folder / log.file_name
    # A progress line in a log file would be thousands of carriage returns.
    shown = show if sys.stderr.isatty() else None
    fetched = download(log.address, path, log.sha256, progress=shown)
    if shown and fetched.received:
        typer.echo(err=True)
    how = "went on where it had broken off" if fetched.resumed else "fetched"
    what = how if fetched.received else "is there already, and is whole"
    typer.echo(f"{fetched.path}: {what}; {fetched.size} bytes, SHA-256 {fetched.sha256}")
    if log.sha256 is None:
        typer.echo("The catalogue does not know its hash, so only its packing could be checked.")
    typer.echo(f"\nThe log is by courtesy of {log.acknowledge}. Acknowledge them, and cite:")
    typer.echo(f"  {log.cite}")
    typer.echo("\nA scenario uses it so:")
    system = log.system if ":" not in log.system else f"{{{log.system}}}"
    typer.echo(f"  system: {system}")
    typer.echo(f"  trace: {{source: swf, path: '${{{FOLDER}}}/{log.file_name}'}}")
