"""Differences of the same jobs in a variant and in the base, over all jobs and by class."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from hpcsched.metrics.bootstrap import Interval, paired_interval
from hpcsched.metrics.column_sums import FloatColumn, mean_of, paired_differences, paired_mean
from hpcsched.metrics.metric import Column
from hpcsched.report.compared_study import QUANTITIES, by_submission
from hpcsched.report.job_classes import JobClasses, job_classes
from hpcsched.report.tables.study_tables import common_jobs
from hpcsched.studies.whatif.outcomes import ReplayOutcome

COMPARED = ("wait_time", "bounded_slowdown")
"""Quantities that are compared."""
LEAST_JOBS = 30
"""Number of jobs from which on a mean difference is given an interval."""

Verdict = Literal["lower", "higher", "within noise"]


class Difference(NamedTuple):
    """Difference of a quantity of the same jobs: the variant's value less the base's.

    Attributes
    ----------
    jobs
        Number of jobs that ran in both.
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
    only_in_base, only_in_variant
        Numbers of jobs that ran in one alone.
    """

    base: FloatColumn
    variant: FloatColumn
    places: Column
    only_in_base: int
    only_in_variant: int


def paired_jobs(base: ReplayOutcome, variant: ReplayOutcome, quantity: str) -> PairedJobs:
    """Return a quantity of the jobs that ran in both replays.

    Parameters
    ----------
    base, variant
        The replays.
    quantity
        Name in `QUANTITIES` of a quantity that all jobs have.
    """
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
    """Yield the difference of a quantity for each class of the base's jobs.

    Parameters
    ----------
    base, variant
        The replays.
    quantity
        Name in `QUANTITIES`.
    classes
        Classes of the base's jobs.
    """
    paired = paired_jobs(base, variant, quantity)
    of_pairs = classes.of_jobs[paired.places]
    for number, name in enumerate(classes.names):
        mine = of_pairs == number
        yield name, difference(paired.base[mine], paired.variant[mine])


def winners_and_losers(
    base: ReplayOutcome, variant: ReplayOutcome, quantity: str = "wait_time"
) -> list[tuple[str, str, Difference]]:
    """Return the classes of jobs with a difference beyond chance.

    Returns
    -------
    list
        Kind and name of the class with its difference, from the largest gain over all its jobs to
        the largest loss. A class that holds all jobs is left out.
    """
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
