"""The temperatures of nodes, and the allocator that minds them."""

import math

import numpy as np
import pytest

import hpcsched_example
from hpcsched import (
    AdditionalData,
    Decision,
    DispatchingProblem,
    InputError,
    NodeAllocation,
    NodeGroup,
    Room,
    Start,
    System,
)
from hpcsched.testing import RunScenario, make_jobs, make_problem, replay
from hpcsched_example.temperature import Coolest, Temperature

SYSTEM = System((NodeGroup("node", 3, {"core": 1}),))
SCENARIO = """\
name: cool
system:
  groups:
    - {{name: node, count: 16, resources: {{core: 1}}}}
trace: {{source: swf, path: trace.swf}}
dispatcher: {{name: easy, allocator: {allocator}}}
observers: [{{name: temperature, warming: 10min}}]
"""


class OnNode:
    """A dispatcher that starts every job on node 1."""

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Start the first job if nothing runs."""
        if problem.running:
            return Decision()
        return Decision((Start(problem.queue[0].job_id, NodeAllocation((1,), (1,))),))


def test_a_node_warms_up_and_cools_down() -> None:
    """Node 1 is busy from 0 to 600, and idle from then on; the others stay as they are."""
    model = Temperature(3, 30.0, 70.0, 600)
    replay(OnNode(), make_jobs(SYSTEM, "job_id run_time\n1 600"), SYSTEM, observers=[model])
    warm = 70 - 40 / math.e
    assert model.additional_data(600) == {"temperature": (30.0, pytest.approx(warm), 30.0)}
    cooler = 30 + (warm - 30) / math.e
    assert model.additional_data(1200) == {"temperature": (30.0, pytest.approx(cooler), 30.0)}


def test_coolest() -> None:
    """Units go to the coolest nodes with room; without data to the first."""
    problem = make_problem(SYSTEM, "job_id requested_time\n1 10")
    room = Room(np.array([1, 1, 0]), np.array([[1, 1, 0]]), (1,), SYSTEM, problem)
    assert Coolest().allocate(1, room).nodes == (0,)
    warm = problem._replace(
        additional=AdditionalData({"temperature": {"temperature": (50.0, 40.0, 30.0)}})
    )
    assert Coolest().allocate(1, room._replace(problem=warm)).nodes == (1,)
    assert Coolest().allocate(2, room._replace(problem=warm)).nodes == (0, 1)


def test_a_run(run_scenario: RunScenario) -> None:
    """The same jobs start at the same times, on other nodes, and again on the same."""
    starts, nodes = [], []
    for allocator in ("first-fit", "coolest", "coolest"):
        jobs = run_scenario(SCENARIO.format(allocator=allocator), hpcsched_example).jobs
        starts.append(jobs["start_time"].to_pylist())
        nodes.append(jobs["nodes"].to_pylist())
    assert starts[0] == starts[1] == starts[2]
    assert nodes[0] != nodes[1] == nodes[2]


def test_temperatures_that_make_no_sense(run_scenario: RunScenario) -> None:
    """A busy node is warmer than an idle one."""
    scenario = SCENARIO.format(allocator="coolest").replace("warming: 10min", "busy: 20")
    with pytest.raises(InputError, match="expected busy above idle, found 20"):
        run_scenario(scenario, hpcsched_example)
