"""The dispatcher that tunes itself: what it replays, what it moves to, and when."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.hyper.hyper_dispatcher import (
    Hyper,
    Member,
    Past,
    PastJobs,
    Rehearsal,
)
from hpcsched.dispatching.hyper.params import HyperParams
from hpcsched.dispatching.objectives import WaitTime
from hpcsched.dispatching.problem import Dispatcher, DispatchingProblem, JobEventObserver, Objective
from hpcsched.dispatching.rules.orders import KEYS, KeyOrder
from hpcsched.prediction.predictor import OneSecond
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.simulation.rehearsal import Rehearsals
from hpcsched.system.system import IntArray, System
from hpcsched.testing import audit_replay
from hpcsched.workload.job_batches import JobColumns
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partitions
from tests.builders import ALLOCATORS, alike, easy_rule, replay, traced
from tests.strategies import mixed_workloads, tries

ORDERS: dict[str, tuple[Any, ...]] = {"easy": (), "sjf": (KeyOrder(KEYS["sjf"]),)}


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
    followers: list[JobEventObserver] = field(default_factory=list)

    def make(self, _kind: str, choice: Any) -> Dispatcher:
        """Return EASY, in one of two orders."""
        return easy_rule(ALLOCATORS["first-fit"], *ORDERS[choice.plugin_name])


class Scripted:
    """In place of replays: under the member `good` jobs start at once, under others 100 s later.

    With `late_with` jobs it is 100 s under all.
    """

    def __init__(self, good: str, quick: Sequence[str] = (), late_with: int = 0) -> None:
        self.good, self.quick, self.late_with = good, quick, late_with
        self.asked: list[tuple[str, int]] = []

    def is_compiled(self, choice: Any) -> bool:
        """Say so of those that were given."""
        return choice.plugin_name in self.quick

    def starts(self, choice: Any, jobs: JobColumns) -> IntArray:
        """Return the starts; keep who was asked about how many jobs."""
        self.asked.append((choice.plugin_name, len(jobs.job_id)))
        good = choice.plugin_name == self.good and len(jobs.job_id) != self.late_with
        return jobs.submit_time + (0 if good else 100)


class Watched:
    """EASY, with what is known of the past at an instant."""

    def __init__(self, past: Past, at: int) -> None:
        self._past, self._at = past, at
        self._easy = easy_rule(ALLOCATORS["first-fit"])
        self.known: PastJobs | None = None
        self.job_started, self.job_ended = past.started, past.ended

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Decide as EASY does."""
        self._past.see(problem)
        if problem.now == self._at:
            self.known = self._past.jobs(problem.now)
        return self._easy.dispatch(problem)


def hyper(
    system: System, *, rehearsal: Rehearsal | None = None, **more: Any
) -> tuple[Hyper, Assembled]:
    """Return the dispatcher with EASY by arrival, which is the first, and by run time."""
    context = Assembled(system)
    members = [
        Member(Chosen(name), name, context.make("dispatcher", Chosen(name))) for name in ORDERS
    ]
    if_inexact = more.pop("if_inexact", 0)
    told = {"least_jobs": 3, "budget": 1e6, "hysteresis": 0.1, **more}
    rehearsal = rehearsal or Rehearsals(context)
    params = HyperParams(**told)
    made = Hyper(members, rehearsal, context.objective, params, first=0, if_inexact=if_inexact)
    return made, context


def moves(rounds: Any) -> list[tuple[int, str, str]]:
    """Return when, to what and why was moved."""
    return [(one.now, one.chosen, one.because) for one in rounds if one.chosen is not None]


def test_a_move_by_hand() -> None:
    """On one processor, where the long job 2 is ahead of the short job 3.

    At 2 three jobs are there, which have all waited as long under either rule. At 50 there is a
    fourth, and 4 is at least 1.25 times 3. Starts by arrival: 0, 10, and 110 and 120, which count
    as 50; so waits are 0, 9, 48, 0: 57 / 4 = 14.25 on average. By run time: 0, 20 for job 2, 10 for
    job 3, and 120, which counts as 50; waits 0, 19, 8, 0: 27 / 4 = 6.75. With a hysteresis of 0.1
    it has to be lower by 0.1 / √4 = 5 %, and is, so the shortest job, the fourth, is the first to
    start when job 2 ends.
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
    """With a hysteresis of 1.2, 0.6 for 4 jobs, 6.75 s would have to be under 5.7 s."""
    jobs = [traced(1, 0, 1, 10), traced(2, 1, 1, 100), traced(3, 2, 1, 10), traced(4, 50, 1, 5)]
    dispatcher, _ = hyper(alike(1, core=1), hysteresis=1.2)
    recorder = replay(alike(1, core=1), dispatcher, jobs, followers=[dispatcher])
    assert recorder.start_times == {1: 0, 2: 10, 3: 110, 4: 120}
    assert len(moves(recorder.rounds)) == 1


def test_what_is_known_of_the_past() -> None:
    """At 115 job 1 has ended, which ran for 8 s, job 2 has started, and jobs 3 and 4 wait.

    Job 2 was predicted to run for 100 s and has run for 107, so it runs for one more. The predicted
    run time of each stands as requested time.
    """
    past, jobs = Past(), [traced(1, 0, 1, 8, requested_time=10)]
    jobs.append(traced(2, 1, 1, 150, requested_time=100))
    jobs.append(traced(3, 2, 1, 10, requested_time=20))
    jobs.append(traced(4, 50, 1, 5, requested_time=30))
    jobs.append(traced(5, 115, 1, 5, requested_time=40))
    system = alike(1, core=1)
    followed = Watched(past, at=115)
    replay(
        system,
        followed,
        jobs,
        followers=[followed],
        predictor=RequestedTime(),
    )
    known = followed.known
    assert known is not None
    assert known.columns.submit_time.tolist() == [0, 1, 2, 50, 115]
    assert known.columns.run_time.tolist() == [8, 108, 20, 30, 40]
    assert known.columns.requested_time.tolist() == [10, 100, 20, 30, 40]
    assert known.starts.tolist() == [0, 8, 115, 115, 115]
    assert (past.ends, past.exact) == (5, 0)


def test_members_that_are_asked_in_python() -> None:
    """A job of theirs counts as 100, and a replay as 1,000 at least: it takes two rounds of 500.

    At 20 there are two jobs. The replay under `easy` is paid for then, that under `sjf` at 40, both
    as of 20: job 1 has waited for 10 s where starts are late, and job 2 for none.
    """
    rehearsal = Scripted("sjf", quick=["easy"])
    dispatcher, _ = hyper(
        alike(1, core=1), rehearsal=rehearsal, budget=500, hysteresis=0, least_jobs=2
    )
    jobs = [traced(k, 10 * k, 1, 100) for k in range(1, 6)]
    recorder = replay(alike(1, core=1), dispatcher, jobs, followers=[dispatcher])
    assert moves(recorder.rounds)[1] == (40, "sjf", "0 against 5 of easy over 2 jobs")
    # After that `sjf` is not replayed: what really came of it is compared.
    assert rehearsal.asked == [("easy", 2), ("sjf", 2), ("easy", 5)]


def test_what_really_came_of_a_member() -> None:
    """One that is asked in Python is left when its real starts were later, three times in a row.

    Jobs come every 10 s, run for 100 s and start by arrival. The past is replayed when it has 4, 5
    and 7 jobs. When the seventh comes, at 70, job 1 has started at 10 and the others wait, for 50,
    40, 30, 20, 10 and 0 s: 150 / 7 = 21.429 s on average, against 0. At 40 and 50 it was 30 / 4 and
    60 / 5 s, against 0.
    """
    rehearsal = Scripted("sjf", quick=["sjf"])
    dispatcher, _ = hyper(alike(1, core=1), rehearsal=rehearsal, least_jobs=4)
    jobs = [traced(k, 10 * k, 1, 100) for k in range(1, 9)]
    recorder = replay(alike(1, core=1), dispatcher, jobs, followers=[dispatcher])
    assert rehearsal.asked[:3] == [("sjf", 4), ("sjf", 5), ("sjf", 7)]
    assert moves(recorder.rounds)[1] == (70, "sjf", "0 against 21.429 of easy over 7 jobs")


def test_a_lead_that_is_lost() -> None:
    """One that is asked in Python stays if it is ahead again before it was behind three times.

    As above, but with 5 jobs the other would have started them 100 s late. So the three times are
    those with 7, 9 and 12 jobs, the last at 120, when job 2 has started at 110: waits of 90 s, and
    of 90 + 80 + … + 10 = 450 s; 540 / 12 = 45 s on average.
    """
    rehearsal = Scripted("sjf", quick=["sjf"], late_with=5)
    dispatcher, _ = hyper(alike(1, core=1), rehearsal=rehearsal, least_jobs=4)
    jobs = [traced(k, 10 * k, 1, 100) for k in range(1, 13)]
    recorder = replay(alike(1, core=1), dispatcher, jobs, followers=[dispatcher])
    assert moves(recorder.rounds)[1] == (120, "sjf", "0 against 45 of easy over 12 jobs")


def test_a_budget_is_saved_up() -> None:
    """At 300 jobs a round a replay, which counts as 1,000, is due in every fourth round."""
    rehearsal = Scripted("easy", quick=["easy", "sjf"])
    dispatcher, _ = hyper(alike(1, core=1), rehearsal=rehearsal, budget=300, least_jobs=1)
    jobs = [traced(k, k, 1, 1000) for k in range(1, 9)]
    replay(alike(1, core=1), dispatcher, jobs[:4], followers=[dispatcher])
    # A round a job, and one for each of the three that wait when another ends: 7 rounds, 2,100.
    assert [name for name, _ in rehearsal.asked] == ["easy", "sjf"]


def test_the_past_grows_by_a_quarter() -> None:
    """Replays are of 4, 5, 7, 9, 12 and 15 jobs: at least 1.25 times as many as before."""
    rehearsal = Scripted("easy", quick=["easy", "sjf"])
    dispatcher, _ = hyper(alike(1, core=1), rehearsal=rehearsal, least_jobs=4)
    jobs = [traced(k, 10 * k, 1, 5) for k in range(1, 17)]
    replay(alike(1, core=1), dispatcher, jobs, followers=[dispatcher])
    assert [count for name, count in rehearsal.asked if name == "sjf"] == [4, 5, 7, 9, 12, 15]


def test_inexact_predictions() -> None:
    """After 64 ends the member for inexact predictions takes over, if under nine in ten were exact.

    Jobs run one after the other, so that the 64th ends when the 65th is submitted, at 640.
    """
    system = alike(1, core=1)
    for inexact, expected in ((6, ["easy"]), (7, ["easy", "sjf"])):
        jobs = [
            traced(k, 10 * k, 1, 10, requested_time=20 if k < inexact else 10) for k in range(70)
        ]
        dispatcher, _ = hyper(system, if_inexact=1, least_jobs=1000)
        told = {"followers": [dispatcher], "predictor": RequestedTime()}
        rounds = replay(system, dispatcher, jobs, **told).rounds
        assert [chosen for _, chosen, _ in moves(rounds)] == expected
        if len(expected) > 1:
            assert moves(rounds)[1] == (640, "sjf", "57 of 64 predictions were exact")


@tries(15)
@given(workload=mixed_workloads())
def test_schedules_are_valid(workload: Any) -> None:
    """Whatever is moved to, each schedule holds the rules, and comes out the same again."""
    system, jobs = workload.system, workload.jobs
    results = []
    for _ in range(2):
        dispatcher, _ = hyper(system, least_jobs=1, hysteresis=0)
        recorder = replay(system, dispatcher, jobs, followers=[dispatcher])
        audit_replay(list(recorder.jobs.values()), jobs, system)
        results.append((recorder.start_times, moves(recorder.rounds)))
    assert results[0] == results[1]
