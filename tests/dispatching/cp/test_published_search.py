"""The search of the code that the papers' authors published, and how it differs from their text."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from hpcsched.dispatching.cp.backends.schedule_or_postpone import ScheduleOrPostpone
from hpcsched.dispatching.cp.cp_improver import CpImprover
from hpcsched.dispatching.cp.formulation import Formulation, dominations
from hpcsched.dispatching.cp.formulations.hcp19 import hcp19
from hpcsched.dispatching.cp.formulations.pcp19 import pcp19
from hpcsched.dispatching.cp.formulations.pcp20 import pcp20
from hpcsched.dispatching.cp.formulations.pcp21 import pcp21
from hpcsched.dispatching.cp.formulations.unit_positions import dominating_first
from hpcsched.dispatching.cp.model_solving import solve
from hpcsched.dispatching.cp.solver_limits import Budget, StoppingRule, Watch
from hpcsched.testing import make_problem, make_system
from tests.dispatching.cp.formulations.test_as_in_the_papers import asked, dispatcher_of
from tests.dispatching.cp.formulations.test_exact_formulations import check_plan, solved
from tests.dispatching.cp.tiny import Size, tiny_data
from tests.strategies import tries

FIRST_OF_TWO = """
job_id  submit_time  units  core  requested_time
1       0            1      4     40
2       30           1      4     20
"""
CODE = "{name: NAME, search: code, orders: [], time_limits: {}}"


@pytest.mark.parametrize("name", ["hcp19", "pcp19", "pcp20", "pcp21"])
def test_of_jobs_that_can_start_first_the_shortest_does(name: str) -> None:
    """Job 1 has the higher priority, (30 + 40) / 40, and job 2 is shorter; each fills the node."""
    problem = make_problem(make_system(1, core=4), FIRST_OF_TWO)
    for search, expected in (("text", [0, 40]), ("code", [20, 0])):
        dispatcher = dispatcher_of(f"{{name: {name}, search: {search}, orders: []}}")
        task = asked(dispatcher, problem)
        first = solve(task._replace(backend=ScheduleOrPostpone(), limits=Budget(1e-6)))
        assert first.plan is not None
        assert first.plan.starts.tolist() == expected


def test_limits_of_the_code() -> None:
    """PCP'20 and '21: 1 s, and while there is no plan up to four times 0.5 s more."""
    for name in ("hcp19", "pcp19"):
        assert _limits(CODE.replace("NAME", name)) == StoppingRule(1, 16, 2)
    for name in ("pcp20", "pcp21"):
        assert _limits(CODE.replace("NAME", name)) == StoppingRule(1, 3, 0, 0.5)
    longer = CODE.replace("NAME", "pcp21").replace("{}", "{most: 10}")
    assert _limits(longer) == StoppingRule(1, 10, 0, 0.5)
    watch = Watch(StoppingRule(1, 3, 0, 0.5))
    limits = [watch.limit]
    while watch.goes_on(None):
        limits.append(watch.limit)
    assert limits == [1, 1.5, 2, 2.5, 3]
    assert not Watch(StoppingRule(1, 3, 0, 0.5)).goes_on(7)


def _limits(choice: str) -> object:
    improver = dispatcher_of(choice).improver
    assert isinstance(improver, CpImprover)
    return improver.limits


def test_running_jobs_have_their_whole_predicted_time() -> None:
    """A job that began 60 s ago and is to run for 100 s: 40 s are left, and PCP'21 plans 100."""
    table = """
    job_id  submit_time  units  core  requested_time  start_time
    8       0            1      2     100             0
    1       60           1      1     10              -
    2       60           1      2     20              -
    """
    for aggregated in (False, True):
        uniform = table.replace("1     10", "2     10") if aggregated else table
        system = make_system(2, core=2)
        problem = make_problem(system, uniform, aggregated=aggregated)
        ends = {
            (name, search): asked(
                dispatcher_of(f"{{name: {name}, search: {search}, orders: []}}"), problem
            ).data.allocated_until.tolist()
            for name in ("pcp20", "pcp21")
            for search in ("text", "code")
        }
        assert ends.pop(("pcp21", "code")) == [100]
        assert all(end == [40] for end in ends.values())


def test_dominations_by_hand() -> None:
    """By run time: a job of GPUs alone, then energies of 7 · 2 = 14, 2 · 3 = 6 and 1 · 9 = 9 cores.

    The third dominates the last one: 6 ≤ 9, and 6 + 9 = 15 is not above 8 · 9. With one core it is
    above 1 · 9, and the two are disjunct.
    """
    data = asked(
        dispatcher_of("{name: pcp20, jobs: all, orders: []}"),
        make_problem(
            make_system(1, core=8, gpu=2),
            """
            job_id  units  core  gpu  requested_time
            1       1      2     0    3
            2       1      1     0    9
            3       1      7     0    2
            4       1      0     1    1
            """,
        ),
    ).data
    order = data.run_times.argsort()
    assert data.run_times[order].tolist() == [1, 2, 3, 9]
    by_priority = replace(
        data,
        units=data.units[order],
        requests=data.requests[order],
        run_times=data.run_times[order],
        room=data.room[order],
    )
    assert dominations(by_priority) == [(2, 3)]
    one_core = replace(by_priority, capacity=by_priority.capacity // 8)
    assert dominations(one_core) == []


BY_POSITION = Size(jobs=4, nodes=2, types=2, units=2, run_time=3, capacity=4)


@pytest.mark.parametrize(
    ("as_code", "text"),
    [
        (hcp19(as_code=True), hcp19()),
        (pcp19(as_code=True), pcp19()),
        (pcp20(as_code=True), pcp20()),
        (pcp21(as_code=True), pcp21()),
    ],
    ids=["hcp19", "pcp19", "pcp20", "pcp21"],
)
@tries(15)
@given(data=tiny_data(BY_POSITION))
def test_optima_of_the_code(as_code: Formulation, text: Formulation, data) -> None:
    """Ties change no optimum, precedences may; CP-SAT and schedule-or-postpone agree."""
    answers = [solved(as_code, data, backend=backend) for backend in _BACKENDS]
    assert answers[0].objective == answers[1].objective
    best = solved(text, data).objective
    assert answers[0].objective >= best
    if dominating_first not in as_code.constraints:
        assert answers[0].objective == best
        return
    for answer in answers:
        check_plan(answer, data)
        starts = np.array(answer.plan.starts)
        assert all(starts[i] <= starts[j] for i, j in dominations(data))


_BACKENDS = (solved.__defaults__[1], ScheduleOrPostpone())
