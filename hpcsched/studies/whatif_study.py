"""The study of `whatif`: runs of variants, compared job by job with the run of the base."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.column_sums import (
    FloatColumn,
    Interval,
    mean_of,
    no_less,
    paired_differences,
    paired_interval,
    paired_mean,
)
from hpcsched.metrics.metric import Column
from hpcsched.report.compared_study import (
    QUANTITIES,
    ComparedStudy,
    JobTimes,
    by_submission,
    read_job_times,
)
from hpcsched.report.fidelity import Fidelity, known_fidelity
from hpcsched.report.job_breakdown import (
    TITLES,
    JobAttributes,
    JobClasses,
    job_classes,
    read_schedule,
)
from hpcsched.report.studied_runs import open_study
from hpcsched.report.tables.report_table import Cell, Table, duration_text
from hpcsched.report.tables.study_tables import INTERVAL_NOTE, common_jobs, ends
from hpcsched.studies.experiment_folder import ExperimentFolder
from hpcsched.studies.study_files import Experiment


class JobOutcomes(NamedTuple):
    """Times of the jobs that ran, by ascending number, and their columns for classes."""

    jobs: JobTimes
    attributes: JobAttributes


COMPARED = ("wait_time", "bounded_slowdown")
"""Quantities that are compared."""
LEAST_JOBS = 30
"""Number of jobs from which on a mean difference is given an interval."""


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
    def verdict(self) -> Literal["lower", "higher", "within noise"]:
        """Whether the quantity is lower or higher beyond chance."""
        # Without an interval there are too few jobs to tell chance from effect.
        if self.interval is None or self.interval.lower <= 0 <= self.interval.upper:
            return "within noise"
        return "lower" if self.interval.upper < 0 else "higher"

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Cells of a row of `differences_table`."""
        bounds = ends(self.interval)[1:]
        means = (self.base, self.variant, self.mean)
        return (self.jobs, *means, *bounds, 100 * self.less, 100 * self.more, self.verdict)


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


def paired_jobs(base: JobOutcomes, variant: JobOutcomes, quantity: str) -> PairedJobs:
    """Return a quantity of the jobs that ran in both replays."""
    # Paired job by job: most of the variance is between jobs, and cancels out.
    mine, its = common_jobs(variant.jobs, base.jobs)
    # Blocks of neighbours are resampled together, as the waits of neighbours are correlated.
    order = by_submission(its)
    mine, its = mine.only(order), its.only(order)
    of = QUANTITIES[quantity].of
    places = np.searchsorted(base.jobs.job_ids, its.job_ids).astype(np.int64)
    return PairedJobs(of(its), of(mine), places)


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


def differences(base: JobOutcomes, variant: JobOutcomes) -> dict[str, Difference]:
    """Return the differences over all jobs, by quantity."""
    pairs = {name: paired_jobs(base, variant, name) for name in COMPARED}
    return {name: difference(one.base, one.variant) for name, one in pairs.items()}


def class_differences(
    base: JobOutcomes, variant: JobOutcomes, quantity: str, classes: JobClasses
) -> Iterator[tuple[str, Difference]]:
    """Yield the difference of a quantity for each class of the base's jobs."""
    paired = paired_jobs(base, variant, quantity)
    of_pairs = classes.of_jobs[paired.places]
    for number, name in enumerate(classes.names):
        mine = of_pairs == number
        yield name, difference(paired.base[mine], paired.variant[mine])


def differences_table(
    name: str,
    title: str,
    about: Sequence[str],
    rows: Iterable[tuple[tuple[Cell, ...], Difference]],
    notes: Iterable[str] = (),
) -> Table:
    """Return a table of differences; `about` names the first columns."""
    columns = (*about, "jobs", "base", "variant_mean", "mean_difference", "lower", "upper")
    return Table(
        (*columns, "less [%]", "more [%]", "verdict"),
        [(*first, *one.cells) for first, one in rows],
        name,
        title,
        (
            "A difference is the variant's value less the base's: below 0 the jobs fare better.",
            *notes,
            f"{INTERVAL_NOTE}, each of blocks of ⌈√n⌉ jobs submitted one after another. Fewer than"
            f" {LEAST_JOBS} jobs have no interval, and no verdict.",
        ),
    )


class Variant(NamedTuple):
    """The run of the base or of a variant.

    Attributes
    ----------
    changes
        Differences from the base, in words.
    summary
        Summary of the run.
    differences
        Differences of the same jobs from the base, by quantity.
    """

    name: str
    changes: str
    summary: Mapping[str, Any]
    outcomes: JobOutcomes
    differences: Mapping[str, Difference]

    @property
    def value(self) -> float | None:
        """Value of the objective; None if no job ran."""
        value: float | None = self.summary["objective"]["value"]
        return value


class WhatIfStudy(NamedTuple):
    """A study with its runs.

    Attributes
    ----------
    variants
        Variants by ascending objective; those in which no job ran come last.
    failed
        Names of the variants without a run.
    fidelity
        Agreement of the base with its log, or the reason why it is unknown.
    """

    scenario: str
    base: Variant
    variants: Sequence[Variant]
    failed: Sequence[str]
    fidelity: Fidelity | str = "unknown"

    @property
    def objective(self) -> str:
        """Name of the objective."""
        return str(self.base.summary["objective"]["name"])


def read_study(read: Experiment, folder: ExperimentFolder) -> WhatIfStudy:
    """Return the study with the runs in its folder."""
    if folder.run_of(read.cells[0]) is None:
        message = f"the base scenario {read.scenario!r} has no run; nothing can be compared"
        raise InputError(Finding("no-base", message))
    found: list[Variant] = []
    opened = open_study([folder.path])
    for one in opened.runs:
        name = one.run.manifest.scenario
        outcomes = JobOutcomes(read_job_times(one), read_schedule(one, None).attributes)
        base = found[0].outcomes if found else outcomes
        changes = ", ".join(f"{at}: {label}" for at, label in read.changes.get(name, {}).items())
        compared = differences(base, outcomes)
        found.append(Variant(name, changes, one.run.summary, outcomes, compared))
    names = {one.name for one in found}
    failed = [cell.name for cell in read.cells if cell.name not in names]
    ranked = sorted(found[1:], key=lambda one: (one.value is None, one.value or 0.0))
    known = known_fidelity(ComparedStudy(opened))
    return WhatIfStudy(read.scenario, found[0], ranked, failed, known)


def verdict_lines(study: WhatIfStudy) -> Iterator[str]:
    """Yield the findings of the study as sentences."""
    best = study.variants[0] if study.variants else None
    ours = study.base.value
    if best is None or best.value is None or ours is None or no_less(best.value, ours):
        yield f"No variant has a lower {study.objective} than the base."
    else:
        percent = _percent(best.value, ours)
        change = f"{percent:+.1f} %" if percent <= -0.05 else "under 0.1 % less"
        yield (
            f"{best.name} has the lowest {study.objective}:"
            f" {best.value:.6g}, {change} compared with the base."
        )
    if best is not None:
        waits = best.differences["wait_time"]
        told = "the same as the base's, within noise"
        if waits.verdict != "within noise" and waits.mean is not None:
            seconds = round(abs(waits.mean))
            told = duration_text(seconds) if seconds else "less than 1 s"
            told += f" {'shorter' if waits.mean < 0 else 'longer'} than the base's"
        yield (
            f"Its mean wait is {told}; {100 * waits.less:.0f} % of the jobs wait less,"
            f" and {100 * waits.more:.0f} % wait longer."
        )
    if study.failed:
        yield f"Not replayed, for an error: {', '.join(study.failed)}."
    if not isinstance(study.fidelity, str):
        yield from study.fidelity.lines()


def _percent(value: float, ours: float) -> float:
    """Return the change of a value in percent; 0 if it is none beyond the rounding of values."""
    return 0.0 if no_less(value, ours) and no_less(ours, value) else 100 * (value / ours - 1)


_METRICS = ("mean_wait_time", "mean_bounded_slowdown", "utilization")


def variants_table(study: WhatIfStudy) -> Table:
    """Return the figures of the base and of each variant, by ascending objective."""
    rows: list[tuple[Cell, ...]] = []
    ours = study.base.value
    for one in (study.base, *study.variants):
        change = None if one.value is None or not ours else _percent(one.value, ours)
        metrics = (one.summary["metrics"].get(name) for name in _METRICS)
        jobs = (one.summary["jobs"]["submitted"], len(one.outcomes.jobs.job_ids))
        rows.append((one.name, one.changes, one.value, change if rows else None, *metrics, *jobs))
    columns = ("variant", "changes", "objective", "change [%]", "mean_wait_time [s]")
    return Table(
        (*columns, *_METRICS[1:], "submitted", "ran"),
        rows,
        "variants",
        f"Variants of {study.scenario}, by {study.objective}",
        ("Lower is better for the objective.",),
    )


def overall_table(study: WhatIfStudy) -> Table:
    """Return the differences of the same jobs from the base, by variant and quantity."""
    return differences_table(
        "differences",
        "Differences of the same jobs from the base",
        ("variant", "quantity", "unit"),
        (
            ((one.name, *_unit(quantity)), one.differences[quantity])
            for quantity in COMPARED
            for one in study.variants
        ),
        (
            "within noise: the interval of the mean difference contains 0. Of 20 variants that"
            " change nothing, about one is expected to be called lower or higher.",
        ),
    )


def _unit(quantity: str) -> tuple[str, str]:
    return quantity, QUANTITIES[quantity].unit or "1"


def class_table(study: WhatIfStudy, kind: str) -> Table:
    """Return the differences of variants from the base, by class of jobs."""
    base = study.base.outcomes
    classes = job_classes(kind, base.attributes)
    return differences_table(
        f"by_{kind}",
        f"Differences of the same jobs from the base, by {TITLES.get(kind, kind)}",
        ("variant", kind, "quantity", "unit"),
        (
            ((one.name, name, *_unit(quantity)), found)
            for one in study.variants
            for quantity in COMPARED
            for name, found in class_differences(base, one.outcomes, quantity, classes)
        ),
    )


_MOST_SHOWN = 10


def gains_table(study: WhatIfStudy, variant: Variant) -> Table:
    """Return the classes of jobs with a difference of wait times beyond chance."""
    base = study.base.outcomes
    found = []
    for kind in ("user", "group", "queue", "partition", "size", "gpu"):
        classes = job_classes(kind, base.attributes)
        # A class that holds all jobs says what the other tables say.
        if len(classes.names) > 1:
            of_kind = class_differences(base, variant.outcomes, "wait_time", classes)
            found += [((kind, name), one) for name, one in of_kind if one.verdict != "within noise"]
    # By the sum over a class, so that a large loss of one job does not hide one of many.
    found.sort(key=lambda item: (item[1].mean or 0.0) * item[1].jobs)
    shown = found
    if len(found) > 2 * _MOST_SHOWN:
        shown = [*found[:_MOST_SHOWN], *found[-_MOST_SHOWN:]]
    left_out = len(found) - len(shown)
    return differences_table(
        "gains",
        f"Who waits less and who waits longer: {variant.name}",
        ("kind", "class"),
        shown,
        (
            "Wait times in seconds; from the largest gain over all jobs of the class to the"
            " largest loss.",
            *([f"{left_out} more between them are left out."] if left_out else []),
        ),
    )
