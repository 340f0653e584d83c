"""Outages in the engine: schedules worked out by hand, and what dispatchers are shown."""

from fractions import Fraction

import pytest

from hpcsched.dispatching.decision import Decision, Start
from hpcsched.errors import DecisionError
from hpcsched.simulation.latency import Latency
from hpcsched.simulation.observer import Observer
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.space import NodeAllocation
from hpcsched.testing import audit_replay
from hpcsched.workload.site_partitions import Partition, Partitions
from tests.builders import Spy, alike, easy, lists, per_user, replay, traced

SYSTEM = alike(2, core=1)


def out(*outages, requeue=True):
    """Return outages, by start."""
    return Outages(tuple(sorted(outages)), requeue)


class Lost(Observer):
    """Keeps the attempts that were lost, and the reasons that speak of outages."""

    def __init__(self):
        self.all = []
        self.reasons = []

    @property
    def attempts(self):
        """Job, start, end, nodes, and whether it was requeued, of each."""
        return [(job.job_id, start, end, a.nodes, again) for job, start, end, a, again in self.all]

    def job_interrupted(self, interruption):
        """Keep it."""
        self.all.append(interruption)

    def reasons_given(self, record, reasons):
        """Keep them, with the time of the round."""
        self.reasons += [(record.now, r.job_id, r.detail) for r in reasons if r.kind == "outage"]


def audited(dispatcher, jobs, outages, observers=(), **more):
    """Replay jobs, audit the replay, and return the recorder and the attempts that were lost."""
    lost = Lost()
    recorder = replay(SYSTEM, dispatcher, jobs, [lost, *observers], outages=outages, **more)
    records = list(recorder.jobs.values())
    audit_replay(records, jobs, SYSTEM, outages=outages, interruptions=lost.all)
    return recorder, lost


def test_a_window_by_hand():
    """Both nodes are serviced from 20 to 30; job 3 would run into that, and starts after it.

    Job 1 has node 0 from 0 to 12, job 2 node 1 from 0 to 20: it ends as the window begins. Job 3
    came at 1 and asks for 10 s: at 12 it would end at 22, so it waits until 30. Job 4 came at 2,
    asks for 8 s, and passes it: it has node 0 from 12 to 20. Job 5 needs both nodes for 1 s, and
    starts at 30 beside nobody; job 3 follows it, which came before it, on both? No: job 3 has one
    node at 30, and job 5 both at 40.
    """
    jobs = [
        traced(1, 0, 1, 12),
        traced(2, 0, 1, 20),
        traced(3, 1, 1, 10),
        traced(4, 2, 1, 8),
        traced(5, 15, 2, 1),
    ]
    window = out(Outage(20, 30, (0, 1), "maintenance", "weekly"))
    for dispatcher in (easy(), lists(), lists(option="greedy")):
        recorder, lost = audited(dispatcher, jobs, window)
        assert recorder.start_times == {1: 0, 2: 0, 3: 30, 4: 12, 5: 40}
        assert not lost.attempts
        assert lost.reasons[0] == (12, 3, "maintenance weekly")


def test_a_failure_by_hand():
    """Node 0 fails at 5 and is back at 8; what ran there is run again, and keeps its place.

    Job 1 has both nodes from 0, and loses 5 s of them. Job 2 came at 1 and has node 1 from 5 to 9.
    Job 1 starts again at 9, when both are free, and runs its 10 s in full; job 3, of 3 s, came at
    6, and there is no room beside job 2 on node 1 before 8. At 8 node 0 is back; EASY reserves both
    nodes for job 1 at 9, so that job 3 waits until 19.
    """
    jobs = [traced(1, 0, 2, 10), traced(2, 1, 1, 4), traced(3, 6, 1, 3)]
    recorder, lost = audited(easy(), jobs, out(Outage(5, 8, (0,), "failure")))
    assert recorder.start_times == {1: 9, 2: 5, 3: 19}
    assert lost.attempts == [(1, 0, 5, (0, 1), True)]
    record = recorder.jobs[1]
    assert (record.state, record.end_time, record.requeues, record.lost_time) == (
        "completed",
        19,
        1,
        5,
    )
    assert record.job.submit_time == 0
    # At 5 job 1 waits for its two units again, at 6 job 3 for one beside them.
    assert [(r.now, r.waiting_amounts) for r in recorder.rounds[1:4]] == [
        (1, (1,)),
        (5, (2,)),
        (6, (3,)),
    ]
    assert [reason for reason in lost.reasons if reason[1] == 1] == [
        (5, 1, "failure"),
        (6, 1, "failure"),
    ]


def test_jobs_go_back_to_their_places():
    """Jobs 4, 3, 2 and 1 come in this order at 0, and job 5 at 1; 3 and 1 need both nodes.

    4 has node 0 until 2, and 5 has it then; 2 has node 1 from the beginning. At 3 both nodes fail.
    2 and 5 go back not behind those that wait, nor by their numbers or their starts, but to where
    they came. At 4 there is room for 3; at 5 for 2 and, as 1 has none, for 5.
    """
    jobs = [
        traced(4, 0, 1, 2),
        traced(3, 0, 2, 1),
        traced(2, 0, 1, 9),
        traced(1, 0, 2, 1),
        traced(5, 1, 1, 9),
    ]
    queues = []

    def look(problem, _decision):
        queues.append((problem.now, [waiting.job_id for waiting in problem.queue]))

    recorder, lost = audited(
        Spy(lists(option="greedy"), look), jobs, out(Outage(3, 4, (0, 1), "failure"))
    )
    assert queues[:4] == [
        (0, [4, 3, 2, 1]), (1, [3, 1, 5]), (2, [3, 1, 5]), (4, [3, 2, 1, 5])
    ]  # fmt: skip
    assert [job for job, *_ in lost.attempts] == [2, 5]
    assert recorder.start_times == {1: 14, 2: 5, 3: 4, 4: 0, 5: 5}


def test_without_requeueing():
    """A job that loses its node leaves at once, as failed."""
    jobs = [traced(1, 0, 1, 10), traced(2, 0, 2, 3)]
    outages = out(Outage(5, 8, (0,), "failure"), requeue=False)
    recorder, lost = audited(easy(), jobs, outages)
    record = recorder.jobs[1]
    assert (record.state, record.start_time, record.end_time) == ("failed", 0, 5)
    assert (record.requeues, record.lost_time) == (0, 0)
    assert lost.attempts == [(1, 0, 5, (0,), False)]
    assert recorder.start_times == {1: 0, 2: 8}


def test_a_job_that_outlives_its_prediction_is_lost_to_a_window():
    """A dispatcher cannot know better than the predictor: the job is caught, and run again."""
    jobs = [traced(1, 0, 1, 10, requested_time=4)]
    window = out(Outage(6, 7, (0, 1), "maintenance"))

    class Believes:
        """Predicts the requested time."""

        def predict(self, job):
            """Return it."""
            return job.requested_time

        def observe(self, job, run_time):
            """Learn nothing; of a lost attempt there is nothing to learn."""
            assert run_time == 10

    recorder, lost = audited(easy(), jobs, window, predictor=Believes())
    assert recorder.start_times == {1: 7}
    assert lost.attempts == [(1, 0, 6, (0,), True)]


def test_an_end_as_the_window_begins_is_an_end():
    """A job that ends at the very second completes; one that would begin then does not."""
    jobs = [traced(1, 0, 2, 6), traced(2, 0, 1, 1)]
    recorder, lost = audited(easy(), jobs, out(Outage(6, 9, (0, 1), "reservation", "course")))
    assert recorder.start_times == {1: 0, 2: 9}
    assert recorder.jobs[1].state == "completed"
    assert not lost.attempts


def test_overlapping_outages():
    """A node is back when the last of them is over, and is closed for as long."""
    outages = out(
        Outage(2, 6, (0,), "failure"),
        Outage(4, 9, (0,), "failure"),
        Outage(9, 11, (0,), "maintenance"),
    )
    jobs = [traced(1, 0, 1, 2), traced(2, 1, 2, 5), traced(3, 3, 1, 5)]
    recorder, _ = audited(easy(), jobs, outages)
    assert recorder.start_times == {1: 0, 2: 11, 3: 3}
    assert {record.now for record in recorder.rounds} >= {4, 6, 9, 11}
    down = [r.free_amounts[0] for r in recorder.rounds if r.now in (8, 9)]
    assert down == [1, 1]


def test_what_dispatchers_are_shown():
    """Nodes that are down are not free; requests are for nodes that are open, jobs as submitted."""
    shown = []

    def look(problem, _):
        for job in problem.queue:
            assert job.job.allowed_nodes is None
            allowed = job.request.allowed_nodes
            nodes = None if allowed is None else sorted(allowed)
            shown.append((problem.now, job.job_id, nodes, problem.availability[:, 0].tolist()))

    jobs = [traced(1, 0, 1, 10), traced(2, 3, 1, 3), traced(3, 4, 1, 3)]
    outages = out(Outage(4, 5, (1,), "failure"), Outage(5, 6, (1,), "maintenance"))
    recorder, _ = audited(Spy(easy(), look), jobs, outages)
    assert shown == [(0, 1, [0], [1, 1]), (3, 2, [0], [0, 1]), (4, 2, [0], [0, 0]),
                     (4, 3, [0], [0, 0]), (5, 2, [0], [0, 0]), (5, 3, [0], [0, 0]),
                     (6, 2, None, [0, 1]), (6, 3, None, [0, 1]), (9, 3, None, [0, 1])]  # fmt: skip
    assert recorder.start_times == {1: 0, 2: 6, 3: 9}


def test_a_job_bound_to_nodes_is_shown_on_those_of_them_that_are_open():
    """Node 0 is out of service until 5. Job 1 may use nodes 0 and 1, and job 2 node 0 alone."""
    shown, submitted = [], {}

    def look(problem, _):
        shown.extend((problem.now, job.job_id, job.request.allowed_nodes) for job in problem.queue)
        submitted.update({job.job_id: job.job for job in problem.queue})

    jobs = [
        traced(1, 0, 1, 9, allowed_nodes=frozenset({0, 1})),
        traced(2, 0, 1, 9, allowed_nodes=frozenset({0})),
    ]
    outages = out(Outage(0, 5, (0,), "failure"))
    recorder = replay(alike(3, core=1), Spy(easy(), look), jobs, outages=outages)
    assert shown == [(0, 1, {1}), (5, 2, {0})]
    assert submitted == {job.job_id: job for job, _ in jobs}
    assert recorder.start_times == {1: 0, 2: 5}
    assert recorder.jobs[1].allocation.nodes == (1,)


class Stubborn:
    """Starts jobs where it was told, on one node each."""

    def __init__(self, where):
        self._where = where

    def dispatch(self, problem):
        """Start all that wait."""
        return Decision(
            tuple(
                Start(job.job_id, NodeAllocation((self._where[job.job_id],), (1,)))
                for job in problem.queue
            )
        )


@pytest.mark.parametrize(
    ("outage", "message"),
    [
        (Outage(0, 4, (1,), "failure"), "round 1: job 1: node node-1 is out of service"),
        (
            Outage(4, 5, (1,), "maintenance"),
            "round 1: job 1: node node-1 goes out of service at 4, and the job is predicted to end"
            " at 5",
        ),
    ],
)
def test_a_decision_is_checked(outage, message):
    """A job is not started where a node is down or about to be."""
    with pytest.raises(DecisionError, match=message):
        replay(SYSTEM, Stubborn({1: 1}), [traced(1, 0, 1, 5)], outages=out(outage))


def test_a_late_decision_is_carried_out_as_far_as_it_can_be():
    """A node that fails, or is too soon to be serviced, while the decision is awaited is not used.

    Rounds take 3 s. Asked for at 0, job 1 was to start on node 0, which fails at 2: it waits, and
    the next round starts it on node 1 at 6.
    """
    where = {1: 0, 2: 1}

    class Moves(Stubborn):
        """Tries node 0 first, then node 1."""

        def dispatch(self, problem):
            """Start all that wait."""
            decision = super().dispatch(problem)
            where[1] = 1
            return decision

    latency = Latency(base=Fraction(3))
    outages = out(Outage(2, 90, (0,), "failure"), Outage(30, 31, (1,), "maintenance"))
    recorder, _ = audited(Moves(where), [traced(1, 0, 1, 5)], outages, latency=latency)
    assert recorder.start_times == {1: 6}
    assert [(r.now, r.latency, r.started) for r in recorder.rounds] == [(0, 3, 0), (3, 3, 1)]


def test_an_outage_while_nothing_is_there():
    """Outages before the first job, and after the last, change nothing and end no later."""
    outages = out(Outage(0, 3, (0, 1), "failure"), Outage(50, 60, (0, 1), "failure"))
    recorder, _ = audited(easy(), [traced(1, 5, 2, 2)], outages)
    assert recorder.start_times == {1: 5}
    assert [record.now for record in recorder.rounds] == [5]


def test_a_reason_names_three_outages_and_counts_the_others():
    """Five outages keep job 1 waiting for two nodes: the three that began first are named."""
    outages = [Outage(0, 9, (0,), "maintenance", name) for name in "abcde"]
    _, lost = audited(easy(), [traced(1, 0, 2, 1)], out(*outages))
    named = "maintenance a, maintenance b, maintenance c"
    assert lost.reasons == [(0, 1, f"{named} and 2 more")]
    _, lost = audited(easy(), [traced(1, 0, 2, 1)], out(*outages[:4]))
    assert lost.reasons == [(0, 1, f"{named} and 1 more")]
    _, lost = audited(easy(), [traced(1, 0, 2, 1)], out(*outages[:3]))
    assert lost.reasons == [(0, 1, named)]


def test_a_reason_names_what_begins_before_the_predicted_end():
    """Job 1 needs both nodes for 10 s; what begins at second 10 is not in its way at 0.

    At 6, when node 0 is back, node 1 would go before 16: the job starts at 12.
    """
    first = Outage(4, 6, (0,), "maintenance", "first")
    later = Outage(10, 12, (1,), "maintenance", "later")
    recorder, lost = audited(easy(), [traced(1, 0, 2, 10)], out(first, later))
    assert recorder.start_times == {1: 12}
    assert lost.reasons[0] == (0, 1, "maintenance first")
    assert lost.reasons[-1] == (10, 1, "maintenance later")


def test_a_late_start_may_end_as_a_window_begins():
    """Rounds take 3 s: job 1, asked for at 0, starts at 3 and ends at 8, as both nodes go.

    Were it longer, the round of 8 would find it waiting for 9, and that of 11 start it at 14.
    """
    window = out(Outage(8, 9, (0, 1), "maintenance"))
    late = Latency(base=Fraction(3))
    recorder, _ = audited(easy(), [traced(1, 0, 1, 5)], window, latency=late)
    assert recorder.start_times == {1: 3}
    recorder, _ = audited(easy(), [traced(1, 0, 1, 6)], window, latency=late)
    assert recorder.start_times == {1: 14}


def test_a_job_that_is_refused_where_nodes_fail():
    """It was never in the queue, and has no place there to be forgotten."""
    short = Partitions((Partition("short", max_time=5),))
    failure = out(Outage(2, 3, (0,), "failure"))
    jobs = [traced(1, 0, 1, 6), traced(2, 0, 2, 5)]
    recorder, lost = audited(easy(), jobs, failure, partitions=short)
    assert recorder.start_times == {1: None, 2: 3}
    assert lost.attempts == [(2, 0, 2, (0, 1), True)]


def test_dispatchers_are_told_of_announced_outages_until_they_are_over():
    """Of the one that ends at 8 until then, of a failure never."""
    window = Outage(6, 8, (0, 1), "maintenance")
    told = []
    spy = Spy(easy(), lambda problem, _: told.append((problem.now, problem.outages)))
    jobs = [traced(1, 0, 1, 1), traced(2, 5, 1, 3), traced(3, 7, 1, 1)]
    recorder, _ = audited(spy, jobs, out(window, Outage(1, 2, (1,), "failure")))
    assert recorder.start_times == {1: 0, 2: 8, 3: 8}
    assert told == [(now, (window,)) for now in (0, 5, 6, 7)] + [(8, ())]


def test_a_job_kept_by_an_outage_takes_nothing_of_what_its_user_may_run():
    """Job 1 needs both nodes, of which one is down until 5; job 2 of the same user has the other.

    It runs until 7, so that job 1 starts then.
    """
    one = Partitions((Partition("one", limits=per_user(jobs=1)),))
    failure = out(Outage(0, 5, (0,), "failure"))
    jobs = [traced(1, 0, 2, 1, user=7), traced(2, 0, 1, 7, user=7)]
    recorder, _ = audited(easy(), jobs, failure, partitions=one)
    assert recorder.start_times == {1: 7, 2: 0}
