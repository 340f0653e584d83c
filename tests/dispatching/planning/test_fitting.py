"""Rounds that need no plan, on two nodes of four cores, five of which are in use."""

from hpcsched.dispatching.planning.planning_dispatcher import all_fit, nothing_fits
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_calls import open_workspace
from hpcsched.testing import make_problem, make_system

COUNTED = SelectionOptions("all", 100, None)


def asked(*units: int, aggregated: bool = True) -> DispatchingProblem:
    """Return a round in which jobs of these sizes wait, and 8 - 5 = 3 cores are free."""
    waiting = "\n".join(f"{k} {count} 9 -" for k, count in enumerate(units, 2))
    table = f"job_id units run_time start_time\n1 5 9 0\n{waiting}"
    return make_problem(make_system(2, core=4), table, aggregated=aggregated)


def fits(problem: DispatchingProblem, options: SelectionOptions = COUNTED) -> tuple[bool, bool]:
    """Return whether nothing fits, and whether all does."""
    workspace = open_workspace(problem, FirstFit())
    return nothing_fits(problem, workspace), all_fit(problem, workspace, options)


def test_by_the_sum_of_units() -> None:
    """4 and 5 units are both too many; of 3 and 1 each fits, and not together; 2 and 1 do."""
    assert fits(asked(4, 5)) == (True, False)
    assert fits(asked(3, 1)) == (False, False)
    assert fits(asked(2, 1)) == (False, True)


def test_jobs_that_are_not_all_planned_are_never_all_started() -> None:
    """Two jobs wait, and one is planned."""
    assert fits(asked(2, 1), COUNTED._replace(length=1)) == (False, False)


def test_units_on_nodes_are_not_counted() -> None:
    """The same jobs fit, but that is not said of nodes."""
    assert fits(asked(2, 1, aggregated=False)) == (False, False)
