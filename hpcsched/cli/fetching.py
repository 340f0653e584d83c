"""`hpcsched trace fetch`: downloads of logs of the Parallel Workloads Archive, and of data sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hpcsched.workload.archive.download import Log
    from hpcsched.workload.presets.preset_catalogue import Preset, PresetFile

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
) -> None:
    """Download a log of the archive, or of a known data set.

    The archive is the Parallel Workloads Archive; data sets are those of `hpcsched trace presets`.
    Checks that it is complete, and shows the work to cite. An interrupted transfer is resumed.
    """
    from hpcsched.workload.archive import download
    from hpcsched.workload.presets.preset_catalogue import read_presets

    logs = download.read_catalogue()
    files = [(preset, file) for preset in read_presets().values() for file in preset.files]
    if listed:
        about = [(log.name, log.about) for log in logs]
        about += [(file.name, f"preset {preset.name}: {preset.about}") for preset, file in files]
        width = max(len(name) for name, _ in about)
        for shown, text in about:
            typer.echo(f"{shown:{width}}  {text}")
        return
    if name is None:
        raise typer.BadParameter("expected the name of a log, or --list", param_hint="NAME")
    chosen = [(preset, file) for preset, file in files if name in (preset.name, file.name)]
    if len(chosen) > 1:
        names = ", ".join(file.name for _, file in chosen)
        raise typer.BadParameter(f"expected one of its files: {names}", param_hint="NAME")
    if chosen:
        _fetch_file(*chosen[0], _folder(out))
        return
    others = [*dict.fromkeys(preset.name for preset, _ in files)]
    log = download.find_log(name, logs, others)
    _fetch(log, _folder(out))


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


def _download(address: str, path: Path, sha256: str | None) -> None:
    """Download a file, and print its size and hash."""
    import sys

    from hpcsched.terminal import can_draw, rewrite_line
    from hpcsched.workload.archive.download import fetch as download

    def show(size: int, whole: int | None) -> None:
        of = f" of {whole / 1e6:.1f}" if whole else ""
        rewrite_line(f"{size / 1e6:.1f}{of} MB")

    # A progress line in a log file would be thousands of carriage returns.
    shown = show if can_draw(sys.stderr) else None
    fetched = download(address, path, sha256, progress=shown)
    if shown and fetched.received:
        typer.echo(err=True)
    how = "went on where it had broken off" if fetched.resumed else "fetched"
    what = how if fetched.received else "is there already, and is whole"
    typer.echo(f"{fetched.path}: {what}; {fetched.size} bytes, SHA-256 {fetched.sha256}")
    if sha256 is None:
        typer.echo("The catalogue does not know its hash, so only its packing could be checked.")


def _fetch(log: "Log", folder: Path) -> None:
    _download(log.address, folder / log.file_name, log.sha256)
    typer.echo(f"\nThe log is by courtesy of {log.acknowledge}. Acknowledge them, and cite:")
    typer.echo(f"  {log.cite}")
    typer.echo("\nA scenario uses it so:")
    system = log.system if ":" not in log.system else f"{{{log.system}}}"
    typer.echo(f"  system: {system}")
    typer.echo(f"  trace: {{source: swf, path: '${{{FOLDER}}}/{log.file_name}'}}")


def _fetch_file(preset: "Preset", file: "PresetFile", folder: Path) -> None:
    _download(file.address, folder / file.name, file.sha256)
    typer.echo(f"\n{preset.title}, licence: {preset.licence}. Cite:")
    typer.echo(f"  {preset.cite}")
    typer.echo(f"\nTo use it: {preset.get}")
    typer.echo("A scenario uses it so:")
    typer.echo(f"  trace: {{source: table, preset: {preset.name}, path: FILE}}")
