"""Use of the machine: makespan, utilization and loss of capacity."""

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn, sum_of_floats
from hpcsched.metrics.metric import Column, RunTables, Table


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
