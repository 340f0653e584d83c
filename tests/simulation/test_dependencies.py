"""Jobs that wait for others to end: schedules worked out by hand, and that nothing is broken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.decision import Decision, Start
from hpcsched.dispatching.rules.recorded import Reject
from hpcsched.errors import DecisionError, PluginError
from hpcsched.simulation.observer import Observer
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.space import NodeAllocation
from hpcsched.testing import audit_replay
from hpcsched.workload.site_partitions import Partition, Partitions
from tests.builders import Spy, alike, easy, lists, per_user, replay, traced
from tests.strategies import tries, uniform_workloads

SYSTEM = alike(2, core=1)


class RejectFirst:
    """Rejects job 1 before anything else, and passes the rest on."""

    def dispatch(self, problem):
        """Reject it if it is there."""
        if any(job.job_id == 1 for job in problem.queue):
            return Decision(rejected=(1,))
        return easy().dispatch(problem)


class Why(Observer):
    """Keeps the reasons of each round."""

    def __init__(self):
        self.reasons = []

    def reasons_given(self, record, reasons):
        """Keep them, with the time of the round."""
        self.reasons += [(record.now, *reason) for reason in reasons if reason.job_id == 2]


def test_think_time_by_hand():
    """Job 2 may start 7 s after job 1 ended, and job 4 is not kept waiting by it.

    Job 1 runs from 0 to 10 on one node, job 3 from 3 to 18 on the other. Job 2 is released at 17,
    an instant at which nothing else happens, and finds a node free. Job 4 came after job 2 and
    starts when job 1 ends. Job 5 waits for jobs 2 and 4.
    """
    jobs = [
        traced(1, 0, 1, 10),
        traced(2, 1, 1, 5, after=(1,), think_time=7),
        traced(3, 3, 1, 15),
        traced(4, 4, 1, 6),
        traced(5, 5, 2, 1, after=(4, 2)),
    ]
    why = Why()
    shown = []
    spy = Spy(easy(), lambda problem, _: shown.append((problem.now, [j[0] for j in problem.queue])))
    recorder = replay(SYSTEM, spy, jobs, [why], dependencies=True)
    assert recorder.start_times == {1: 0, 2: 17, 3: 3, 4: 10, 5: 22}
    assert shown == [(0, [1]), (3, [3]), (4, [4]), (5, [4]), (10, [4]), (17, [2]), (22, [5])]
    audit_replay(list(recorder.jobs.values()), jobs, SYSTEM)
    assert next(reason[:2] + reason[2:4] for reason in why.reasons) == (1, 2, "dependency", 1)
    assert why.reasons[-2][2:] == ("dependency", 1, None, "think time, until second 17")
    assert why.reasons[-1][2] == "in_order"


def test_no_think_time_is_the_instant_of_the_end():
    """Without a think time the job can have the very node that the other gives back."""
    jobs = [traced(1, 0, 2, 10), traced(2, 0, 2, 5, after=(1,))]
    assert replay(SYSTEM, easy(), jobs, dependencies=True).start_times == {1: 0, 2: 10}


def test_a_think_time_counts_from_an_end_before_the_submission():
    """What was left of the think time at submission is waited for."""
    jobs = [traced(1, 0, 1, 10), traced(2, 13, 1, 5, after=(1,), think_time=8)]
    assert replay(SYSTEM, easy(), jobs, dependencies=True).start_times == {1: 0, 2: 18}


@pytest.mark.parametrize("after", [(9,), (2,), (3,)])
def test_what_was_not_submitted_before_is_not_waited_for(after):
    """A job of an unknown number, itself, and one that comes later hold nobody back."""
    jobs = [traced(2, 0, 1, 5, after=after, think_time=100), traced(3, 1, 1, 1)]
    recorder = replay(SYSTEM, easy(), jobs, dependencies=True)
    assert recorder.start_times == {2: 0, 3: 1}
    audit_replay(list(recorder.jobs.values()), jobs, SYSTEM)


def test_a_rejected_job_releases_in_the_same_instant():
    """Rejected by a partition, by a dispatcher: whatever waits for it goes on."""
    jobs = [traced(1, 0, 1, 10), traced(2, 0, 1, 5, after=(1,))]
    assert replay(SYSTEM, RejectFirst(), jobs, dependencies=True).start_times == {1: None, 2: 0}
    short = Partitions((Partition("short", max_time=8),))
    recorder = replay(SYSTEM, easy(), jobs, partitions=short, dependencies=True)
    assert recorder.start_times == {1: None, 2: 0}
    rejected = replay(SYSTEM, Reject(), jobs, dependencies=True)
    assert {record.state for record in rejected.jobs.values()} == {"rejected"}


@pytest.mark.parametrize("with_outage", [False, True])
def test_a_rejected_job_leaves_its_place_within_a_limit(with_outage):
    """Jobs 1 and 2 are of one user, who may run one: 2 is let in as 1 is rejected, at once."""
    jobs = [traced(1, 0, 1, 10, user=1), traced(2, 0, 1, 5, user=1)]
    one_each = Partitions((Partition("all", limits=per_user(jobs=1)),))
    outages = Outages((Outage(0, 9, (1,), "failure"),) if with_outage else ())
    recorder = replay(
        SYSTEM, RejectFirst(), jobs, partitions=one_each, dependencies=True, outages=outages
    )
    assert recorder.start_times == {1: None, 2: 0}


def test_a_job_that_a_limit_holds_back_has_no_rounds_of_its_own():
    """Job 2 is of the same user as job 1, who may run one: nothing happens before 1 ends."""
    jobs = [traced(1, 0, 1, 10, user=1), traced(2, 0, 1, 5, user=1)]
    one_each = Partitions((Partition("all", limits=per_user(jobs=1)),))
    recorder = replay(SYSTEM, easy(), jobs, partitions=one_each, dependencies=True)
    assert [record.now for record in recorder.rounds] == [0, 10]


def test_a_held_job_takes_nothing_of_what_its_user_may_run():
    """A job that waits for another does not stand in the way of the user's other jobs."""
    jobs = [
        traced(1, 0, 1, 10, user=1),
        traced(2, 0, 1, 5, user=2, after=(1,)),
        traced(3, 0, 1, 5, user=2),
    ]
    one_each = Partitions((Partition("all", limits=per_user(jobs=1)),))
    recorder = replay(SYSTEM, easy(), jobs, partitions=one_each, dependencies=True)
    assert recorder.start_times == {1: 0, 2: 10, 3: 0}


def test_a_held_job_cannot_be_started():
    """A dispatcher that starts a job that it was not shown is at fault."""

    class Eager:
        """Starts jobs 1 and 2."""

        def dispatch(self, problem):
            """Start both, in any case."""
            return Decision(tuple(Start(k, NodeAllocation((k - 1,), (1,))) for k in (1, 2)))

    jobs = [traced(1, 0, 1, 10), traced(2, 0, 1, 5, after=(1,))]
    with pytest.raises(DecisionError, match="round 1: job 2 is held back until others have ended"):
        replay(SYSTEM, Eager(), jobs, dependencies=True)


def test_a_job_that_is_not_there_is_not_held():
    """Whatever conditions there are, it is told as what it is."""
    jobs = [traced(1, 0, 1, 10)]
    one_each = Partitions((Partition("all", limits=per_user(jobs=1)),))
    outages = Outages((Outage(0, 9, (1,), "failure"),))

    class Unknown:
        """Starts job 9."""

        def dispatch(self, problem):
            """Start it."""
            return Decision((Start(9, NodeAllocation((0,), (1,))),))

    with pytest.raises(DecisionError, match="round 1: job 9 is not waiting, or was decided on"):
        replay(SYSTEM, Unknown(), jobs, partitions=one_each, dependencies=True, outages=outages)


def test_a_source_has_to_say_so():
    """Jobs that wait for others are not taken for jobs that do not."""
    with pytest.raises(PluginError, match="jobs wait for others to end, and the source"):
        replay(SYSTEM, easy(), [traced(1, 0, 1, 1), traced(2, 0, 1, 1, after=(1,))])


@tries(60)
@given(data=st.data(), workload=uniform_workloads())
def test_nobody_starts_too_early(data, workload):
    """Whatever waits for whatever, each job runs once, and not before it may."""
    ids = [traced.job.job_id for traced in workload.jobs]
    jobs = [
        item._replace(
            job=item.job._replace(
                after=tuple(data.draw(st.lists(st.sampled_from(ids), max_size=2, unique=True))),
                think_time=data.draw(st.sampled_from([0, 0, 1, 5])),
            )
        )
        for item in workload.jobs
    ]
    for dispatcher in (easy(), lists(), lists("sjf", "strict")):
        recorder = replay(workload.system, dispatcher, jobs, dependencies=True)
        audit_replay(list(recorder.jobs.values()), jobs, workload.system)
