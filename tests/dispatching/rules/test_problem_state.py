"""The core's state of a dispatching problem, by hand."""

from copy import deepcopy

import numpy as np

from hpcsched._core import Rule
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_calls import ProblemState
from hpcsched.system.space import NodeAllocation
from hpcsched.testing import make_problem, make_system

SYSTEM = make_system(2, core=4)
TABLE = """
    job_id  submit_time  units  run_time  start_time
    1       0            3      100       5
    2       6            2      30        -
    3       8            6      60        -
"""


def filled(problem: DispatchingProblem) -> ProblemState:
    """Return a state with the problem in it."""
    made = ProblemState(Rule.GREEDY, FirstFit())
    made.fill(problem, problem.queue)
    return made


def test_queued_jobs_come_first_and_running_ones_after_them() -> None:
    """Jobs 2 and 3 are rows 0 and 1; job 1, which ends at 5 + 100, is row 2."""
    state = filled(make_problem(SYSTEM, TABLE)).state
    assert (state.now, state.waiting, state.running) == (8, 2, 1)
    assert state.jobs("units", np.arange(3)).tolist() == [2, 6, 3]
    assert state.jobs("predicted", np.arange(2)).tolist() == [30, 60]
    assert state.jobs("planned_end", np.array([2])).tolist() == [105]
    assert (state.queue.tolist(), state.running_rows.tolist()) == ([0, 1], [2])
    assert state.available.tolist() == [[1, 4]]
    assert state.places(2) == [(0, 3, 0)]


def test_reservations_are_read_as_written() -> None:
    """Job 3 is reserved at 105, 2 units on node 0 and 4 on node 1; job 2 has no reservation."""
    problem = make_problem(SYSTEM, TABLE)
    state, where = filled(problem), NodeAllocation((0, 1), (2, 4))
    state.set_promises({3: 110})
    state.set_reservations({3: 105}, {3: where})
    assert state.column("reserved") == {3: 105}
    assert state.column("promise") == {3: 110}
    assert state.reserved_places() == {3: where}


def test_a_state_is_filled_again() -> None:
    """In the next round nobody runs and 8 cores are free; there is room for 300 jobs."""
    problem = make_problem(SYSTEM, TABLE)
    made = filled(problem)
    lines = "\n".join(f"{k} 10" for k in range(300))
    later = make_problem(SYSTEM, f"job_id run_time\n{lines}", now=9)
    made.fill(later, later.queue)
    state = made.state
    assert (state.now, state.waiting, state.running) == (9, 300, 0)
    assert state.available.tolist() == [[4, 4]]
    assert state.queue.tolist() == list(range(300))


def test_a_copy_has_a_state_of_its_own() -> None:
    """A dispatcher that has decided is copied for each future of a forecast."""
    made = filled(make_problem(SYSTEM, TABLE))
    copied = deepcopy(made)
    copied.state.set_jobs("units", np.array([0]), np.array([7]))
    assert made.state.jobs("units", np.arange(3)).tolist() == [2, 6, 3]
    assert copied.state.jobs("units", np.arange(3)).tolist() == [7, 6, 3]
