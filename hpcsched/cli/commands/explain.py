"""`hpcsched explain`: the reasons for the start time of a job."""

from contextlib import suppress
from typing import Annotated

import typer

from hpcsched.cli.options import OneRun, with_option_groups
from hpcsched.cli.output import DataOutput

PANEL = "Look"


@with_option_groups
def explain(
    directory: OneRun,
    job: Annotated[
        str,
        typer.Argument(
            metavar="JOB", help="The number of the job, or Slurm's id of a part: 123_4."
        ),
    ],
    *,
    output: DataOutput,
) -> None:
    """Explain why a job started when it did.

    Shows the reasons for which it waited, how it started, and the jobs that it held up. The run
    must have recorded reasons: hpcsched run --explain.
    """
    from hpcsched.explain.explanation import explain_run
    from hpcsched.explain.explanation_rendering import explanation_content, explanation_text
    from hpcsched.report.run_choice import one_run_folder
    from hpcsched.runs.directory import RunDirectory

    run = RunDirectory.open(one_run_folder(directory))
    explanation = explain_run(run, _number_of(job))
    output.show(lambda: explanation_text(explanation), lambda: explanation_content(explanation))


def _number_of(text: str) -> int:
    """Return the number of a job from its number or the id of a part, as Slurm writes it."""
    from hpcsched.workload.readers.accounting_log import component_number, task_number

    if text.isdecimal():
        return int(text)
    for sign, number in (("_", task_number), ("+", component_number)):
        job, _, part = text.partition(sign)
        if job.isdecimal() and part.isdecimal():
            with suppress(ValueError):
                return number(int(job), int(part))
    message = f"expected the number of a job, or an id such as 123_4 or 123+1; found {text!r}"
    raise typer.BadParameter(message, param_hint="JOB")
