"""What dispatchers promise is kept wherever predictions allow it."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.decision import STARTS
from hpcsched.simulation.latency import Latency
from hpcsched.simulation.observer import Observer
from tests.builders import Spy, Told, easy, replay
from tests.dispatching.rules.making import MAKERS, PLACERS, conservative, relaxed, slack
from tests.dispatching.rules.naive import NaiveConservative
from tests.properties import brute_force
from tests.properties.contention import contended
from tests.properties.test_easy_and_its_head_job import Round
from tests.strategies import mixed_workloads, tries, uniform_workloads


class FirstTold(Observer):
    """Keeps when each job was to start by the first reason that it was given."""

    def __init__(self):
        self.times = {}

    def reasons_given(self, record, reasons):
        """Keep what is said of new jobs."""
        for reason in reasons:
            time = record.now if reason.kind in STARTS else reason.time
            self.times.setdefault(reason.job_id, time)


def start_times(dispatcher, workload, request=None, observers=(), **more):
    """Return the start times of an audited replay."""
    recorder = replay(
        workload.system,
        dispatcher,
        workload.jobs,
        observers,
        predictor=Told(workload.predictions),
        uniform_request=request,
        **more,
    )
    assert brute_force.audit(workload.system, workload.jobs, recorder.jobs) == []
    return recorder.start_times


def promised_and_done(dispatcher, workload, request):
    """Return the first promise, the start time and the submit time of each job."""
    told = FirstTold()
    starts = start_times(dispatcher, workload, request, (told,))
    submitted = {traced.job.job_id: traced.job.submit_time for traced in workload.jobs}
    return [(told.times[name], starts[name], submitted[name]) for name in starts]


ACCURATE = pytest.mark.parametrize("predictions", ["exact", "over"])
ALLOCATOR = pytest.mark.parametrize("allocator", PLACERS)


def drawn(data, predictions):
    """Draw a workload, and its unit request if slots are to be counted."""
    if data.draw(st.booleans()):
        return data.draw(mixed_workloads(predictions)), None
    workload = data.draw(uniform_workloads(predictions))
    return workload, data.draw(st.sampled_from([workload.request, None]))


@ACCURATE
@ALLOCATOR
@pytest.mark.parametrize("compression", ["arrival", "reservation"])
@tries(25)
@given(data=st.data())
def test_conservative_keeps_its_promises(compression, allocator, predictions, data):
    """Where no job outlives its prediction, none starts later than it was first told."""
    workload, request = drawn(data, predictions)
    for promise, start, _ in promised_and_done(
        conservative(compression, allocator), workload, request
    ):
        assert start <= promise


@ACCURATE
@ALLOCATOR
@tries(40)
@given(data=st.data())
def test_slack_is_not_exceeded(allocator, predictions, data):
    """Where no job outlives its prediction, none starts past its promise and its slack."""
    workload, request = drawn(data, predictions)
    share, least = data.draw(st.sampled_from([(0.0, 0), (0.5, 0), (0.0, 2), (1.5, 1)]))
    told = Promises(slack(share, least, allocator))
    starts = start_times(told, workload, request)
    for traced in workload.jobs:
        name, submit_time = traced.job.job_id, traced.job.submit_time
        promise = told.promises[name]
        assert starts[name] <= promise + least + int(share * (promise - submit_time))


class Promises:
    """Passes on to a dispatcher with reservations and keeps what it first promises each job."""

    def __init__(self, dispatcher):
        self._dispatcher = dispatcher
        self.promises = {}

    def dispatch(self, problem):
        """Return the other's decision."""
        decision = self._dispatcher.dispatch(problem)
        started = {start.job_id for start in decision.starts}
        for job in problem.queue:
            name = job.job_id
            if name not in self.promises:
                promised = self._dispatcher.carried.promised.get(name)
                self.promises[name] = problem.now if name in started else promised
        return decision


@ALLOCATOR
@tries(40)
@given(data=st.data())
def test_a_head_job_is_delayed_by_its_relaxation_at_most(allocator, data):
    """Where predictions are exact, it starts by its first shadow time and what ω allows."""
    workload = data.draw(mixed_workloads("exact", tiny=True))
    relaxation = data.draw(st.sampled_from([0.0, 0.5, 1.0, 3.0]))
    foreseen = {}

    def look(problem, decision):
        after = Round(problem, decision)
        if after.head is not None:
            foreseen.setdefault(after.head.job_id, after.shadow_time)

    starts = start_times(Spy(relaxed(relaxation, allocator), look), workload)
    for traced in workload.jobs:
        name, submit_time = traced.job.job_id, traced.job.submit_time
        if name in foreseen:
            wait = foreseen[name] - submit_time
            assert starts[name] <= foreseen[name] + int(relaxation * wait)


@pytest.mark.parametrize("allocator", ["first-fit", "best-fit", "keep-scarce"])
@tries(40)
@given(data=st.data())
def test_relaxed_by_nothing_is_easy(allocator, data):
    """With a relaxation of 0 all jobs start as under EASY, however wrong predictions are."""
    workload, request = drawn(data, "wrong")
    expected = start_times(easy(allocator), workload, request)
    assert start_times(relaxed(0.0, allocator), workload, request) == expected


@pytest.mark.parametrize("aggregated", [True, False], ids=["slots", "nodes"])
@pytest.mark.parametrize("compression", ["arrival", "reservation"])
@pytest.mark.parametrize("predictions", ["exact", "over", "wrong"])
@tries(30)
@given(data=st.data())
def test_conservative_against_brute_force(predictions, compression, aggregated, data):
    """All jobs start when a naive scheduler has them start, whatever the predictions."""
    workload = data.draw(uniform_workloads(predictions))
    check_brute_force(workload, compression, aggregated)


@pytest.mark.parametrize("compression", ["arrival", "reservation"])
@pytest.mark.parametrize("exact", [True, False])
def test_conservative_where_much_waits(exact, compression):
    """On long queues it agrees with brute force too."""
    for workload in contended(seed=5, count=15, exact=exact):
        check_brute_force(workload, compression, aggregated=True)


def check_brute_force(workload, compression, aggregated):
    """Compare the start times of whole replays."""
    request = workload.request if aggregated else None
    found = start_times(conservative(compression), workload, request)
    naive = NaiveConservative(compression)
    expected = brute_force.replay(naive, workload.jobs, workload.predictions, workload.slots)
    assert found == expected


@pytest.mark.parametrize("name", [n for n in MAKERS if "list" not in n])
@tries(15)
@given(data=st.data())
def test_decisions_that_take_time(name, data):
    """Rounds that are charged seconds start jobs late, and nothing comes of it but delay."""
    workload, request = drawn(data, "wrong")
    latency = Latency(Fraction(data.draw(st.sampled_from(["0.5", "1", "3"]))))
    start_times(MAKERS[name](), workload, request, latency=latency)
