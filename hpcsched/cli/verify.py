"""`hpcsched verify`: audit a run by means that share nothing with the simulator."""

from pathlib import Path
from typing import Annotated

import typer


def verify(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The run directory.", show_default=False)
    ],
    *,
    replay: Annotated[
        bool, typer.Option("--replay", help="Run the scenario again too, and compare every start.")
    ] = False,
) -> None:
    """Check a run against its trace and system, and its figures against its jobs.

    Prints what was checked and every violation found; exits with 1 if there is one, or if the run
    cannot be replayed although that was asked for.
    """
    from hpcsched.cli.auditing import audit_directory, replay_directory
    from hpcsched.report.run_choice import one_run_folder
    from hpcsched.report.tables.audit_lines import check_lines
    from hpcsched.results.directory import RunDirectory

    run = RunDirectory.open(one_run_folder(directory))
    if run.partial:
        typer.echo(f"partial: the run was {run.manifest.status}; what it holds is checked")
    report = audit_directory(run)
    for line in check_lines(report):
        typer.echo(line)
    done = "checked against its own records, its trace and its scenario; not replayed"
    ok = report.ok
    if replay:
        again = replay_directory(run)
        if isinstance(again, str):
            done, ok = f"not replayed: {again}", False
        else:
            for line in check_lines(again):
                typer.echo(line)
            ok = ok and again.ok
            starts = again.checks[0]
            done = f"replayed: {starts.looked_at - starts.count} of {starts.looked_at} starts equal"
    typer.echo(done)
    typer.echo("ok" if ok else "not ok")
    if not ok:
        raise typer.Exit(1)
