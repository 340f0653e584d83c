"""Outcomes of replays: times of each job and figures, kept in a file for each variant."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.report.compared_study import JobTimes
from hpcsched.report.job_classes import OF_JOBS, SITE_PARTITION, JobAttributes, site_partitions
from hpcsched.runs.replaying import Replay, Workload
from hpcsched.runs.summary import DEFAULT_TAU
from hpcsched.scenario import Scenario
from hpcsched.scenario.partitions import build_partitions
from hpcsched.studies.experiment.cell import Cell
from hpcsched.whole_files import replacing

_TIMES = ("job_id", "submit_time", "start_time", "end_time")
_KEY = b"hpcsched"


class Figures(NamedTuple):
    """Figures of a replay.

    Attributes
    ----------
    objective
        Value of the scenario's objective over all jobs; None if no job ran.
    metrics
        Metrics by name.
    read, skipped, submitted, ran
        Numbers of records that were read and that gave no job, of jobs, and of jobs that ran.
    comments
        Header comments of the trace.
    """

    objective: float | None
    metrics: Mapping[str, float | None]
    read: int
    skipped: Mapping[str, int]
    submitted: int
    ran: int
    comments: tuple[str, ...]


class ReplayOutcome(NamedTuple):
    """Jobs and figures of a replay.

    Attributes
    ----------
    jobs
        Times of the jobs that ran, by ascending number.
    attributes
        Attributes of these jobs by which they are classified, `[J]` each; None where unknown.
    figures
        Figures of the replay.
    """

    jobs: JobTimes
    attributes: Mapping[str, list[Any]]
    figures: Figures

    @property
    def job_attributes(self) -> JobAttributes:
        """Attributes by which the jobs are classified."""
        return JobAttributes(self.attributes, self.jobs.submits, self.figures.comments)


def outcome_table(
    scenario: Scenario,
    replay: Replay,
    workload: Workload,
    address: str = "",
    jobs: pa.Table | None = None,
) -> pa.Table:
    """Return the outcome of a replay as a table, with its figures in the schema's metadata.

    Parameters
    ----------
    scenario
        The scenario that was replayed.
    replay
        The replay.
    workload
        Its jobs.
    address
        Address of the cell that the outcome is of, if it is to be kept.
    jobs
        Those of the replay's jobs whose times and attributes are wanted; None: all.
    """
    jobs = replay.jobs if jobs is None else jobs
    names = [name for name in (*_TIMES, *OF_JOBS) if name in jobs.schema.names]
    table = jobs.select(names).sort_by("job_id")
    if scenario.partitions:
        columns = {name: table[name].to_pylist() for name in OF_JOBS if name in names}
        partitions = build_partitions(scenario.partitions)
        of_jobs = site_partitions(partitions, columns, workload.comments)
        table = table.append_column(SITE_PARTITION, pa.array(of_jobs, pa.string()))
    account = workload.account
    figures = Figures(
        replay.objective,
        dict(replay.metrics),
        account.read,
        dict(account.skipped),
        account.submitted,
        table.num_rows,
        workload.comments,
    )
    content = {"address": address, "tau": _tau(scenario), **figures._asdict()}
    return table.replace_schema_metadata({_KEY: json.dumps(content).encode()})


def write_outcome(path: Path, table: pa.Table) -> None:
    """Write an outcome atomically.

    Raises
    ------
    InputError
        It cannot be written.
    """
    with replacing(path) as unfinished:
        pq.write_table(table, unfinished, compression="zstd")


def read_outcome(path: Path, cell: Cell) -> ReplayOutcome | None:
    """Return the outcome of a cell; None if it is missing, damaged or of another cell."""
    try:
        table = pq.read_table(path)
        if json.loads(table.schema.metadata[_KEY])["address"] != cell.address:
            return None
        return outcome_in(table)
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return None


def outcome_in(table: pa.Table) -> ReplayOutcome:
    """Return the outcome in a table that `outcome_table` has made."""
    content = json.loads(table.schema.metadata[_KEY])
    del content["address"]
    tau = content.pop("tau")
    figures = Figures(**{**content, "comments": tuple(content["comments"])})
    ids, submits, starts, ends = (table[name].to_numpy().astype(np.int64) for name in _TIMES)
    kept = (*OF_JOBS, SITE_PARTITION)
    attributes = {name: table[name].to_pylist() for name in kept if name in table.schema.names}
    return ReplayOutcome(JobTimes(ids, submits, starts, ends, tau), attributes, figures)


def _tau(scenario: Scenario) -> int:
    parameters = scenario.metrics.parameters("mean_bounded_slowdown")
    return int(getattr(parameters, "tau", DEFAULT_TAU))
