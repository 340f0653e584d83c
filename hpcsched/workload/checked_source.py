"""Trace source around that of a third party, with checks of every job."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hpcsched.errors import PluginError
from hpcsched.plugin_faults import named
from hpcsched.system.request import Request
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.job_batches import GivesColumns, JobColumns, RequestNumbers
from hpcsched.workload.trace_source import (
    TraceAccount,
    TraceAnswer,
    TraceSource,
    answer_again,
    answers_of,
    has_dependencies,
    recorded_waits,
)


class CheckedSource:
    """Trace source whose records are checked; all else is passed on.

    Parameters
    ----------
    source
        The source of a third party.
    """

    def __init__(self, source: TraceSource) -> None:
        self._source = source

    @property
    def account(self) -> TraceAccount:
        """Account of the records read so far."""
        return self._source.account

    @property
    def comments(self) -> Sequence[str]:
        """Header comments of the trace read so far."""
        return self._source.comments

    @property
    def files(self) -> Sequence[Path]:
        """Input files."""
        return self._source.files

    def read_answers(self) -> Sequence[TraceAnswer]:
        """Return the answers that the source reads in place of files."""
        return answers_of(self._source)

    def take_answers(self, answers: Sequence[TraceAnswer]) -> None:
        """Have the source read the answers of an earlier run."""
        answer_again(self._source, answers)

    @property
    def uniform_request(self) -> tuple[int, ...] | None:
        """Unit request of all jobs; None unless the source knows it."""
        return self._source.uniform_request

    @property
    def fraction_read(self) -> float | None:
        """Fraction of the trace that has been read, from 0 to 1; None if unknown."""
        return self._source.fraction_read

    @property
    def dependencies(self) -> bool:
        """True if jobs may wait for others to end."""
        return has_dependencies(self._source)

    def keep_waits(self) -> dict[int, int] | None:
        """Return the mapping of wait times that `jobs` fills; None if there are none."""
        return recorded_waits(self._source)

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs.

        Raises
        ------
        PluginError
            If a job is none, or does not follow the one before.
        """
        latest = 0
        for traced in self._source.jobs():
            fault = job_fault(traced, latest)
            if fault is not None:
                raise PluginError(f"{named('trace_source', self._source)}: {fault}")
            latest = traced.job.submit_time
            yield traced


class CheckedColumnSource(CheckedSource):
    """Checked source that yields columns as well, which are passed on as they are."""

    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self._columns: GivesColumns = source

    def job_columns(self, numbers: RequestNumbers) -> Iterator[JobColumns]:
        """Yield the jobs in batches."""
        return self._columns.job_columns(numbers)


def checked_source(source: TraceSource) -> TraceSource:
    """Return a source around another, with checks of every job."""
    if isinstance(source, GivesColumns):
        return CheckedColumnSource(source)
    return CheckedSource(source)


def job_fault(traced: object, latest: int) -> str | None:
    """Return why a record of a trace cannot be used; None if it can.

    Parameters
    ----------
    traced
        The record.
    latest
        Submit time of the record before, in seconds.
    """
    if not isinstance(traced, TracedJob) or not isinstance(traced.job, Job):
        return f"expected a TracedJob with a Job, found {traced!r}"
    job, run_time = traced
    whose = f"job {job.job_id}"
    if not isinstance(job.request, Request):
        return f"{whose}: expected a Request, found {job.request!r}"
    for name, value, least in (
        ("job_id", job.job_id, 0),
        ("submit_time", job.submit_time, 0),
        ("requested_time", job.requested_time, 1),
        ("run_time", run_time, 0),
        ("units", job.request.units, 1),
        *(("unit_request", amount, 0) for amount in job.request.unit_request),
    ):
        # Not isinstance: numpy integers would leak into results.
        if type(value) is not int or value < least:
            return f"{whose}: expected a whole {name} of at least {least}, found {value!r}"
    if job.submit_time < latest:
        return out_of_order(traced, latest)
    return None


def out_of_order(traced: TracedJob, latest: int) -> str:
    """Return the fault of a job that is submitted before `latest`, in seconds."""
    return (
        f"expected jobs by ascending submit time, found job {traced.job.job_id} at"
        f" {traced.job.submit_time} after one at {latest}"
    )
