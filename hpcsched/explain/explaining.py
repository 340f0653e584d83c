"""Explanations of jobs of a run, with facts from the run's trace."""

from collections.abc import Collection, Mapping

from hpcsched.errors import HpcschedError
from hpcsched.explain.explanation import Explanation, JobFacts, explain_job, traced_facts
from hpcsched.runs.assembly import assemble_again
from hpcsched.runs.directory import RunDirectory


def explain_run(run: RunDirectory, job_id: int) -> Explanation:
    """Return the explanation of the start of a job.

    Parameters
    ----------
    run
        A run that recorded reasons.
    job_id
        Number of the job.

    Raises
    ------
    InputError
        The run recorded no reasons, or has no such job.
    """

    def look_up(job_ids: Collection[int]) -> Mapping[int, JobFacts]:
        try:
            parts = assemble_again(run)
            return {
                job.job_id: traced_facts(job, parts.system.resource_types)
                for job, _ in parts.source.jobs()
                if job.job_id in job_ids
            }
        # The log may have moved since the run; records alone still explain most jobs.
        except HpcschedError:
            return {}

    return explain_job(run, job_id, look_up)
