"""Shared resources in the engine: what it refuses, what it puts off, and when it holds a round."""

import re
from fractions import Fraction
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given

from hpcsched.dispatching.decision import Decision, Start
from hpcsched.errors import DecisionError, PluginError
from hpcsched.simulation.check import SharedResourceAccounts
from hpcsched.simulation.latency import Latency
from hpcsched.simulation.observer import Observer, givers_among
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, System
from tests.builders import Spy, Told, easy, lists, replay, traced
from tests.shared_resource_workloads import audited, shared_resource_workloads
from tests.strategies import tries

NODES = (NodeGroup("node", 4, {"core": 2}),)


def system(*shared_resources):
    """Return four nodes of two cores, with shared resources."""
    return System(NODES, {}, shared_resources)


def power(capacity, *changes, every=None, **draw):
    """Return a shared resource from which a core draws 10 W, or by another model."""
    model = Draw(**draw) if draw else Draw({"core": 10})
    return SharedResource(
        "power", capacity, model, tuple(Change(*change) for change in changes), every
    )


class Eager:
    """Starts every job at once on the nodes of its number, whatever is shared."""

    def dispatch(self, problem):
        """Start all that waits."""
        return Decision(
            tuple(
                Start(job.job_id, NodeAllocation((job.job_id,), (job.units,)))
                for job in problem.queue
            )
        )


class Waits:
    """Starts nothing."""

    def dispatch(self, _problem):
        """Let every job wait."""
        return Decision()


class Reasons(Observer):
    """Keeps the reasons of each round."""

    def __init__(self):
        self.given = []

    def reasons_given(self, record, reasons):
        """Keep them, with the time of the round."""
        self.given += [(record.now, r.job_id, r.kind, r.detail) for r in reasons]


def test_a_decision_that_overdraws_a_shared_resource():
    """The message names the dispatcher, the round, the job and the shared resource."""
    jobs = (traced(0, 0, 2, 5, (1,)), traced(1, 0, 2, 5, (1,)))
    message = "dispatcher tested, round 1: job 1, shared resource power: 20 would be drawn, 10 free"
    with pytest.raises(DecisionError, match=f"^{re.escape(message)}$"):
        replay(system(power(30)), Eager(), jobs)


def test_what_counts_is_which_nodes_are_on():
    """Two jobs on one node switch it on once, and so draw no more than there is."""
    jobs = (traced(0, 0, 1, 5, (1,)), traced(1, 0, 1, 5, (1,)))

    class OnOne:
        """Starts all on node 0."""

        def dispatch(self, problem):
            """Start all that waits."""
            where = NodeAllocation((0,), (1,))
            return Decision(tuple(Start(job.job_id, where) for job in problem.queue))

    resource = power(10, per_node=10)
    assert replay(system(resource), OnOne(), jobs).start_times == {0: 0, 1: 0}
    message = "job 1, shared resource power: 10 would be drawn, 0 free"
    with pytest.raises(DecisionError, match=message):
        replay(system(resource), Eager(), jobs)


class Placed:
    """Starts every job at once on one unit of the node that it was told."""

    def __init__(self, where):
        self._where = where

    def dispatch(self, problem):
        """Start all that waits."""
        return Decision(
            tuple(
                Start(job.job_id, NodeAllocation((self._where[job.job_id],), (1,)))
                for job in problem.queue
            )
        )


def test_a_node_draws_from_its_first_job_to_its_last():
    """Job 0 is on node 0 until 5 and job 1 until 10; so job 2 may switch on node 1 at 10 only."""
    resource = power(10, per_node=10)
    first = (traced(0, 0, 1, 5, (1,)), traced(1, 0, 1, 10, (1,)))
    for early in (5, 9):
        with pytest.raises(
            DecisionError, match="job 2, shared resource power: 10 would be drawn, 0 free"
        ):
            replay(
                system(resource), Placed({0: 0, 1: 0, 2: 1}), (*first, traced(2, early, 1, 1, (1,)))
            )
    jobs = (*first, traced(2, 10, 1, 1, (1,)))
    recorder = replay(system(resource), Placed({0: 0, 1: 0, 2: 1}), jobs)
    assert recorder.start_times == {0: 0, 1: 0, 2: 10}


def test_nodes_that_jobs_share_are_counted_once():
    """Job 0 is on nodes 0 and 1, job 1 on nodes 1, 2 and 3, at 10 a node: 20, then 40.

    Once job 0 has ended node 0 is off; once job 1 has, all are.
    """
    accounts = SharedResourceAccounts(system(power(99, per_node=10)))
    job = traced(0, 0, 2, 5).job
    first, second = NodeAllocation((0, 1), (1, 1)), NodeAllocation((1, 2, 3), (1, 1, 1))
    drawn = []
    for change in (accounts.started, accounts.ended):
        for allocation in (first, second):
            change(allocation, job)
            drawn += accounts.drawn
    assert drawn == [20, 40, 30, 0]


def test_each_change_has_its_round_while_something_runs():
    """Job 0 has all nodes until 100, job 1 waits from 1 on; every 10 s capacity changes.

    In each period of 20 s it offers the same, yet a dispatcher may decide otherwise as time goes.
    """
    jobs = (traced(0, 0, 8, 100, (1,)), traced(1, 1, 8, 5, (1,)))
    recorder = replay(system(power(80, (0, 80), (10, 90), every=20)), easy(), jobs)
    assert [record.now for record in recorder.rounds] == [0, 1, *range(10, 101, 10)]


def test_a_late_start_counts_nodes_that_are_on():
    """Rounds take 3 s. Jobs 0 and 1 are on node 0 from 3, to 5 and to 23, and it draws 10 until 23.

    Job 2 may only use node 1. Asked for at 6, its start is due at 9, when the cap has fallen to
    10: it is put off. Once node 0 is off, at 23, it is asked for again, and starts at 26.
    """
    jobs = (
        traced(0, 0, 1, 2, (1,)),
        traced(1, 0, 1, 20, (1,)),
        traced(2, 6, 1, 1, (1,), allowed_nodes=frozenset({1})),
    )
    resource = power(20, (7, 10), per_node=10)
    recorder = replay(system(resource), easy(), jobs, latency=Latency(Fraction(3)))
    assert recorder.start_times == {0: 3, 1: 3, 2: 26}


def test_a_late_start_counts_nodes_that_are_off_as_off():
    """Rounds take 3 s. Job 0 is on node 0 from 3 to 5, and nothing is drawn when it has ended.

    Job 1 would switch on node 1 for 10 at 9, when the cap has fallen to 5. It is asked for again at
    20, when there are 20 again, and starts at 23.
    """
    resource = power(20, (7, 5), (20, 20), per_node=10)
    jobs = (
        traced(0, 0, 1, 2, (1,)),
        traced(1, 6, 1, 1, (1,), allowed_nodes=frozenset({1})),
    )
    recorder = replay(system(resource), easy(), jobs, latency=Latency(Fraction(3)))
    assert recorder.start_times == {0: 3, 1: 23}


def test_an_end_in_the_instant_of_a_change():
    """There are 20 W from 9 to 11 of each 12 s. Job 0 starts at 9 and runs until 35 instead of 11.

    Job 1 needs both cores, which are free at 35, just when the power goes: it starts at 45.
    """
    both = System((NodeGroup("node", 1, {"core": 2}),), {}, (power(0, (9, 20), (11, 0), every=12),))
    jobs = (traced(0, 0, 1, 26), traced(1, 10, 2, 2))
    recorder = replay(both, easy(), jobs, predictor=Told({0: 2, 1: 2}))
    assert recorder.start_times == {0: 9, 1: 45}


def test_reasons_of_other_jobs_stand_where_a_start_is_put_off():
    """Of 20 W only 10 are left at 2, so job 0 is put off at 3; job 1 waits behind it as before."""
    why = Reasons()
    jobs = (traced(0, 0, 2, 1, (1,)), traced(1, 0, 2, 1, (1,)))
    recorder = replay(
        system(power(20, (2, 10), (9, 20))),
        easy(),
        jobs,
        [why],
        latency=Latency(Fraction(3), Fraction(0)),
    )
    late = "shared resource power: 20 would be drawn, 10 free since the decision was asked for"
    of_first = {job: (kind, detail) for now, job, kind, detail in why.given if now == 0}
    assert of_first[0] == ("limit", late)
    assert of_first[1][0] != "limit"
    assert recorder.start_times == {0: 12, 1: 16}


@pytest.mark.parametrize(
    ("resource", "run_time", "rejected"),
    [
        (power(20), 99, False),
        (power(19), 1, True),
        (power(99, (5, 20)), 99, False),
        # Only what is offered in the long run counts.
        (power(99, (5, 19)), 1, True),
        (power(0, (5, 20)), 99, False),
        (power(0, (5, 20), (15, 0), every=20), 10, False),
        (power(0, (5, 20), (15, 0), every=20), 11, True),
        (power(0, (5, 0), (15, 20), every=20), 10, False),
        (power(0, (5, 0), (15, 20), every=20), 11, True),
    ],
)
def test_jobs_that_can_never_run(resource, run_time, rejected):
    """They are refused at submission, with a reason of their own."""
    record = replay(system(resource), easy(), (traced(1, 0, 2, run_time, (1,)),)).jobs[1]
    assert record.rejected_by == ("over_shared_resource" if rejected else None)


def test_shared_resources_together():
    """Each offers enough by turns, and never both at the same time for long enough."""
    both = (
        power(0, (0, 20), (10, 0), every=20),
        SharedResource("licence", 0, Draw(per_job=1), (Change(6, 1),  Change(16, 0)), 20),
    )  # fmt: skip
    short, long = traced(1, 0, 2, 4, (1,)), traced(2, 0, 2, 5, (1,))
    recorder = replay(system(*both), easy(), (short, long))
    assert recorder.start_times == {1: 6, 2: None}
    assert recorder.jobs[2].rejected_by == "over_shared_resource"


def test_a_cap_that_falls_while_a_decision_is_awaited():
    """The start is put off, and its reason says so; the next round is held at once."""
    why = Reasons()
    told = easy()
    latency = Latency(Fraction(3), Fraction(0))
    recorder = replay(
        system(power(20, (2, 10), (9, 20))),
        told,
        (traced(0, 0, 2, 1, (1,)),),
        [why],
        latency=latency,
    )
    assert recorder.start_times == {0: 12}
    late = "shared resource power: 20 would be drawn, 10 free since the decision was asked for"
    assert (0, 0, "limit", late) in why.given
    assert recorder.rounds[0].started == 0
    assert recorder.rounds[1].now == 3


@pytest.mark.parametrize("every", [None, 20])
def test_a_dispatcher_that_starts_nothing(every):
    """It is found out once all offers have been seen, even if there is no end of them."""
    resource = power(20, (5, 30), every=every)
    with pytest.raises(DecisionError, match="1 jobs are left waiting: job 0"):
        replay(system(resource), Waits(), (traced(0, 0, 2, 1, (1,)),))


def test_a_decision_that_comes_in_time_in_a_later_period():
    """Rounds take 1, 1 and 2 seconds by turns, and the cap is lifted for 2 seconds in each 12.

    Of the rounds at 25, 27, 33 and 35, that at 33 takes 2 s, by which the cap is back. The round at
    45 takes 1 s, and both jobs start at 46.
    """
    resource = power(0, (9, 40), (11, 0), every=12)
    late = Latency(Fraction(4, 3), Fraction(0))
    jobs = (traced(0, 25, 1, 1), traced(1, 27, 1, 1))
    assert replay(system(resource), easy(), jobs, latency=late).start_times == {0: 46, 1: 46}


@pytest.mark.parametrize(
    ("resource", "latency", "run_time"),
    [
        # Asked for at 9, due at 11.
        (power(0, (9, 40), (11, 0), every=12), 2, 1),
        # Asked for at 8, when it offers too little, which is known at 11; 4 s are left until 15.
        (power(0, (8, 5), (9, 40), (15, 0), every=20), 3, 5),
    ],
)
def test_a_shared_resource_that_is_never_open_for_long_enough(resource, latency, run_time):
    """The job is named."""
    jobs = (traced(0, 0, 1, run_time, (1,)),)
    with pytest.raises(DecisionError, match="1 jobs are left waiting: job 0"):
        replay(system(resource), easy(), jobs, latency=Latency(Fraction(latency), Fraction(0)))


def test_what_a_problem_says_of_shared_resources():
    """What is free now and later, what queued jobs draw at most, and what comes free."""
    seen = []
    shared_resources = (
        power(50, (6, 30), per={"core": 10}, per_node=2),
        SharedResource("licence", 3, Draw(traced=True)),
    )
    job = traced(1, 1, 2, 4, (1,), shared_requests=(("licence", 2),))
    dispatcher = Spy(easy(), lambda problem, _: seen.append(problem))
    replay(system(*shared_resources), dispatcher, (traced(0, 0, 2, 5, (1,)), job))
    found = seen[1].shared_resources
    assert found.names == ("power", "licence")
    assert found.allocated.tolist() == [[22, 0]]
    assert found.free.tolist() == [28, 3]
    assert found.draws.tolist() == [[24, 2]]
    assert list(found.capacity_from_now()) == [(1, (50, 3)), (6, (30, 3))]
    with pytest.raises(ValueError, match="read-only"):
        found.free[0] = 1
    assert seen[0]._replace(system=System(NODES)).shared_resources is None


def test_slots_are_not_used_where_there_are_shared_resources():
    """A uniform request changes nothing, as slots know of no shared resources."""
    jobs = (traced(1, 0, 2, 5, (1,)), traced(2, 0, 2, 5, (1,)))
    assert replay(system(power(20)), easy(), jobs, uniform_request=(1,)).start_times == {1: 0, 2: 5}


def shortest_stretch(shared_resources):
    """Return the shortest time between changes of periodic shared resources."""
    again = [
        resource for resource in shared_resources if resource.every is not None and resource.changes
    ]
    if not again:
        return inf
    period = max(resource.every for resource in again)
    instants = {
        start + change.at
        for resource in again
        for start in range(0, period, resource.every)
        for change in resource.changes
    }
    ordered = sorted(instants)
    return min(b - a for a, b in pairwise([*ordered, ordered[0] + period]))


@tries(60)
@given(workload=shared_resource_workloads())
def test_a_latency_and_shared_resources(workload):
    """Nothing is overdrawn or lost where decisions come late.

    Where the shared resources change, again and again, sooner than a decision comes, every start
    may come too late; that jobs would wait for ever is said then.
    """
    latency, most = Latency(Fraction(3), Fraction(1, 2)), 3 + len(workload.jobs) / 2
    for dispatcher in (easy(), lists(option="greedy")):
        try:
            audited(dispatcher, workload, latency=latency)
        except DecisionError as error:
            assert "nothing runs and nothing more is submitted" in str(error)
            assert shortest_stretch(workload.system.shared_resources) < most


def test_late_starts_of_jobs_that_run_for_no_time():
    """Every start counts as something that happened, though no end has an instant of its own.

    One job fits below the cap at a time, and none in the first two seconds of each 24. Seven jobs
    take seven rounds, of 3 seconds and half a second for each that waits, which is more than 24.
    """
    resource = power(2, (0, 0), (2, 1), every=24, per_node=1)
    nodes = System((NodeGroup("node", 2, {"gpu": 1}),), {}, (resource,))
    jobs = tuple(traced(n, 0, 1, 0) for n in range(7))
    late = Latency(Fraction(3), Fraction(1, 2))
    starts = replay(nodes, easy(), jobs, latency=late).start_times
    assert sorted(starts) == list(range(7))
    assert max(starts.values()) > 24


class Counting(Observer):
    """Tells how many jobs were submitted and have ended."""

    def __init__(self):
        self.submitted = self.ended = 0

    def job_submitted(self, job):
        """Count it."""
        self.submitted += 1

    def job_ended(self, record):
        """Count it."""
        self.ended += 1

    def additional_data(self, now):
        """Return the counts."""
        return {"submitted": self.submitted, "ended": self.ended, "asked_at": now}


def test_additional_data():
    """Observers are asked before each round, after all events of its instant."""
    seen = []
    dispatcher = Spy(easy(), lambda problem, _: seen.append(problem.additional))
    counting = Counting()
    jobs = tuple(traced(k, k, 4, 5, (2,)) for k in range(2))
    replay(system(), dispatcher, jobs, [counting], givers={"counts": counting})
    assert [dict(data["counts"]) for data in seen] == [
        {"submitted": 1, "ended": 0, "asked_at": 0},
        {"submitted": 2, "ended": 0, "asked_at": 1},
        {"submitted": 2, "ended": 1, "asked_at": 5},
    ]
    with pytest.raises(TypeError):
        seen[0]["counts"]["ended"] = 3


def test_the_names_of_observers():
    """Those that tell something have their plugins' names; a second one of a name has a number."""
    first, second, other = Counting(), Counting(), Observer()
    names = ("a", "b", "a", "c")
    found = givers_among(names, (first, other, second, first))
    assert found == {"a": first, "a/2": second, "c": first}


@pytest.mark.parametrize("data", [None, [1], {1: 2}])
def test_additional_data_that_is_none(data):
    """The message names the observer."""

    class Odd:
        """Tells what is no data."""

        def additional_data(self, _now):
            """Return it."""
            return data

    with pytest.raises(PluginError, match="observer odd: expected a mapping of names"):
        replay(system(), easy(), (traced(0, 0, 1, 1, (1,)),), givers={"odd": Odd()})


def test_an_observer_that_fails():
    """The message names the observer and what it raised."""

    class Fails:
        """Has nothing to tell."""

        def additional_data(self, _now):
            """Raise an error."""
            raise KeyError("heat")

    with pytest.raises(PluginError, match="observer hot: additional_data raised KeyError: 'heat'"):
        replay(system(), easy(), (traced(0, 0, 1, 1, (1,)),), givers={"hot": Fails()})
