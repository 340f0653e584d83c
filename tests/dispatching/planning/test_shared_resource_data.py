"""Shared resources in a model, against what is free second by second."""

import numpy as np
from hypothesis import given

from hpcsched.dispatching.objectives import AF
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.model_data import fault_of
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.dispatching.planning.shared_resource_data import shared_resource_data
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem
from tests.builders import Spy, Told, easy, replay
from tests.shared_resource_workloads import shared_resource_workloads
from tests.strategies import tries

TABLE = """\
job_id start_time requested_time core units
1      0          9              2    1
2      0          25             1    1
3      -          10             1    4
"""


def test_what_is_free_second_by_second():
    """What is held is taken off, down to 0."""
    resource = SharedResource(
        "power", 9, Draw({"core": 1}), (Change(3, 2), Change(12, 6), Change(20, 5)), 24
    )
    system = System((NodeGroup("node", 1, {"core": 9}),), {}, (resource,))
    problem = make_problem(system, TABLE, now=1)
    data = shared_resource_data(problem, problem.queue, 0)
    assert data.draws.tolist() == [[1]]  # counted in fours, as all requests are
    free = [
        max(resource.capacity_at(1 + t) - 2 * (1 + t < 9) - (1 + t < 25), 0) // 4
        for t in range(200)
    ]
    for k in range(int(data.since[-1])):
        found = data.free[int(np.searchsorted(data.since, k, side="right")) - 1, 0]
        assert found == free[k]
    assert data.free[-1, 0] == 0  # further on nothing is counted on but the least


@tries(60)
@given(workload=shared_resource_workloads())
def test_plans(workload):
    """A list plan keeps to shared resources, for every problem of EASY."""
    seen = []
    replay(
        workload.system,
        Spy(easy(), lambda problem, _: seen.append(problem)),
        workload.jobs,
        predictor=Told(workload.predictions),
    )
    for problem in seen:
        selection = select(
            problem,
            problem.queue,
            SelectionOptions("all", 100, None),
            AF().planned_cost,
        )
        if selection is None:
            continue
        plan = ListPlanner(selection.data).plan(range(len(selection.jobs)))
        assert fault_of(plan, selection.data) is None
