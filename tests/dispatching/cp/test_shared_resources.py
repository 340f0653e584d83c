"""Formulations and list plans with a shared resource, against trying every start."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.backends.schedule_or_postpone import ScheduleOrPostpone
from hpcsched.dispatching.planning.model_data import Plan, fault_of
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from hpcsched.dispatching.planning.shared_resource_data import SharedResourceData
from tests.dispatching.cp.formulations.test_exact_formulations import EXACT, RELAXATIONS, solved
from tests.dispatching.cp.tiny import Size, cost_by_start, tiny_data
from tests.strategies import tries

FORMULATIONS = EXACT | RELAXATIONS
BACKENDS = OrTools(), ScheduleOrPostpone()
SIZE = Size(jobs=3, nodes=1, types=1, units=1, run_time=3, capacity=4)


@st.composite
def data_with_shared_resource(draw):
    """Draw jobs on one node, and a shared resource that varies; every job fits at last."""
    data = draw(tiny_data(SIZE))
    draws = np.array([[draw(st.integers(0, 4))] for _ in range(data.job_count)], dtype=np.int64)
    since = [0, *sorted(draw(st.sets(st.integers(1, 8), max_size=3)))]
    free = [[draw(st.integers(0, 5))] for _ in since[:-1]] + [[4 + draw(st.integers(0, 3))]]
    last = max(since[-1], int(data.allocated_until.max(initial=0)))
    shared_resources = SharedResourceData(
        draws,
        np.array(since, dtype=np.int64),
        np.array(free, dtype=np.int64),
        np.zeros(data.job_count, dtype=np.int64),
        last,
    )
    return replace(
        data, shared_resources=shared_resources, horizon=last + int(data.run_times.sum())
    )


def fits(data, starts):
    """Say, second by second, whether node and shared resource have enough."""
    shared_resources = data.shared_resources
    for time in range(data.horizon):
        running = [
            i
            for i, (start, length) in enumerate(zip(starts, data.run_times, strict=True))
            if start <= time < start + length
        ]
        allocated = data.allocated[data.allocated_until > time].sum() + data.requests[running].sum()
        free = shared_resources.free[
            [t for t, s in enumerate(shared_resources.since) if s <= time][-1], 0
        ]
        drawn = shared_resources.draws[running].sum()
        if allocated > data.capacity.sum() or (drawn and drawn > free):
            return False
    return True


def cost(data, starts):
    """Return the objective, job by job."""
    last = max(start + int(d) for start, d in zip(starts, data.run_times, strict=True))
    jobs = range(data.job_count)
    return data.makespan * last + sum(cost_by_start(data, job, starts[job]) for job in jobs)


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: type(backend).__name__)
@pytest.mark.parametrize("name", FORMULATIONS)
@tries(15)
@given(data=data_with_shared_resource())
def test_the_optimum_is_that_of_trying_every_start(name, backend, data):
    """The solver's plan keeps to the shared resource, and none costs less."""
    spans = [range(data.horizon - int(run_time) + 1) for run_time in data.run_times]
    best = min(cost(data, starts) for starts in product(*spans) if fits(data, starts))
    answer = solved(FORMULATIONS[name], data, backend=backend)
    assert fits(data, answer.plan.starts.tolist())
    assert data.cost(answer.plan.starts) == best


@tries(100)
@given(data=data_with_shared_resource(), seed=st.integers(0, 5))
def test_list_plans(data, seed):
    """Each job gets the earliest start beside those before it, and faults are found."""
    order = np.random.default_rng(seed).permutation(data.job_count)
    plan = ListPlanner(data).plan(order)
    starts = plan.starts.tolist()
    assert fits(data, starts)
    assert fault_of(plan, data) is None
    planned = []
    for job in order.tolist():
        planned.append(job)
        rows = np.array(planned)
        part = replace(
            data,
            units=data.units[rows],
            requests=data.requests[rows],
            run_times=data.run_times[rows],
            shared_resources=data.shared_resources._replace(
                draws=data.shared_resources.draws[rows]
            ),
        )
        for earlier in range(starts[job]):
            assert not fits(part, [*(starts[k] for k in planned[:-1]), earlier])
    for job in range(data.job_count):
        for start in range(data.horizon - int(data.run_times[job])):
            moved = plan.starts.copy()
            moved[job] = start
            found = fault_of(Plan(moved, plan.placed), data)
            assert (found is None) == fits(data, moved.tolist())
