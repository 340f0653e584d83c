"""List plans against a table of seconds: every job at the first second at which it fits."""

import random as python_random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.core.codes import NEVER
from hpcsched.dispatching.planning.cost_kernels import StartTimeCosts
from hpcsched.dispatching.planning.list_kernels import go_on, order_tables, plan_job
from hpcsched.dispatching.planning.list_plans import ListPlanner
from hpcsched.dispatching.planning.model_data import ModelData
from tests.dispatching.cp.tiny import Size, tiny_data, with_outages
from tests.reference import profile
from tests.strategies import tries

AGGREGATED = Size(nodes=1, types=1, jobs=6, units=3, capacity=6)


def table(data: ModelData) -> profile.Seconds:
    """Return what is free in each second before any job is planned."""
    free = profile.seconds(data.capacity.tolist(), 2 * data.horizon + 40)
    for until, n, amounts in zip(
        data.allocated_until, data.allocated_on, data.allocated, strict=True
    ):
        on_node = [int(k == n) for k in range(data.node_count)]
        profile.take(free, on_node, amounts.tolist(), 0, int(until))
    outages = data.outages
    if outages is not None:
        for n, begin, end in zip(outages.nodes, outages.begins, outages.ends, strict=True):
            for time in range(begin, min(end, len(free))):
                free[time][n] = [0] * data.type_count
    return free


def check(data: ModelData, order: list[int], releases: list[int]) -> None:
    """Plan the jobs in an order, none before its release, and compare."""
    planner, free = ListPlanner(data), table(data)
    content = planner.content._replace(releases=np.array(releases, dtype=np.int64))
    segments, placed = planner.segments(), np.zeros_like(data.room)
    for j in order:
        run_time, asked = int(data.run_times[j]), data.requests[j].tolist()
        job = profile.Job(int(data.units[j]), asked, data.room[j].tolist(), run_time, releases[j])
        expected = profile.earliest(free, job)
        begin = plan_job(j, content, segments, placed)
        assert begin == expected
        assert placed[j].sum() == job.units
        assert (placed[j] <= profile.units_on(free, job, begin)).all()
        profile.take(free, placed[j].tolist(), asked, begin, begin + run_time)


@tries(60)
@given(
    data=st.one_of(tiny_data(), tiny_data(AGGREGATED), with_outages()),
    random=st.randoms(use_true_random=False),
)
def test_list_plans_against_seconds(data: ModelData, random: python_random.Random) -> None:
    """Whatever the order and the releases, on nodes, counted, and with closed nodes."""
    order = list(range(data.job_count))
    random.shuffle(order)
    check(data, order, [0] * data.job_count)
    check(data, order, [random.randrange(6) for _ in order])


@tries(40)
@given(
    data=st.one_of(tiny_data(), tiny_data(AGGREGATED)),
    random=st.randoms(use_true_random=False),
)
def test_going_on_from_a_position(data: ModelData, random: python_random.Random) -> None:
    """The rest of an order is planned as it is in the whole order, and the cost is that of all."""
    count = data.job_count
    order, other = list(range(count)), list(range(count))
    random.shuffle(order)
    first = random.randrange(count)
    rest = order[first:]
    random.shuffle(rest)
    other = [*order[:first], *rest]
    planner = ListPlanner(data)
    content, segments = planner.content, planner.segments()
    ones, none = np.ones((1, count)), np.zeros(count)
    submit, kinds = np.zeros(count, dtype=np.int64), np.arange(count)
    costs = StartTimeCosts(
        ones, np.zeros((1, count)), 3.0, 0.0, 0.0, 0.0, none, submit, data.run_times
    )
    tables = order_tables(content, costs, none, kinds, 0, segments)
    starts = np.zeros(count, dtype=np.int64)
    go_on(0, -1, np.array(order), np.inf, True, tables, starts, starts)
    assert starts.tolist() == planner.plan(order).starts.tolist()
    before, known = starts.copy(), starts.copy()
    cost, planned = go_on(first, -1, np.array(other), np.inf, False, tables, known, starts)
    again = planner.plan(other).starts
    assert starts.tolist() == again.tolist()
    assert planned == count - first
    assert cost == again.sum() + 3 * int((again + data.run_times).max())
    # No dearer than itself is allowed; nor one that leaves all starts as they are.
    dear, _ = go_on(first, -1, np.array(other), cost - 1, False, tables, known, starts)
    assert dear == np.inf
    same, _ = go_on(first, count - 1, np.array(other), np.inf, False, tables, before, starts)
    assert (same == np.inf) == (again.tolist() == before.tolist())


def test_a_job_that_never_fits() -> None:
    """Where all that is free has an end, it is not planned."""
    data = ModelData(
        1,
        np.array([2]),
        np.array([[1]]),
        np.array([3]),
        np.array([[1]]),
        np.array([[2]]),
        np.zeros(0, dtype=np.int64),
        np.zeros(0, dtype=np.int64),
        np.zeros((0, 1), dtype=np.int64),
        np.ones((1, 1), dtype=np.int64),
        np.zeros((1, 1), dtype=np.int64),
        0,
        3,
    )
    planner = ListPlanner(data)
    for aggregated in (True, False):
        content = planner.content._replace(aggregated=aggregated)
        assert plan_job(0, content, planner.segments(), np.zeros((1, 1), dtype=np.int64)) == NEVER


def test_jobs_that_are_alike_in_each_others_place_are_no_other_plan() -> None:
    """One core, jobs of 3, 5 and 3 s: the first and the last change places, and nothing else.

    Told apart by number they are another plan of the same cost, 0 + 3 + 8 s of waiting.
    """
    count, none = 3, np.zeros(0, dtype=np.int64)
    data = ModelData(
        1,
        np.ones(count, dtype=np.int64),
        np.ones((count, 1), dtype=np.int64),
        np.array([3, 5, 3]),
        np.array([[1]]),
        np.ones((count, 1), dtype=np.int64),
        none,
        none,
        np.zeros((0, 1), dtype=np.int64),
        np.ones((1, count), dtype=np.int64),
        np.zeros((1, count), dtype=np.int64),
        0,
        11,
    )
    planner = ListPlanner(data)
    content, segments = planner.content, planner.segments()
    known, starts = np.array([0, 3, 8]), np.zeros(3, dtype=np.int64)
    costs = StartTimeCosts(np.ones((1, 3)), np.zeros((1, 3)), 0.0, 0.0, 0.0, 0.0, np.zeros(3),
                  np.zeros(3, dtype=np.int64), data.run_times)  # fmt: skip
    for kinds, expected in ((np.array([0, 1, 0]), np.inf), (np.array([0, 1, 2]), 11.0)):
        tables = order_tables(content, costs, np.zeros(3), kinds, 0, segments)
        cost, _ = go_on(0, 2, np.array([2, 1, 0]), np.inf, False, tables, known, starts)
        assert cost == expected
    # The jobs of 3 s first, which leaves 0 + 3 + 6: that is another plan, whoever is first.
    tables = order_tables(content, costs, np.zeros(3), np.array([0, 1, 0]), 0, segments)
    cost, _ = go_on(0, 2, np.array([2, 0, 1]), np.inf, False, tables, known, starts)
    assert cost == 9.0
