"""Use of the machine: makespan, utilization and loss of capacity."""

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn, sum_of_floats
from hpcsched.metrics.metric import Column, RunTables, Table


class OverTime(NamedTuple):
    """Time series that is constant between instants.

    Attributes
    ----------
    instants
        Simulated seconds, ascending, `[K + 1]`.
    levels
        Value from `instants[k]` to `instants[k + 1]`, `[K]`.
    """

    instants: Column
    levels: FloatColumn

    @property
    def seconds(self) -> Column:
        """Duration of each level, `[K]`."""
        return np.diff(self.instants)


def over_time(since: Column, until: Column, amounts: Column | None = None) -> OverTime:
    """Return the time series of a sum of amounts, each present in a half-open interval.

    Parameters
    ----------
    since
        Begin of each interval, in seconds, `[J]`.
    until
        End of each interval, in seconds, `[J]`.
    amounts
        Amount of each interval, `[J]`; 1 if None.
    """
    if amounts is None:
        amounts = np.ones(len(since), np.int64)
    # Changes at one instant are added up, so that no level has a duration of 0.
    instants, place = np.unique(np.concatenate((since, until)), return_inverse=True)
    changes = np.zeros(len(instants), np.int64)
    np.add.at(changes, place, np.concatenate((amounts, -amounts)))
    return OverTime(instants, np.cumsum(changes)[:-1].astype(np.float64))


def spanning(course: OverTime, begin: int, end: int) -> OverTime:
    """Return a time series from `begin` to `end`, in s, with 0 outside its own span."""
    instants = np.unique(np.clip(np.concatenate((course.instants, [begin, end])), begin, end))
    at = np.searchsorted(course.instants, instants[:-1], side="right") - 1
    # Before the first instant `at` is -1 and from the last on it is K: both are the 0 appended.
    return OverTime(instants, np.append(course.levels, 0.0)[at])


def time_mean(course: OverTime) -> float | None:
    """Return the mean of a time series, weighted by duration; None without duration."""
    total = int(course.seconds.sum())
    return float((course.levels * course.seconds).sum()) / total if total else None


def time_quantile(course: OverTime, percent: int) -> float | None:
    """Return a percentile of a time series, weighted by duration; None without duration.

    Parameters
    ----------
    percent
        From 1 to 100; by nearest rank over seconds.
    """
    total = int(course.seconds.sum())
    if not total:
        return None
    order = np.argsort(course.levels, kind="stable")
    upto = np.cumsum(course.seconds[order])
    # Whole numbers, so that the rank is exact.
    rank = -(-percent * total // 100)
    return float(course.levels[order][np.searchsorted(upto, max(rank, 1))])


def means_between(course: OverTime, edges: FloatColumn) -> FloatColumn:
    """Return the mean of a time series between each two edges within its span, in s, `[B]`."""
    upto = np.concatenate(([0.0], np.cumsum(course.levels * course.seconds)))
    return np.asarray(np.diff(np.interp(edges, course.instants, upto)) / np.diff(edges))


def binned(course: OverTime, bins: int) -> tuple[FloatColumn, FloatColumn, FloatColumn]:
    """Return the means and maxima of a time series over equal spans of time.

    Parameters
    ----------
    bins
        Number of spans; a series of at most this many levels keeps its own spans.

    Returns
    -------
    tuple
        Bounds of the spans in s, `[B + 1]`, and means and maxima, `[B]` each.
    """
    if len(course.levels) <= bins:
        return course.instants.astype(np.float64), course.levels, course.levels
    edges = np.linspace(float(course.instants[0]), float(course.instants[-1]), bins + 1)
    means = means_between(course, edges)
    # A span's maximum is over the levels that begin in it, and the one that it begins with.
    first = np.searchsorted(course.instants, edges[:-1], side="right") - 1
    after = np.searchsorted(course.instants[:-1], edges[1:], side="left")
    maxima = np.array([course.levels[a:b].max() for a, b in zip(first, after, strict=True)])
    return edges, means, maxima


def makespan(jobs: Table) -> int | None:
    """Return max(end) − min(submit), in seconds, over all jobs that ran; None if there are none.

    Notes
    -----
    Source: DEBS 2024 paper, section 3.1.
    """
    span = _span(jobs)
    return None if span is None else span[1] - span[0]


def _span(jobs: Table) -> tuple[int, int] | None:
    """Return the first submission and the last end of all jobs that ran; None without any."""
    ranges = [
        (int(submit.min()), int(end.max()))
        for submit, end in jobs.batches("submit_time", "end_time")
        if len(submit)
    ]
    if not ranges:
        return None
    return min(submit for submit, _ in ranges), max(end for _, end in ranges)


def utilization_by_resource(run: RunTables) -> dict[str, float]:
    """Return Σ amount × run time / (capacity × makespan) for each resource type, a ratio.

    Notes
    -----
    Source: DEBS 2024 paper, section 3.1, for each resource type instead of one. Population: all
    jobs that ran, with their requests, from the first submission to the last end. Nodes out of
    service do not count as capacity, nor attempts that were lost to outages as use. Every product
    is rounded to 53 bits and the sum is exact.
    """

    def used(units: Column, amount: Column, run_time: Column) -> FloatColumn:
        return (units * amount).astype(np.float64) * run_time

    if "utilization" not in run.known:
        run.known["utilization"] = {
            name: sum_of_floats(run.jobs, ("units", f"unit_request.{name}", "run_time"), used)
            / whole
            for name, whole in _capacity_over_time(run).items()
        }
    return dict(run.known["utilization"])


def utilization(run: RunTables) -> float | None:
    """Return the utilization of the busiest resource type, a ratio; None where none is defined."""
    return max(utilization_by_resource(run).values(), default=None)


def loss_of_capacity_by_resource(run: RunTables) -> dict[str, float]:
    """Return the loss of capacity of each resource type, a ratio.

    It is ∫ min(amount waiting, amount free) dt / (capacity × makespan).

    Returns
    -------
    dict
        Ratios by resource type; empty if the makespan is 0 or no job ran.

    Notes
    -----
    Source: DEBS 2024 paper, section 3.1. Population: all jobs while they wait, rejected ones
    included. It is computed from the rounds. While a decision is awaited, the round adds up the
    loss. After the decision, waiting and free amounts are constant until the next round, since
    there is a round at every instant at which anything changes while jobs wait.
    """
    if "loss_of_capacity" not in run.known:
        run.known["loss_of_capacity"] = {
            name: math.fsum(chain.from_iterable(_lost(run.rounds, name))) / whole
            for name, whole in _capacity_over_time(run).items()
        }
    return dict(run.known["loss_of_capacity"])


def loss_of_capacity(run: RunTables) -> float | None:
    """Return the loss of capacity of the resource type with the highest utilization."""
    used = utilization_by_resource(run)
    return loss_of_capacity_by_resource(run)[max(used, key=used.__getitem__)] if used else None


def _capacity_over_time(run: RunTables) -> dict[str, int]:
    """Return capacity × makespan of each resource type, less the part out of service."""
    span = _span(run.jobs)
    if span is None:
        return {}
    first, last = span
    whole = {name: total * (last - first) for name, total in run.capacity.items()}
    # Capacity out of service cannot be used, so it is no loss.
    for name, down in run.down.items():
        whole[name] -= down.within(first, last)
    return {name: amount for name, amount in whole.items() if amount > 0}


def _lost(rounds: Table, resource: str) -> Iterator[list[Any]]:
    """Yield, by batch, the amount × seconds lost within rounds and between rounds."""
    amounts = (f"{which}_amounts.{resource}" for which in ("waiting", "free", "lost"))
    # The last round of a batch lasts until the first round of the next batch.
    last_now = last_done = last_idle = np.empty(0, dtype=np.int64)
    for batch_now, latency, waiting, free, lost in rounds.batches("now", "latency", *amounts):
        now = np.concatenate((last_now, batch_now))
        done = np.concatenate((last_done, batch_now + latency))
        idle = np.concatenate((last_idle, np.minimum(waiting, free)))
        yield (idle[:-1].astype(np.float64) * (now[1:] - done[:-1])).tolist()
        yield lost.tolist()
        last_now, last_done, last_idle = now[-1:], done[-1:], idle[-1:]
