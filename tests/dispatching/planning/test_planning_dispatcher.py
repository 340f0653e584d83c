"""The planning dispatcher: which of the plans that an improver adds or returns is carried out."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hpcsched.dispatching.decision import Decision, SolverCall
from hpcsched.dispatching.objectives import AF
from hpcsched.dispatching.planning.plan_execution import ExecutedPlan
from hpcsched.dispatching.planning.plan_improver import Improved, PlanningRound
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.planning.search_objective import search_objective
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.testing import make_problem, make_system
from tests.builders import ALLOCATORS, ORDERS

# Both want the whole node. Responses: 30 and 40 s in order of arrival, 10 and 40 s the other way.
ONE_FITS = """
job_id  submit_time  units  core  requested_time
1       0            1      4     30
2       0            1      4     10
"""
CALL = SolverCall("unknown", 2, 2, None, None, 0.0, 0.0, 0.0)


class Says:
    """An improver that does as a function does."""

    def __init__(self, improve: Callable[[PlanningRound], Improved]) -> None:
        self.improve = improve


def decided(improve: Callable[[PlanningRound], Improved] | None, order: str = "fcfs") -> Decision:
    """Return the decision where there is one list plan, and an improver or none."""
    dispatcher = PlanningDispatcher(
        search_objective(AF(), None),
        ORDERS["fcfs"],
        None if improve is None else Says(improve),
        ALLOCATORS["best-fit"],
        SelectionOptions("all", 10, None),
        (ORDERS[order],),
        weighted=False,
    )
    return dispatcher.dispatch(make_problem(make_system(1, core=4), ONE_FITS))


def adding(order: list[int], **more: Any) -> Callable[[PlanningRound], Improved]:
    """Return an improver that adds the list plan of an order."""

    def improve(given: PlanningRound) -> Improved:
        given.plans.add(given.planner.plan(order), **more)
        return Improved(solver=CALL)

    return improve


@pytest.mark.parametrize(
    ("improve", "order", "first"),
    [
        (None, "fcfs", 1),
        (None, "sjf", 2),
        (adding([1, 0]), "fcfs", 2),
        (adding([0, 1]), "sjf", 2),
        (adding([0, 1], even=True), "sjf", 2),
    ],
    ids=["none, fcfs", "none, sjf", "better", "worse", "worse, of equal ones the new"],
)
def test_the_best_plan_is_carried_out(improve: Any, order: str, first: int) -> None:
    """Responses of 50 s together are less than of 70 s, whoever has the plan."""
    decision = decided(improve, order)
    assert [start.job_id for start in decision.starts] == [first]
    assert not decision.fallback
    assert decision.solver == (None if improve is None else CALL)


@pytest.mark.parametrize("anew", [False, True])
def test_a_plan_that_is_returned_is_carried_out_whatever_it_costs(anew: bool) -> None:
    """List plans are not made for it; where there is no room for all, the first by priority go."""

    def improve(given: PlanningRound) -> Improved:
        plan = given.planner.plan([0, 1])
        if anew:  # both at once, which is one too many
            plan = plan._replace(starts=plan.starts * 0)
        assert "plans" not in vars(given)
        return Improved(ExecutedPlan(given.selection, plan), anew=anew)

    assert [start.job_id for start in decided(improve, "sjf").starts] == [1]


def test_an_improver_without_an_answer_leaves_the_list_plan() -> None:
    """The round is told of as a fallback, with the solver's call."""
    decision = decided(lambda _: Improved(fallback=True, solver=CALL), "sjf")
    assert [start.job_id for start in decision.starts] == [2]
    assert decision.fallback
    assert decision.solver == CALL


class Unasked:
    """An order that nobody may ask for."""

    def sort(self, problem: Any) -> Any:
        """Fail."""
        raise AssertionError(problem.now)


@pytest.mark.parametrize("aggregated", [False, True])
def test_a_round_in_which_nothing_fits_ends_at_once(aggregated: bool) -> None:
    """One core of two is free: jobs of two units wait, unsorted; a job of one is sorted."""
    table = """
    job_id  submit_time  units  core  requested_time  start_time
    1       0            1      1     30              0
    2       1            2      1     10              -
    3       2            {}     1     10              -
    """
    dispatcher = PlanningDispatcher(
        search_objective(AF(), None),
        Unasked(),
        None,
        ALLOCATORS["best-fit"],
        SelectionOptions("all", 10, None),
        (ORDERS["fcfs"],),
        weighted=False,
    )
    system = make_system(1, core=2)
    full = make_problem(system, table.format(2), aggregated=aggregated)
    decision = dispatcher.dispatch(full._replace(explain=True))
    assert decision.starts == ()
    assert [reason.kind for reason in decision.reasons] == ["no_room", "no_room"]
    with pytest.raises(AssertionError):
        dispatcher.dispatch(make_problem(system, table.format(1), aggregated=aggregated))


def fail(given: PlanningRound) -> Improved:
    """Improve nothing, which nobody may ask for."""
    raise AssertionError(given.problem.now)


def test_a_round_in_which_all_jobs_fit_needs_no_plan() -> None:
    """Of four cores three are free for jobs of one and two: both start, first by priority first.

    With a job of two more they do not fit together, and are planned.
    """
    table = """
    job_id  submit_time  units  core  requested_time  start_time
    1       0            1      1     30              0
    2       1            2      1     10              -
    3       2            1      1     5               -
    """
    dispatcher = PlanningDispatcher(
        search_objective(AF(), None),
        ORDERS["sjf"],
        Says(fail),
        ALLOCATORS["best-fit"],
        SelectionOptions("all", 10, None),
        (ORDERS["fcfs"],),
        weighted=False,
    )
    system = make_system(2, core=2)
    problem = make_problem(system, table, aggregated=True)
    assert [start.job_id for start in dispatcher.dispatch(problem).starts] == [3, 2]
    more = make_problem(system, table + "4 2 2 1 10 -\n", aggregated=True)
    with pytest.raises(AssertionError):
        dispatcher.dispatch(more)
    replace(dispatcher, options=SelectionOptions("all", 2, None)).dispatch(problem)
    with pytest.raises(AssertionError):  # one of them is beyond what is planned
        replace(dispatcher, options=SelectionOptions("all", 1, None)).dispatch(problem)


@pytest.mark.parametrize("aggregated", [False, True])
def test_reasons_change_nothing_where_all_jobs_fit(aggregated: bool) -> None:
    """The same starts on the same nodes, with a plan and without."""
    table = """
    job_id  submit_time  units  core  requested_time  start_time
    1       0            1      1     30              0
    2       1            2      1     10              -
    3       2            1      1     5               -
    """
    dispatcher = PlanningDispatcher(
        search_objective(AF(), None),
        ORDERS["sjf"],
        None,
        ALLOCATORS["best-fit"],
        SelectionOptions("all", 10, None),
        (ORDERS["fcfs"],),
        weighted=False,
    )
    problem = make_problem(make_system(2, core=2), table, aggregated=aggregated)
    explained = dispatcher.dispatch(problem._replace(explain=True))
    assert explained.starts == dispatcher.dispatch(problem).starts
    assert [reason.kind for reason in explained.reasons] == ["in_order", "in_order"]
