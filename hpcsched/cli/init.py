"""`hpcsched init`: a commented starter scenario."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.shared_options import Force


class Kind(StrEnum):
    """The kinds of starters."""

    LOG = "log"
    SLURM = "slurm"
    SITE = "site"


def init(
    kind: Annotated[
        Kind, typer.Argument(help="The kind of workload: log, slurm or site.")
    ] = Kind.LOG,
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("scenario.yaml"),
    *,
    force: Force = False,
) -> None:
    """Write a commented scenario to start from.

    The schema for editors is written beside it. The names of logs in it are examples.
    """
    from hpcsched.first_look.starter import write_starter

    for path in write_starter(kind, out, force=force):
        typer.echo(f"written: {path}")
    typer.echo(f"edit it, then: hpcsched validate {out}")
