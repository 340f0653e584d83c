"""Starts of jobs without a run time, by hand."""

from hpcsched.dispatching.objectives import AF
from hpcsched.dispatching.offline.planner import zero_length_starts
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import System
from tests.builders import alike, traced
from tests.dispatching.offline.off_line import problem

JOBS = [
    traced(1, 0, 3, 10),
    traced(2, 2, 2, 0),
    traced(3, 3, 1, 0),
    traced(4, 10, 4, 5),
    traced(5, 10, 4, 0),
]
"""Jobs 2, 3 and 5 end when they start."""


def found(system: System, request: tuple[int, ...] | None) -> dict[int, int]:
    """Return the starts, with job 1 at 0 and job 4 at 10, on one node of 4 cores."""
    nodes = {1: NodeAllocation((0,), (3,)), 4: NodeAllocation((0,), (4,))}
    asked = problem(system, JOBS, AF(), request)
    return dict(zero_length_starts(asked, {1: 0, 4: 10}, {} if request else nodes))


def test_they_start_at_the_first_end_with_room() -> None:
    """Beside job 1 there is one core: enough for job 3 at once, and job 2 waits until 10.

    Job 4 starts at 10 as well, but behind them, so that job 5 has all 4 cores.
    """
    assert found(alike(1, core=4), (1,)) == {2: 10, 3: 3, 5: 10}


def test_the_same_on_nodes() -> None:
    """Nodes and slots agree."""
    assert found(alike(1, core=4), None) == {2: 10, 3: 3, 5: 10}
