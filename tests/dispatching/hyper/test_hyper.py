"""The dispatcher that tunes itself: what it replays, what it moves to, and when."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import given

from hpcsched.dispatching.dispatcher import Dispatcher
from hpcsched.dispatching.history import FollowsJobs
from hpcsched.dispatching.hyper.dispatcher import Hyper, Member, Portfolio
from hpcsched.dispatching.hyper.params import HyperParams
from hpcsched.dispatching.hyper.rehearsal import Rehearsal
from hpcsched.dispatching.objective import Objective
from hpcsched.dispatching.objectives import WaitTime
from hpcsched.dispatching.rules.easy import Easy
from hpcsched.dispatching.rules.orders import KeyOrder, shortest_job
from hpcsched.prediction.corrections import OneSecond
from hpcsched.prediction.requested_time import RequestedTime
from hpcsched.simulation.rehearsal import Rehearsals
from hpcsched.system.system import IntArray, System
from hpcsched.testing import audit_replay
from hpcsched.workload.job import TracedJob
from hpcsched.workload.partitions import NO_PARTITIONS, Partitions
from tests.builders import ALLOCATORS, alike, replay, traced
from tests.strategies import mixed_workloads, tries

ORDERS: dict[str, tuple[Any, ...]] = {"easy": (), "sjf": (KeyOrder(shortest_job),)}


@dataclass(frozen=True)
class Chosen:
    """A member of a portfolio, by name."""

    plugin_name: str


@dataclass
class Assembled:
    """What replays of the past need of an assembly."""

    system: System
    objective: Objective = field(default_factory=WaitTime)
    partitions: Partitions = NO_PARTITIONS
    correction: OneSecond = field(default_factory=OneSecond)
    followers: list[FollowsJobs] = field(default_factory=list)

    def make(self, _kind: str, choice: Any) -> Dispatcher:
        """Return EASY, in one of two orders."""
        return Easy(ALLOCATORS["first_fit"], *ORDERS[choice.plugin_name])


class Scripted:
    """In place of replays: under the member `good` jobs start at once, under others 100 s later."""

    def __init__(self, good: str, quick: Sequence[str] = ()) -> None:
        self.good, self.quick = good, quick
        self.asked: list[tuple[str, int]] = []

    def is_compiled(self, choice: Any) -> bool:
        """Say so of those that were given."""
        return choice.plugin_name in self.quick

    def starts(self, choice: Any, jobs: Sequence[TracedJob]) -> IntArray:
        """Return the starts; keep who was asked about how many jobs."""
        self.asked.append((choice.plugin_name, len(jobs)))
        late = 0 if choice.plugin_name == self.good else 100
        return np.array([job.submit_time + late for job, _ in jobs])


def hyper(
    system: System, *, rehearsal: Rehearsal | None = None, **more: Any
) -> tuple[Hyper, Assembled]:
    """Return the dispatcher with EASY by arrival, which is the first, and by run time."""
    context = Assembled(system)
    members = [
        Member(Chosen(name), name, context.make("dispatcher", Chosen(name))) for name in ORDERS
    ]
    if_exact = more.pop("if_exact", 0)
    told = {"least_jobs": 3, "window": 4, "budget": 1e6, "hysteresis": 0.05, **more}
    rehearsal = rehearsal or Rehearsals(context)
    return Hyper(
        Portfolio(members, 0, if_exact), rehearsal, context.objective, HyperParams(**told)
    ), context


def moves(rounds: Any) -> list[tuple[int, str, str]]:
    """Return when, to what and why was moved."""
    return [(one.now, one.chosen, one.because) for one in rounds if one.chosen is not None]


def test_a_move_by_hand() -> None:
    """On one processor, where the long job 2 is ahead of the short job 3.

    At 2 three jobs are there, which have all waited as long under either rule. At 50 there is a
    fourth. Starts by arrival: 0, 10, and 110 and 120, which count as 50; so waits are 0, 9, 48, 0:
    57 / 4 = 14.25 on average. By run time: 0, 20 for job 2, 10 for job 3, and 120, which counts as
    50; waits 0, 19, 8, 0: 27 / 4 = 6.75. That is less than 95 % of 14.25, and so the shortest job,
    the fourth, is the first to start when job 2 ends.
    """
    system = alike(1, core=1)
    jobs = [traced(1, 0, 1, 10), traced(2, 1, 1, 100), traced(3, 2, 1, 10), traced(4, 50, 1, 5)]
    dispatcher, _ = hyper(system)
    recorder = replay(system, dispatcher, jobs, followers=[dispatcher])
    assert recorder.start_times == {1: 0, 2: 10, 3: 115, 4: 110}
    assert moves(recorder.rounds) == [
        (0, "easy", "it is the one to begin with"),
        (50, "sjf", "6.75 against 14.25 of easy over 4 jobs"),
    ]


def test_a_gain_that_is_not_enough() -> None:
    """With a hysteresis of 0.6 the 6.75 s of the other rule would have to be under 5.7 s."""
    jobs = [traced(1, 0, 1, 10), traced(2, 1, 1, 100), traced(3, 2, 1, 10), traced(4, 50, 1, 5)]
    dispatcher, _ = hyper(alike(1, core=1), hysteresis=0.6)
    recorder = replay(alike(1, core=1), dispatcher, jobs, followers=[dispatcher])
    assert recorder.start_times == {1: 0, 2: 10, 3: 110, 4: 120}
    assert len(moves(recorder.rounds)) == 1


def test_what_is_replayed_of_the_past() -> None:
    """A window begins with what ran and what waited when the first of its jobs was submitted.

    At 50 the window has jobs 3 and 4. When job 3 was submitted, at 2, job 1 ran, which has 8 s left
    then, and job 2 waited, which runs for 100 s. Job 4 is predicted to run for 5 s.
    """
    jobs = [traced(1, 0, 1, 10), traced(2, 1, 1, 100), traced(3, 2, 1, 10), traced(4, 50, 1, 5)]
    dispatcher, context = hyper(alike(1, core=1), window=2)
    rehearsals, seen = Rehearsals(context), []

    class Watched:
        is_compiled = rehearsals.is_compiled

        def starts(self, choice: Any, jobs: Sequence[TracedJob]) -> IntArray:
            seen.append([(job.job_id, job.submit_time, run_time) for job, run_time in jobs])
            return rehearsals.starts(choice, jobs)

    dispatcher, _ = hyper(alike(1, core=1), window=2, rehearsal=Watched())
    replay(alike(1, core=1), dispatcher, jobs, followers=[dispatcher])
    assert seen[-1] == [(1, 2, 8), (2, 2, 100), (3, 2, 10), (4, 50, 5)]


def test_members_that_are_asked_in_python() -> None:
    """They are replayed when the short budget has been saved up: 1,000 jobs at 400 a round."""
    rehearsal = Scripted("sjf", quick=["easy"])
    dispatcher, _ = hyper(
        alike(1, core=1), rehearsal=rehearsal, short_budget=400, short_window=2, least_jobs=1
    )
    jobs = [traced(k, 10 * k, 1, 100) for k in range(1, 6)]
    recorder = replay(alike(1, core=1), dispatcher, jobs, followers=[dispatcher])
    # In the third round, at 30, both rules have jobs 2 and 3 to replay, and job 1 before them.
    # Job 2 has waited for 10 s and job 3 for none where starts are late: a mean of 5 s.
    assert ("sjf", 3) in rehearsal.asked
    assert moves(recorder.rounds)[1] == (30, "sjf", "0 against 5 of easy over 2 jobs")
    # After that `sjf` is not replayed: what it came to itself is compared.
    assert [asked for asked in rehearsal.asked if asked[0] == "sjf"] == [("sjf", 3)]


def test_what_really_came_of_a_member() -> None:
    """One that is asked in Python is left when its real starts were later than replayed ones.

    Jobs come every 10 s, run for 100 s and start by arrival. When the fourth comes, at 40, job 1
    has started at 10 and the others wait, for 20, 10 and 0 s: 7.5 s on average, against 0.
    """
    rehearsal = Scripted("sjf", quick=["sjf"])
    dispatcher, _ = hyper(alike(1, core=1), rehearsal=rehearsal, short_budget=0, least_jobs=4)
    jobs = [traced(k, 10 * k, 1, 100) for k in range(1, 6)]
    recorder = replay(alike(1, core=1), dispatcher, jobs, followers=[dispatcher])
    assert moves(recorder.rounds)[1] == (40, "sjf", "0 against 7.5 of easy over 4 jobs")


def test_a_budget_is_saved_up() -> None:
    """At 300 jobs a round a replay, which counts as 1,000, is due in every fourth round."""
    rehearsal = Scripted("easy", quick=["easy", "sjf"])
    dispatcher, _ = hyper(alike(1, core=1), rehearsal=rehearsal, budget=300, least_jobs=1)
    jobs = [traced(k, k, 1, 1000) for k in range(1, 9)]
    replay(alike(1, core=1), dispatcher, jobs[:4], followers=[dispatcher])
    # A round a job, and one for each of the three that wait when another ends: 7 rounds, 2,100.
    assert [name for name, _ in rehearsal.asked] == ["easy", "sjf"]


def test_exact_predictions() -> None:
    """After 64 ends the member for exact predictions takes over, if nine in ten were exact.

    Jobs run one after the other, so that the 64th ends when the 65th is submitted, at 640.
    """
    system = alike(1, core=1)
    for inexact, expected in ((6, ["easy", "sjf"]), (7, ["easy"])):
        jobs = [
            traced(k, 10 * k, 1, 10, requested_time=20 if k < inexact else 10) for k in range(70)
        ]
        dispatcher, _ = hyper(system, if_exact=1, least_jobs=1000)
        told = {"followers": [dispatcher], "predictor": RequestedTime()}
        rounds = replay(system, dispatcher, jobs, **told).rounds
        assert [chosen for _, chosen, _ in moves(rounds)] == expected
        if len(expected) > 1:
            assert moves(rounds)[1] == (640, "sjf", "58 of 64 predictions were exact")


@tries(15)
@given(workload=mixed_workloads())
def test_schedules_are_valid(workload: Any) -> None:
    """Whatever is moved to, each schedule holds the rules, and comes out the same again."""
    system, jobs = workload.system, workload.jobs
    results = []
    for _ in range(2):
        dispatcher, _ = hyper(system, least_jobs=1, hysteresis=0, window=5)
        recorder = replay(system, dispatcher, jobs, followers=[dispatcher])
        audit_replay(list(recorder.jobs.values()), jobs, system)
        results.append((recorder.start_times, moves(recorder.rounds)))
    assert results[0] == results[1]
