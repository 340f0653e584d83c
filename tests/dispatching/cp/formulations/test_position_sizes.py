"""PCP'20 and PCP'21 on systems of any size: numbers of what a model has, and first plans."""

from time import process_time

import cpmpy as cp
import pytest
from cpmpy.transformations.get_variables import get_variables_model

from hpcsched.dispatching.cp.backends.backend import Budget, StoppingRule
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.backends.schedule_or_postpone import ScheduleOrPostpone
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations.unit_positions import pcp20, pcp21
from hpcsched.dispatching.cp.solver_process import Task, solve
from hpcsched.dispatching.planning.model_data import ModelData, fault_of
from tests.dispatching.cp.formulations.test_as_in_the_papers import asked, dispatcher_of
from tests.dispatching.cp.kit_problems import kit_problem

ALL_NODES = "{name: pcp21, jobs: all, orders: [], spare_nodes: null, horizon: worst_case}"


def data_of(seed: int, queued: int, nodes: int, *, busy: bool, largest: int = 32) -> ModelData:
    """Return what a solver is asked about in the papers' manner, on all nodes."""
    problem = kit_problem(seed, queued, nodes, busy=busy, largest=largest)
    data = asked(dispatcher_of(ALL_NODES), problem).data
    assert data.job_count == queued
    assert data.node_count == nodes
    assert isinstance(data, ModelData)
    return data


def sizes(formulation: Formulation, data: ModelData) -> tuple[int, list[int], int]:
    """Return the numbers of variables, of rectangles by type, and of other constraints.

    Constraints on all nodes together are left out: a type that cannot be short has none.
    """
    model = formulation.build(data).model
    boxes = [len(c.args[0]) for c in model.constraints if c.name == "no_overlap_2d"]
    others = [c for c in model.constraints if not isinstance(c, cp.Cumulative)]
    return len(get_variables_model(model)), boxes, len(others)


@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("formulation", [pcp20(), pcp21()], ids=["pcp20", "pcp21"])
def test_a_model_is_as_large_on_10_000_nodes_as_on_64(formulation: Formulation, busy: bool) -> None:
    """Ten jobs: the numbers of variables, rectangles and constraints do not depend on nodes."""
    found = [
        sizes(formulation, data_of(0, 10, nodes, busy=busy, largest=4))
        for nodes in (64, 1173, 3000, 10000)
    ]
    assert found[0] == found[1] == found[2] == found[3]


KIT = [(s, q, b) for s in range(10) for q in (10, 30) for b in (False, True)]
some = pytest.mark.parametrize(
    ("seed", "queued", "busy"),
    [pytest.param(*case, marks=() if case == (1, 10, True) else pytest.mark.slow) for case in KIT],
)


@some
def test_kit_has_a_plan_in_time(seed: int, queued: int, busy: bool) -> None:
    """On 1,173 nodes OR-Tools has a plan of PCP'21 within 5 s, schedule-or-postpone within 1 s.

    Seconds are those of one processor, so that other work on the machine does not matter.
    """
    data = data_of(seed, queued, 1173, busy=busy)
    for backend, most in ((OrTools(), 5.0), (ScheduleOrPostpone(), 1.0)):
        began = process_time()
        answer = solve(Task(pcp21(), data, backend, StoppingRule(0.25, 60, 0)))
        assert process_time() - began < most
        assert answer.plan is not None
        assert fault_of(answer.plan, data) is None
    assert sizes(pcp21(), data) == sizes(pcp21(), data_of(seed, queued, 3000, busy=busy))


@pytest.mark.parametrize("nodes", [64, 256])
def test_a_first_plan_is_found_where_nodes_are_short(nodes: int) -> None:
    """Thirty jobs and no warm start: half a second of CP-SAT's own time is enough."""
    data = data_of(0, 30, nodes, busy=False, largest=nodes // 16)
    answer = solve(Task(pcp21(), data, OrTools(), Budget(0.5)))
    assert answer.plan is not None
    assert fault_of(answer.plan, data) is None
