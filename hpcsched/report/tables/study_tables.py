"""Tables of a comparison beside the metrics: over jobs, time, rounds, seeds and ranks."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from hpcsched.metrics.bootstrap import LEVEL, RESAMPLES, Interval, mean_interval, paired_interval
from hpcsched.metrics.column_sums import FloatColumn, mean_of, paired_differences
from hpcsched.metrics.over_time import time_mean, time_quantile
from hpcsched.report.compared_study import (
    QUANTITIES,
    ComparedStudy,
    JobTimes,
    by_submission,
    percentiles,
)
from hpcsched.report.run_series import decision_times, load_series
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.report_table import Cell, Table, headed
from hpcsched.runs.files import USAGE
from hpcsched.runs.tables import ParquetTable

HIGHER_IS_BETTER = ("utilization",)
"""Metrics to maximise; all others are to be minimised."""

INTERVAL_NOTE = f"Intervals: {LEVEL:.0%}".removesuffix("%") + (
    f" %, percentiles of the means of {RESAMPLES} resamples"
)
"""Method of the intervals; each table adds the unit that was resampled."""
_RANK_NOTE = "The p-th percentile of n values is the ⌈p n / 100⌉-th smallest; p50 is the median."

Row = tuple[Cell, ...]


def ends(interval: Interval | None) -> Row:
    """Return the mean and the two ends of an interval; three missing values without any."""
    return (None, None, None) if interval is None else tuple(interval)


def common_jobs(one: JobTimes, other: JobTimes) -> tuple[JobTimes, JobTimes]:
    """Return the jobs that ran in both runs, by ascending number, as each run has them."""
    # By number and not by place: runs need not have started the same jobs.
    _, mine, its = np.intersect1d(one.job_ids, other.job_ids, return_indices=True)
    return one.only(mine), other.only(its)


def _bounds_note(compared: ComparedStudy) -> str:
    taus = sorted({compared.jobs[one.name].tau for one in compared.study.runs})
    return f"bounded_slowdown with tau = {', '.join(map(str, taus))} s."


def distribution(compared: ComparedStudy) -> Table:
    """Return the distribution of each quantity over the jobs of each run."""
    percents = (25, 50, 75, 90, 99, 100)
    rows: list[Row] = []
    over: dict[str, list[str]] = defaultdict(list)
    for name, quantity in QUANTITIES.items():
        over[quantity.population].append(name)
        for one in compared.study.runs:
            values = quantity.values(compared.jobs[one.name])
            found = (mean_of(values), *percentiles(values, percents)) if len(values) else ()
            spread = found or (None,) * (1 + len(percents))
            rows.append((one.name, name, quantity.unit or "1", len(values), *spread))
    return Table(
        "distribution",
        "Distributions over jobs",
        headed("run", "quantity", "unit", "jobs", "mean", "p25", "p50", "p75", "p90", "p99", "max"),
        tuple(rows),
        (
            *(f"Over {population}: {', '.join(names)}." for population, names in over.items()),
            _bounds_note(compared),
            _RANK_NOTE,
        ),
    )


def paired(compared: ComparedStudy) -> Table:
    """Return the differences between the same jobs in two runs."""
    rows: list[Row] = []
    for name in ("wait_time", "response_time", "bounded_slowdown"):
        quantity = QUANTITIES[name]
        # Pairs of one seed: differences of jobs that a seed has drawn differently mean nothing.
        for one, other in compared.pairs():
            ours, theirs = compared.jobs[one.name], compared.jobs[other.name]
            mine, its = common_jobs(ours, theirs)
            order, count = by_submission(mine), len(mine.job_ids)
            values, others = quantity.of(mine)[order], quantity.of(its)[order]
            differences = paired_differences(values, others)
            shares = [
                100 * float(part.mean()) if count else None
                for part in (differences < 0, differences == 0, differences > 0)
            ]
            median = percentiles(differences, [50])[0] if count else None
            rows.append(
                (
                    one.name, other.name, name, quantity.unit or "1",
                    count, len(ours.job_ids) - count, len(theirs.job_ids) - count,
                    *ends(paired_interval(values, others)), median, *shares,
                )
            )  # fmt: skip
    return Table(
        "paired",
        f"Differences of the same jobs from {compared.baseline_label}",
        headed(
            "run", "baseline", "quantity", "unit", "common_jobs", "only_in_run", "only_in_baseline",
            "mean_difference", "lower", "upper", "median_difference",
            "less [%]", "same [%]", "more [%]",
        ),
        tuple(rows),
        (
            f"A difference is the run's value less the baseline's ({compared.baseline_label}):"
            " below 0 the job fared better in the run. The median is by nearest rank.",
            "Population: jobs that ran in both runs, by number, with the shares of those for"
            " which it is less, the same, or more.",
            _bounds_note(compared),
            f"{INTERVAL_NOTE}, each of blocks of ⌈√n⌉ jobs submitted one after another.",
        ),
    )  # fmt: skip


def load(compared: ComparedStudy) -> Table:
    """Return the distribution of the load over time."""
    rows: list[Row] = [
        (
            one.name, series.quantity, series.unit, time_mean(series.values),
            *(time_quantile(series.values, percent) for percent in (50, 90)),
            max(series.values.levels.tolist(), default=None),
        )
        for one in compared.study.runs
        for series in load_series(one, compared.jobs[one.name])
    ]  # fmt: skip
    return Table(
        "load",
        "Queue length and utilization over time",
        headed("run", "quantity", "unit", "mean", "p50", "p90", "max"),
        tuple(rows),
        (
            "Population: every second from the first submission to the last end, and all jobs"
            " that ran.",
            "The queue is of jobs submitted and not started. In use is what running jobs asked"
            " for, of the whole capacity, nodes out of service included.",
            "p50 and p90: the least value that is not exceeded for 50 % and 90 % of the time.",
        ),
    )


def decision_time(compared: ComparedStudy) -> Table:
    """Return the decision times by queue length, in real seconds."""
    rows = [(one.name, *own) for one in compared.study.runs for own in decision_times(one)]
    times = (f"{name} [real s]" for name in ("mean", "p50", "p90", "max"))
    return Table(
        "decision-time",
        "Decision time by queue length",
        headed("run", "queue_from [jobs]", "queue_to [jobs]", "rounds", *times),
        tuple(rows),
        (
            "Population: all dispatching rounds, by the number of jobs in the queue before the"
            " round; each bin is twice as wide as the one before it.",
            "Real seconds, measured: they differ from machine to machine.",
            _RANK_NOTE,
        ),
    )


_PARTS = ("loading", "dispatching", "other")


def _usage(one: StudiedRun) -> list[float] | None:
    """Return CPU seconds, in all and by part, and mean and largest memory in MB; NaN: unknown."""
    path = one.run.path / USAGE
    if not path.is_file():
        return None
    names = (*(f"{part}_time" for part in _PARTS), "memory")
    table = ParquetTable(path).read(*names)
    *times, memory = (
        np.asarray(table[name].to_numpy(zero_copy_only=False), np.float64) for name in names
    )
    # NaN: the platform did not report memory at that round.
    known = memory[~np.isnan(memory)]
    most = (known.mean() / 1e6, known.max() / 1e6) if len(known) else (np.nan, np.nan)
    return [np.stack(times).sum(), *(part.sum() for part in times), *most]


def cpu_memory(compared: ComparedStudy) -> Table:
    """Return means and standard deviations of CPU time and memory, by configuration and trace."""
    by_case: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for one in compared.study.runs:
        usage = _usage(one)
        if usage is not None:
            by_case[one.configuration, one.group].append(usage)
    rows: list[Row] = []
    for case, runs in by_case.items():
        cells: list[Cell] = []
        for values in np.array(runs).T:
            known = values[~np.isnan(values)]
            cells.append(float(known.mean()) if len(known) else None)
            cells.append(float(known.std(ddof=1)) if len(known) > 1 else None)
        rows.append((*case, len(runs), *cells))
    measured = [(name, "s") for name in ("total", *_PARTS)]
    measured += [("memory", "MB"), ("peak_memory", "MB")]
    return Table(
        "cpu-memory",
        "CPU time and memory of the simulation",
        headed(
            *("configuration", "trace", "runs"),
            *(f"{name}_{what} [{unit}]" for name, unit in measured for what in ("mean", "sd")),
        ),
        tuple(rows),
        (
            "Population: runs that recorded it, which are interpreted event by event, so that they"
            " take longer than others; the observer cpu-memory records it: observers:"
            " [cpu-memory].",
            "CPU time is of the whole process with its threads, from the first record to the last"
            " round; solvers in a process of their own are not in it. Memory is resident, at the"
            " end of each round; 1 MB is 10⁶ bytes.",
        ),
    )


def replicas(compared: ComparedStudy) -> Table:
    """Return means of metrics over seeds, and of differences from the baseline."""
    by_case: dict[tuple[str, str], list[StudiedRun]] = defaultdict(list)
    for one in compared.study.runs:
        by_case[one.configuration, one.group].append(one)
    baseline_of = {one.name: other for one, other in compared.pairs()}
    rows: list[Row] = []
    for metric, unit in _metrics(compared).items():
        for case, runs in by_case.items():
            # One run has no spread; its metrics are in the table of metrics.
            if len(runs) < 2:
                continue
            both = [
                (_metric(one, metric), _metric(baseline_of[one.name], metric))
                for one in runs
                if one.name in baseline_of
            ]
            values = _defined([_metric(one, metric)] for one in runs)
            pairs = _defined(both).reshape(-1, 2)
            rows.append(
                (
                    *case, metric, unit, len(values), *ends(mean_interval(values.ravel(), block=1)),
                    len(pairs), *ends(paired_interval(pairs[:, 0], pairs[:, 1], block=1)),
                )
            )  # fmt: skip
    return Table(
        "replicas",
        "Metrics over seeds",
        headed(
            "configuration", "trace", "metric", "unit", "runs", "mean", "lower", "upper",
            "pairs", "mean_difference", "difference_lower", "difference_upper",
        ),
        tuple(rows),
        (
            "Population: the runs of one configuration and trace, each under a seed of its own;"
            " only where there are two or more.",
            f"Differences are from the run of {compared.baseline_label} with the same seed.",
            _bounds_note(compared),
            f"{INTERVAL_NOTE} of the runs. With few seeds they are too narrow.",
        ),
    )  # fmt: skip


def ranks(compared: ComparedStudy) -> Table:
    """Return the mean rank of each configuration over traces and seeds, by metric."""
    rows: list[Row] = []
    configurations = compared.study.configurations
    cases = _cases(compared)
    for metric in _metrics(compared):
        sign = -1.0 if metric in HIGHER_IS_BETTER else 1.0
        own_ranks: dict[str, list[float]] = defaultdict(list)
        for runs in cases:
            values = [_metric(one, metric) for one in runs]
            # A rank among fewer configurations is not comparable with one among all of them.
            if {one.configuration for one in runs} != set(configurations) or None in values:
                continue
            ascending = _ranks(sign * np.array(values, np.float64))
            for one, rank in zip(runs, ascending.tolist(), strict=True):
                own_ranks[one.configuration].append(rank)
        for configuration in configurations:
            own = own_ranks[configuration]
            mean = mean_of(np.array(own)) if own else None
            rows.append((metric, configuration, len(own), mean, own.count(1)))
    return Table(
        "ranks",
        "Ranks over traces and seeds",
        headed("metric", "configuration", "cases", "mean_rank", "alone_in_front"),
        tuple(rows),
        (
            f"Rank 1 has the least value (of {', '.join(HIGHER_IS_BETTER)}: the largest); equal"
            " values share the mean of their ranks.",
            "Population: the cases, each a trace with a seed, in which every configuration has a"
            " run and the metric a value.",
            _bounds_note(compared),
        ),
    )


def _cases(compared: ComparedStudy) -> Iterable[list[StudiedRun]]:
    """Return the runs by trace and seed; a trace with one run of each configuration is one case."""
    by_trace: dict[str, list[StudiedRun]] = defaultdict(list)
    cases: dict[tuple[str, int], list[StudiedRun]] = defaultdict(list)
    for one in compared.study.runs:
        by_trace[one.group].append(one)
    for group, runs in by_trace.items():
        # Configurations that ran once may have been given different seeds.
        once = len({one.configuration for one in runs}) == len(runs)
        for one in runs:
            cases[group, 0 if once else one.seed].append(one)
    return cases.values()


def _metrics(compared: ComparedStudy) -> Mapping[str, str]:
    """Return the unit of each metric that some run has."""
    return {
        metric: one.run.summary.get("definitions", {}).get(metric, {}).get("unit") or "1"
        for one in compared.study.runs
        for metric in one.run.summary["metrics"]
    }


def _metric(one: StudiedRun, metric: str) -> float | None:
    value = one.run.summary["metrics"].get(metric)
    return None if value is None else float(value)


def _defined(rows: Iterable[Iterable[float | None]]) -> FloatColumn:
    """Return the rows without a None."""
    return np.array([row for row in map(tuple, rows) if None not in row], np.float64)


def _ranks(values: FloatColumn) -> FloatColumn:
    """Return the rank of each value, from 1; equal values share the mean of their ranks."""
    # Pairwise: there are few configurations, and ties need no special case.
    differences = paired_differences(values[:, None], values[None, :])
    less, equal = (differences > 0).sum(axis=1), (differences == 0).sum(axis=1)
    return np.asarray(less + (equal + 1) / 2, np.float64)


_FUNCTIONS = (distribution, paired, replicas, ranks, load, decision_time, cpu_memory)


def _labelled(function: Callable[[ComparedStudy], Table]) -> Callable[[ComparedStudy], Table]:
    """Return a table of a study with the labels of its runs."""
    return lambda compared: replace(function(compared), labels=compared.study.labels)


TABLES: Mapping[str, Callable[[ComparedStudy], Table]] = {
    function.__name__.replace("_", "-"): _labelled(function) for function in _FUNCTIONS
}
"""The tables by name, in the order in which they are shown."""
