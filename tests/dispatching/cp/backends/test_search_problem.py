"""Searches by hand: costs, times, positions and orders of their first plans."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from hpcsched._core import PostponeSearch
from hpcsched.dispatching.cp.backends.schedule_or_postpone import (
    cumulatives,
    mode_of,
    open_search,
)
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations.pcp19 import pcp4
from hpcsched.dispatching.cp.formulations.scheduling import hcp19
from hpcsched.dispatching.cp.formulations.unit_positions import pcp21
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.start_time_costs import StartCostFunction
from tests.dispatching.cp.backends.made_jobs import jobs

MANY = 1 << 60


def opened(formulation: Formulation, data: ModelData, order: Sequence[int]) -> PostponeSearch:
    """Return a search that looks at jobs in an order."""
    mode = mode_of(formulation)
    shared = cumulatives(data, mode, formulation.fixed_starts(data))
    return open_search(data, formulation, mode, shared, order)


def first_plan(
    formulation: Formulation, data: ModelData, order: Sequence[int] | None = None
) -> PostponeSearch:
    """Return a search that has found its first plan, after a node for each job."""
    search = opened(formulation, data, order or range(data.job_count))
    assert not search.advance(data.job_count, MANY, 60.0)
    assert search.starts is None
    # A plan is found in the step after the last of its nodes.
    assert not search.advance(data.job_count + 1, MANY, 60.0)
    return search


def running(data: ModelData, *parts: tuple[int, int]) -> ModelData:
    """Return data with running jobs on its only node: their ends, and what they hold until then."""
    return replace(
        data,
        allocated_until=np.array([end for end, _ in parts]),
        allocated_on=np.zeros(len(parts), dtype=np.int64),
        allocated=np.array([[amount] for _, amount in parts]),
        horizon=data.horizon + parts[-1][0],
    )


def test_a_plan_costs_its_jobs_and_its_last_end() -> None:
    """Job 0 costs 2 · max(start, 3), job 1 its start and a curve of 7 + 2 a step.

    One after the other they end at 10, at 10 a step. In order that is 6 + (4 + 15) + 100, and in
    the other order (0 + 7) + 2 · 6 + 100, which is the least.
    """
    data = replace(
        jobs([1, 1], [4, 6], [1], [2, 1]),
        free=np.array([[3, 0]]),
        makespan=10,
        curves=(StartCostFunction((0,), (0,)), StartCostFunction((0, 4), (7, 15))),
    )
    search = first_plan(hcp19(), data)
    assert (search.starts, search.best_cost) == ([0, 4], 125)
    assert search.advance(MANY, MANY, 60.0)
    assert (search.starts, search.best_cost) == ([6, 0], 119)
    other = first_plan(hcp19(), data, [1, 0])
    assert (other.starts, other.best_cost) == ([6, 0], 119)


def test_only_better_plans_are_looked_for() -> None:
    """Two jobs of 4 and 6 s cost at least 4: no plan is better than one of 4."""
    search = opened(hcp19(), jobs([1, 1], [4, 6], [1]), [1, 0])
    search.improve_on(4)
    assert search.best_cost == 4
    assert search.advance(MANY, MANY, 60.0)
    assert search.starts is None


def test_jobs_start_when_something_ends() -> None:
    """Of two cores one is held until 2. Job 0 takes the other until 5.

    Job 2 has one from 2 to 5, and job 1 both from then on.
    """
    data = running(jobs([1, 2, 1], [5, 1, 3], [2]), (2, 1))
    assert first_plan(hcp19(), data).starts == [0, 5, 2]
    assert first_plan(pcp4(), data).starts == [0, 5, 2]


def test_units_have_positions_side_by_side() -> None:
    """Of eight positions one is held until 20 and the next two until 10; job 0 has three more.

    From 10 on job 1 finds four, but three of them side by side only from 20 on.
    """
    data = running(jobs([3, 3], [50, 1], [8]), (10, 2), (20, 1))
    assert first_plan(pcp4(), data).starts == [0, 10]
    assert first_plan(pcp21(), data).starts == [0, 20]
    assert first_plan(pcp21(), data).placed == [(0, 0, 1), (1, 0, 1)]


def decided(order: Sequence[int], run_times: list[int], formulation: Formulation) -> list[int]:
    """Return the order in which jobs of the only core start."""
    data = jobs([1] * len(run_times), run_times, [1])
    starts = first_plan(formulation, data, order).starts
    assert starts is not None
    return sorted(range(len(starts)), key=starts.__getitem__)


def test_a_job_comes_behind_its_twin() -> None:
    """Job 2 is the twin of job 0: 2, 1, 0 becomes 0, 1, 2. Others keep their places."""
    assert decided([2, 1, 0, 3], [5, 6, 5, 7], hcp19()) == [0, 1, 2, 3]
    assert decided([3, 0, 1, 2], [5, 6, 5, 7], hcp19()) == [3, 0, 1, 2]


def test_a_chain_of_twins() -> None:
    """Job 2 follows job 1, which follows job 0: their three places are filled in that order."""
    assert decided([1, 3, 2, 0], [5, 5, 5, 7], hcp19()) == [0, 3, 1, 2]


def test_a_restart_keeps_counts_and_the_best_plan() -> None:
    """From the shortest job on, a plan that is better than the first one is found."""
    search = first_plan(hcp19(), jobs([1, 1, 1], [9, 5, 1], [1]))
    assert (search.starts, search.nodes) == ([0, 9, 14], 4)
    search.restart([2, 1, 0])
    assert (search.starts, search.nodes) == ([0, 9, 14], 4)
    assert search.advance(MANY, MANY, 60.0)
    assert search.starts == [6, 1, 0]
    assert search.nodes > 4


def test_what_does_not_fit_together_is_refused() -> None:
    """An order of too few jobs, one of a job that there is not, and rooms of too few nodes."""
    data = jobs([1, 1], [4, 6], [1, 1])
    with pytest.raises(ValueError, match="wrong shape or number: order"):
        opened(hcp19(), data, [0])
    with pytest.raises(IndexError):
        opened(hcp19(), data, [0, 2])
    with pytest.raises(ValueError, match="wrong shape or number: room"):
        opened(pcp4(), replace(data, room=data.room[:, :1]), [0, 1])
