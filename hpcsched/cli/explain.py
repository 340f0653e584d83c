"""`hpcsched explain`: the reasons for the start time of a job."""

from typing import TYPE_CHECKING, Annotated

import typer

from hpcsched.cli.output import DataFormat, DataFormatOption, OutFile, emit, json_text
from hpcsched.cli.shared_options import OneRun

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hpcsched.explain.explanation import FromTrace, JobFacts
    from hpcsched.results.directory import RunDirectory


def explain(
    directory: OneRun,
    job: Annotated[
        str,
        typer.Argument(
            metavar="JOB",
            help="The number of the job, or Slurm's id of a part: 123_4.",
            show_default=False,
        ),
    ],
    format_: DataFormatOption = DataFormat.TEXT,
    out: OutFile = None,
) -> None:
    """Explain why a job started when it did.

    Shows the reasons for which it waited, how it started, and the jobs that it held up. The run
    must have recorded reasons: hpcsched run --explain.
    """
    from hpcsched.explain.explanation import explain_job
    from hpcsched.explain.explanation_rendering import explanation_content, explanation_text
    from hpcsched.report.run_choice import one_run_folder
    from hpcsched.results.directory import RunDirectory

    run = RunDirectory.open(one_run_folder(directory))
    explanation = explain_job(run, _number_of(job), _from_trace(run))
    if format_ is DataFormat.JSON:
        emit(json_text(explanation_content(explanation)), out)
    else:
        emit(explanation_text(explanation), out)


def _number_of(text: str) -> int:
    """Return the number of a job; that of an array task is made of its id."""
    from hpcsched.workload.readers.accounting_logs.slurm_job_ids import parse_job_id

    if text.isdecimal():
        return int(text)
    try:
        job = parse_job_id(text)
    except ValueError:
        job = None
    if job is None or job.is_step or job.is_pending:
        message = f"expected the number of a job, or an id such as 123_4 or 123+1; found {text!r}"
        raise typer.BadParameter(message, param_hint="JOB")
    return job.number


def _from_trace(run: "RunDirectory") -> "FromTrace":
    """Return a function that looks up jobs in the run's trace; it finds none if unreadable."""

    def look_up(job_ids: "Collection[int]") -> "Mapping[int, JobFacts]":
        from hpcsched.errors import HpcschedError
        from hpcsched.explain.explanation import traced_facts
        from hpcsched.runs.assembly import assemble
        from hpcsched.scenario import load_scenario

        try:
            parts = assemble(load_scenario(run.scenario_path))
            return {
                job.job_id: traced_facts(job, parts.system.resource_types)
                for job, _ in parts.source.jobs()
                if job.job_id in job_ids
            }
        # The log may have moved since the run; records alone still explain most jobs.
        except HpcschedError:
            return {}

    return look_up
