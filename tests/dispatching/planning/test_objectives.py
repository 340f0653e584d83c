"""Objectives in plans: weighted sums of them, and what models make of their costs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.objectives import (
    AF,
    AWF,
    PSF,
    BoundedSlowdown,
    Makespan,
    PlannableWeightedSum,
    Slowdown,
    WaitTime,
    WeightedSum,
)
from hpcsched.dispatching.planned_cost import Plannable, PlannableRatio, run_times, weighted_sum
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.selection import LARGEST_PRODUCT, Selection, SelectionOptions
from hpcsched.dispatching.planning.start_time_costs import FEW_STARTS
from hpcsched.testing import make_problem, make_system
from tests.metrics.tables import MemoryTable
from tests.strategies import tries

LINEAR = [Slowdown(), BoundedSlowdown(), BoundedSlowdown(300), AF(), WaitTime(), AWF(), Makespan()]
MEANS = (Slowdown, BoundedSlowdown, AF, WaitTime)


@st.composite
def problems(draw: Any, most: int = 300) -> Any:
    """Draw jobs for eight cores, some of which have waited."""
    now = draw(st.integers(0, 500))
    rows = ["job_id  submit_time  units  core  requested_time"]
    for job in range(1, draw(st.integers(1, 6)) + 1):
        units, time = draw(st.integers(1, 8)), draw(st.integers(1, most))
        rows.append(f"{job} {draw(st.integers(0, now))} {units} 1 {time}")
    return make_problem(make_system(1, core=8), "\n".join(rows), now=now)


@st.composite
def sums(draw: Any) -> PlannableWeightedSum:
    """Draw a weighted sum."""
    parts = draw(st.lists(st.sampled_from(LINEAR), min_size=1, max_size=4))
    weights = draw(st.lists(st.floats(0.01, 1000), min_size=len(parts), max_size=len(parts)))
    return PlannableWeightedSum(tuple(parts), tuple(weights))


def starts_of(draw: Any, selection: Selection) -> Any:
    """Draw planned starts, whatever has room."""
    latest = selection.data.latest_starts.tolist()
    return np.array([draw(st.integers(0, last)) for last in latest])


def selected(problem: Any, cost_of: Any, **more: Any) -> Selection:
    """Return all jobs, with a cost."""
    found = select(problem, problem.queue, SelectionOptions("all", 100, None, **more), cost_of)
    assert found is not None
    return found


def error_of(selection: Selection) -> float:
    """Return by how much rounding and linear pieces may favour one plan over another.

    Pieces of few starts are exact, others favour a start by a quarter of what it can cost.
    """
    data, cost, scale = selection.data, selection.cost, selection.scale
    seconds = max(data.horizon, int(data.free.max(initial=1)))
    error = float(np.abs(data.weights / scale - cost.weights).sum()) * seconds
    error += abs(data.makespan / scale - cost.makespan) * seconds
    specific = cost.specific
    for j, last in enumerate(data.latest_starts.tolist() if specific is not None else []):
        one = specific._replace(amounts=specific.amounts[[j]], waits=specific.waits[[j]])
        starts = np.linspace(0, last, 60).astype(np.int64)
        values = [one.value(starts[[k]], data.run_times[[j]]) for k in range(len(starts))]
        error += last / scale + (0.25 * (max(values) - min(values)) if last > FEW_STARTS else 0)
    return error


@tries(100)
@given(problem=problems(), objective=sums(), drawn=st.data())
def test_a_weighted_sum_costs_the_sum_of_its_parts(
    problem: Any, objective: PlannableWeightedSum, drawn: Any
) -> None:
    """Means over jobs are divided by how many there are, so that each part has its own unit."""
    jobs, now = problem.queue, problem.now
    starts = np.array([drawn.draw(st.integers(0, 2000)) for _ in jobs])
    expected = 0.0
    for weight, part in zip(objective.weights, objective.objectives, strict=True):
        assert isinstance(part, Plannable)
        value = part.planned_cost(jobs, now).value(starts, run_times(jobs))
        expected += weight * value / (len(jobs) if isinstance(part, MEANS) else 1)
    cost = objective.planned_cost(jobs, now)
    assert cost.value(starts, run_times(jobs)) == pytest.approx(expected, rel=1e-12)
    assert cost.weights.shape == cost.free.shape
    nested = PlannableWeightedSum((objective, AF()), (2.0, 1.0)).planned_cost(jobs, now)
    alone = AF().planned_cost(jobs, now).value(starts, run_times(jobs)) / len(jobs)
    value = nested.value(starts, run_times(jobs))
    assert value == pytest.approx(2 * expected + alone, rel=1e-12)


def test_the_mean_of_plans_is_the_metric() -> None:
    """What a weighted sum weighs is what a run that went as planned would report."""
    problem = make_problem(
        make_system(1, core=8),
        "job_id  submit_time  units  core  requested_time\n1 0 4 1 30\n2 5 8 1 5\n3 9 1 1 50",
        now=12,
    )
    starts, times = np.array([0, 30, 7]), np.array([30, 5, 50])
    submit, demand = np.array([0, 5, 9]), np.array([4, 8, 1])
    columns = {
        "submit_time": submit,
        "start_time": starts + 12,
        "end_time": starts + 12 + times,
        "run_time": times,
        "demand": demand,
    }
    table = MemoryTable({name: column.tolist() for name, column in columns.items()})
    parts = (Slowdown(), BoundedSlowdown(), AF(), WaitTime(), AWF())
    objective = PlannableWeightedSum(parts, (1.0, 20.0, 3.0, 0.5, 0.25))
    planned = objective.planned_cost(problem.queue, 12).value(starts, times)
    assert planned == pytest.approx(objective.measure(table), rel=1e-12)


@tries(100)
@given(
    problem=problems(),
    objective=st.one_of(sums(), st.sampled_from([PSF(2), PSF(0.5), PSF(3)])),
    dinkelbach_parameter=st.floats(0, 1000),
    largest=st.sampled_from([1 << 20, 1 << 28, 1 << 50]),
    narrow=st.booleans(),
    drawn=st.data(),
)
def test_models_order_plans_up_to_rounding(
    *,
    problem: Any,
    objective: Any,
    dinkelbach_parameter: float,
    largest: int,
    narrow: bool,
    drawn: Any,
) -> None:
    """A plan that the model prefers costs no more than another one but for rounding and pieces."""

    def cost_of(jobs: Any, now: int) -> Any:
        if isinstance(objective, PlannableRatio):
            return objective.planned_ratio(jobs, now, dinkelbach_parameter)
        return objective.planned_cost(jobs, now)

    selection = selected(problem, cost_of, largest=largest)
    first = starts_of(drawn.draw, selection)
    if narrow:
        selection = selection.near(first)
    second = starts_of(drawn.draw, selection)
    first, second = sorted((first, second), key=selection.data.cost)
    better, worse = (
        selection.cost.value(starts, selection.data.run_times) for starts in (first, second)
    )
    rounding = 1e-9 * (abs(better) + abs(worse) + abs(selection.offset))
    assert better <= worse + error_of(selection) + rounding
    assert abs(selection.data.cost(second)) <= largest
    for starts, value in ((first, better), (second, worse)):
        stated = selection.bound(selection.data.cost(starts))
        assert stated == pytest.approx(value, abs=error_of(selection) + rounding)


@pytest.mark.parametrize("largest", [1 << 45, 1 << 50])
def test_the_longest_jobs_and_the_largest_amounts_do_not_overflow(largest: int) -> None:
    """Jobs of 2³¹ seconds and a million units beside short ones, pursued by a ratio or a sum."""
    problem = make_problem(
        make_system(1, core=10**6),
        "job_id  submit_time  units  core  requested_time\n"
        f"1 0 1000000 1 {1 << 31}\n2 0 1 1 1\n3 0 1000000 1 {1 << 31}",
        now=1 << 31,
    )
    terms = PlannableWeightedSum((AWF(), Slowdown(), Makespan()), (1.0, 1e6, 1e-3))
    costs = [
        terms.planned_cost(problem.queue, problem.now),
        *(PSF(alpha).planned_ratio(problem.queue, problem.now, 1e10) for alpha in (0, 2, 10)),
    ]
    for cost in costs:
        selection = selected(problem, lambda *_, cost=cost: cost, largest=largest)
        data = selection.data
        for starts in (np.zeros(3, dtype=np.int64), data.latest_starts):
            assert abs(data.cost(starts)) <= largest
            whole = sum(
                int(w) * max(int(s), int(f))
                for row, until in zip(data.weights, data.free, strict=True)
                for w, f, s in zip(row, until, starts, strict=True)
            )
            whole += sum(c.value(int(s)) for c, s in zip(data.curves or (), starts, strict=False))
            whole += data.makespan * int((starts + data.run_times).max())
            assert data.cost(starts) == whole
        for curve in data.curves or ():
            slopes, costs_at = max(map(abs, curve.slopes)), max(map(abs, curve.cost))
            assert slopes * costs_at <= 2 * LARGEST_PRODUCT


def test_no_scale_at_all_is_an_overflow() -> None:
    """A horizon that is longer than numbers may be large is told, not rounded away."""
    problem = make_problem(
        make_system(1, core=1), "job_id  submit_time  units  core  requested_time\n1 0 1 1 99999"
    )
    with pytest.raises(OverflowError):
        selected(problem, AF().planned_cost, largest=1 << 16)
    kept = selected(problem, AF().planned_cost, largest=1 << 18)
    with pytest.raises(OverflowError):
        kept.repriced(PSF(2).planned_ratio(kept.jobs, 0, 1e6))


@tries(60)
@given(problem=problems(), dinkelbach_parameter=st.floats(0, 1000), drawn=st.data())
def test_repriced_is_what_would_have_been_selected(
    problem: Any, dinkelbach_parameter: float, drawn: Any
) -> None:
    """But for the horizon, which may stay longer."""

    def ratio(jobs: Any, now: int) -> Any:
        return PSF(2).planned_ratio(jobs, now, dinkelbach_parameter)

    before = selected(problem, AF().planned_cost)
    after, anew = before.repriced(ratio(before.jobs, problem.now)), selected(problem, ratio)
    assert after.jobs == anew.jobs
    assert after.data.curves == anew.data.curves
    assert after.data.horizon == anew.data.horizon
    starts = starts_of(drawn.draw, anew)
    assert after.data.cost(starts) == anew.data.cost(starts)
    again = after.repriced(before.cost)
    assert again.data.curves is None
    assert (again.scale, again.offset) == (before.scale, before.offset)
    assert again.data.cost(starts) == before.data.cost(starts)


def test_a_sum_with_a_ratio_is_measured_but_not_planned() -> None:
    """It has a value, and no planned cost."""
    objective = WeightedSum((PSF(2), AF()), (1.0, 1.0))
    assert not isinstance(objective, Plannable | PlannableRatio)
    problem = make_problem(
        make_system(1, core=1), "job_id  submit_time  units  core  requested_time\n1 0 1 1 9"
    )
    with pytest.raises(ValueError, match="ratio"):
        weighted_sum([1.0], [PSF(2).planned_ratio(problem.queue, 0, 1.0)])
