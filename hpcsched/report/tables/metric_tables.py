"""Tables over runs by their metrics: means over seeds, and ranks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from hpcsched.metrics.bootstrap import mean_interval, paired_interval
from hpcsched.metrics.column_sums import FloatColumn, mean_of, paired_differences
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.report_table import Cell, Table
from hpcsched.report.tables.table_parts import INTERVAL_NOTE, bounds_note, ends, plain

HIGHER_IS_BETTER = ("utilization",)
"""Metrics to maximise; all others are to be minimised."""

_SEEDS = f"{INTERVAL_NOTE} of the runs. With few seeds they are too narrow."


def replicas(compared: ComparedStudy) -> Table:
    """Return means of metrics over seeds, and of differences from the baseline.

    Returns
    -------
    Table
        For each metric, configuration and trace with two or more runs: means with intervals.
        Differences are between runs of the same seed.
    """
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
    """Return the mean rank of each configuration over traces and seeds, by metric.

    Returns
    -------
    Table
        Number of cases, mean rank (1 is best) and number of cases in which the configuration alone
        is first.
    """
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
