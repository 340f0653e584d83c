"""Of equally good plans the first by priority, by hand and for two solvers."""

from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from hpcsched.dispatching.cp.backends.choco import Choco
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.model_solving import Task, solve
from hpcsched.dispatching.cp.solver_limits import Budget
from hpcsched.dispatching.planning.model_data import ModelData, Plan, fault_of
from hpcsched.errors import InputError
from hpcsched.testing import make_problem, make_system
from tests.dispatching.cp.formulations.test_as_in_the_papers import asked, dispatcher_of
from tests.dispatching.cp.making import FORMULATIONS
from tests.dispatching.cp.tiny import Size, placements, tiny_data
from tests.strategies import tries

BACKENDS = [
    pytest.param(OrTools(), id="ortools"),
    pytest.param(
        Choco(),
        id="choco",
        marks=pytest.mark.skipif(find_spec("pychoco") is None, reason="pychoco is not installed"),
    ),
]
EXACT = {name: FORMULATIONS[name] for name in ("pcp19", "pcp4", "node-time")}


def starts_of(formulation: Formulation, data: ModelData, backend: object) -> list[int]:
    """Return the starts of the plan that is first by priority."""
    task = Task(formulation, data, backend, Budget(60), by_priority=True)
    answer = solve(task)
    assert answer.status == "optimal"
    assert answer.plan is not None
    assert data.cost(answer.plan.starts) == answer.objective
    return answer.plan.starts.tolist()


def alike(jobs: int) -> ModelData:
    """Return jobs of one core and 10 s on two nodes of one core, equally urgent."""
    none = np.zeros(0, dtype=np.int64)
    return ModelData(
        1,
        np.ones(jobs, dtype=np.int64),
        np.ones((jobs, 1), dtype=np.int64),
        np.full(jobs, 10),
        np.ones((2, 1), dtype=np.int64),
        np.ones((jobs, 2), dtype=np.int64),
        none,
        none,
        none.reshape(0, 1),
        np.ones((1, jobs), dtype=np.int64),
        np.zeros((1, jobs), dtype=np.int64),
        0,
        10 * jobs,
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("formulation", FORMULATIONS.values(), ids=FORMULATIONS)
@pytest.mark.parametrize(
    ("jobs", "expected"),
    [(3, [0, 0, 10]), pytest.param(5, [0, 0, 10, 10, 20], marks=pytest.mark.slow)],
)
def test_jobs_that_are_alike_start_in_order_of_priority(jobs, expected, formulation, backend):
    """Two can run at a time: of five there are 5! / (2! 2!) = 30 optimal plans, of three 3."""
    assert starts_of(formulation, alike(jobs), backend) == expected


def test_starts_are_one_number_as_far_as_objectives_go():
    """Starts are up to 40, so that 41 ** 2 < 10,000 < 41 ** 3: two to a call, and the same plan."""
    backend = OrTools(largest_objective=10_000)
    assert starts_of(FORMULATIONS["pcp19"], alike(5), backend) == [0, 0, 10, 10, 20]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("formulation", EXACT.values(), ids=EXACT)
@tries(10)
@given(data=tiny_data(Size(jobs=3, nodes=2, types=1, units=2, run_time=2, capacity=2)))
def test_no_optimal_plan_comes_before(formulation, backend, data):
    """Of all starts up to the horizon that cost as little and can be placed, the least."""
    found = starts_of(formulation, data, backend)
    best = data.cost(np.array(found))
    for starts in product(*(range(int(latest) + 1) for latest in data.latest_starts)):
        if list(starts) >= found:
            break
        if data.cost(np.array(starts)) == best:
            assert not _can_be_placed(data, starts), starts


def _can_be_placed(data: ModelData, starts: tuple[int, ...]) -> bool:
    return any(
        fault_of(Plan(np.array(starts), np.array(ways)), data) is None
        for ways in product(*(placements(data, job) for job in range(data.job_count)))
    )


def test_a_scenario_asks_for_it():
    """The task says so, and by default does not."""
    problem = make_problem(make_system(1, core=2), "job_id requested_time\n1 10\n2 10\n3 10")
    for choice, expected in (("any", False), ("by_priority", True)):
        dispatcher = dispatcher_of(f"{{name: node-time, equal_plans: {choice}, orders: []}}")
        assert asked(dispatcher, problem).by_priority is expected
    assert asked(dispatcher_of("{name: node-time, orders: []}"), problem).by_priority is False


def test_a_solver_without_models_cannot_be_told():
    """One sentence says so, before anything runs."""
    choice = "{name: hcp19, equal_plans: by_priority, solver: schedule-or-postpone}"
    with pytest.raises(InputError, match="by_priority takes a solver that is given CPMpy's models"):
        dispatcher_of(choice)
