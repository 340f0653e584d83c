"""Tables of a comparison beside the metrics, and its answer in a few sentences."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow.compute as pc

from hpcsched.metrics.capacity import time_mean, time_quantile
from hpcsched.metrics.column_sums import (
    LEVEL,
    RESAMPLES,
    FloatColumn,
    Interval,
    mean_interval,
    mean_of,
    no_less,
    paired_differences,
    paired_interval,
)
from hpcsched.report.compared_study import (
    MEANS,
    QUANTITIES,
    ComparedStudy,
    JobTimes,
    by_submission,
    decision_times,
    load_series,
    percentiles,
)
from hpcsched.report.fidelity import POPULATION, fidelity_table, known_fidelity
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.report_table import Cell, Table, duration_text, titled
from hpcsched.report.tables.run_comparison import (
    Comparison,
    LogColumn,
    percent_of,
    shared_objective,
)
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
    """Return the jobs that ran in both runs, by submission, as each run has them."""
    # By number and not by place: runs need not have started the same jobs.
    _, mine, its = np.intersect1d(one.job_ids, other.job_ids, return_indices=True)
    order = by_submission(one.only(mine))
    return one.only(mine[order]), other.only(its[order])


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
        ("run", "quantity", "unit", "jobs", "mean", "p25", "p50", "p75", "p90", "p99", "max"),
        rows,
        "distribution",
        "Distributions over jobs",
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
            values, others = map(quantity.of, common_jobs(ours, theirs))
            differences, count = paired_differences(values, others), len(values)
            signs = (differences < 0, differences == 0, differences > 0)
            spread: list[float | None] = [None] * 4
            if count:
                spread = [
                    percentiles(differences, [50])[0],
                    *(100 * float(part.mean()) for part in signs),
                ]
            rows.append(
                (
                    *(one.name, other.name, name, quantity.unit or "1", count),
                    *(len(ours.job_ids) - count, len(theirs.job_ids) - count),
                    *ends(paired_interval(values, others)),
                    *spread,
                )
            )
    return Table(
        (
            *("run", "baseline", "quantity", "unit", "common_jobs", "only_in_run"),
            *("only_in_baseline", "mean_difference", "lower", "upper", "median_difference"),
            *("less [%]", "same [%]", "more [%]"),
        ),
        rows,
        "paired",
        f"Differences of the same jobs from {compared.baseline_label}",
        (
            f"A difference is the run's value less the baseline's ({compared.baseline_label}):"
            " below 0 the job fared better in the run. The median is by nearest rank.",
            "Population: jobs that ran in both runs, by number, with the shares of those for"
            " which it is less, the same, or more.",
            _bounds_note(compared),
            f"{INTERVAL_NOTE}, each of blocks of ⌈√n⌉ jobs submitted one after another.",
        ),
    )


def load(compared: ComparedStudy) -> Table:
    """Return the distribution of the load over time."""
    rows: list[Row] = [
        (
            *(one.name, series.quantity, series.unit, time_mean(series.values)),
            *(time_quantile(series.values, percent) for percent in (50, 90)),
            max(series.values.levels.tolist(), default=None),
        )
        for one in compared.study.runs
        for series in load_series(one, compared.jobs[one.name])
    ]
    return Table(
        ("run", "quantity", "unit", "mean", "p50", "p90", "max"),
        rows,
        "load",
        "Queue length and utilization over time",
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
    times = (f"{name} [real s]" for name in ("mean", "p50", "p90", "max"))
    return Table(
        ("run", "queue_from [jobs]", "queue_to [jobs]", "rounds", *times),
        [(one.name, *own) for one in compared.study.runs for own in decision_times(one)],
        "decision-time",
        "Decision time by queue length",
        (
            "Population: all dispatching rounds, by the number of jobs in the queue before the"
            " round; each bin is twice as wide as the one before it.",
            "Real seconds, measured: they differ from machine to machine.",
            _RANK_NOTE,
        ),
    )


_PARTS = ("loading", "dispatching", "other")


def _usage(one: StudiedRun) -> list[float]:
    """Return CPU seconds, in all and by part, and mean and largest memory in MB."""
    table = ParquetTable(one.run.path / USAGE).read(*(f"{part}_time" for part in _PARTS), "memory")
    times = [pc.sum(table[f"{part}_time"]).as_py() for part in _PARTS]
    # The platform may not have reported memory.
    memory = [(of(table["memory"]).as_py() or np.nan) / 1e6 for of in (pc.mean, pc.max)]
    return [sum(times), *times, *memory]


def cpu_memory(compared: ComparedStudy) -> Table:
    """Return means and standard deviations of CPU time and memory, by configuration and trace."""
    rows: list[Row] = []
    for case, runs in compared.study.cases.items():
        usage = [_usage(one) for one in runs if (one.run.path / USAGE).is_file()]
        cells: list[Cell] = []
        for values in np.array(usage).T:
            known = values[~np.isnan(values)]
            cells.append(mean_of(known) if len(known) else None)
            cells.append(float(known.std(ddof=1)) if len(known) > 1 else None)
        rows += [(*case, len(usage), *cells)] if usage else []
    measured = [(name, "s") for name in ("total", *_PARTS)]
    measured += [("memory", "MB"), ("peak_memory", "MB")]
    return Table(
        (
            *("configuration", "trace", "runs"),
            *(f"{name}_{what} [{unit}]" for name, unit in measured for what in ("mean", "sd")),
        ),
        rows,
        "cpu-memory",
        "CPU time and memory of the simulation",
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
    baseline_of = {one.name: other for one, other in compared.pairs()}
    # One run has no spread; its metrics are in the table of metrics.
    cases = {case: runs for case, runs in compared.study.cases.items() if len(runs) > 1}
    rows: list[Row] = []
    for metric, unit in _metrics(compared).items():
        for case, runs in cases.items():
            both = [
                (_metric(one, metric), _metric(baseline_of[one.name], metric))
                for one in runs
                if one.name in baseline_of
            ]
            values = _defined([_metric(one, metric)] for one in runs)
            pairs = _defined(both).reshape(-1, 2)
            own, between = (
                mean_interval(values.ravel(), block=1),
                paired_interval(*pairs.T, block=1),
            )
            rows.append((*case, metric, unit, len(values), *ends(own), len(pairs), *ends(between)))
    return Table(
        (
            *("configuration", "trace", "metric", "unit", "runs", "mean", "lower", "upper"),
            *("pairs", "mean_difference", "difference_lower", "difference_upper"),
        ),
        rows,
        "replicas",
        "Metrics over seeds",
        (
            "Population: the runs of one configuration and trace, each under a seed of its own;"
            " only where there are two or more.",
            f"Differences are from the run of {compared.baseline_label} with the same seed.",
            _bounds_note(compared),
            f"{INTERVAL_NOTE} of the runs. With few seeds they are too narrow.",
        ),
    )


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
        ("metric", "configuration", "cases", "mean_rank", "alone_in_front"),
        rows,
        "ranks",
        "Ranks over traces and seeds",
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


def fidelity(compared: ComparedStudy) -> Table:
    """Return the waits of the baseline and of its log; without rows if the log records none."""
    found = known_fidelity(compared)
    if isinstance(found, str):
        notes = (POPULATION, f"Not known: {found}")
        return Table(("class",), (), "fidelity", "Waits of the log", notes)
    return fidelity_table(found)


_FUNCTIONS = (distribution, paired, replicas, ranks, load, decision_time, cpu_memory, fidelity)


def _labelled(function: Callable[[ComparedStudy], Table]) -> Callable[[ComparedStudy], Table]:
    """Return a table of a study with the labels of its runs."""
    return lambda compared: replace(function(compared), labels=compared.study.labels)


TABLES: Mapping[str, Callable[[ComparedStudy], Table]] = {
    function.__name__.replace("_", "-"): _labelled(function) for function in _FUNCTIONS
}
"""The tables by name, in the order in which they are shown."""


_MINUTE = 60


def answer(
    compared: ComparedStudy, not_ok: Collection[str] | None, comparison: Comparison | None = None
) -> list[str]:
    """Return the answer of a study, one sentence or two a line.

    A difference is beyond noise if the 95 % interval of its mean over the same jobs, by a block
    bootstrap, does not hold 0. Runs that were not audited are None.
    """
    runs, labels = compared.study.runs, compared.study.run_labels
    lines = list(_ahead(compared)) if len(runs) > 1 else []
    if comparison is not None and comparison.log is not None:
        lines.append(_beside_log(comparison, comparison.log))
    fallbacks = [
        f"{labels[one.name]} in {count:,} rounds"
        for one in runs
        if (count := one.run.summary["rounds"].get("fallbacks", 0))
    ]
    if fallbacks:
        lines.append(f"Fell back to another plan: {', '.join(fallbacks)}.")
    else:
        lines.append("No round fell back to another plan.")
    if not_ok is None:
        lines.append("The runs were not audited.")
    elif not_ok:
        lines.append(f"The audit does not say ok: {', '.join(labels[name] for name in not_ok)}.")
    else:
        lines.append("The audit of each run says ok.")
    return lines


def _ahead(compared: ComparedStudy) -> Iterator[str]:
    runs = compared.study.runs
    objective = shared_objective([one.run for one in runs])
    if objective is None:
        yield "The runs have different objectives, so none of them is ahead."
        return
    title = titled(str(objective["name"]), objective)
    by_case: dict[tuple[str, int], list[StudiedRun]] = defaultdict(list)
    for one in runs:
        if one.run.summary["objective"]["value"] is not None:
            by_case[one.group, one.seed].append(one)
    cases = [sorted(case, key=_value) for case in by_case.values() if len(case) > 1]
    if not cases:
        yield f"No two runs of one trace and seed have a value of the objective, {title}."
    elif len(cases) == 1:
        yield from _of_one_case(compared, cases[0], objective, title)
    else:
        labels = compared.study.configuration_labels
        best = Counter(
            "no single run"
            if no_less(_value(case[0]), _value(case[1]))
            else labels[case[0].configuration]
            for case in cases
        )
        counted = ", ".join(f"{name} in {count}" for name, count in best.most_common())
        yield (
            f"By the objective, {title}, over {len(cases)} cases (a trace and a seed): ahead is"
            f" {counted}."
        )


def _beside_log(comparison: Comparison, log: LogColumn) -> str:
    """Return the runs in percent of the log's own schedule, which is no run and is not ranked."""
    no_run = "The log's own schedule, which is not replayed and not ranked,"
    if comparison.objective is None:
        return f"{no_run} is the column {log.name} of the tables."
    row = comparison.rows[comparison.objective]
    value = row.values[-1]
    if value is None:
        return f"{no_run} has no value of the objective."
    shares = [percent_of(own, value) for own in row.values[:-1]]
    listed = ", ".join(
        f"{run.label} {share:.1f} %"
        for run, share in zip(comparison.runs, shares, strict=True)
        if share is not None
    )
    return f"{no_run} has {value:,.6g} by the objective; in percent of that: {listed}."


def _value(one: StudiedRun) -> float:
    """Return the value of the objective of a run that has one."""
    return float(one.run.summary["objective"]["value"])


def _in_words(one: StudiedRun) -> str:
    """Return the value of the objective, a time also in hours or days."""
    summary, value = one.run.summary, _value(one)
    about = summary.get("definitions", {}).get(summary["objective"]["name"], {})
    if about.get("unit") != "s" or value < _MINUTE:
        return f"{value:,.6g}"
    return f"{value:,.6g} s ({duration_text(round(value))})"


def _of_one_case(
    compared: ComparedStudy, case: Sequence[StudiedRun], objective: Mapping[str, Any], title: str
) -> Iterator[str]:
    first, second = case[:2]
    labels = compared.study.run_labels
    least, next_one = _value(first), _value(second)
    if no_less(least, next_one):
        same = ", ".join(labels[one.name] for one in case if no_less(least, _value(one)))
        yield f"By the objective, {title}, {same} are equal: {_in_words(first)}."
        return
    percent = 100 * (1 - least / next_one)
    less = f"{percent:.1f} %" if percent >= 0.05 else "under 0.1 %"
    yield (
        f"{labels[first.name]} is ahead by the objective, {title}: {_in_words(first)}, which is"
        f" {less} less than {labels[second.name]} with {_in_words(second)}."
    )
    interval = difference(compared, first, second, objective)
    if interval is None:
        yield "Whether that is beyond noise is not known: the objective is no mean of job values."
        return
    beyond = "beyond noise" if interval.beyond_noise else "within noise"
    yield (
        f"The difference is {beyond}: over the same jobs its mean is {interval.mean:,.4g}, with a"
        f" 95 % interval from {interval.lower:,.4g} to {interval.upper:,.4g}."
    )


def difference(
    compared: ComparedStudy, one: StudiedRun, other: StudiedRun, objective: Mapping[str, Any]
) -> Interval | None:
    """Return the mean difference of an objective over the same jobs; None if it is no such mean."""
    quantity = QUANTITIES.get(MEANS.get(objective["name"], ""))
    if quantity is None or quantity.has is not None:
        return None
    mine, its = common_jobs(compared.jobs[one.name], compared.jobs[other.name])
    # Slowdowns of jobs are bounded as the metric's are, which the objective's need not be.
    tau = objective["parameters"].get("tau", mine.tau)
    mine, its = mine._replace(tau=tau), its._replace(tau=tau)
    return paired_interval(quantity.of(mine), quantity.of(its))
