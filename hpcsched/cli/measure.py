"""`hpcsched measure`: metrics of a finished run, computed again without a replay."""

import typer

from hpcsched.cli.shared_options import OneRun


def measure(directory: OneRun) -> None:
    """Compute the metrics of a run again, without a replay.

    For a run whose summary lacks the value of a plugin's metric that failed. The summary is written
    anew. Exits with 1 if something still cannot be measured.
    """
    from hpcsched.report.run_choice import one_run_folder
    from hpcsched.report.tables.run_account import account_lines
    from hpcsched.runs.directory import RunDirectory
    from hpcsched.runs.measuring import measure_again

    run = measure_again(RunDirectory.open(one_run_folder(directory)))
    for line in account_lines(run.summary):
        typer.echo(line)
    if run.summary.get("not_measured"):
        raise typer.Exit(1)
