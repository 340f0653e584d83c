"""Partitions in the engine: whom they refuse, whom they hold back, and that nothing is broken."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.decision import Decision, Start
from hpcsched.dispatching.rules.recorded import Reject
from hpcsched.errors import DecisionError
from hpcsched.simulation.latency import Latency
from hpcsched.simulation.observer import Observer
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import audit_replay
from hpcsched.workload.site_partitions import Partition, Partitions
from tests.builders import Spy, alike, easy, lists, per_user, replay, traced
from tests.strategies import tries

SYSTEM = System((NodeGroup("thin", 3, {"core": 2}), NodeGroup("fat", 1, {"core": 4})))
ONE = {"queue": frozenset({1})}


def some(*partitions):
    """Return partitions."""
    return Partitions(partitions)


def queues(dispatcher):
    """Return a dispatcher like another, and a list that it fills with the queues it is shown."""
    shown = []

    def look(problem, _):
        shown.append((problem.now, [job.job_id for job in problem.queue]))

    return Spy(dispatcher, look), shown


class Why(Observer):
    """Keeps the reasons of each round."""

    def __init__(self):
        self.reasons = []

    def reasons_given(self, record, reasons):
        """Keep them, with the time of the round."""
        self.reasons.append((record.now, [(r.job_id, r.kind, r.detail) for r in reasons]))


@pytest.mark.parametrize(
    ("job", "partition", "rule"),
    [
        ({"queue": 2}, Partition("one", ONE), "no_partition"),
        ({"run_time": 9}, Partition("one", max_time=8), "over_partition_time"),
        ({"run_time": 8}, Partition("one", max_time=8), None),
        ({"units": 5}, Partition("one", groups=frozenset({"fat"})), "larger_than_partition"),
        ({"units": 4}, Partition("one", groups=frozenset({"fat"})), None),
        (
            {"node_groups": frozenset({"thin"})},
            Partition("one", groups=frozenset({"fat"})),
            "larger_than_partition",
        ),
        (
            {"units": 3, "allowed_nodes": frozenset({1, 3})},
            Partition("one", groups=frozenset({"thin"})),
            "larger_than_partition",
        ),
        ({"units": 3}, Partition("one", limits=per_user(nodes=2)), "over_limit"),
        ({"units": 2}, Partition("one", limits=per_user(nodes=2)), None),
        # Five units cannot take more nodes than the three there are.
        (
            {"units": 5},
            Partition("one", groups=frozenset({"thin"}), limits=per_user(nodes=3)),
            None,
        ),
        # On a node with room for three units of one core, four cores are one node at most.
        ({"units": 1, "unit_request": (4,)}, Partition("one", limits=per_user(nodes=1)), None),
    ],
)
def test_refused_at_submission(job, partition, rule):
    """A job that can never run as its partition wants it leaves at once, and takes no room."""
    given_ = {"queue": 1, "units": 1, "run_time": 5, **job}
    jobs = (traced(1, 0, **given_), traced(2, 0, 1, 3, queue=1))
    recorder = replay(SYSTEM, easy(), jobs, partitions=some(partition))
    record = recorder.jobs[1]
    assert record.rejected_by == rule
    assert record.state == ("completed" if rule is None else "rejected")
    assert recorder.jobs[1].start_time == (None if rule else 0)
    if rule:
        assert recorder.events[:2] == [("submitted", 1), ("rejected", 1)]
        assert [r.queued for r in recorder.rounds] == [1]
    audit_replay(list(recorder.jobs.values()), jobs, SYSTEM, partitions=some(partition))


def test_a_dispatcher_rejects_too():
    """What the dispatcher refuses is told apart."""
    recorder = replay(SYSTEM, Reject(), (traced(1, 0, 1, 1),), partitions=some(Partition("all")))
    assert recorder.jobs[1].rejected_by == "dispatcher"


def test_jobs_stay_on_the_groups_of_their_partition():
    """A partition's groups bind its jobs, and those that a job asked for do so too."""
    thin = Partition("thin", ONE, groups=frozenset({"thin"}))
    jobs = (
        traced(1, 0, 4, 5, queue=1),
        traced(2, 0, 3, 5, queue=1),  # two cores are left for it on thin nodes
        traced(3, 0, 1, 5, (4,), queue=2),
        traced(4, 0, 1, 5, queue=1, node_groups=frozenset({"thin", "fat"})),
    )
    recorder = replay(SYSTEM, easy(), jobs, partitions=some(thin, Partition("rest")))
    assert recorder.start_times == {1: 0, 2: 5, 3: 0, 4: 0}
    assert all(max(recorder.jobs[k].allocation.nodes) < 3 for k in (1, 2, 4))
    assert recorder.jobs[4].job.node_groups == {"thin"}


def test_running_jobs_per_user():
    """Jobs of a user and partition are shown in order of arrival, as many as may run."""
    two = Partition("two", ONE, limits=per_user(jobs=2))
    jobs = (
        *(traced(k, 0, 1, 10, user=7, queue=1) for k in (1, 2, 3)),
        traced(4, 0, 1, 10, user=8, queue=1),
        traced(5, 0, 1, 10, user=7, queue=2),  # another partition has an account of its own
        traced(6, 1, 1, 10, user=7, queue=1),
    )
    dispatcher, shown = queues(easy())
    recorder = replay(SYSTEM, dispatcher, jobs, partitions=some(two, Partition("rest")))
    assert shown == [(0, [1, 2, 4, 5]), (10, [3, 6])]
    assert recorder.start_times == {1: 0, 2: 0, 3: 10, 4: 0, 5: 0, 6: 10}
    # All that wait are counted, in the round to which the dispatcher was not asked as well.
    assert [(r.now, r.queued, r.started, r.waiting) for r in recorder.rounds] == [
        (0, 5, 4, 1), (1, 2, 0, 2), (10, 2, 2, 0),
    ]  # fmt: skip
    assert recorder.rounds[1].decision_time == 0
    assert recorder.rounds[1].waiting_amounts == (2,)


def test_nodes_per_user():
    """What runs counts with its nodes, what waits with the most that it could take."""
    three = Partition("three", limits=per_user(nodes=3))
    jobs = (
        traced(1, 0, 2, 10, user=7),  # put on one node; two units could be two nodes
        traced(2, 0, 1, 20, user=7),
        traced(3, 0, 2, 30, user=7),  # may come to two more, and has to wait
        traced(4, 0, 1, 30, user=7),  # runs beside job 2, once job 1 has one node alone
    )
    dispatcher, shown = queues(easy())
    recorder = replay(SYSTEM, dispatcher, jobs, partitions=some(three))
    assert shown == [(0, [1, 2]), (0, [4]), (10, [3])]
    assert recorder.start_times == {1: 0, 2: 0, 3: 10, 4: 0}


def test_room_found_to_be_left_opens_a_round_at_once():
    """Where jobs start on fewer nodes than they might have, the next are shown at once."""
    three = Partition("three", limits=per_user(nodes=3))
    jobs = (traced(1, 0, 2, 10, user=7), traced(2, 0, 2, 10, user=7))
    dispatcher, shown = queues(easy())
    recorder = replay(SYSTEM, dispatcher, jobs, partitions=some(three))
    assert shown == [(0, [1]), (0, [2])]
    assert recorder.start_times == {1: 0, 2: 0}
    assert [(r.now, r.started) for r in recorder.rounds] == [(0, 1), (0, 1)]


def test_rejection_makes_others_eligible():
    """What is held back behind a job that the dispatcher rejects does not wait for ever."""
    one = Partition("one", limits=per_user(jobs=1))
    jobs = tuple(traced(k, 0, 1, 5, user=7) for k in (1, 2, 3))
    dispatcher, shown = queues(Reject())
    recorder = replay(SYSTEM, dispatcher, jobs, partitions=some(one))
    assert shown == [(0, [1]), (0, [2]), (0, [3])]
    assert {record.rejected_by for record in recorder.jobs.values()} == {"dispatcher"}


def test_a_user_below_the_limit_is_not_behind_one_who_is_unknown():
    """Job 1 has no user and counts nowhere; of jobs 2 and 3, of one user, the second waits."""
    one = Partition("one", limits=per_user(jobs=1))
    jobs = (traced(1, 0, 1, 5), traced(2, 0, 1, 5, user=7), traced(3, 0, 1, 5, user=7))
    recorder = replay(SYSTEM, easy(), jobs, partitions=some(one))
    assert recorder.start_times == {1: 0, 2: 0, 3: 5}


def test_unknown_users_are_each_their_own():
    """Jobs whose user is not known do not count together."""
    one = Partition("one", limits=per_user(jobs=1, nodes=1))
    jobs = (*(traced(k, 0, 1, 5) for k in (1, 2, 3)), traced(4, 0, 3, 5))
    recorder = replay(SYSTEM, easy(), jobs, partitions=some(one))
    assert recorder.start_times == {1: 0, 2: 0, 3: 0, 4: None}
    assert [record.started for record in recorder.rounds] == [3]
    assert recorder.jobs[4].rejected_by == "over_limit"


def test_reasons_name_the_limit():
    """Each job that is held back has a reason that names partition and limit, in every round."""
    limits = some(
        Partition("short", ONE, limits=per_user(jobs=1)),
        Partition("long", limits=per_user(nodes=2)),
    )
    jobs = (
        traced(1, 0, 1, 10, user=7, queue=1),
        traced(2, 0, 1, 10, user=7, queue=1),
        traced(3, 0, 2, 10, (2,), user=7, queue=2),
        traced(4, 1, 1, 10, user=7, queue=2),
    )
    why = Why()
    replay(SYSTEM, easy(), jobs, observers=[why], partitions=limits)

    def held(reasons):
        return [reason for reason in reasons if reason[1] == "limit"]

    assert [(now, held(reasons)) for now, reasons in why.reasons] == [
        (0, [(2, "limit", "partition short: MaxJobsPerUser=1")]),
        (
            1,
            [
                (2, "limit", "partition short: MaxJobsPerUser=1"),
                (4, "limit", "partition long: MaxTRESPerUser nodes=2"),
            ],
        ),
        (10, []),
    ]


class Cheat:
    """A dispatcher that starts a job that it was not shown."""

    def dispatch(self, problem):
        """Start jobs 1 and 2."""
        starts = [Start(k, NodeAllocation((k,), (1,))) for k in (1, 2)]
        return Decision(tuple(starts))


def test_what_is_held_back_cannot_be_started():
    """A decision about a job that is held back is an error that names job and limit."""
    one = Partition("one", limits=per_user(jobs=1))
    jobs = tuple(traced(k, 0, 1, 5, user=7) for k in (1, 2))
    message = r"round 1: job 2 is held back: partition one: MaxJobsPerUser=1"
    with pytest.raises(DecisionError, match=message):
        replay(alike(3, core=1), Cheat(), jobs, partitions=some(one))


def test_latency_is_charged_for_what_is_shown():
    """A round to which the dispatcher is not asked takes no time; held jobs cost nothing."""
    one = Partition("one", limits=per_user(jobs=1))
    jobs = tuple(traced(k, k, 1, 20, user=7) for k in (0, 1, 2, 9))
    latency = Latency(per_queued_job=Fraction(3))
    recorder = replay(SYSTEM, easy(), jobs, partitions=some(one), latency=latency)
    rounds = [(r.now, r.latency, r.queued, r.started, r.waiting) for r in recorder.rounds]
    assert rounds == [
        (0, 3, 1, 1, 2),  # jobs 1 and 2 came in the meantime
        (3, 0, 2, 0, 2),
        (9, 0, 3, 0, 3),
        (23, 9, 3, 1, 2),  # any of the three may start
        (52, 6, 2, 1, 1),
        (78, 3, 1, 1, 0),
    ]
    assert recorder.start_times == {0: 3, 1: 32, 2: 58, 9: 81}


def test_no_partitions_no_limits():
    """Without partitions a dispatcher is shown the whole queue."""
    jobs = tuple(traced(k, 0, 1, 5, user=7) for k in range(12))
    dispatcher, shown = queues(easy())
    replay(SYSTEM, dispatcher, jobs)
    assert shown[0] == (0, list(range(12)))


@st.composite
def sites(draw):
    """Draw partitions over the system, and jobs of few users, some of them unknown."""
    some_or_none = st.none() | st.integers(1, 3)
    groups = st.sampled_from([None, frozenset({"thin"}), frozenset({"fat"})])
    declared = [
        Partition(
            f"p{n}",
            {"queue": frozenset({n})},
            draw(groups),
            draw(st.none() | st.integers(1, 8)),
            limits=per_user(draw(some_or_none), draw(some_or_none)),
        )
        for n in range(draw(st.integers(1, 3)))
    ]
    jobs, now = [], 0
    for k in range(draw(st.integers(1, 14))):
        now += draw(st.sampled_from([0, 0, 0, 1, 3]))
        run_time = draw(st.integers(0, 8))
        jobs.append(
            traced(
                k,
                now,
                draw(st.integers(1, 6)),
                run_time,
                (draw(st.integers(1, 2)),),
                requested_time=max(run_time, 1),
                user=draw(st.sampled_from([None, 1, 1, 2])),
                queue=draw(st.integers(0, 2)),
                node_groups=draw(groups),
                exclusive=draw(st.booleans()),
            )
        )
    room = {1: 10, 2: 5}
    return Partitions(tuple(declared)), [
        t for t in jobs if t.job.units <= room[t.job.unit_request[0]]
    ]


@tries(120)
@given(sites(), st.sampled_from(["easy", "strict", "greedy", "backfill"]))
def test_limits_are_kept_and_nothing_waits_for_ever(site, name):
    """Whatever the dispatcher, the audit finds nothing, and all that is admitted runs."""
    partitions, jobs = site
    fits = [t for t in jobs if _fits_somewhere(t)]
    dispatcher = easy() if name == "easy" else lists(option=name)
    recorder = replay(SYSTEM, dispatcher, fits, partitions=partitions)
    assert len(recorder.jobs) == len(fits)
    assert "dispatcher" not in {record.rejected_by for record in recorder.jobs.values()}
    audit_replay(list(recorder.jobs.values()), fits, SYSTEM, partitions=partitions)


def _fits_somewhere(job):
    """Say whether a job fits on the idle nodes that it asks for; a trace source sees to that."""
    wanted = job.job
    nodes = {None: (2, 2, 2, 4), frozenset({"thin"}): (2, 2, 2), frozenset({"fat"}): (4,)}
    return wanted.units <= sum(n // wanted.unit_request[0] for n in nodes[wanted.node_groups])
