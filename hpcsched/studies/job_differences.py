"""Outcomes of replays, and differences of the same jobs in two of them."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.metrics.bootstrap import Interval, paired_interval
from hpcsched.metrics.column_sums import FloatColumn, mean_of, paired_differences, paired_mean
from hpcsched.metrics.metric import Column
from hpcsched.report.compared_study import QUANTITIES, JobTimes, by_submission
from hpcsched.report.job_breakdown import (
    OF_JOBS,
    SITE_PARTITION,
    JobAttributes,
    JobClasses,
    job_classes,
    site_partitions,
)
from hpcsched.report.tables.study_tables import common_jobs
from hpcsched.runs.replaying import Replay, Workload
from hpcsched.runs.summary import DEFAULT_TAU
from hpcsched.scenario import Scenario
from hpcsched.scenario.system import build_partitions
from hpcsched.studies.cell import Cell
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
    """Write an outcome atomically."""
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


COMPARED = ("wait_time", "bounded_slowdown")
"""Quantities that are compared."""
LEAST_JOBS = 30
"""Number of jobs from which on a mean difference is given an interval."""

Verdict = Literal["lower", "higher", "within noise"]


class Difference(NamedTuple):
    """Difference of a quantity of the same jobs: the variant's value less the base's.

    Attributes
    ----------
    base, variant
        Mean of the quantity in each; None without jobs.
    mean
        Mean difference; None without jobs.
    interval
        Mean difference with its 95 % interval; None for fewer than `LEAST_JOBS` jobs.
    less, more
        Shares of the jobs for which the quantity is less and more, from 0 to 1.
    """

    jobs: int
    base: float | None
    variant: float | None
    mean: float | None
    interval: Interval | None
    less: float
    more: float

    @property
    def verdict(self) -> Verdict:
        """True if the difference of the quantity is beyond chance."""
        # Without an interval there are too few jobs to tell chance from effect.
        if self.interval is None or self.interval.lower <= 0 <= self.interval.upper:
            return "within noise"
        return "lower" if self.interval.upper < 0 else "higher"


class PairedJobs(NamedTuple):
    """A quantity of the jobs that ran in both replays, in order of submission.

    Attributes
    ----------
    base, variant
        Values in each, `[J]`.
    places
        Place of each job among the jobs of the base, `[J]`.
    """

    base: FloatColumn
    variant: FloatColumn
    places: Column
    only_in_base: int
    only_in_variant: int


def paired_jobs(base: ReplayOutcome, variant: ReplayOutcome, quantity: str) -> PairedJobs:
    """Return a quantity of the jobs that ran in both replays."""
    # Paired job by job: most of the variance is between jobs, and cancels out.
    mine, its = common_jobs(variant.jobs, base.jobs)
    # Blocks of neighbours are resampled together, as the waits of neighbours are correlated.
    order = by_submission(its)
    mine, its = mine.only(order), its.only(order)
    of = QUANTITIES[quantity].of
    places = np.searchsorted(base.jobs.job_ids, its.job_ids).astype(np.int64)
    alone = len(base.jobs.job_ids) - len(places), len(variant.jobs.job_ids) - len(places)
    return PairedJobs(of(its), of(mine), places, *alone)


def difference(base: FloatColumn, variant: FloatColumn) -> Difference:
    """Return the difference of values of the same jobs.

    Parameters
    ----------
    base, variant
        Values in order of submission, `[J]` each: neighbours are resampled together.
    """
    count = len(base)
    if not count:
        return Difference(0, None, None, None, None, 0.0, 0.0)
    change = paired_differences(variant, base)
    return Difference(
        count,
        mean_of(base),
        mean_of(variant),
        paired_mean(variant, base),
        paired_interval(variant, base) if count >= LEAST_JOBS else None,
        float((change < 0).mean()),
        float((change > 0).mean()),
    )


def class_differences(
    base: ReplayOutcome, variant: ReplayOutcome, quantity: str, classes: JobClasses
) -> Iterator[tuple[str, Difference]]:
    """Yield the difference of a quantity for each class of the base's jobs."""
    paired = paired_jobs(base, variant, quantity)
    of_pairs = classes.of_jobs[paired.places]
    for number, name in enumerate(classes.names):
        mine = of_pairs == number
        yield name, difference(paired.base[mine], paired.variant[mine])


def winners_and_losers(
    base: ReplayOutcome, variant: ReplayOutcome, quantity: str = "wait_time"
) -> list[tuple[str, str, Difference]]:
    """Return the classes of jobs with a difference beyond chance."""
    found = []
    for kind in ("user", "group", "queue", "partition", "size", "gpu"):
        classes = job_classes(kind, base.job_attributes)
        if len(classes.names) < 2:
            continue
        for name, one in class_differences(base, variant, quantity, classes):
            if one.verdict != "within noise":
                found.append((kind, name, one))
    # By the sum over a class, so that a large loss of one job does not hide one of many.
    return sorted(found, key=lambda item: (item[2].mean or 0.0) * item[2].jobs)
