"""Former spellings of options and modes, which still work and warn with the present one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.output import TableFormat

JsonFlag = Annotated[bool, typer.Option("--json", hidden=True)]
"""The former spelling of `--format json`."""
ToFolder = Annotated[Path | None, typer.Option("--to", hidden=True)]
"""The former spelling of `trace fetch --out`."""
OutArgument = Annotated[Path | None, typer.Argument(metavar="[OUT]", hidden=True)]
"""The former place of `trace convert --out`."""

_LIVE_MODES = ("advise", "drive", "replay")


def warn_old(old: str, new: str) -> None:
    """Print the warning that `new` has replaced `old`."""
    typer.echo(f"warning: {old} is now {new}", err=True)


def table_format(format_: TableFormat, *, json: bool) -> TableFormat:
    """Return the format chosen by `--format` or by the former flag `--json`."""
    if not json:
        return format_
    warn_old("--json", "--format json")
    return TableFormat.JSON


def chosen_path(new: Path | None, old: Path | None, spelling: str) -> Path | None:
    """Return the path of `--out`, or the one given in the former spelling."""
    if new is not None or old is None:
        return new
    warn_old(spelling, "--out")
    return old


def present_arguments(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of a command line with `live --MODE` as the subcommand `live MODE`.

    Examples
    --------
    >>> present_arguments(["live", "replay", "a.yaml", "runs/a"])
    ['live', 'replay', 'a.yaml', 'runs/a']
    >>> present_arguments(["run", "--drive"])
    ['run', '--drive']
    """
    given = list(arguments)
    # Global options may come before the command.
    at = next((k for k, one in enumerate(given) if not one.startswith("-")), len(given))
    if given[at : at + 1] != ["live"] or given[at + 1 : at + 2] in [[mode] for mode in _LIVE_MODES]:
        return given
    modes = [mode for mode in _LIVE_MODES if f"--{mode}" in given]
    if len(modes) != 1:
        return given
    (mode,) = modes
    before, rest = given[:at], given[at + 1 :]
    found = rest.index(f"--{mode}")
    if mode == "replay":
        # The live run was the value of --replay; it now follows the scenario.
        live_run = rest[found + 1 : found + 2]
        del rest[found : found + 2]
        after = next((k for k, one in enumerate(rest) if not one.startswith("-")), 0) + 1
        rest[after:after] = live_run
    else:
        del rest[found]
    warn_old(f"live --{mode}", f"live {mode}")
    return [*before, "live", mode, *rest]
