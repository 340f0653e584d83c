"""Reasons of dispatchers that plan: one for each job, true to the plan, and of no effect."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from hpcsched.dispatching.cp.solver_process import Answer
from hpcsched.dispatching.decision import STARTS, Decision, Reason, Start
from hpcsched.dispatching.objectives import AF
from hpcsched.dispatching.offline.planner import ReplaysPlan
from hpcsched.dispatching.planning.model_data import Plan
from hpcsched.dispatching.planning.plan_execution import NO_NODES, NOTHING_RUNS, planned_reasons
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_calls import open_workspace
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import RoundRecord
from hpcsched.system.space import NodeAllocation
from hpcsched.testing import make_problem, make_system, sample_workloads
from tests.builders import Spy, Told, replay, traced
from tests.dispatching.cp.making import FORMULATIONS, Scripted, cp_dispatcher, improving
from tests.dispatching.offline.off_line import planned
from tests.strategies import mixed_workloads, tries

MAKERS: dict[str, Callable[[], Any]] = {
    **{name: lambda name=name: cp_dispatcher(name, length=6) for name in FORMULATIONS},
    "hcp19, prb": lambda: cp_dispatcher("hcp19", decode="prb", orders=(), length=6),
    "joint-now, fitting": lambda: cp_dispatcher("joint-now", jobs="fitting", length=6),
    "no answer": lambda: cp_dispatcher(solver=Scripted(Answer("unknown")), length=6),
    "cp": lambda: improving("best", length=6),
    "best-of": lambda: improving("each", length=6),
}

# Four cores, of which one is taken until 100; the large job waits for it.
QUEUE = """
job_id  submit_time  units  requested_time  start_time
9       0            1      100             0
1       0            4      50              -
2       0            2      30              -
3       0            1      500             -
4       0            1      10              -
"""


class Listener(Observer):
    """Hears of reasons, so that dispatchers are asked for them."""

    def reasons_given(self, record: RoundRecord, reasons: Sequence[Reason]) -> None:
        """Have no use for them."""


def check_reasons(problem: DispatchingProblem, decision: Decision) -> None:
    """Compare what reasons say with what starts and with what there is room for."""
    reasons = {reason.job_id: reason for reason in decision.reasons}
    assert [reason.job_id for reason in decision.reasons] == [job.job_id for job in problem.queue]
    started = {start.job_id for start in decision.starts}
    workspace = open_workspace(problem, FirstFit())
    for job in problem.queue:
        kind, time = reasons[job.job_id].kind, reasons[job.job_id].time
        assert (kind in STARTS) == (job.job_id in started)
        if kind == "in_order" and len(started) < len(problem.queue):
            assert not problem.running
        elif kind in STARTS:
            assert time == (problem.now if kind == "planned" else None)
        elif not workspace.fits(job) or reasons[job.job_id].detail == NO_NODES:
            assert kind == "no_room"
        else:
            assert kind in ("solver_postponed", "not_planned")
            assert (kind == "solver_postponed") == (time is not None)
            assert time is None or time > problem.now


def outcomes(make: Callable[[], Any], workload: Any, request: Any, told: Any) -> list[Any]:
    """Return the starts and places of replays without and with reasons, which are checked."""
    found = []
    for observers in ((), (Listener(),)):
        dispatcher = Spy(make(), check_reasons) if observers else make()
        more = {"uniform_request": request, **({"predictor": Told(told)} if told else {})}
        recorder = replay(workload.system, dispatcher, workload.jobs, observers, **more)
        found.append(
            {
                name: (record.start_time, record.allocation.nodes, record.allocation.units)
                for name, record in recorder.jobs.items()
                if record.allocation is not None
            }
        )
    return found


@pytest.mark.parametrize("name", MAKERS)
@tries(6)
@given(workload=mixed_workloads())
def test_any_workload(name: str, workload: Any) -> None:
    """Unlike jobs on unlike nodes, wrong predictions: the same starts, and true reasons."""
    without, explained = outcomes(MAKERS[name], workload, None, workload.predictions)
    assert without == explained


@pytest.mark.parametrize("name", MAKERS)
def test_slots(name: str) -> None:
    """Jobs that all ask alike, as slots: the same starts, and true reasons."""
    sample = sample_workloads(seed=3, count=16)[1]
    without, explained = outcomes(MAKERS[name], sample, sample.jobs[0].job.unit_request, None)
    assert without == explained


def test_nothing_is_said_unasked() -> None:
    """Without `explain` no dispatcher gives a reason."""
    problem = make_problem(make_system(4, core=1), QUEUE, now=60)
    for make in MAKERS.values():
        assert make().dispatch(problem).reasons == ()


def asked(aggregated: bool = False) -> DispatchingProblem:
    """Return the problem of the table above, at 60 seconds, with a wish for reasons."""
    problem = make_problem(make_system(4, core=1), QUEUE, now=60, aggregated=aggregated)
    return problem._replace(explain=True)


@pytest.mark.parametrize("aggregated", [False, True])
def test_each_reason(aggregated: bool) -> None:
    """Started as planned; without room, planned or not; with room, later, left out or left over."""
    decision = Decision((Start(2, NodeAllocation((1, 2), (1, 1))),))
    problem = asked(aggregated)
    reasons = planned_reasons(problem, decision, {1: 100, 2: 60, 3: 150, 4: 60}, FirstFit())
    assert reasons == (
        Reason(1, "no_room", time=100),
        Reason(2, "planned", time=60),
        Reason(3, "solver_postponed", time=150),
        Reason(4, "no_room", detail=NO_NODES),
    )
    assert planned_reasons(problem, decision, {2: 60}, FirstFit()) == (
        Reason(1, "no_room"),
        Reason(2, "planned", time=60),
        Reason(3, "not_planned"),
        Reason(4, "not_planned"),
    )


def test_a_solver_postpones() -> None:
    """A plan that keeps the long job off the core that the large one needs: worked by hand.

    At 60 three of four cores are free. The solver's plan is 2 and 4 now, 1 at 100 when 9 has ended,
    and 3, which could start now, at 150.
    """

    def plan(task: Any) -> Answer:
        count, nodes = task.data.job_count, task.data.node_count
        placed = np.zeros((count, nodes), dtype=np.int64)
        starts = np.zeros(count, dtype=np.int64)
        for i, (units, time) in enumerate(zip(task.data.units, task.data.run_times, strict=True)):
            starts[i] = {50: 40, 30: 0, 500: 90, 10: 0}[int(time)]
            placed[i, (np.arange(units) + {30: 1, 10: 3}.get(int(time), 0)) % nodes] = 1
        return Answer("feasible", Plan(starts, placed), 1, 0.0)

    dispatcher = cp_dispatcher("pcp19", solver=Scripted(plan), objective=AF(), orders=())
    decision = dispatcher.dispatch(asked())
    assert sorted(start.job_id for start in decision.starts) == [2, 4]
    assert decision.reasons == (
        Reason(1, "no_room", time=100),
        Reason(2, "planned", time=60),
        Reason(3, "solver_postponed", time=150),
        Reason(4, "planned", time=60),
    )


def test_everything_starts() -> None:
    """Without a job that waits, starts are in order, and no solver is asked."""
    table = "job_id units requested_time\n1 1 5\n2 2 5\n"
    problem = make_problem(make_system(4, core=1), table)._replace(explain=True)
    for make in MAKERS.values():
        reasons = make().dispatch(problem).reasons
        assert reasons == (Reason(1, "in_order"), Reason(2, "in_order"))


def test_the_first_job_where_a_plan_starts_nothing() -> None:
    """A plan that has all wait on an idle system is not followed, and the reason says so."""
    table = "job_id units requested_time\n1 1 5\n2 2 5\n"
    problem = make_problem(make_system(2, core=1), table)._replace(explain=True)
    decision = Decision((Start(1, NodeAllocation((0,), (1,))),), fallback=True)
    assert planned_reasons(problem, decision, {1: 7, 2: 9}, FirstFit()) == (
        Reason(1, "in_order", detail=NOTHING_RUNS),
        Reason(2, "solver_postponed", time=9),
    )


def test_a_plan_of_the_whole_trace() -> None:
    """What follows an off-line plan says when each job is planned: the shorter one is first."""
    system = make_system(1, core=1)
    jobs = [traced(1, 0, 1, 5), traced(2, 0, 1, 9)]
    plan = planned(system, jobs, AF()).plan
    given: list[tuple[int, tuple[Reason, ...]]] = []
    dispatcher = Spy(
        ReplaysPlan(plan, FirstFit()),
        lambda problem, made: given.append((problem.now, made.reasons)),
    )
    recorder = replay(system, dispatcher, jobs, [Listener()])
    assert recorder.start_times == {1: 0, 2: 5}
    assert given == [
        (0, (Reason(1, "planned", time=0), Reason(2, "solver_postponed", time=5))),
        (5, (Reason(2, "in_order"),)),
    ]
