"""Announced outages in a model, against what they are second by second."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.objectives import AF, AWF, PSF
from hpcsched.dispatching.planning import model_data
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.model_data import (
    OutageInterval,
    fault_of,
    horizon_after_outages,
    outage_intervals_of,
)
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from hpcsched.dispatching.planning.selection import Selection, SelectionOptions
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.outages import Outage, Outages
from hpcsched.testing import make_problem, make_system
from tests.builders import Spy, Told, alike, easy, replay, traced
from tests.dispatching.cp.making import FORMULATIONS, cp_dispatcher
from tests.dispatching.offline.test_order_search_dispatcher import order_search
from tests.shared_resource_workloads import shared_resource_workloads
from tests.simulation.test_outages_of_all import outages
from tests.strategies import mixed_workloads, tries


def problems_of(workload: Any, found: Outages) -> list[DispatchingProblem]:
    """Return the problems of a replay under EASY with outages."""
    seen: list[DispatchingProblem] = []
    spy = Spy(easy(), lambda problem, _: seen.append(problem))
    replay(workload.system, spy, workload.jobs, predictor=Told(workload.predictions), outages=found)
    return seen


def closed_by(problem: DispatchingProblem, node: int, begin: int, end: int) -> list[Outage]:
    """Return the announced outages that take a node between two times from now."""
    now = problem.now
    return [
        outage
        for outage in problem.outages
        if node in outage.nodes and outage.start - now < end and begin < outage.end - now
    ]


def check_closed(problem: DispatchingProblem, selection: Selection) -> None:
    """Check when nodes are closed, by second, and that nothing is held of them from then on."""
    data = selection.data
    assert selection.nodes is not None
    closed = {(n, t) for n, begin, end in data.closed for t in range(begin, end)}
    assert len(closed) == sum(end - begin for _, begin, end in data.closed)
    assert closed == {
        (c, t)
        for c, node in enumerate(selection.nodes.tolist())
        for t in range(data.horizon)
        if closed_by(problem, node, t, t + 1)
    }
    for until, n in zip(data.allocated_until.tolist(), data.allocated_on.tolist(), strict=True):
        assert until >= 1
        assert not any(begin < until for c, begin, _ in data.closed if c == n)


def check_plan(problem: DispatchingProblem, selection: Selection) -> None:
    """Check that a list plan keeps clear of all outages, in seconds, and of nodes that failed."""
    data = selection.data
    plan = ListPlanner(data).plan(range(data.job_count))
    assert fault_of(plan, data) is None
    starts = plan.starts.tolist()
    assert selection.nodes is not None
    for i, job in enumerate(selection.jobs):
        for node in selection.nodes[plan.placed[i].nonzero()[0]].tolist():
            end = starts[i] + job.predicted_run_time
            assert not closed_by(problem, node, starts[i], end)
            # It is open to the job now, or will be once what is announced is over.
            allowed = job.request.allowed_nodes
            if allowed is not None and node not in allowed:
                assert closed_by(problem, node, 0, job.predicted_run_time)


@pytest.mark.parametrize(
    "workloads", [mixed_workloads(), shared_resource_workloads()], ids=["plain", "shared resources"]
)
@tries(60)
@given(data=st.data())
def test_models_of_replays(workloads: Any, data: Any) -> None:
    """Jobs alone on nodes, shared resources, costs that fall at first."""
    workload = data.draw(workloads)
    objective: Any = data.draw(st.sampled_from([AF(), PSF(2)]))
    for problem in problems_of(workload, data.draw(outages(workload.system))):

        def cost_of(jobs: Any, now: int) -> Any:
            if isinstance(objective, PSF):
                return objective.planned_ratio(jobs, now, 10.0)
            return objective.planned_cost(jobs, now)

        options = SelectionOptions("all", 100, None)
        selection = select(problem, problem.queue, options, cost_of)
        if selection is not None:
            check_closed(problem, selection)
            check_plan(problem, selection)


DISPATCHERS = {
    "order-search": lambda: order_search(AWF()),
    **{
        name: lambda name=name: cp_dispatcher(name, objective=AWF(), length=3)
        for name in FORMULATIONS
    },
}


@pytest.mark.parametrize("make", DISPATCHERS.values(), ids=DISPATCHERS)
def test_no_job_waits_for_one_that_has_to_wait_anyway(make: Any) -> None:
    """Job 1 has node 0 until 10, job 2 needs both nodes for 20 s, and job 3 has one for 55 s.

    By area × wait it is best that job 3 waits for job 2. But if node 0 is serviced from 25 to 60,
    job 2 would not be done before, and has to start at 60; so job 3 had better start at once.
    """
    jobs = [traced(1, 0, 1, 10), traced(2, 1, 2, 20), traced(3, 1, 1, 55)]
    window = Outage(25, 60, (0,), "maintenance")
    recorder = replay(alike(2, core=1), make(), jobs, outages=Outages((window,)))
    assert recorder.start_times == {1: 0, 2: 60, 3: 1}
    recorder = replay(alike(2, core=1), make(), jobs)
    assert recorder.start_times == {1: 0, 2: 10, 3: 30}


def test_horizon() -> None:
    """It goes on from the last interval that plans may come to, one after the other."""
    node = np.array([0])
    outage_intervals = [
        OutageInterval(5, 9, node),
        OutageInterval(18, 21, node),
        OutageInterval(40, 50, node),
    ]
    assert horizon_after_outages([], 7, 6) == 7
    assert horizon_after_outages(outage_intervals, 5, 3) == 5
    assert horizon_after_outages(outage_intervals, 7, 6) == 15
    assert horizon_after_outages(outage_intervals, 12, 10) == 31
    assert horizon_after_outages(outage_intervals, 12, 20) == 70


def test_closures_that_are_far_off_are_left_out_where_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two of each node are looked at, or more where that is not many; the first one always is."""
    problem = make_problem(make_system(3), "job_id units requested_time\n1 3 5\n", now=0)
    found = tuple(Outage(10 * k, 10 * k + 5, (0, 1, 2), "maintenance") for k in range(1, 9))
    problem = problem._replace(outages=found)
    everything = np.arange(3)
    assert len(outage_intervals_of(problem, everything)) == 8
    monkeypatch.setattr(model_data, "MOST", 9)
    kept = outage_intervals_of(problem, everything)
    assert [(one.begin, one.end) for one in kept] == [(10, 15), (20, 25), (30, 35)]
    monkeypatch.setattr(model_data, "MOST", 0)
    assert len(outage_intervals_of(problem, everything)) == 2
    assert outage_intervals_of(problem, np.array([], dtype=np.int64)) == ()
