"""Tables over jobs: distributions of each run, and differences of the same jobs in two runs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np

from hpcsched.metrics.bootstrap import paired_interval
from hpcsched.metrics.classes import NAMES
from hpcsched.metrics.column_sums import FloatColumn, mean_of, paired_differences
from hpcsched.metrics.percentiles import nearest_rank
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.job_times import QUANTITIES, JobTimes, Quantity, by_submission
from hpcsched.report.tables.report_table import Cell, Table
from hpcsched.report.tables.table_parts import INTERVAL_NOTE, RANK_NOTE, bounds_note, ends, plain

PERCENTS = (25, 50, 75, 90, 99)
PAIRED = ("wait_time", "response_time", "bounded_slowdown")

_SPREAD = ("jobs", "mean", *(f"p{percent}" for percent in PERCENTS), "max")
_JOBS = f"{INTERVAL_NOTE}, each of blocks of ⌈√n⌉ jobs submitted one after another."


def distribution(compared: ComparedStudy) -> Table:
    """Return the distribution of each quantity over the jobs of each run.

    Returns
    -------
    Table
        Number of jobs, mean, percentiles and largest value, by run and quantity (`QUANTITIES`).
    """
    rows = [
        (one.name, name, quantity.unit or "1", *_spread(quantity.values(compared.jobs[one.name])))
        for name, quantity in QUANTITIES.items()
        for one in compared.study.runs
    ]
    return Table(
        "distribution",
        "Distributions over jobs",
        plain("run", "quantity", "unit", *_SPREAD),
        tuple(rows),
        (*_populations(compared, QUANTITIES), RANK_NOTE),
    )


def classes(compared: ComparedStudy) -> Table:
    """Return the distribution of each quantity by class of run time.

    Returns
    -------
    Table
        Columns as in `distribution`, with the class and its bounds in seconds, both included.
    """
    rows: list[tuple[Cell, ...]] = []
    for name, quantity in QUANTITIES.items():
        for one in compared.study.runs:
            for label, least, most in run_time_classes(one):
                jobs = compared.jobs[one.name]
                inside = jobs.run_times >= least
                if most is not None:
                    inside &= jobs.run_times <= most
                values = quantity.values(jobs.only(inside))
                bounds = (label, least, most)
                rows.append((one.name, name, quantity.unit or "1", *bounds, *_spread(values)))
    columns = (
        *plain("run", "quantity", "unit", "class"),
        ("run_time_from", "s"),
        ("run_time_to", "s"),
        *plain(*_SPREAD),
    )
    return Table(
        "classes",
        "Distributions over jobs, by class of run time",
        columns,
        tuple(rows),
        (
            *_populations(compared, QUANTITIES),
            "Both bounds of a class are included; no upper bound: –.",
            RANK_NOTE,
        ),
    )


def paired(compared: ComparedStudy) -> Table:
    """Return the differences between the same jobs in two runs.

    Returns
    -------
    Table
        For each run and its baseline: mean difference (run minus baseline) with its interval,
        median, and the shares of jobs for which the quantity is less, the same and more.
    """
    rows: list[tuple[Cell, ...]] = []
    for name in PAIRED:
        quantity = QUANTITIES[name]
        # Pairs of one seed: differences of jobs that a seed has drawn differently mean nothing.
        for one, other in compared.pairs():
            mine, its = common_jobs(compared.jobs[one.name], compared.jobs[other.name])
            order = by_submission(mine)
            ours, theirs = quantity.of(mine)[order], quantity.of(its)[order]
            differences = paired_differences(ours, theirs)
            count = len(differences)
            alone = (
                len(compared.jobs[one.name].job_ids) - count,
                len(compared.jobs[other.name].job_ids) - count,
            )
            shares = [
                100 * float(part.mean()) if count else None
                for part in (differences < 0, differences == 0, differences > 0)
            ]
            rows.append(
                (
                    one.name, other.name, name, quantity.unit or "1", count, *alone,
                    *ends(paired_interval(ours, theirs)), _nearest(differences, 50), *shares,
                )
            )  # fmt: skip
    columns = (
        *plain("run", "baseline", "quantity", "unit", "common_jobs"),
        *plain("only_in_run", "only_in_baseline"),
        *plain("mean_difference", "lower", "upper", "median_difference"),
        ("less", "%"),
        ("same", "%"),
        ("more", "%"),
    )
    return Table(
        "paired",
        f"Differences of the same jobs from {compared.baseline_label}",
        columns,
        tuple(rows),
        (
            f"A difference is the run's value less the baseline's ({compared.baseline_label}):"
            " below 0 the job fared better in the run. The median is by nearest rank.",
            "Population: jobs that ran in both runs, by number, with the shares of those for"
            " which it is less, the same, or more.",
            *bounds_note(compared),
            _JOBS,
        ),
    )


def common_jobs(one: JobTimes, other: JobTimes) -> tuple[JobTimes, JobTimes]:
    """Return the jobs that ran in both runs, by ascending number, as each run has them.

    Parameters
    ----------
    one, other
        Jobs of two runs, by ascending number.
    """
    # By number and not by place: runs need not have started the same jobs.
    _, mine, its = np.intersect1d(one.job_ids, other.job_ids, return_indices=True)
    return one.only(mine), other.only(its)


def run_time_classes(one: StudiedRun) -> Iterator[tuple[str, int, int | None]]:
    """Yield the classes of run times of a run, ascending.

    Returns
    -------
    Iterator
        Name, least and largest run time in seconds, both included; None for no upper bound.
    """
    # A run whose scenario declares no classes has one, of all jobs.
    declared = one.run.summary.get("classes") or [
        {"class": NAMES[1][0], "run_time_from": 0, "run_time_to": None}
    ]
    for entry in declared:
        yield entry["class"], entry["run_time_from"], entry["run_time_to"]


def _populations(compared: ComparedStudy, quantities: Mapping[str, Quantity]) -> list[str]:
    over: dict[str, list[str]] = defaultdict(list)
    for name, quantity in quantities.items():
        over[quantity.population].append(name)
    return [
        *(f"Over {population}: {', '.join(names)}." for population, names in over.items()),
        *bounds_note(compared),
    ]


def _spread(values: FloatColumn) -> tuple[Cell, ...]:
    """Return count, mean, percentiles and maximum of values."""
    if not len(values):
        return (0, None, *(None for _ in PERCENTS), None)
    ascending = np.sort(values)
    at = [ascending[nearest_rank(percent, len(values))].item() for percent in PERCENTS]
    return (len(values), mean_of(values), *at, ascending[-1].item())


def _nearest(values: FloatColumn, percent: int) -> float | None:
    return np.sort(values)[nearest_rank(percent, len(values))].item() if len(values) else None
