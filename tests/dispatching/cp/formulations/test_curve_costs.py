"""Costs that are curves, in models: of single jobs, of tiny plans, and of ratios of sums."""

from typing import Any

import cpmpy as cp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsched.dispatching.cp.backends.backend import Budget
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.formulations.scheduling import curve_cost
from hpcsched.dispatching.cp.solver_process import Task, solve
from hpcsched.dispatching.objectives import PSF
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.selection import Selection, SelectionOptions
from hpcsched.dispatching.planning.start_time_costs import StartCostFunction
from hpcsched.system.system import IntArray
from hpcsched.testing import make_problem, make_system
from tests.dispatching.cp.backends.test_backends import CASES, answer, cases
from tests.dispatching.cp.making import FORMULATIONS
from tests.dispatching.cp.tiny import SMALLEST, optimum_by_all_starts, with_curves
from tests.dispatching.planning.test_start_cost_functions import curves
from tests.strategies import tries


@tries(40)
@given(curve=curves(), drawn=st.data())
def test_what_stands_for_a_cost_is_the_cost(curve: StartCostFunction, drawn: Any) -> None:
    """At every start the least that it can be is the curve's value."""
    start = cp.intvar(0, curve.at[-1], name="s")
    cost, constraints = curve_cost(curve, start, "0")
    at = drawn.draw(st.integers(0, curve.at[-1]))
    model = cp.Model([*constraints, start == at])
    model.minimize(cost + cp.intvar(0, 0, name="nothing"))
    assert model.solve(solver="ortools")
    assert model.objective_value() == curve.value(at)


@tries(40)
@given(curve=curves())
def test_the_cheapest_start_is_found(curve: StartCostFunction) -> None:
    """Free to choose, a solver finds the least."""
    start = cp.intvar(0, curve.at[-1], name="s")
    cost, constraints = curve_cost(curve, start, "0")
    model = cp.Model([*constraints, start >= 0])
    model.minimize(cost + cp.intvar(0, 0, name="nothing"))
    assert model.solve(solver="ortools")
    assert model.objective_value() == curve.least == curve.value(int(start.value()))


@tries(15)
@given(data=with_curves(SMALLEST))
def test_exact_formulations_reach_the_optimum_of_curves(data: Any) -> None:
    """Trying every start up to the horizon finds nothing better, nor does cutting lose it."""
    best = optimum_by_all_starts(data)
    for name in ("pcp19", "pcp4"):
        found = solve(Task(FORMULATIONS[name], data, OrTools(), Budget(60)))
        assert found.plan is not None
        assert (found.status, found.objective) == ("optimal", best)
        assert data.cost(found.plan.starts) == best
        near = data.within(best)
        assert (found.plan.starts <= near.latest_starts).all()
        assert near.cost(found.plan.starts) == best
        again = solve(Task(FORMULATIONS[name], near, OrTools(), Budget(60)))
        assert (again.status, again.objective) == ("optimal", best)


@cases(*CASES)
@tries(4)
@given(data=with_curves(SMALLEST))
def test_all_solvers_find_the_optimum_of_curves(case: Any, data: Any) -> None:
    """What they prove is what OR-Tools proves."""
    expected, _ = answer(OrTools(), FORMULATIONS["hcp19"], data, Budget(60))
    found, _ = answer(case.backend, FORMULATIONS["hcp19"], data, Budget(case.work))
    assert found[:3] == ("optimal", expected.objective, expected.objective)


@st.composite
def aggregated_problems(draw: Any) -> Any:
    """Draw up to three jobs for one node, some of which have waited, beside one that runs.

    With four, the solver now and then takes minutes to prove that a plan is best.
    """
    cores, now = draw(st.integers(1, 3)), draw(st.sampled_from([0, 3, 20]))
    rows = ["job_id  submit_time  units  core  requested_time  start_time"]
    for job in range(1, draw(st.integers(1, 3)) + 1):
        submit, time = draw(st.integers(0, now)), draw(st.integers(1, 4))
        rows.append(f"{job} {submit} {draw(st.integers(1, cores))} 1 {time} -")
    if cores > 1 and draw(st.booleans()):
        rows.append(f"9 0 1 1 {now + draw(st.integers(1, 3))} 0")
    return make_problem(make_system(1, core=cores), "\n".join(rows), now=now)


def chosen(problem: Any, level: float) -> Selection | None:
    """Return what is selected where PαSF is about a level."""
    return select(
        problem,
        problem.queue,
        SelectionOptions("all", 100, None),
        lambda jobs, now: PSF(2).planned_ratio(jobs, now, level),
    )


def fitting(data: Any, plans: IntArray) -> IntArray:
    """Return the plans of a shared resource, `[P, J]`, that overcommit nothing at any time."""
    demands = data.units * data.requests[:, 0]
    fits = np.ones(len(plans), bool)
    for time in range(int((plans + data.run_times).max())):
        allocated = int(data.allocated[data.allocated_until > time].sum())
        runs = (plans <= time) & (time < plans + data.run_times)
        fits &= allocated + runs @ demands <= data.totals[0]
    return plans[fits]


def least_ratio(selection: Selection, longest: int) -> float:
    """Return the least P²SF of all plans whose starts are at most so late, by whole numbers."""
    data, specific = selection.data, selection.cost.specific
    assert specific is not None
    every = np.indices((longest + 1,) * data.job_count, np.int64)
    plans = fitting(data, every.reshape(data.job_count, -1).T)
    wait = specific.waits.astype(np.int64) + plans
    response = wait + data.run_times
    amounts = specific.amounts.astype(np.int64)
    ratios = 0.75 * ((response**4 - wait**4) @ amounts) / ((response**3 - wait**3) @ amounts)
    return float(ratios.min())


# The same examples each time, as now and then one is drawn that takes the solver minutes.
@settings(tries(15), derandomize=True)
@given(problem=aggregated_problems(), narrow=st.booleans())
def test_dinkelbachs_method_finds_the_least_ratio_of_all_plans(problem: Any, narrow: bool) -> None:
    """Starting from the plan of a list, each level is the ratio of the plan before."""
    selection = chosen(problem, 0.0)
    if selection is None:
        return
    starts = np.cumsum(selection.data.run_times) - selection.data.run_times
    starts = starts + int(selection.data.allocated_until.max(initial=0))
    for _ in range(20):
        specific = selection.cost.specific
        assert specific is not None
        level = specific.ratio(starts, selection.data.run_times)
        cost = PSF(2).planned_ratio(selection.jobs, problem.now, level)
        selection = selection.repriced(cost)
        near = selection.near(starts) if narrow else selection
        found = solve(Task(FORMULATIONS["hcp19"], near.data, OrTools(), Budget(60)))
        assert found.plan is not None
        assert found.status == "optimal"
        assert found.objective == near.data.cost(found.plan.starts)
        ratio = specific.ratio(found.plan.starts, selection.data.run_times)
        slack = 1e-4 * level  # of linear pieces
        assert ratio <= level + slack
        if ratio >= level - slack:
            break
        starts = found.plan.starts
    else:
        raise AssertionError("the level does not settle")
    # By then the last of all jobs, one after the other, has started.
    data = selection.data
    longest = int(data.allocated_until.max(initial=0) + data.run_times.sum() - data.run_times.min())
    assert level <= least_ratio(selection, longest) + 2 * slack
