"""From a plan to the starts of a round, by hand."""

import numpy as np

from hpcsched.dispatching.objectives import BoundedSlowdown
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.model_data import Plan
from hpcsched.dispatching.planning.plan_execution import (
    ExecutedPlan,
    allocation_of,
    start_first,
    starts_now,
)
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.system.space import NodeAllocation
from hpcsched.testing import make_problem, make_system

TABLE = """
    job_id  units  run_time
    1       4      10
    2       3      10
    3       9      10
"""
"""Jobs on two nodes of four cores, on which job 3 never fits."""

NODES = make_problem(make_system(2, core=4), TABLE)
SLOTS = make_problem(make_system(2, core=4), TABLE, aggregated=True)


def executed(problem: DispatchingProblem, *starts: int) -> ExecutedPlan:
    """Return a plan of the first two jobs: 4 units on node 1, and 3 on node 0."""
    selection = select(
        problem,
        problem.queue[:2],
        SelectionOptions("all", 100, None),
        BoundedSlowdown().planned_cost,
    )
    assert selection is not None
    placed = np.array([[0, 4], [3, 0]])
    if selection.nodes is None:
        placed = np.zeros((2, selection.data.node_count), dtype=np.int64)
    return ExecutedPlan(selection, Plan(np.array(starts), placed))


def test_jobs_that_start_now_start_on_their_nodes() -> None:
    """Job 1 is planned at 0 and job 2 at 10; either has its nodes."""
    plan = executed(NODES, 0, 10)
    assert starts_now(NODES, plan, FirstFit()) == ((1, NodeAllocation((1,), (4,))),)
    assert allocation_of(plan, 1) == NodeAllocation((0,), (3,))


def test_an_allocator_places_anew() -> None:
    """First fit puts job 1 on node 0 and job 2 on node 1."""
    starts = starts_now(NODES, executed(NODES, 0, 0), FirstFit(), anew=True)
    assert starts == ((1, NodeAllocation((0,), (4,))), (2, NodeAllocation((1,), (3,))))


def test_a_plan_that_counts_leaves_nodes_to_the_allocator() -> None:
    """Job 1 gets 4 of the 8 slots, which the plan does not name."""
    plan = executed(SLOTS, 0, 10)
    assert allocation_of(plan, 0) is None
    (start,) = starts_now(SLOTS, plan, FirstFit())
    assert (start.job_id, sum(start.allocation.units)) == (1, 4)


def test_the_first_job_that_fits_is_started() -> None:
    """Job 3 has no room, so that job 2 behind it starts; by itself it starts nothing."""
    first, second, third = NODES.queue
    assert [start.job_id for start in start_first(NODES, (third, second, first), FirstFit())] == [2]
    assert start_first(NODES, (third,), FirstFit()) == ()
