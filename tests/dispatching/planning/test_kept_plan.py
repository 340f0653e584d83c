"""Plans that are kept: for how long they are carried out, and when another one is made."""

from typing import Any

import pytest
from hypothesis import given

from hpcsched.dispatching.objectives import AF
from hpcsched.dispatching.planning.plan_improver import Improved, PlanningRound
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.planning.search_objective import search_objective
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.shared_resources import Draw, SharedResource
from hpcsched.system.system import System
from hpcsched.testing import audit_replay
from tests.builders import ALLOCATORS, ORDERS, Told, alike, replay, traced
from tests.strategies import mixed_workloads, tries, uniform_workloads


class Counts:
    """An improver that has nothing better, and writes down when it is asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def improve(self, given: PlanningRound) -> Improved:
        """Leave the round's list plans as they are."""
        self.asked.append(given.problem.now)
        return Improved()


def planner(counts: Counts | None = None, *, keeps: bool = True, length: int = 20) -> Any:
    """Return a dispatcher that carries out the list plan in order of arrival."""
    return PlanningDispatcher(
        search_objective(AF(), None),
        ORDERS["fcfs"],
        counts,
        ALLOCATORS["best-fit"],
        SelectionOptions("all", length, None, counted=True),
        (ORDERS["fcfs"],),
        weighted=False,
        keeps=keeps,
    )


# On four cores. Job 2 is planned for second 10, 3 and 4 together for second 20, 5 for second 30.
JOBS = [
    traced(1, 0, 4, 10),
    traced(2, 0, 3, 10),
    traced(3, 0, 2, 10),
    traced(4, 0, 2, 10),
    traced(5, 0, 4, 10),
]
STARTS = {1: 0, 2: 10, 3: 20, 4: 20, 5: 30}


def asked(jobs: Any = JOBS, *, system: Any = None, **more: Any) -> tuple[list[int], dict[int, int]]:
    """Return when plans were made in a replay, and when jobs started."""
    counts = Counts()
    keeps, length = more.pop("keeps", True), more.pop("length", 20)
    dispatcher = planner(counts, keeps=keeps, length=length)
    recorder = replay(system or alike(1, core=4), dispatcher, jobs, **more)
    return counts.asked, {number: job.start_time for number, job in recorder.jobs.items()}


@pytest.mark.parametrize("aggregated", [False, True])
def test_one_plan_is_made_while_all_comes_as_planned(aggregated: bool) -> None:
    """Where only job 5 is left, it needs no plan in either case: all jobs fit."""
    more: Any = {"uniform_request": (1,)} if aggregated else {}
    assert asked(**more) == ([0], STARTS)
    assert asked(keeps=False, **more) == ([0, 10, 20], STARTS)


def test_a_job_that_comes_has_another_plan_made() -> None:
    """Job 6 comes at second 5, when nothing fits: the plan is made where job 2 could start."""
    times, _ = asked([*JOBS, traced(6, 5, 1, 30)])
    assert times == [0, 10]


def test_a_job_that_ends_sooner_or_later_has_another_plan_made() -> None:
    """Job 2 is predicted to run from second 10 to 20, and then no job starts before it ends."""
    predicted = Told(dict.fromkeys(range(1, 6), 10))
    for run_time, again in ((7, 17), (13, 23)):
        jobs = [JOBS[0], traced(2, 0, 3, run_time), *JOBS[2:]]
        times, _ = asked(jobs, predictor=predicted)
        assert times == [0, again]


def test_a_plan_of_some_of_the_jobs_is_not_kept() -> None:
    """Four jobs of five are planned at second 0; at second 10 all that are left, and not again."""
    assert asked(length=4) == ([0, 10], STARTS)


def test_plans_around_outages_are_not_kept() -> None:
    """An outage that is announced may be put off, even one that comes when all is over."""
    outages = Outages((Outage(1000, 1001, (0,), "maintenance"),))
    assert asked(outages=outages) == ([0, 10, 20], STARTS)


def test_plans_that_draw_from_shared_resources_are_not_kept() -> None:
    """All jobs draw one of five shared units, which bounds nothing; the last is planned, too."""
    groups = alike(1, core=4).groups
    system = System(groups, shared_resources=(SharedResource("disk", 5, Draw(per_job=1)),))
    assert asked(system=system) == ([0, 10, 20, 30], STARTS)


@tries(40)
@given(workload=uniform_workloads())
def test_a_plan_that_is_kept_is_the_one_that_would_be_made(workload: Any) -> None:
    """Where run times are known, the list plan in order of arrival is the same until a job comes.

    Each job has its earliest start beside those before it, and nothing comes free unforeseen.
    """
    starts = [
        {
            number: job.start_time
            for number, job in replay(
                workload.system, planner(keeps=keeps), workload.jobs
            ).jobs.items()
        }
        for keeps in (False, True)
    ]
    assert starts[0] == starts[1]


@tries(30)
@given(workload=mixed_workloads())
def test_decisions_of_kept_plans_can_be_carried_out(workload: Any) -> None:
    """Unlike jobs on unlike nodes, wrong predictions: all complete."""
    predictor = Told(workload.predictions)
    recorder = replay(workload.system, planner(), workload.jobs, predictor=predictor)
    audit_replay(list(recorder.jobs.values()), list(workload.jobs), workload.system)
    assert len(recorder.jobs) == len(workload.jobs)
