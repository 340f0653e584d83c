"""What rules carry from round to round, by hand."""

import numpy as np

from hpcsched._core import Rule
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_calls import ProblemState
from hpcsched.dispatching.rules.core_rules import CarriedPromises, CarriedReservations
from hpcsched.system.space import NodeAllocation
from hpcsched.testing import make_problem, make_system

HEADER = "job_id units run_time start_time\n"


def asked(rows: str, now: int) -> DispatchingProblem:
    """Return a round on two nodes of four cores."""
    return make_problem(make_system(2, core=4), HEADER + rows, now=now)


def filled(problem: DispatchingProblem) -> ProblemState:
    """Return a core with the problem in it."""
    state = ProblemState(Rule.GREEDY, FirstFit())
    state.fill(problem, problem.queue)
    return state


def test_reservations_return_in_the_next_round() -> None:
    """Job 2 is reserved at 100 on node 1, and promised 110."""
    problem, carried, where = asked("1 5 100 0\n2 4 9 -", 0), CarriedReservations(), {}
    where[2] = NodeAllocation((1,), (4,))
    state = filled(problem)
    state.set_promises({2: 110})
    state.set_reservations({2: 100}, where)
    carried.read(state)
    assert carried.promised == {2: 110}
    later = asked("1 5 100 0\n2 4 9 -\n3 1 9 -", 50)
    again = filled(later)
    carried.write(again)
    assert again.column("reserved") == {2: 100}
    assert again.reserved_places() == where
    assert again.state.freed_until == 0


def test_an_early_end_is_noticed() -> None:
    """Job 1, which was to end at 100, is gone at 50: the schedule is compressed now."""
    problem, carried = asked("1 5 100 0\n2 4 9 -", 0), CarriedReservations()
    state = filled(problem)
    state.set_promises({})
    state.set_reservations({}, {})
    carried.read(state)
    later = asked("2 4 9 -", 50)
    again = filled(later)
    carried.write(again)
    assert again.state.freed_until == 51


def test_promises_of_earlier_rounds_are_kept() -> None:
    """Job 7 is not in this round; job 2 is promised 90 in it."""
    carried, problem = CarriedPromises(), asked("2 4 9 -", 50)
    carried.promised[7] = 300
    state = filled(problem)
    carried.write(state)
    assert state.column("promise") == {}
    state.state.set_jobs("promise", np.array([0]), np.array([90]))
    carried.read(state)
    assert carried.promised == {7: 300, 2: 90}
