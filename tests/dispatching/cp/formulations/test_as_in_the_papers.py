"""Choices by which dispatchers do as the papers do, by scenario and by hand."""

from typing import Any

import pytest

from hpcsched.dispatching.cp.solver_process import Answer
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario
from hpcsched.testing import make_problem, make_system
from tests.dispatching.cp.making import Scripted, improver_of
from tests.docs.pages import ROOT

FROM_PAPERS = ("hcp19", "pcp19", "pcp4", "pcp20", "pcp21")


def dispatcher_of(choice: str) -> PlanningDispatcher:
    """Return the dispatcher of a scenario."""
    path = ROOT / "scenarios" / "small-joint-now.yaml"
    dispatcher = assemble(load_scenario(path, [f"dispatcher={choice}"])).dispatcher
    assert isinstance(dispatcher, PlanningDispatcher)
    return dispatcher


def asked(dispatcher: PlanningDispatcher, problem: Any) -> Any:
    """Return the data that the solver is asked about."""
    improver = improver_of(dispatcher)
    solver = Scripted(Answer("unknown"))
    improver.client = improver.client._replace(solver=solver)
    dispatcher.dispatch(problem)
    return solver.tasks[0]


TABLE = """
job_id  submit_time  units  core  requested_time  start_time
8       0            1      1     40              0
9       0            1      1     100             0
1       0            1      2     10              -
2       0            1      2     20              -
"""


@pytest.mark.parametrize("name", FROM_PAPERS)
def test_horizon(name: str) -> None:
    """Up to the end of the last running job and all others after it, or the sum of all run times.

    100 + 10 + 20 s, or 40 + 100 + 10 + 20 s.
    """
    problem = make_problem(make_system(1, core=4), TABLE)
    for choice, expected in (("tight", 130), ("worst_case", 170)):
        dispatcher = dispatcher_of(f"{{name: {name}, horizon: {choice}, orders: []}}")
        assert asked(dispatcher, problem).data.horizon == expected


SUBMITTED_NOW = """
job_id  submit_time  units  core  requested_time
1       100          1      2     30
2       100          3      1     10
3       90           1      1     10
4       100          1      1     40
"""


@pytest.mark.parametrize("name", [*FROM_PAPERS, "joint-now", "cp"])
def test_ties_of_priority_are_broken_by_what_jobs_ask_for_times_run_time(name: str) -> None:
    """Job 3 has the slowdown 2, the others 1: areas of 2 × 30, 3 × 10 and 1 × 40 core-seconds."""
    problem = make_problem(make_system(1, core=4), SUBMITTED_NOW, now=100)
    order = dispatcher_of(name).priority.sort(problem)
    assert [job.job_id for job in order] == [3, 2, 4, 1]
    by_arrival = dispatcher_of(f"{{name: {name}, priority: slowdown}}").priority.sort(problem)
    assert [job.job_id for job in by_arrival] == [3, 1, 2, 4]


MEMORY = """
job_id  units  core  mem  requested_time
1       1      1     1    10
2       2      1     1    20
3       1      1     5    20
"""


def test_pcp21s_is_the_model_of_pcp21_whatever_jobs_ask_for() -> None:
    """With a memory-heavy job and without: starts, and 2 positions of each unit."""
    system = make_system(2, core=4, mem=4)
    lines = MEMORY.strip().splitlines()
    alike = make_problem(system, "\n".join(lines[:3]))
    unlike = make_problem(make_system(2, core=4, mem=6), MEMORY)
    for problem, variables in ((alike, 2 + 3 * 2), (unlike, 3 + 4 * 2)):
        counts = []
        for choice in ("symmetric: false", "symmetric: true"):
            task = asked(dispatcher_of(f"{{name: pcp21, {choice}, orders: []}}"), problem)
            assert task.formulation.back_to_start is (choice == "symmetric: true")
            counts.append(task.formulation.variables(task.data))
        assert counts == [variables, variables]
