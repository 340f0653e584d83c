"""The search of orders against plans made one by one, and against all orders there are."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched._core import search_orders
from hpcsched.dispatching.planned_cost import PlannedCost, SpecificCost, linear
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from hpcsched.dispatching.search.order_search import search_costs
from tests.dispatching.cp.tiny import Size, tiny_data
from tests.strategies import tries

AMPLE = 1 << 40
FEW = 7
"""Of so many jobs all orders are tried."""

AGGREGATED = Size(jobs=5, nodes=1, types=1, units=3, run_time=6, capacity=6)
ON_NODES = Size(jobs=4, nodes=3, types=2, units=3, run_time=5, capacity=4)
MANY = Size(jobs=12, nodes=2, types=2, units=3, run_time=6, capacity=4)


@st.composite
def costs(draw: Any, data: ModelData) -> PlannedCost:
    """Draw what plans of some data cost: linear, or a ratio of sums, linearised."""
    count = data.job_count
    if draw(st.booleans()):
        return PlannedCost(
            data.weights.astype(float), data.free, makespan=float(draw(st.integers(0, 3)))
        )
    some = st.lists(st.integers(0, 9), min_size=count, max_size=count)
    specific = SpecificCost(
        draw(st.sampled_from([1.0, 2.0, 1.5])),
        draw(st.sampled_from([0.0, 5.0, 40.0])),
        np.array(draw(some), dtype=float),
        np.array(draw(some), dtype=float),
    )
    none = np.zeros((0, count))
    return PlannedCost(none, none.astype(np.int64), specific=specific)


def searched(
    data: ModelData,
    cost: PlannedCost,
    orders: Any = None,
    budget: int = AMPLE,
) -> tuple[np.ndarray, float, bool]:
    """Return the best order found, what it is said to cost, and whether that is the least."""
    best, starts = np.empty_like(data.units), np.empty_like(data.units)
    planner, placed = ListPlanner(data), np.empty_like(data.room)
    found, proved = search_orders(
        np.array(orders or [range(data.job_count)], dtype=np.int64),
        data,
        planner.free,
        search_costs(cost, data.run_times),
        budget,
        2.0,
        np.array([1], dtype=np.int64),
        best,
        starts,
        placed,
    )
    plan = planner.plan(best)
    assert starts.tolist() == plan.starts.tolist()
    assert placed.tolist() == plan.placed.tolist()
    return best, found, proved


def value(data: ModelData, cost: PlannedCost, order: Any) -> float:
    """Return what the list plan of an order costs more than all starts, without the search."""
    whole = cost.value(ListPlanner(data).plan(order).starts, data.run_times)
    return whole - float((cost.weights * cost.free).sum())


@pytest.mark.parametrize("size", [AGGREGATED, ON_NODES], ids=["aggregated", "on nodes"])
@tries(40)
@given(drawn=st.data())
def test_few_jobs_are_searched_through(size: Size, drawn: Any) -> None:
    """The order costs as much as is said, and as little as the best of all orders."""
    data = drawn.draw(tiny_data(size))
    cost = drawn.draw(costs(data))
    order, found, proved = searched(data, cost)
    assert sorted(order) == list(range(data.job_count))
    assert found == pytest.approx(value(data, cost, order), rel=1e-9, abs=1e-9)
    least = min(value(data, cost, each) for each in permutations(range(data.job_count)))
    assert found == pytest.approx(least, rel=1e-9, abs=1e-9)
    assert proved


@tries(40)
@given(drawn=st.data(), budget=st.integers(0, 3000))
def test_more_jobs_are_no_worse_than_at_first(drawn: Any, budget: int) -> None:
    """Whatever the budget, the best order found costs no more than any that was given."""
    data = drawn.draw(tiny_data(MANY))
    cost = drawn.draw(costs(data))
    orders = [drawn.draw(st.permutations(range(data.job_count))) for _ in range(3)]
    order, found, proved = searched(data, cost, orders, budget)
    assert sorted(order) == list(range(data.job_count))
    assert found == pytest.approx(value(data, cost, order), rel=1e-9, abs=1e-9)
    given_best = min(value(data, cost, each) for each in orders)
    assert found <= given_best + 1e-9 * abs(given_best)
    if proved:
        better = searched(data, cost, orders, 30_000)[1]
        assert better >= found - 1e-9 * abs(found)


def on_one_node(cores: int, units: np.ndarray, run_times: np.ndarray) -> ModelData:
    """Return jobs for one idle node, equally urgent."""
    count, none = len(units), np.zeros(0, dtype=np.int64)
    return ModelData(
        units,
        np.ones((count, 1), dtype=np.int64),
        run_times,
        np.array([[cores]]),
        np.full((count, 1), cores),
        none,
        none,
        np.zeros((0, 1), dtype=np.int64),
        np.ones((1, count), dtype=np.int64),
        np.zeros((1, count), dtype=np.int64),
        0,
        int(run_times.sum()),
    )


def test_orders_are_found_that_no_rule_gives() -> None:
    """Jobs of unlike widths and lengths: less waiting than in order of length, or of area."""
    count = FEW + 8
    units = np.array([(5 * k) % 7 + 1 for k in range(count)])
    run_times = np.array([(11 * k) % 17 + 3 for k in range(count)])
    data = on_one_node(8, units, run_times)
    cost = linear(np.ones(count))
    rules = [
        np.argsort(key, kind="stable").tolist() for key in (run_times, units * run_times, units)
    ]
    best_rule = min(value(data, cost, order) for order in rules)
    _, found, _ = searched(data, cost, rules, budget=200_000)
    assert found < best_rule


def test_many_jobs_find_the_order_that_is_best_by_far() -> None:
    """One core, ten jobs of unlike lengths, all equally urgent: the shortest first."""
    count = FEW + 3
    run_times = np.array([(7 * k) % 11 + 1 for k in range(count)])
    data = on_one_node(1, np.ones(count, dtype=np.int64), run_times)
    cost = linear(np.ones(count))
    order, found, _ = searched(data, cost, budget=100_000)
    assert run_times[order].tolist() == sorted(run_times.tolist())
    assert found == sum((count - 1 - k) * time for k, time in enumerate(sorted(run_times)))


def test_a_search_ends_where_no_change_helps() -> None:
    """With a budget for years, it ends when all changes of an order have been tried.

    One core, jobs of a second and of two: the first come first, in whatever order among themselves.
    """
    count = FEW + 1
    data = on_one_node(1, np.ones(count, dtype=np.int64), np.array([1, 2] * (count // 2)))
    _, found, proved = searched(data, linear(np.ones(count)), budget=1 << 60)
    assert found == sum([0, 1, 2, 3, 4, 6, 8, 10])
    assert not proved
