"""The log's own schedule of the jobs of a run: their recorded starts, without a replay."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from hpcsched.arrow_arrays import arrow_array, computed
from hpcsched.metrics.metric import Column, RunTables
from hpcsched.plugins.manager import registry
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.job_breakdown import Schedule, read_schedule
from hpcsched.report.tables.run_comparison import LogColumn, LogFigures
from hpcsched.runs.assembly import Assembly, assemble_again
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.manifest import ON_A_CLUSTER
from hpcsched.runs.outage_records import down_amounts
from hpcsched.runs.summary import measured
from hpcsched.runs.tables import ArrowTable
from hpcsched.scenario.models import RULE, without_waits
from hpcsched.whole_files import problem
from hpcsched.workload.trace_source import recorded_waits

NAME = "recorded"
"""Name of the column of the log's own schedule."""


def recorded_schedule(compared: ComparedStudy) -> tuple[Schedule, LogColumn]:
    """Return the log's own schedule of the jobs of the baseline, and its column of a comparison.

    A job starts when the log says that it did, and runs as long as the log says. Nothing is
    replayed: neither nodes nor limits of the scenario matter. The runs are of one trace.
    """
    one = compared.baseline_run
    if len(compared.study.groups) > 1:
        traces = ", ".join(compared.study.groups)
        message = f"the schedule of one log is compared; the runs are of several: {traces}"
        raise problem("several-traces", one.run.path, message)
    parts = _assembled(one.run)
    ran = read_schedule(one, parts.objective)
    job_ids = ran.jobs["job_id"].to_numpy()
    starts, run_times = _recorded(parts, job_ids.tolist())
    known = starts >= 0
    if not known.any():
        message = f"the log records the start of none of the {len(known)} jobs that ran"
        raise problem("no-recorded-starts", one.run.path, message)
    # A run may be called `recorded` itself.
    taken = {name for pair in compared.study.run_labels.items() for name in pair}
    files = one.run.manifest.trace_files
    schedule = ran.only(known)
    schedule = replace(
        schedule,
        name=f"{NAME} (log)" if NAME in taken else NAME,
        source=Path(files[0].path) if files else Path(),
        jobs=_with_times(schedule.jobs, starts[known], run_times[known]),
    )
    # Runs with other jobs get figures of the common ones, which alone can be compared.
    same_jobs = {}
    for other in compared.study.runs:
        jobs = read_schedule(other, parts.objective).jobs
        common = np.isin(jobs["job_id"].to_numpy(), job_ids[known])
        if len(common) != known.sum() or not common.all():
            same_jobs[other.name] = _figures(parts, computed("filter", jobs, arrow_array(common)))
    column = LogColumn(
        schedule.name,
        schedule.source,
        _figures(parts, schedule.jobs),
        same_jobs,
        len(known),
        int((~known).sum()),
    )
    return replace(schedule, note=column.in_words()), column


def _assembled(run: RunDirectory) -> Assembly:
    """Return the parts of a run's scenario, once its log is known to be a schedule of its jobs."""
    if ON_A_CLUSTER in run.manifest.not_reproducible_because:
        raise problem("live-run", run.path, "it was made on a real cluster: there is no log")
    parts = assemble_again(run)
    for _, message, _ in without_waits(parts.scenario, registry(), "the recorded schedule"):
        raise problem(RULE, run.path, message)
    return parts


def _recorded(parts: Assembly, job_ids: Sequence[int]) -> tuple[Column, Column]:
    """Return the recorded start and the run time of jobs, `[J]`; -1 for a start that is missing."""
    waits = recorded_waits(parts.source)
    place = {job_id: k for k, job_id in enumerate(job_ids)}
    starts = np.full(len(place), -1, dtype=np.int64)
    run_times = np.zeros(len(place), dtype=np.int64)
    for job, run_time in parts.source.jobs():
        # A job's wait is there once the job has been read.
        wait = None if waits is None else waits.get(job.job_id)
        k = place.get(job.job_id)
        if k is not None and wait is not None:
            starts[k], run_times[k] = job.submit_time + wait, run_time
    return starts, run_times


def _with_times(jobs: pa.Table, starts: Column, run_times: Column) -> pa.Table:
    """Return jobs with other starts and run times."""
    columns = {"start_time": starts, "end_time": starts + run_times, "run_time": run_times}
    for name, values in columns.items():
        jobs = jobs.set_column(jobs.column_names.index(name), name, arrow_array(values))
    return jobs


class _NoRounds:
    """Rounds of a schedule that no dispatcher made: a metric of them has no value."""

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Raise LookupError."""
        raise LookupError("the log has no dispatching rounds")


def _figures(parts: Assembly, jobs: pa.Table) -> LogFigures:
    """Return the metrics and the objective over jobs; None for a metric of rounds."""
    tables = RunTables(
        ArrowTable(jobs),
        _NoRounds(),
        parts.capacity,
        down_amounts(parts.outages, parts.system),
    )
    failed: dict[str, str] = {}
    return LogFigures(
        {
            name: measured("metric", name, chosen.metric, tables, failed)
            for name, chosen in parts.metrics().items()
        },
        measured(
            "objective",
            parts.scenario.objective.plugin_name,
            parts.objective,
            tables.jobs,
            failed,
        ),
    )
