"""The core's state of a dispatching problem, by hand."""

from copy import deepcopy

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.problem_state import ProblemState
from hpcsched.dispatching.core.state import Choices
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.allocation import NodeAllocation
from hpcsched.testing import make_problem, make_system

SYSTEM = make_system(2, core=4)
TABLE = """
    job_id  submit_time  units  run_time  start_time
    1       0            3      100       5
    2       6            2      30        -
    3       8            6      60        -
"""
CHOICES = Choices(codes.GREEDY, -1, False, codes.FIRST_FIT, codes.ONE_SECOND, False)


def filled(problem: DispatchingProblem) -> ProblemState:
    """Return a state with the problem in it."""
    made = ProblemState(problem.system, problem.slot_map, CHOICES)
    made.fill(problem, problem.queue, None)
    return made


def test_queued_jobs_come_first_and_running_ones_after_them() -> None:
    """Jobs 2 and 3 are rows 0 and 1; job 1, which ends at 5 + 100, is row 2."""
    state = filled(make_problem(SYSTEM, TABLE))
    tables = state.tables
    assert tables.counters[[codes.NOW, codes.QUEUED, codes.RUNNING]].tolist() == [8, 2, 1]
    assert tables.jobs[:3, codes.UNITS].tolist() == [2, 6, 3]
    assert tables.jobs[:2, codes.PREDICTED].tolist() == [30, 60]
    assert tables.jobs[2, codes.PLANNED_END] == 105
    assert (tables.queue[:2].tolist(), tables.running[0]) == ([0, 1], 2)
    assert tables.available.tolist() == [[1, 4]]


def test_reservations_are_read_as_written() -> None:
    """Job 3 is reserved at 105, 2 units on node 0 and 4 on node 1; job 2 has no reservation."""
    problem = make_problem(SYSTEM, TABLE)
    state, where = filled(problem), NodeAllocation((0, 1), (2, 4))
    state.set_promises(problem.queue, {3: 110})
    state.set_reservations(problem.queue, {3: 105}, {3: where})
    assert state.column(problem.queue, codes.RESERVED) == {3: 105}
    assert state.column(problem.queue, codes.PROMISE) == {3: 110}
    assert state.reserved_places(problem.queue) == {3: where}


def test_a_state_is_filled_again() -> None:
    """In the next round nobody runs and 8 cores are free; arrays grow for 300 jobs."""
    problem = make_problem(SYSTEM, TABLE)
    state = filled(problem)
    lines = "\n".join(f"{k} 10" for k in range(300))
    later = make_problem(SYSTEM, f"job_id run_time\n{lines}", now=9)
    state.fill(later, later.queue, None)
    tables = state.tables
    assert tables.counters[[codes.NOW, codes.QUEUED, codes.RUNNING]].tolist() == [9, 300, 0]
    assert tables.available.tolist() == [[4, 4]]
    assert tables.queue[:300].tolist() == list(range(300))


def test_a_copy_makes_its_own_state() -> None:
    """A dispatcher that has decided is copied for each future of a forecast."""
    made = filled(make_problem(SYSTEM, TABLE))
    state = made.state()
    copied = deepcopy(made)
    assert copied.tables.jobs is not made.tables.jobs
    assert copied.tables.jobs.tolist() == made.tables.jobs.tolist()
    assert copied.state() is not state
