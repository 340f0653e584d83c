"""Tables of a comparison beside the metrics: over jobs, time, rounds, seeds and ranks."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from hpcsched.metrics.bootstrap import LEVEL, RESAMPLES, Interval, mean_interval, paired_interval
from hpcsched.metrics.column_sums import FloatColumn, mean_of, paired_differences
from hpcsched.metrics.job_metrics import NAMES, nearest_rank
from hpcsched.metrics.over_time import over_time, spanning, time_mean, time_quantile
from hpcsched.report.compared_study import (
    QUANTITIES,
    ComparedStudy,
    JobTimes,
    Quantity,
    by_submission,
)
from hpcsched.report.figures.run_series import (
    HOW,
    MEGABYTE,
    PARTS,
    Usage,
    by_queue_length,
    nodes_down_over_time,
    shared_resources_over_time,
    usage_of,
    used_over_time,
)
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.report_table import Cell, Table, plain
from hpcsched.scenario.resolved import read_system

RANK_NOTE = "The p-th percentile of n values is the ⌈p n / 100⌉-th smallest; p50 is the median."

_PERCENT = f"{LEVEL:.0%}".removesuffix("%") + " %"
INTERVAL_NOTE = f"Intervals: {_PERCENT}, percentiles of the means of {RESAMPLES} resamples"
"""Method of the intervals; each table adds the unit that was resampled."""


def ends(interval: Interval | None) -> tuple[Cell, ...]:
    """Return the mean and the two ends of an interval.

    Parameters
    ----------
    interval
        An interval; None gives three missing values.
    """
    return (None, None, None) if interval is None else tuple(interval)


def bounds_note(compared: ComparedStudy) -> list[str]:
    """Return the note on the bound of bounded slowdowns."""
    taus = sorted({compared.jobs[one.name].tau for one in compared.study.runs})
    return [f"bounded_slowdown with tau = {', '.join(map(str, taus))} s."]


PERCENTS = (25, 50, 75, 90, 99)
PAIRED = ("wait_time", "response_time", "bounded_slowdown")

_SPREAD = ("jobs", "mean", *(f"p{percent}" for percent in PERCENTS), "max")
_JOBS = f"{INTERVAL_NOTE}, each of blocks of ⌈√n⌉ jobs submitted one after another."


def distribution(compared: ComparedStudy) -> Table:
    """Return the distribution of each quantity over the jobs of each run."""
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
    """Return the differences between the same jobs in two runs."""
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


def load(compared: ComparedStudy) -> Table:
    """Return the distribution of the load over time."""
    rows: list[tuple[Cell, ...]] = []
    for one in compared.study.runs:
        jobs = compared.jobs[one.name]
        series = [("queue_length", "jobs", 1.0, over_time(jobs.submits, jobs.starts))]
        system = read_system(one.run.scenario_path)
        for name, total in zip(system.resource_types, system.totals, strict=True):
            if total:
                used = used_over_time(one, name)
                series.append((f"utilization of {name}", "%", 100 / total, used))
        series += [
            (f"drawn from {resource}", "own unit", 1.0, drawn)
            for resource, drawn, _ in shared_resources_over_time(one)
        ]
        down = nodes_down_over_time(one)
        if len(down.levels):
            series.append(("out of service", "nodes", 1.0, down))
        span = (min(jobs.submits, default=0), max(jobs.ends, default=0))
        for what, unit, scale, values in series:
            whole = spanning(values, *span)
            figures = (
                time_mean(whole),
                *(time_quantile(whole, percent) for percent in (50, 90)),
                float(whole.levels.max()) if len(whole.levels) else None,
            )
            rows.append(
                (one.name, what, unit, *(None if f is None else scale * f for f in figures))
            )
    return Table(
        "load",
        "Queue length and utilization over time",
        plain("run", "quantity", "unit", "mean", "p50", "p90", "max"),
        tuple(rows),
        (
            "Population: every second from the first submission to the last end, and all jobs"
            " that ran.",
            "The queue is of jobs submitted and not started. In use is what running jobs asked"
            " for, of the whole capacity, nodes out of service included.",
            "p50 and p90: the least value that is not exceeded for 50 % and 90 % of the time.",
        ),
    )  # fmt: skip


def decision_time(compared: ComparedStudy) -> Table:
    """Return the decision times by queue length.

    Returns
    -------
    Table
        Number of rounds, mean, percentiles and maximum in real seconds, for each run and bin of
        queue lengths.
    """
    rows: list[tuple[Cell, ...]] = [
        (one.name, *bin_)
        for one in compared.study.runs
        for bin_ in by_queue_length(one)
    ]  # fmt: skip
    return Table(
        "decision-time",
        "Decision time by queue length",
        (
            *plain("run"),
            ("queue_from", "jobs"),
            ("queue_to", "jobs"),
            *plain("rounds"),
            *((name, "real s") for name in ("mean", "p50", "p90", "max")),
        ),
        tuple(rows),
        (
            "Population: all dispatching rounds, by the number of jobs in the queue before the"
            " round; each bin is twice as wide as the one before it.",
            "Real seconds, measured: they differ from machine to machine.",
            RANK_NOTE,
        ),
    )


def cpu_memory(compared: ComparedStudy) -> Table:
    """Return CPU time and memory by configuration and trace.

    Returns
    -------
    Table
        Means and standard deviations over runs: CPU seconds by part, memory in MB.
    """
    by_case: dict[tuple[str, str], list[Usage]] = defaultdict(list)
    for one in compared.study.runs:
        usage = usage_of(one)
        if usage is not None:
            by_case[one.configuration, one.group].append(usage)
    rows: list[tuple[Cell, ...]] = []
    for (configuration, group), runs in by_case.items():
        cells: list[Cell] = []
        for values in (
            [usage.times.sum() for usage in runs],
            *([usage.times[k].sum() for usage in runs] for k in range(len(PARTS))),
            [_mean(usage.memory) / MEGABYTE for usage in runs],
            [_largest(usage.memory) / MEGABYTE for usage in runs],
        ):
            cells += _moments(np.array(values, np.float64))
        rows.append((configuration, group, len(runs), *cells))
    columns = ("total", *PARTS)
    measured = [(f"{name}_{what}", "s") for name in columns for what in ("mean", "sd")]
    measured += [
        (f"{name}_{what}", "MB") for name in ("memory", "peak_memory") for what in ("mean", "sd")
    ]
    return Table(
        "cpu-memory",
        "CPU time and memory of the simulation",
        (*plain("configuration", "trace", "runs"), *measured),
        tuple(rows),
        (
            "Population: runs that recorded it, which are interpreted event by event, so that they"
            f" take longer than others; {HOW}.",
            "CPU time is of the whole process with its threads, from the first record to the last"
            " round; solvers in a process of their own are not in it. Memory is resident, at the"
            " end of each round; 1 MB is 10⁶ bytes.",
        ),
    )


def _mean(values: FloatColumn) -> float:
    # NaN: the platform did not report memory at that round.
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def _largest(values: FloatColumn) -> float:
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else np.nan


def _moments(values: FloatColumn) -> list[Cell]:
    """Return the mean of values and their standard deviation; None where there are too few."""
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else None
    return [mean, float(known.std(ddof=1)) if len(known) > 1 else None]


HIGHER_IS_BETTER = ("utilization",)
"""Metrics to maximise; all others are to be minimised."""

_SEEDS = f"{INTERVAL_NOTE} of the runs. With few seeds they are too narrow."


def replicas(compared: ComparedStudy) -> Table:
    """Return means of metrics over seeds, and of differences from the baseline."""
    by_case: dict[tuple[str, str], list[StudiedRun]] = defaultdict(list)
    for one in compared.study.runs:
        by_case[one.configuration, one.group].append(one)
    baseline_of = {one.name: other for one, other in compared.pairs()}
    rows: list[tuple[Cell, ...]] = []
    for metric, unit in _metrics(compared).items():
        for (configuration, group), runs in by_case.items():
            # One run has no spread; its metrics are in the table of metrics.
            if len(runs) < 2:
                continue
            values = _defined(_metric(one, metric) for one in runs)
            pairs = _pairs(
                (_metric(one, metric), _metric(baseline_of[one.name], metric))
                for one in runs
                if one.name in baseline_of
            )
            rows.append(
                (
                    configuration, group, metric, unit, len(values),
                    *ends(mean_interval(values, block=1)), len(pairs),
                    *ends(paired_interval(pairs[:, 0], pairs[:, 1], block=1)),
                )
            )  # fmt: skip
    return Table(
        "replicas",
        "Metrics over seeds",
        plain(
            "configuration", "trace", "metric", "unit", "runs", "mean", "lower", "upper",
            "pairs", "mean_difference", "difference_lower", "difference_upper",
        ),
        tuple(rows),
        (
            "Population: the runs of one configuration and trace, each under a seed of its own;"
            " only where there are two or more.",
            f"Differences are from the run of {compared.baseline_label} with the same seed.",
            *bounds_note(compared),
            _SEEDS,
        ),
    )  # fmt: skip


def ranks(compared: ComparedStudy) -> Table:
    """Return the mean rank of each configuration over traces and seeds, by metric."""
    rows: list[tuple[Cell, ...]] = []
    configurations = compared.study.configurations
    cases = _cases(compared)
    for metric in _metrics(compared):
        sign = -1.0 if metric in HIGHER_IS_BETTER else 1.0
        own_ranks: dict[str, list[float]] = defaultdict(list)
        for runs in cases.values():
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
            firsts = sum(rank == 1 for rank in own)
            rows.append((metric, configuration, len(own), mean, firsts))
    higher = ", ".join(HIGHER_IS_BETTER)
    return Table(
        "ranks",
        "Ranks over traces and seeds",
        plain("metric", "configuration", "cases", "mean_rank", "alone_in_front"),
        tuple(rows),
        (
            f"Rank 1 has the least value (of {higher}: the largest); equal values share the"
            " mean of their ranks.",
            "Population: the cases, each a trace with a seed, in which every configuration has a"
            " run and the metric a value.",
            *bounds_note(compared),
        ),
    )


def _cases(compared: ComparedStudy) -> Mapping[tuple[str, int], list[StudiedRun]]:
    """Return the runs by trace and seed; a trace with one run of each configuration is one case."""
    counts: dict[str, list[str]] = defaultdict(list)
    for one in compared.study.runs:
        counts[one.group].append(one.configuration)
    # Configurations that ran once may have been given different seeds.
    single = {group for group, runs in counts.items() if len(set(runs)) == len(runs)}
    cases: dict[tuple[str, int], list[StudiedRun]] = defaultdict(list)
    for one in compared.study.runs:
        cases[one.group, 0 if one.group in single else one.seed].append(one)
    return cases


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


def _defined(values: Iterable[float | None]) -> FloatColumn:
    """Return the values that are not None."""
    return np.array([value for value in values if value is not None], np.float64)


def _pairs(values: Iterable[tuple[float | None, float | None]]) -> FloatColumn:
    """Return the pairs without a None, `[n, 2]`."""
    return np.array([pair for pair in values if None not in pair], np.float64).reshape(-1, 2)


def _ranks(values: FloatColumn) -> FloatColumn:
    """Return the rank of each value, from 1; equal values share the mean of their ranks."""
    # Pairwise: there are few configurations, and ties need no special case.
    differences = paired_differences(values[:, None], values[None, :])
    less, equal = (differences > 0).sum(axis=1), (differences == 0).sum(axis=1)
    return np.asarray(less + (equal + 1) / 2, np.float64)


def _labelled(table: Callable[[ComparedStudy], Table]) -> Callable[[ComparedStudy], Table]:
    """Return a table of a study with the labels of its runs."""
    return lambda compared: replace(table(compared), labels=compared.study.labels)


TABLES: Mapping[str, Callable[[ComparedStudy], Table]] = {
    "distribution": _labelled(distribution),
    "classes": _labelled(classes),
    "paired": _labelled(paired),
    "replicas": _labelled(replicas),
    "ranks": _labelled(ranks),
    "load": _labelled(load),
    "decision-time": _labelled(decision_time),
    "cpu-memory": _labelled(cpu_memory),
}
"""The tables by name, in the order in which they are shown."""
