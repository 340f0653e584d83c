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
    log: Annotated[
        Path | None,
        typer.Argument(
            metavar="LOG",
            help="The log to replay, with the kind log; an example by default.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("scenario.yaml"),
    *,
    force: Force = False,
) -> None:
    """Write a commented scenario to start from.

    The schema for editors is written beside it. With a log, the format, the machine and the
    policies are those that `hpcsched try` finds; without, the names in it are examples.
    """
    from hpcsched.studies.first_look.starter import write_starter

    if log is not None and kind is not Kind.LOG:
        raise typer.BadParameter(f"expected no log with the kind {kind}", param_hint="LOG")

    def tell(line: str) -> None:
        typer.echo(line, err=True)

    for path in write_starter(kind, out, log=log, tell=tell, force=force):
        typer.echo(f"wrote {path}")
    typer.echo(f"edit it, then: hpcsched validate {out}")
