"""Jobs of a system of cores as columns."""

from collections.abc import Sequence

from hpcsched.system.system import Request
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, columns_of


def jobs_of(rows: Sequence[tuple[int, int, int, int, int | None]]) -> JobColumns:
    """Return jobs of (submit time, units, requested time, run time, user), numbered from 1."""
    traced = [
        TracedJob(Job(number, submit, Request(units, (1,)), requested, user), run_time)
        for number, (submit, units, requested, run_time, user) in enumerate(rows, 1)
    ]
    (columns,) = columns_of(traced, RequestNumbers())
    return columns
