"""With a solver that fails in every round, each dispatcher does as its documented fallback does."""

from dataclasses import replace
from typing import Any

import pytest

from hpcsched.dispatching.cp.solver_process import Answer
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.rules.allocators import BestFit
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.testing import sample_workloads
from tests.builders import ORDERS, Told, replay
from tests.dispatching.cp.formulations.test_as_in_the_papers import dispatcher_of
from tests.dispatching.cp.making import Scripted, improver_of

FAILURES = ("failed", "unknown", "overrun", "infeasible")
DEBS = (
    "{name: cp, orders: [], priority: fcfs, time_limits: {first: 20s, most: 40s, extensions: 0}}",
    "{name: best-of, orders: [fcfs], priority: fcfs}",
)
WAITS = "expected_wait: {other: 1h}"
OTHERS = (
    "hcp19",
    "{name: hcp19, decode: list}",
    f"{{name: hcp19, version: 2, {WAITS}}}",
    "pcp19",
    f"{{name: pcp19, version: 2, {WAITS}}}",
    "pcp4",
    "pcp20",
    "pcp21",
    "{name: pcp21, symmetric: true}",
    "joint-now",
    "cp",
    "best-of",
)


def failing(choice: str, status: Any = "failed") -> PlanningDispatcher:
    """Return the dispatcher of a scenario with a solver that never has a plan."""
    dispatcher = dispatcher_of(choice)
    improver = improver_of(dispatcher)
    improver.client = improver.client._replace(solver=Scripted(Answer(status, why="on purpose")))
    return dispatcher


def starts(dispatcher: Any, sample: Any, *, aggregated: bool) -> dict[int, int]:
    """Return when each job starts in a replay with predictions that are too short or too long."""
    request = sample.jobs[0].job.unit_request if aggregated else None
    predictions = {job.job.job_id: 1 + 3 * job.run_time // 2 for job in sample.jobs}
    recorder = replay(
        sample.system, dispatcher, sample.jobs, predictor=Told(predictions), uniform_request=request
    )
    return {job_id: record.start_time for job_id, record in recorder.jobs.items()}


def asked(dispatcher: PlanningDispatcher) -> int:
    """Return how often the solver was asked."""
    return len(improver_of(dispatcher).client.solver.tasks)


@pytest.mark.parametrize("status", FAILURES)
@pytest.mark.parametrize("choice", DEBS)
def test_the_schedulers_of_debs_fall_back_on_lists_in_order_of_arrival(
    choice: str, status: str
) -> None:
    """Every job starts when it does under list scheduling with a reservation for every job."""
    rounds = 0
    for sample in sample_workloads(seed=21, count=40):
        if not sample.uniform:
            continue
        dispatcher = failing(choice, status)
        lists = list_rule(ORDERS["fcfs"], "backfill", BestFit())
        expected = starts(lists, sample, aggregated=True)
        assert starts(dispatcher, sample, aggregated=True) == expected
        rounds += asked(dispatcher)
    assert rounds > 20


@pytest.mark.parametrize("choice", OTHERS)
def test_the_others_fall_back_on_the_best_list_plan(choice: str) -> None:
    """Every job starts when it does if the best list plan is carried out and nobody is asked."""
    rounds = 0
    for sample in sample_workloads(seed=22, count=80):
        dispatcher = failing(choice)
        lists = replace(dispatcher_of(choice), improver=None)
        expected = starts(lists, sample, aggregated=False)
        assert starts(dispatcher, sample, aggregated=False) == expected
        rounds += asked(dispatcher)
    assert rounds >= 5
