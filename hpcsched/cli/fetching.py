"""`hpcsched trace fetch`: logs of the Parallel Workloads Archive, brought here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hpcsched.workload.archive.catalogue import Log

FOLDER = "HPCSCHED_TRACES"
"""The environment variable that names the folder of traces."""


def fetch(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="The log, by its name in the list.", show_default=False
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help=f"The folder to put it into; that of ${FOLDER}, if not given.",
            show_default=False,
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Show the logs that can be fetched.")
    ] = False,
) -> None:
    """Bring a log of the Parallel Workloads Archive, check that it is whole, and say what to cite.

    A transfer that broke off goes on where it was.
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
    _fetch(catalogue.find_log(name, logs), _folder(to))


def _folder(to: Path | None) -> Path:
    """Return where to put logs; raises InputError where nothing says so."""
    import os

    from hpcsched.errors import Finding, InputError

    if to is not None:
        return to
    named = os.environ.get(FOLDER)
    if not named:
        message = f"expected --to DIR, or a folder in the environment variable {FOLDER}"
        raise InputError(Finding("no-folder", message))
    return Path(named)


def _fetch(log: "Log", folder: Path) -> None:
    import sys

    from hpcsched.workload.archive.download import fetch as download

    def show(size: int, whole: int | None) -> None:
        of = f" of {whole / 1e6:.1f}" if whole else ""
        typer.echo(f"\r{size / 1e6:.1f}{of} MB", nl=False, err=True)

    path = folder / log.file_name
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
