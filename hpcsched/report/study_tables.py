"""The tables of a comparison beside that of metrics: how jobs fared, and who is ahead of whom."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.bootstrap import LEVEL, RESAMPLES, Interval, mean_interval
from hpcsched.metrics.classes import NAMES
from hpcsched.metrics.over_time import over_time, spanning, time_mean, time_quantile
from hpcsched.metrics.percentiles import nearest_rank
from hpcsched.metrics.sums import FloatColumn
from hpcsched.report.decision_times import by_queue_length
from hpcsched.report.job_times import (
    QUANTITIES,
    JobTimes,
    Quantity,
    by_submission,
    read_job_times,
    system_of,
)
from hpcsched.report.studied_runs import StudiedRun, Study
from hpcsched.report.tables import Cell, ReportTable
from hpcsched.report.usage import used_over_time

PERCENTS = (25, 50, 75, 90, 99)
PAIRED = ("wait_time", "response_time", "bounded_slowdown")
HIGHER_IS_BETTER = ("utilization",)
"""The metrics of which more is better; of all others, less is."""

_PERCENT = f"{LEVEL:.0%}".removesuffix("%") + " %"
_RANK = "The p-th percentile of n values is the ⌈p n / 100⌉-th smallest; p50 is the median."
_JOBS = (
    f"Intervals: {_PERCENT}, percentiles of the means of {RESAMPLES} resamples, each of blocks of"
    " ⌈√n⌉ jobs submitted one after another."
)
_SEEDS = (
    f"Intervals: {_PERCENT}, percentiles of the means of {RESAMPLES} resamples of the runs. With"
    " few seeds they are too narrow."
)


class StudyTables:
    """Makes tables of runs; what it reads of a run it reads once.

    `baseline` is a contender: what others are compared with. Raises InputError where it is none.
    """

    def __init__(self, study: Study, baseline: str | None = None) -> None:
        self.study = study
        self.baseline = study.contenders[0] if baseline is None else baseline
        if self.baseline not in study.contenders:
            there = ", ".join(study.contenders)
            message = f"{self.baseline!r} is none of what is compared; there are: {there}"
            raise InputError(Finding("unknown-baseline", message))

    @cached_property
    def jobs(self) -> Mapping[str, JobTimes]:
        """The jobs of each run, by the run's name."""
        return {one.name: read_job_times(one) for one in self.study.runs}

    def pairs(self) -> Iterator[tuple[StudiedRun, StudiedRun]]:
        """Yield each run that is not of the baseline, and the baseline's of its trace and seed.

        Where either has but one run of the trace, seeds need not be the same. A run for which there
        is none is left out.
        """
        by_case: dict[tuple[str, str], list[StudiedRun]] = defaultdict(list)
        for one in self.study.runs:
            by_case[one.contender, one.group].append(one)
        for one in self.study.runs:
            if one.contender == self.baseline:
                continue
            others = by_case[self.baseline, one.group]
            same = [other for other in others if other.seed == one.seed]
            alone = len(others) == len(by_case[one.contender, one.group]) == 1
            for other in same or (others if alone else ()):
                yield one, other

    def distribution(self) -> ReportTable:
        """Return means and percentiles of what jobs have, for each run."""
        rows = [
            (one.name, name, quantity.unit or "1", *_spread(quantity.values(self.jobs[one.name])))
            for name, quantity in QUANTITIES.items()
            for one in self.study.runs
        ]
        return ReportTable(
            "distribution",
            "Distributions over jobs",
            _plain("run", "quantity", "unit", *_SPREAD),
            tuple(rows),
            (*self._populations(QUANTITIES), _RANK),
        )

    def classes(self) -> ReportTable:
        """Return the same for jobs apart by run time."""
        rows: list[tuple[Cell, ...]] = []
        for name, quantity in QUANTITIES.items():
            for one in self.study.runs:
                for label, least, most in run_time_classes(one):
                    jobs = self.jobs[one.name]
                    inside = jobs.run_times >= least
                    if most is not None:
                        inside &= jobs.run_times <= most
                    values = quantity.values(jobs.only(inside))
                    bounds = (label, least, most)
                    rows.append((one.name, name, quantity.unit or "1", *bounds, *_spread(values)))
        columns = (
            *_plain("run", "quantity", "unit", "class"),
            ("run_time_from", "s"),
            ("run_time_to", "s"),
            *_plain(*_SPREAD),
        )
        return ReportTable(
            "classes",
            "Distributions over jobs, by class of run time",
            columns,
            tuple(rows),
            (
                *self._populations(QUANTITIES),
                "Both bounds of a class are included; no upper bound: –.",
                _RANK,
            ),
        )

    def paired(self) -> ReportTable:
        """Return differences of the same jobs in two runs, from that of the baseline."""
        rows: list[tuple[Cell, ...]] = []
        for name in PAIRED:
            quantity = QUANTITIES[name]
            for one, other in self.pairs():
                mine, its = common_jobs(self.jobs[one.name], self.jobs[other.name])
                differences = (quantity.of(mine) - quantity.of(its))[by_submission(mine)]
                count = len(differences)
                alone = (
                    len(self.jobs[one.name].job_ids) - count,
                    len(self.jobs[other.name].job_ids) - count,
                )
                shares = [
                    100 * float(part.mean()) if count else None
                    for part in (differences < 0, differences == 0, differences > 0)
                ]
                rows.append(
                    (
                        one.name, other.name, name, quantity.unit or "1", count, *alone,
                        *_ends(mean_interval(differences)), _nearest(differences, 50), *shares,
                    )
                )  # fmt: skip
        columns = (
            *_plain("run", "baseline", "quantity", "unit", "common_jobs"),
            *_plain("only_in_run", "only_in_baseline"),
            *_plain("mean_difference", "lower", "upper", "median_difference"),
            ("less", "%"),
            ("same", "%"),
            ("more", "%"),
        )
        return ReportTable(
            "paired",
            f"Differences of the same jobs from {self.baseline}",
            columns,
            tuple(rows),
            (
                f"A difference is the run's value less the baseline's ({self.baseline}): below 0"
                " the job fared better in the run. The median is by nearest rank.",
                "Population: jobs that ran in both runs, by number, with the shares of those for"
                " which it is less, the same, or more.",
                *self._bounds(),
                _JOBS,
            ),
        )

    def replicas(self) -> ReportTable:
        """Return means of metrics over seeds, and of their differences from the baseline's."""
        by_case: dict[tuple[str, str], list[StudiedRun]] = defaultdict(list)
        for one in self.study.runs:
            by_case[one.contender, one.group].append(one)
        baseline_of = {one.name: other for one, other in self.pairs()}
        rows: list[tuple[Cell, ...]] = []
        for metric, unit in self._metrics().items():
            for (contender, group), runs in by_case.items():
                if len(runs) < 2:
                    continue
                values = _defined(_metric(one, metric) for one in runs)
                differences = _defined(
                    _difference(one, baseline_of[one.name], metric)
                    for one in runs
                    if one.name in baseline_of
                )
                rows.append(
                    (
                        contender, group, metric, unit, len(values),
                        *_ends(mean_interval(values, block=1)), len(differences),
                        *_ends(mean_interval(differences, block=1)),
                    )
                )  # fmt: skip
        return ReportTable(
            "replicas",
            "Metrics over seeds",
            _plain(
                "contender", "trace", "metric", "unit", "runs", "mean", "lower", "upper",
                "pairs", "mean_difference", "difference_lower", "difference_upper",
            ),
            tuple(rows),
            (
                "Population: the runs of one contender and trace, each under a seed of its own;"
                " only where there are two or more.",
                f"Differences are from the run of {self.baseline} with the same seed.",
                *self._bounds(),
                _SEEDS,
            ),
        )  # fmt: skip

    def ranks(self) -> ReportTable:
        """Return each contender's mean rank over traces and seeds, metric by metric."""
        rows: list[tuple[Cell, ...]] = []
        contenders = self.study.contenders
        cases = self._cases()
        for metric in self._metrics():
            sign = -1.0 if metric in HIGHER_IS_BETTER else 1.0
            ranks: dict[str, list[float]] = defaultdict(list)
            for runs in cases.values():
                values = [_metric(one, metric) for one in runs]
                if {one.contender for one in runs} != set(contenders) or None in values:
                    continue
                ascending = _ranks(sign * np.array(values, np.float64))
                for one, rank in zip(runs, ascending.tolist(), strict=True):
                    ranks[one.contender].append(rank)
            for contender in contenders:
                own = ranks[contender]
                mean = float(np.mean(own)) if own else None
                firsts = sum(rank == 1 for rank in own)
                rows.append((metric, contender, len(own), mean, firsts))
        higher = ", ".join(HIGHER_IS_BETTER)
        return ReportTable(
            "ranks",
            "Ranks over traces and seeds",
            _plain("metric", "contender", "cases", "mean_rank", "alone_in_front"),
            tuple(rows),
            (
                f"Rank 1 has the least value (of {higher}: the largest); equal values share the"
                " mean of their ranks.",
                "Population: the cases, each a trace with a seed, in which every contender has a"
                " run and the metric a value.",
                *self._bounds(),
            ),
        )

    def load(self) -> ReportTable:
        """Return how many jobs waited and how much was in use, as distributions over time."""
        rows: list[tuple[Cell, ...]] = []
        for one in self.study.runs:
            jobs = self.jobs[one.name]
            courses = [("queue_length", "jobs", 1.0, over_time(jobs.submits, jobs.starts))]
            system = system_of(one)
            for name, total in zip(system.resource_types, system.totals, strict=True):
                if total:
                    course = used_over_time(one, name)
                    courses.append((f"utilization of {name}", "%", 100 / total, course))
            span = (min(jobs.submits, default=0), max(jobs.ends, default=0))
            for what, unit, scale, course in courses:
                whole = spanning(course, *span)
                figures = (
                    time_mean(whole),
                    *(time_quantile(whole, percent) for percent in (50, 90)),
                    float(whole.levels.max()) if len(whole.levels) else None,
                )
                rows.append(
                    (one.name, what, unit, *(None if f is None else scale * f for f in figures))
                )
        return ReportTable(
            "load",
            "Queue length and utilization over time",
            _plain("run", "quantity", "unit", "mean", "p50", "p90", "max"),
            tuple(rows),
            (
                "Population: every second from the first submission to the last end, and all jobs"
                " that ran.",
                "The queue is of jobs submitted and not started. In use is what running jobs asked"
                " for, of the whole capacity.",
                "p50 and p90: the least value that is not exceeded for 50 % and 90 % of the time.",
            ),
        )  # fmt: skip

    def decision_time(self) -> ReportTable:
        """Return how long the dispatcher took, by how many jobs were in the queue."""
        rows: list[tuple[Cell, ...]] = [
            (one.name, *bin_)
            for one in self.study.runs
            for bin_ in by_queue_length(one)
        ]  # fmt: skip
        return ReportTable(
            "decision-time",
            "Decision time by queue length",
            (
                *_plain("run"),
                ("queue_from", "jobs"),
                ("queue_to", "jobs"),
                *_plain("rounds"),
                *((name, "real s") for name in ("mean", "p50", "p90", "max")),
            ),
            tuple(rows),
            (
                "Population: all dispatching rounds, by the number of jobs in the queue before the"
                " round; each bin is twice as wide as the one before it.",
                "Real seconds, measured: they differ from machine to machine.",
                _RANK,
            ),
        )

    def _cases(self) -> Mapping[tuple[str, int], list[StudiedRun]]:
        """Return the runs by trace and seed; a trace with one run of each contender is one case."""
        counts: dict[str, list[str]] = defaultdict(list)
        for one in self.study.runs:
            counts[one.group].append(one.contender)
        single = {group for group, runs in counts.items() if len(set(runs)) == len(runs)}
        cases: dict[tuple[str, int], list[StudiedRun]] = defaultdict(list)
        for one in self.study.runs:
            cases[one.group, 0 if one.group in single else one.seed].append(one)
        return cases

    def _metrics(self) -> Mapping[str, str]:
        """Return the unit of each metric that some run has."""
        return {
            metric: one.run.summary.get("definitions", {}).get(metric, {}).get("unit") or "1"
            for one in self.study.runs
            for metric in one.run.summary["metrics"]
        }

    def _populations(self, quantities: Mapping[str, Quantity]) -> list[str]:
        over: dict[str, list[str]] = defaultdict(list)
        for name, quantity in quantities.items():
            over[quantity.population].append(name)
        return [
            *(f"Over {population}: {', '.join(names)}." for population, names in over.items()),
            *self._bounds(),
        ]

    def _bounds(self) -> list[str]:
        """Return what is to be said of the bound of bounded slowdowns."""
        taus = sorted({self.jobs[one.name].tau for one in self.study.runs})
        return [f"bounded_slowdown with tau = {', '.join(map(str, taus))} s."]


TABLES: Mapping[str, Callable[[StudyTables], ReportTable]] = {
    "distribution": StudyTables.distribution,
    "classes": StudyTables.classes,
    "paired": StudyTables.paired,
    "replicas": StudyTables.replicas,
    "ranks": StudyTables.ranks,
    "load": StudyTables.load,
    "decision-time": StudyTables.decision_time,
}
"""The tables by name, in the order in which they are shown."""

_SPREAD = ("jobs", "mean", *(f"p{percent}" for percent in PERCENTS), "max")


def common_jobs(one: JobTimes, other: JobTimes) -> tuple[JobTimes, JobTimes]:
    """Return the jobs that ran in both runs, by ascending number, as each run has them."""
    _, mine, its = np.intersect1d(one.job_ids, other.job_ids, return_indices=True)
    return one.only(mine), other.only(its)


def run_time_classes(one: StudiedRun) -> Iterator[tuple[str, int, int | None]]:
    """Yield the name and the bounds, both included, in s, of a run's classes of run times."""
    declared = one.run.summary.get("classes") or [
        {"class": NAMES[1][0], "run_time_from": 0, "run_time_to": None}
    ]
    for entry in declared:
        yield entry["class"], entry["run_time_from"], entry["run_time_to"]


def _plain(*names: str) -> tuple[tuple[str, str], ...]:
    """Return columns whose unit is in another column, or that have none."""
    return tuple((name, "") for name in names)


def _spread(values: FloatColumn) -> tuple[Cell, ...]:
    """Return count, mean, percentiles and the largest of values."""
    if not len(values):
        return (0, None, *(None for _ in PERCENTS), None)
    ascending = np.sort(values)
    at = [ascending[nearest_rank(percent, len(values))].item() for percent in PERCENTS]
    return (len(values), float(np.mean(values)), *at, ascending[-1].item())


def _nearest(values: FloatColumn, percent: int) -> float | None:
    return np.sort(values)[nearest_rank(percent, len(values))].item() if len(values) else None


def _ends(interval: Interval | None) -> tuple[Cell, ...]:
    return (None, None, None) if interval is None else tuple(interval)


def _metric(one: StudiedRun, metric: str) -> float | None:
    value = one.run.summary["metrics"].get(metric)
    return None if value is None else float(value)


def _difference(one: StudiedRun, other: StudiedRun, metric: str) -> float | None:
    mine, its = _metric(one, metric), _metric(other, metric)
    return None if mine is None or its is None else mine - its


def _defined(values: Iterable[float | None]) -> FloatColumn:
    """Return the values that there are."""
    return np.array([value for value in values if value is not None], np.float64)


def _ranks(values: FloatColumn) -> FloatColumn:
    """Return the rank of each value, from 1; equal values share the mean of their ranks."""
    less = (values[:, None] > values[None, :]).sum(axis=1)
    equal = (values[:, None] == values[None, :]).sum(axis=1)
    return np.asarray(less + (equal + 1) / 2, np.float64)
