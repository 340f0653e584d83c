"""The dispatcher `headroom`, with solvers that are given its model and one that is not."""

from dataclasses import replace
from importlib.util import find_spec

import pytest

import hpcsched_example
from hpcsched import InputError, hcp19
from hpcsched.testing import RunScenario, make_jobs, make_system
from hpcsched_example.headroom import HEADROOM

SCENARIO = """\
name: headroom
system:
  groups:
    - {{name: node, count: 4, resources: {{core: 1}}}}
trace: {{source: swf, path: trace.swf}}
objective: slowdown
dispatcher: {{name: headroom, solver: {solver}{more}}}
"""

JOBS = """
    job_id  submit_time  units  run_time
    1       0            2      100
    2       10           2      90
    3       20           1      10
    4       30           4      50
"""

CHOCO = pytest.param(
    "{name: cpmpy, solver: choco}",
    marks=pytest.mark.skipif(find_spec("pychoco") is None, reason="pychoco is not installed"),
)


@pytest.mark.parametrize("solver", ["ortools", CHOCO])
def test_one_node_of_four_stays_free(run_scenario: RunScenario, solver: str) -> None:
    """Job 2 has room beside job 1 but waits, job 3 does not; job 4 needs all, and gets it."""
    scenario = SCENARIO.format(solver=solver, more="" if solver == "ortools" else ", budget: 1")
    result = run_scenario(scenario, hpcsched_example, jobs=make_jobs(make_system(4), JOBS))
    starts = {row["job_id"]: row["start_time"] for row in result.jobs.to_pylist()}
    assert starts == {1: 0, 3: 20, 4: 100, 2: 150}


def test_a_search_that_builds_no_model_refuses_it(run_scenario: RunScenario) -> None:
    """`schedule-or-postpone` does not leave the constraint out."""
    with pytest.raises(InputError, match="differ in headroom;"):
        run_scenario(SCENARIO.format(solver="schedule-or-postpone", more=""), hpcsched_example)


def test_what_list_plans_would_do_is_refused(run_scenario: RunScenario) -> None:
    """List plans and filling know nothing of the constraint."""
    for key in ("fill: true", "orders: [fcfs]"):
        with pytest.raises(InputError, match="has constraints that no list plan keeps"):
            run_scenario(SCENARIO.format(solver="ortools", more=f", {key}"), hpcsched_example)


def test_it_is_hcp19_with_one_more_constraint() -> None:
    """Nothing else was changed."""
    base = hcp19()
    assert replace(HEADROOM, name=base.name, constraints=base.constraints, strict=False) == base
