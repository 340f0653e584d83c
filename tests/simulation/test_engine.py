"""The engine: the order of events, what predictors and observers are told, and what is kept."""

import numpy as np
import pytest

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.rules.recorded import Reject
from hpcsched.errors import DecisionError, HpcschedError, PluginError
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.simulation.event_loop import AHEAD, EventLoop, simulate
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import JobRecord
from hpcsched.system.outages import Outage, Outages
from hpcsched.workload.job import Job, TracedJob
from tests.builders import alike, easy, lists, parts, replay, traced

SYSTEM = alike(2, core=1)
FORMS = pytest.mark.parametrize("uniform_request", [(1,), None], ids=["aggregated", "node level"])


@FORMS
def test_order_of_events(uniform_request):
    """At an instant: ends, then submissions, then the round, whose starts are told before it."""
    jobs = (traced(1, 0, 2, 3), traced(2, 1, 1, 2), traced(3, 3, 1, 2), traced(4, 3, 1, 1))
    recorder = replay(SYSTEM, easy(), jobs, uniform_request=uniform_request)
    assert recorder.events == [
        ("submitted", 1), ("started", 1), ("round", 0),
        ("submitted", 2), ("round", 1),
        ("completed", 1), ("submitted", 3), ("submitted", 4),
        ("started", 2), ("started", 3), ("round", 3),
        ("completed", 2), ("completed", 3), ("started", 4), ("round", 5),
        ("completed", 4),
    ]  # fmt: skip


@FORMS
def test_round_records(uniform_request):
    """A round counts jobs before and after it, and what they ask for and what is free after it."""
    jobs = (traced(1, 0, 1, 3), traced(2, 1, 2, 2), traced(3, 1, 1, 1))
    rounds = replay(SYSTEM, easy(), jobs, uniform_request=uniform_request).rounds
    told = [
        (*record[:5], record.waiting, record.waiting_amounts, record.free_amounts)
        for record in rounds
    ]
    assert told == [
        (1, 0, 1, 0, 1, 0, (0,), (1,)),
        (2, 1, 2, 1, 1, 1, (2,), (0,)),
        (3, 2, 1, 1, 0, 1, (2,), (1,)),
        (4, 3, 1, 0, 1, 0, (0,), (0,)),
    ]
    assert all(record.decision_time >= 0 and not record.fallback for record in rounds)


def test_job_records():
    """A record keeps the job, its demand and prediction, and when and where it ran."""
    job = traced(1, 2, 2, 5, requested_time=9)
    record = replay(SYSTEM, easy(), (job,), predictor=RequestedTime()).jobs[1]
    assert record.job == job.job
    assert (record.demand, record.predicted_run_time, record.state) == (2, 9, "completed")
    assert (record.start_time, record.end_time) == (2, 7)
    assert (record.allocation.nodes, record.allocation.units) == ((0, 1), (1, 1))
    # What may be left out of a record says that nothing rejected the job, and that none was lost.
    assert JobRecord(*record[:7], backfilled=False) == record


@FORMS
def test_rejected_jobs(uniform_request):
    """A rejected job leaves a record without times or nodes, and takes no room."""
    recorder = replay(
        SYSTEM, Reject(), (traced(1, 0, 1, 3), traced(2, 4, 9, 3)), uniform_request=uniform_request
    )
    assert [(r.state, r.start_time, r.end_time, r.allocation) for r in recorder.jobs.values()] == [
        ("rejected", None, None, None)
    ] * 2
    assert [(r.rejected, r.waiting, r.waiting_amounts) for r in recorder.rounds] == [
        (1, 0, (0,))
    ] * 2


def test_no_jobs():
    """A trace without jobs has no rounds."""
    assert replay(SYSTEM, easy(), ()).rounds == []


def test_waiting_and_running_after_an_error():
    """The counts of jobs in the system hold after an interruption too."""

    def interrupted():
        yield from (traced(1, 0, 1, 10), traced(2, 1, 2, 10), traced(3, 2, 2, 10))
        raise KeyboardInterrupt

    simulation = EventLoop(parts(SYSTEM, easy()), places=False, in_python=True)
    with pytest.raises(KeyboardInterrupt):
        simulation.replay(interrupted())
    assert (simulation.state.waiting, simulation.state.running) == (2, 1)


class Wrong:
    """A predictor that says what it is made with."""

    def __init__(self, predicted):
        self._predicted = predicted

    def predict(self, job):
        """Return it."""
        return self._predicted

    def observe(self, job, run_time):
        """Learn nothing."""


@pytest.mark.parametrize("predicted", [3.0, 2.5, float("nan"), None, "3", True, np.int64(3)])
def test_prediction_that_is_no_whole_number(predicted):
    """A prediction must be an int: anything else is an error that names predictor and job."""
    with pytest.raises(PluginError, match=r"predictor Wrong, job 7: .*whole number") as caught:
        replay(SYSTEM, easy(), (traced(7, 0, 1, 3),), predictor=Wrong(predicted))
    assert repr(predicted) in str(caught.value)


@pytest.mark.parametrize("predicted", [0, -5])
def test_prediction_below_a_second(predicted):
    """A prediction counts as one second at least."""
    recorder = replay(SYSTEM, easy(), (traced(1, 0, 1, 3),), predictor=Wrong(predicted))
    assert recorder.jobs[1].predicted_run_time == 1


class Diary:
    """A predictor that notes what it is asked and told."""

    def __init__(self):
        self.notes = []

    def predict(self, job):
        """Note the question."""
        self.notes.append(("asked", job.job_id))
        return 1

    def observe(self, job, run_time):
        """Note the answer."""
        self.notes.append(("told", job.job_id, run_time))


def test_what_a_predictor_is_told():
    """A predictor hears of the ends of an instant before it is asked of that instant's jobs."""
    diary = Diary()
    jobs = (traced(1, 0, 1, 4), traced(2, 4, 1, 6, requested_time=5))
    replay(SYSTEM, easy(), jobs, predictor=diary, kill_at_requested_time=True)
    assert diary.notes == [("asked", 1), ("told", 1, 4), ("asked", 2), ("told", 2, 5)]


def test_observers_hear_only_what_they_ask_for():
    """An observer that overrides one method hears of that event alone, each time."""

    class Ends(Observer):
        def __init__(self):
            self.ended = []

        def job_ended(self, record):
            self.ended.append(record.job.job_id)

    ends = Ends()
    jobs = (traced(1, 0, 1, 5), traced(2, 0, 1, 3), traced(3, 1, 2, 1))
    replay(SYSTEM, easy(), jobs, observers=[ends])
    assert ends.ended == [2, 1, 3]


def test_followers_are_told_of_each_attempt():
    """Job 1 runs from 0, loses its nodes at 2, and runs from 4 to 10; each hears in its turn.

    Followers hear of a start before observers do, and of an end before the job leaves.
    """
    told = []

    class Follows:
        def job_started(self, job):
            told.append(("follower", "started", job.job_id, job.start_time))

        def job_ended(self, job, end_time):
            told.append(("follower", "ended", job.job_id, end_time))

    class Observes(Observer):
        def job_started(self, job):
            told.append(("observer", "started", job.job_id, job.start_time))

        def job_ended(self, record):
            told.append(("observer", "ended", record.job.job_id, record.end_time))

    replay(
        SYSTEM,
        easy(),
        [traced(1, 0, 2, 6)],
        [Observes()],
        followers=[Follows()],
        outages=Outages((Outage(2, 4, (0, 1), "failure"),), True),
    )
    assert told == [
        ("follower", "started", 1, 0), ("observer", "started", 1, 0), ("follower", "ended", 1, 2),
        ("follower", "started", 1, 4), ("observer", "started", 1, 4), ("follower", "ended", 1, 10),
        ("observer", "ended", 1, 10),
    ]  # fmt: skip


def test_fallback_is_passed_on():
    """A decision's word that a simpler rule made it is in the round's record."""

    class Simpler:
        def dispatch(self, problem):
            return Decision(easy().dispatch(problem).starts, fallback=True)

    assert [r.fallback for r in replay(SYSTEM, Simpler(), (traced(1, 0, 1, 5),)).rounds] == [True]


class CountedJob(Job):
    """A job that counts how many of its kind are in memory."""

    alive = 0

    def __new__(cls, job):
        """Return a copy of a job."""
        CountedJob.alive += 1
        return super().__new__(cls, *job)

    def __del__(self):
        CountedJob.alive -= 1


@FORMS
@pytest.mark.parametrize("dispatcher", [easy(), lists("sjf")], ids=["easy", "sjf"])
def test_jobs_leave_memory_when_they_are_done(dispatcher, uniform_request):
    """No more jobs are in memory than wait and run, but for those that are read ahead."""
    most = 0

    def stream():
        nonlocal most
        for number in range(500):
            units = 1 + number % 2
            plain = traced(number, 3 * number, units, 1 + number * 7 % 4, requested_time=5).job
            most = max(most, CountedJob.alive - simulation.state.waiting - simulation.state.running)
            yield TracedJob(CountedJob(plain), 1 + number * 7 % 4)

    simulation = EventLoop(
        parts(SYSTEM, dispatcher, predictor=RequestedTime(), uniform_request=uniform_request),
        places=False,
        in_python=True,
    )
    simulation.replay(stream())
    assert most <= AHEAD + 3
    assert CountedJob.alive == 0


def test_a_job_that_never_fits_ends_the_run():
    """A job larger than the system is never started, which is told when all else is over."""
    with pytest.raises(DecisionError, match="job 1"):
        replay(SYSTEM, lists("fcfs", "greedy"), (traced(1, 0, 3, 1), traced(2, 0, 1, 1)))


class Failing:
    """A predictor that fails when it is asked, or when a job has ended."""

    def __init__(self, method):
        self._method = method

    def predict(self, job):
        """Fail, or predict a second."""
        if self._method == "predict":
            raise KeyError("lost")
        return 1

    def observe(self, job, run_time):
        """Fail, or do nothing."""
        if self._method == "observe":
            raise KeyError("lost")


@pytest.mark.parametrize("method", ["predict", "observe"])
def test_predictor_that_fails(method):
    """The error names the predictor, the job and what it raised."""
    with pytest.raises(PluginError, match=r"predictor Failing, job 7: raised KeyError: 'lost'"):
        replay(SYSTEM, easy(), (traced(7, 0, 1, 3),), predictor=Failing(method))
    with pytest.raises(PluginError, match=r"predictor lucky, job 7: raised KeyError: 'lost'"):
        replay(
            SYSTEM,
            easy(),
            (traced(7, 0, 1, 3),),
            predictor=Failing(method),
            predictor_name="lucky",
        )


BROKEN_TRACES = {
    "submitted before its predecessor": (traced(1, 5, 1, 3), traced(2, 3, 1, 3)),
    "same number as a waiting job": (traced(9, 0, 2, 9), traced(1, 1, 1, 3), traced(1, 2, 1, 4)),
}


@pytest.mark.parametrize("jobs", BROKEN_TRACES.values(), ids=BROKEN_TRACES)
def test_a_trace_that_breaks_its_word_is_an_error(jobs):
    """A source that lets time run backwards, or uses a number twice, loses no job in silence."""
    with pytest.raises(HpcschedError, match="trace source: "):
        simulate(parts(SYSTEM, easy()), jobs)
