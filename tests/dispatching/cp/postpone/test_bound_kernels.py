"""Costs and events of the search by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.cp.postpone import bound_kernels
from hpcsched.dispatching.cp.postpone.search_tables import DONE

cost_of = plain(bound_kernels.cost_of)
next_event = plain(bound_kernels.next_event)
plan_cost = plain(bound_kernels.plan_cost)

PROBLEM: Any = SimpleNamespace(
    weights=np.array([[2, 1]]),
    free=np.array([[3, 0]]),
    makespan=10,
    run_times=np.array([4, 6]),
    events=np.array([2, 9]),
    curve_first=np.array([0, 0, 2]),
    curve_at=np.array([0, 5]),
    curve_cost=np.array([7, 17]),
    curve_slope=np.array([2, 0]),
)
"""Job 0 costs 2 a step from 3 on; job 1 costs 1 a step and a curve: 7 + 2 a step, 17 from 5 on."""


def search(*starts: int) -> Any:
    """Return a search in which the jobs have these starts, -1 for none, in order of their ends."""
    state = np.zeros(12, dtype=np.int64)
    state[DONE] = sum(start >= 0 for start in starts)
    started = [j for j, start in enumerate(starts) if start >= 0]
    by_end = sorted(started, key=lambda j: starts[j] + PROBLEM.run_times[j])
    return SimpleNamespace(start=np.array(starts), state=state, by_end=np.array([*by_end, 0, 0]))


def test_costs_by_start() -> None:
    """Job 0: 2 · max(start, 3). Job 1: 4 + 7 + 2 · 4 = 19 at 4, and 8 + 17 = 25 at 8."""
    assert [cost_of(0, start, PROBLEM) for start in (0, 3, 5)] == [6, 6, 10]
    assert [cost_of(1, start, PROBLEM) for start in (4, 8)] == [19, 25]


def test_a_plan_costs_its_jobs_and_its_last_end() -> None:
    """Starts at 5 and 4 cost 10 + 19, and the last end 10 · max(9, 10); job 0 alone 10 + 90."""
    assert plan_cost(PROBLEM, search(5, 4)) == 29 + 100
    assert plan_cost(PROBLEM, search(5, -1)) == 10 + 90


def test_the_next_event_is_an_end_or_a_release() -> None:
    """Job 0 ends at 1 + 4, and events are at 2 and 9; after 9 nothing becomes free."""
    found = [next_event(time, PROBLEM, search(1, -1)) for time in (0, 2, 5, 9)]
    assert found == [2, 5, 9, bound_kernels.NEVER]
