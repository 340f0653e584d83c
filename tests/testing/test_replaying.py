"""A few jobs are replayed without a scenario: starts and ends by hand."""

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.recorded import Reject
from hpcsched.prediction.predictor import ToRequestedTime
from hpcsched.system.outages import Outage, Outages
from hpcsched.testing import make_jobs, make_system, replay, start_times
from tests.builders import Recorder, Spy, Told, easy

FOUR = make_system(4)
# Of three cores until 100; of all four for 50 s; of one for 60 s, which is backfilled at 20.
JOBS = make_jobs(
    FOUR,
    """
    job_id  submit_time  units  run_time  requested_time
    1       0            3      100       100
    2       10           4      50        50
    3       20           1      60        60
    """,
)
TOO_SHORT = {1: 10, 2: 50, 3: 60}
"""Predictions, of which that of job 1 has run out at 20."""


def ends(records) -> list[tuple[int, int | None, str]]:
    """Return job, end and state of each record, as they are."""
    return [(record.job.job_id, record.end_time, record.state) for record in records]


def test_records_come_as_jobs_leave() -> None:
    """Starts are listed by job."""
    records = replay(easy(), JOBS, FOUR)
    assert ends(records) == [(3, 80, "completed"), (1, 100, "completed"), (2, 150, "completed")]
    assert list(start_times(records).items()) == [(1, 0), (2, 100), (3, 20)]


def test_jobs_that_never_start() -> None:
    """A rejected job has no start."""
    assert start_times(replay(Reject(), JOBS, FOUR)) == {1: None, 2: None, 3: None}


def test_predictions_and_corrections() -> None:
    """At 20, job 1 ends in a second by default, and 3 would delay job 2; corrected, at 100."""
    in_a_second = replay(easy(), JOBS, FOUR, Told(TOO_SHORT))
    assert start_times(in_a_second) == {1: 0, 2: 100, 3: 150}
    as_asked = replay(easy(), JOBS, FOUR, Told(TOO_SHORT), correction=ToRequestedTime())
    assert start_times(as_asked) == {1: 0, 2: 100, 3: 20}


def test_requested_times_are_limits_if_they_are_to_be() -> None:
    """A job of 100 s that asked for 30 runs on, or is ended."""
    jobs = make_jobs(FOUR, "job_id submit_time run_time requested_time\n1 0 100 30")
    assert ends(replay(easy(), jobs, FOUR)) == [(1, 100, "completed")]
    killed = replay(easy(), jobs, FOUR, kill_at_requested_time=True)
    assert ends(killed) == [(1, 30, "killed")]


def test_outages() -> None:
    """Job 2 needs all nodes, of which one is out of service from 50 to 170."""
    outages = Outages((Outage(50, 170, (0,), "maintenance"),))
    records = replay(easy(), JOBS[1:], FOUR, outages=outages)
    assert start_times(records) == {2: 170, 3: 20}


def test_slots_or_nodes() -> None:
    """Dispatchers are shown slots where that is asked for, with the same starts."""
    shown: list[bool] = []

    def look(problem: DispatchingProblem, _decision: Decision) -> None:
        shown.append(problem.free_units is not None)

    for aggregated in (False, True):
        records = replay(Spy(easy(), look), JOBS, FOUR, aggregated=aggregated)
        assert start_times(records) == {1: 0, 2: 100, 3: 20}
        assert set(shown) == {aggregated}
        shown.clear()


def test_observers_are_told() -> None:
    """They hear of all starts, ends and rounds, besides the records."""
    recorder = Recorder()
    records = replay(easy(), JOBS, FOUR, observers=[recorder])
    assert recorder.start_times == start_times(records)
    assert [record.now for record in recorder.rounds] == [0, 10, 20, 80, 100]


class Counts:
    """EASY that counts starts, and keeps ends."""

    def __init__(self) -> None:
        self.started = 0
        self.ends: list[tuple[int, int]] = []

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return what EASY says."""
        return easy().dispatch(problem)

    def job_started(self, job) -> None:
        """Count it."""
        self.started += 1

    def job_ended(self, job, end_time: int) -> None:
        """Keep it."""
        self.ends.append((job.job_id, end_time))


def test_followers_are_told() -> None:
    """The dispatcher, and what it is made of, hear of starts and ends; other objects do not."""
    dispatcher, part = Counts(), Counts()
    replay(dispatcher, JOBS, FOUR, followers=[part, object()])
    assert dispatcher.started == part.started == 3
    assert dispatcher.ends == part.ends == [(3, 80), (1, 100), (2, 150)]
