"""Options under their former names, which still work and warn with the name of today."""

from typing import Annotated

import typer

from hpcsched.cli.output import TableFormat

JsonFlag = Annotated[bool, typer.Option("--json", hidden=True)]
"""The former spelling of `--format json`."""


def warn_old(old: str, new: str) -> None:
    """Print the warning that `new` has replaced `old`."""
    typer.echo(f"warning: {old} is now {new}", err=True)


def table_format(format_: TableFormat, *, json: bool) -> TableFormat:
    """Return the format chosen by `--format` or by the former flag `--json`."""
    if not json:
        return format_
    warn_old("--json", "--format json")
    return TableFormat.JSON
