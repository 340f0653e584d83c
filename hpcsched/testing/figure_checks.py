"""Checks of the protocols of metrics and objectives, on sample workloads."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from hpcsched.dispatching.objectives import BoundedSlowdown
from hpcsched.dispatching.planned_cost import Plannable, PlannableRatio, cost_fault
from hpcsched.dispatching.problem import Objective, WaitingJob, waiting_job
from hpcsched.metrics.metric import Column, Metric, RunTables, figure_fault
from hpcsched.plugins.plugin_checks import product_fault
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.runs.recorder import table_of_jobs
from hpcsched.runs.replaying import replay_in_python
from hpcsched.runs.tables import ArrowTable
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import JobRecord
from hpcsched.system.system import IntArray, System
from hpcsched.testing.building import SampleWorkload
from hpcsched.testing.replaying import SEEDS, backfilling, expect, noted, workloads

PAIRS = 40
"""Number of pairs of plans that a cost must order as the objective does."""


class _InBatches:
    """Table in batches of some rows."""

    def __init__(self, table: pa.Table, size: int) -> None:
        self._table, self._size = table, size

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the columns, batch by batch."""
        for begin in range(0, len(self._table), self._size):
            for batch in ArrowTable(self._table.slice(begin, self._size)).batches(*columns):
                # As in a run: figures share their tables.
                for column in batch:
                    column.flags.writeable = False
                yield batch


def check_metric(make: Callable[[], Metric], *, seeds: Iterable[int] = SEEDS) -> None:
    """Measure replays of sample workloads, and check the figures.

    Unit and population must be texts, the population not empty. A figure must be a finite number
    or None, also of a run without jobs; the same when measured again; and the same whatever the
    size of the batches in which the tables come.

    Raises
    ------
    AssertionError
        If the metric is wrong; a note names the workload.
    """
    metric = make()
    expect(product_fault(metric, "metric"))
    if not metric.population:
        raise AssertionError("expected a text as population, found ''")
    for workload, where in workloads(seeds):
        capacity = dict(zip(workload.system.resource_types, workload.system.totals, strict=True))
        jobs, rounds = _tables(workload)

        def measured(size: int, jobs: pa.Table = jobs, rounds: pa.Table = rounds) -> object:
            tables = _InBatches(jobs, size), _InBatches(rounds, size)
            return metric.measure(RunTables(*tables, capacity))  # noqa: B023 (called at once)

        with noted(where):
            _check_figures(measured)
            expect(figure_fault(measured(100, jobs[:0], rounds[:0])), "without jobs")


def check_objective(make: Callable[[], Objective], *, seeds: Iterable[int] = SEEDS) -> None:
    """Measure replays of sample workloads, and check the values and the cost of plans.

    Values are checked as those of a metric are. A planned cost must be one of the jobs asked
    about, with weights that are finite and not negative, also for no jobs. Of two plans of which
    the objective of one is less, its planned cost must be less as well.

    Raises
    ------
    AssertionError
        If the objective is wrong; a note names the workload.
    """
    objective = make()
    expect(product_fault(objective, "objective"))
    for workload, where in workloads(seeds):
        jobs, _ = _tables(workload)

        def measured(size: int, jobs: pa.Table = jobs) -> object:
            return objective.measure(_InBatches(jobs, size))

        with noted(where):
            _check_figures(measured)
            expect(figure_fault(measured(100, jobs[:0])), "without jobs")
            _check_cost(objective, workload)


def _check_figures(measured: Callable[[int], object]) -> None:
    whole = measured(1000)
    expect(figure_fault(whole))
    again = measured(1000)
    if not _close(whole, again):
        raise AssertionError(f"expected the same figure again, found {whole!r} and {again!r}")
    for size in (1, 7):
        parts = measured(size)
        if not _close(whole, parts):
            raise AssertionError(
                f"expected the same figure in batches of {size} rows, found {whole!r} and {parts!r}"
            )


def _close(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


def _tables(workload: SampleWorkload) -> tuple[pa.Table, pa.Table]:
    """Return the tables of jobs and rounds of a replay."""
    parts = Parts(workload.system, backfilling(), "list", RequestedTime(), BoundedSlowdown())
    return replay_in_python(parts, workload.jobs, places=False)


def _check_cost(objective: Objective, workload: SampleWorkload) -> None:
    now = workload.jobs[-1].job.submit_time
    jobs = [waiting_job(job, job.requested_time, workload.system) for job, _ in workload.jobs[:12]]
    if isinstance(objective, PlannableRatio) and not isinstance(objective, Plannable):
        for some in ([], jobs):
            expect(cost_fault(objective.planned_ratio(some, now, 1.0), len(some)), "planned_ratio")
    if not isinstance(objective, Plannable):
        return
    for some in ([], jobs):
        expect(cost_fault(objective.planned_cost(some, now), len(some)), "planned_cost")
    cost = objective.planned_cost(jobs, now)
    run_times = np.array([job.predicted_run_time for job in jobs], dtype=np.int64)
    random = np.random.default_rng(0)
    for _ in range(PAIRS):
        plans = random.integers(0, 1000, (2, len(jobs)))
        values = [
            objective.measure(_table_of(jobs, now + starts, run_times, workload.system))
            for starts in plans
        ]
        costs = [cost.value(starts, run_times) for starts in plans]
        _compare(costs, values)


def _compare(costs: Sequence[float], values: Sequence[float | None]) -> None:
    """Check that costs order two plans as the objective does."""
    (one, other), (first, second) = costs, values
    if first is None or second is None:
        return
    # Rounding may decide between plans that are as good as equal.
    differ = not (math.isclose(one, other) or math.isclose(first, second))
    if differ and (one < other) != (first < second):
        raise AssertionError(
            f"planned_cost: expected less for the plan with the lower objective, found costs of"
            f" {one:g} and {other:g} for objectives of {first:g} and {second:g}"
        )


def _table_of(
    jobs: list[WaitingJob], starts: IntArray, run_times: IntArray, system: System
) -> ArrowTable:
    """Return the table of jobs that ran as planned."""
    rows = [
        JobRecord(
            job.job, job.demand, run_time, "completed", start, start + run_time, allocation=None
        )
        for job, start, run_time in zip(jobs, starts.tolist(), run_times.tolist(), strict=True)
    ]
    return ArrowTable(table_of_jobs(system, rows))
