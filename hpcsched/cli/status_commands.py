"""Commands that are asked often: `status` and `when`."""

from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.options import DataOutput, OneRun, with_option_groups

COMMANDS = {
    "status": ("Run", "Show the progress or the outcome of a run or an experiment."),
    "when": ("Site", "Tell when jobs that wait on a cluster will start."),
}
"""Panel and summary of each command, see `hpcsched.cli.commands`."""


@with_option_groups
def status(directory: OneRun, *, output: DataOutput) -> None:
    """Show the progress or the outcome of a run or an experiment.

    It works from another terminal while the run is in progress.
    """
    # Without arrays and models: it is asked again and again.
    from hpcsched.report.run_choice import INDEX, one_run_folder, run_folder
    from hpcsched.runs.run_status import status_content, status_of, status_text

    folder = run_folder(directory)
    if (folder / INDEX).is_file():
        from hpcsched.studies import experiment_folder as experiment

        of_all = experiment.experiment_status(folder)
        output.show(
            lambda: experiment.experiment_status_text(of_all),
            lambda: experiment.experiment_status_content(of_all),
        )
        return
    found = status_of(one_run_folder(folder))
    output.show(lambda: status_text(found), lambda: status_content(found))


def when(
    jobs: Annotated[list[str], typer.Argument(metavar="JOB...", help="Names of waiting jobs.")],
    *,
    forecast: Annotated[
        Path,
        typer.Option(
            envvar="HPCSCHED_FORECAST",
            help="File of 'hpcsched live forecast --publish'.",
        ),
    ],
) -> None:
    """Tell when jobs that wait on a cluster will start.

    It reads the latest forecast, for which no rights on the cluster are needed. The number of an
    array stands for all of its tasks.
    """
    from hpcsched.studies.forecast.forecast_file import read_forecast, when_lines

    for line in when_lines(read_forecast(forecast), jobs):
        typer.echo(line)
