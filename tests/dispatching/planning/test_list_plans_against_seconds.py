"""List plans against a table of seconds: every job at the first second at which it fits."""

import random as python_random
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hpcsched._core import NEVER, plan_in_order
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan_improver import ListPlanner
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
    released = replace(data, releases=np.array(releases, dtype=np.int64))
    starts, placed = np.zeros(data.job_count, dtype=np.int64), np.zeros_like(data.room)
    assert plan_in_order(np.array(order), released, planner.free, starts, placed)
    for j in order:
        run_time, asked = int(data.run_times[j]), data.requests[j].tolist()
        job = profile.Job(int(data.units[j]), asked, data.room[j].tolist(), run_time, releases[j])
        begin = int(starts[j])
        assert begin == profile.earliest(free, job)
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


def test_a_job_that_never_fits() -> None:
    """Where all that is free has an end, it is not planned."""
    data = ModelData(
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
    on_nodes = replace(data, capacity=np.array([[1], [0]]), room=np.array([[2, 0]]))
    for model in (data, on_nodes):
        starts, placed = np.zeros(1, dtype=np.int64), np.zeros_like(model.room)
        assert not plan_in_order(np.array([0]), model, ListPlanner(model).free, starts, placed)
        assert starts.tolist() == [NEVER]
