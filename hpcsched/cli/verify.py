"""`hpcsched verify`: audit a run by means that share nothing with the simulator."""

from pathlib import Path
from typing import Annotated

import typer


def verify(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The run directory.", show_default=False)
    ],
) -> None:
    """Check a run against its trace and system, and its figures against its jobs.

    Prints what was checked and every violation found; exits with 1 if there is one.
    """
    from hpcsched.cli.auditing import audit_directory
    from hpcsched.report.audit import audit_lines
    from hpcsched.results.directory import RunDirectory

    run = RunDirectory.open(directory)
    if run.partial:
        typer.echo(f"partial: the run was {run.manifest.status}; what it holds is checked")
    report = audit_directory(run)
    for line in audit_lines(report):
        typer.echo(line)
    if not report.ok:
        raise typer.Exit(1)
