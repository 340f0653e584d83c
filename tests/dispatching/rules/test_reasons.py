"""Reasons: there is one for each job, they are true, and asking for them changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.decision import STARTS, Reason
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.simulation.observer import Observer
from hpcsched.testing import make_problem, make_system
from tests.builders import Spy, Told, easy, lists, replay, traced
from tests.dispatching.rules.making import MAKERS, conservative, prb, relaxed, slack
from tests.properties import brute_force
from tests.properties.test_mixed_requests import placed_by, placed_now
from tests.strategies import mixed_workloads, tries, uniform_workloads


class Listener(Observer):
    """Hears of reasons, so that dispatchers are asked for them."""

    def reasons_given(self, record, reasons):
        """Have no use for them."""


def check_reasons(problem, decision):
    """Compare what reasons say with what is so."""
    started = {start.job_id for start in decision.starts}
    reasons = {reason.job_id: reason for reason in decision.reasons}
    assert sorted(reasons) == sorted(job.job_id for job in problem.queue)
    assert len(decision.reasons) == len(problem.queue)
    for job in problem.queue:
        reason = reasons[job.job_id]
        assert (reason.kind in STARTS) == (job.job_id in started)
        if reason.kind in ("backfilled", "reserved_for", "behind"):
            assert reason.job not in (None, job.job_id)
            assert reason.job not in started
        else:
            assert reason.job is None
        if reason.time is not None:
            assert reason.time > problem.now


def outcomes(make, workload, request=None):
    """Return the start times and places of replays without and with reasons, checking these."""
    found = []
    for observers in ((), (Listener(),)):
        dispatcher = Spy(make(), check_reasons) if observers else make()
        recorder = replay(
            workload.system,
            dispatcher,
            workload.jobs,
            observers,
            predictor=Told(workload.predictions),
            uniform_request=request,
        )
        found.append(
            {
                name: (record.start_time, record.allocation.nodes, record.allocation.units)
                for name, record in recorder.jobs.items()
            }
        )
    return found


@pytest.mark.parametrize("name", MAKERS)
@tries(25)
@given(workload=uniform_workloads())
def test_reasons_change_nothing_where_slots_are_counted(name, workload):
    """With and without reasons the same jobs start at the same times on the same nodes."""
    without, with_reasons = outcomes(MAKERS[name], workload, workload.request)
    assert without == with_reasons


@pytest.mark.parametrize("name", MAKERS)
@tries(25)
@given(workload=mixed_workloads())
def test_reasons_change_nothing_on_nodes(name, workload):
    """With and without reasons the same jobs start at the same times on the same nodes."""
    without, with_reasons = outcomes(MAKERS[name], workload)
    assert without == with_reasons


@pytest.mark.parametrize("name", MAKERS)
@tries(15)
@given(data=st.data())
def test_there_is_room_or_not_as_the_reason_says(name, data):
    """After a round nothing that waits for room fits, and what waits for another job did."""
    workload = data.draw(mixed_workloads(tiny=True))

    def look(problem, decision):
        before = placed_now(problem)
        after = before + placed_by(problem, decision)
        jobs = {job.job_id: job.job for job in problem.queue}
        for reason in decision.reasons:
            job = jobs[reason.job_id]
            if reason.kind in ("no_room", "beyond_depth"):
                assert not brute_force.can_be_placed(problem.system, job, after)
            elif reason.kind == "reserved_for":
                assert brute_force.can_be_placed(problem.system, job, before)

    replay(
        workload.system,
        Spy(MAKERS[name](), look),
        workload.jobs,
        (Listener(),),
        predictor=Told(workload.predictions),
    )


@pytest.mark.parametrize("depth", [None, 1, 2])
@tries(60)
@given(workload=uniform_workloads())
def test_a_list_names_the_first_reservation_in_the_way(depth, workload):
    """Beside what comes before the named job the other fits now, and beside the named job not."""

    def look(problem, decision):
        reasons = {reason.job_id: reason for reason in decision.reasons}
        started = {start.job_id for start in decision.starts}
        ends = [(job.predicted_end_time, job.units) for job in problem.running]
        taken = [(problem.now, end, units) for end, units in ends]
        reserved = []
        for job in problem.queue:
            name, end = job.job_id, problem.now + job.predicted_run_time
            reason = reasons[name]
            if name in started:
                taken.append((problem.now, end, job.units))
                continue
            if reason.kind == "reserved_for":
                names = [other for other, _ in reserved]
                upto = names.index(reason.job)
                rooms = [
                    has_room(job, taken + [run for _, run in reserved[:k]], problem.now)
                    for k in (upto, upto + 1)
                ]
                assert rooms == [True, False]
            if reason.time is not None:
                until = reason.time + job.predicted_run_time
                reserved.append((name, (reason.time, until, job.units)))

    def has_room(job, runs, now):
        return all(
            job.units + sum(units for begin, end, units in runs if begin <= second < end)
            <= workload.slots
            for second in range(now, now + job.predicted_run_time)
        )

    replay(
        workload.system,
        Spy(lists(depth=depth), look),
        workload.jobs,
        (Listener(),),
        predictor=Told(workload.predictions),
        uniform_request=workload.request,
    )


# What is said, worked out by hand: 6 cores, of which job 1 holds 4 until 10 and job 2 one until 20.

TABLE = """
job_id  submit_time  units  requested_time  start_time  queue
1       0            4      10              0           -
2       0            1      20              0           -
3       1            5      5               -           1
4       2            6      5               -           2
5       3            1      9               -           1
"""
MORE = """
6       3            1      3               -           2
7       4            1      8               -           2
"""
NOW = 5
AGGREGATED = pytest.mark.parametrize("aggregated", [True, False], ids=["slots", "nodes"])


def said(dispatcher, aggregated, table=TABLE):
    """Return kind, job and time of each reason of the round, what is not given left out."""
    problem = make_problem(make_system(6), table, now=NOW, aggregated=aggregated)._replace(
        explain=True
    )
    reasons = sorted(dispatcher.dispatch(problem).reasons)
    return {
        reason.job_id: tuple(part for part in reason[1:4] if part is not None) for reason in reasons
    }


@pytest.mark.parametrize("name", MAKERS)
def test_no_reasons_unless_they_are_asked_for(name):
    """A decision has none where the problem does not ask for any."""
    assert MAKERS[name]().dispatch(make_problem(make_system(6), TABLE, now=NOW)).reasons == ()


@AGGREGATED
def test_list_scheduling(aggregated):
    """Job 3 can start at 10 and needs all that is free then, so that 5 would delay it.

    Job 4 starts at 20, so that there are 5 s between 3 and it, too few for 5 and 7.
    """
    expected = {
        3: ("no_room", 10),
        4: ("no_room", 20),
        5: ("reserved_for", 3, 25),
        6: ("backfilled", 3),
        7: ("no_room", 25),
    }
    assert said(lists(), aggregated, TABLE + MORE) == expected
    to_depth_1 = {**expected, 4: ("beyond_depth",), 5: ("reserved_for", 3), 7: ("beyond_depth",)}
    assert said(lists(depth=1), aggregated, TABLE + MORE) == to_depth_1


@AGGREGATED
def test_lists_without_reservations(aggregated):
    """A strict list stops at job 3; a greedy one passes whatever has no room."""
    behind = dict.fromkeys((4, 5, 6, 7), ("behind", 3))
    assert said(lists("fcfs", "strict"), aggregated, TABLE + MORE) == {3: ("no_room",), **behind}
    assert said(lists("fcfs", "greedy"), aggregated) == {
        3: ("no_room",), 4: ("no_room",), 5: ("backfilled", 3),
    }  # fmt: skip


@AGGREGATED
def test_priority_rule(aggregated):
    """Jobs 3 and 5 have waited 4/20 and 2/20 of what is expected of them, job 4 3/100."""
    assert said(prb(), aggregated) == {3: ("no_room",), 4: ("no_room",), 5: ("backfilled", 3)}


@AGGREGATED
def test_easy(aggregated):
    """Only job 3 has a reservation."""
    assert said(easy(), aggregated, TABLE + MORE) == {
        3: ("no_room", 10),
        4: ("no_room",),
        5: ("reserved_for", 3),
        6: ("backfilled", 3),
        7: ("no_room",),
    }


@AGGREGATED
def test_relaxed(aggregated):
    """Job 3 expects to wait for 9 s; half of that past 10 is time enough for 5."""
    assert said(relaxed(0.5), aggregated) == {
        3: ("no_room", 14),
        4: ("no_room",),
        5: ("backfilled", 3),
    }
    assert said(relaxed(0.4), aggregated)[5] == ("reserved_for", 3)


@AGGREGATED
def test_reservations_that_last(aggregated):
    """Without slack 5 waits for 3; with 4 s 3 can be moved to 14."""
    waits = {3: ("no_room", 10), 4: ("no_room", 20), 5: ("reserved_for", 3, 25)}
    assert said(conservative(), aggregated) == waits
    assert said(slack(), aggregated) == waits
    moved = {3: ("no_room", 14), 4: ("no_room", 20), 5: ("backfilled", 3)}
    assert said(slack(0.5), aggregated) == moved
    assert said(slack(least=4), aggregated) == moved
    assert said(slack(least=3), aggregated) == waits


def heard(system, dispatcher, *jobs):
    """Return the reasons of a replay by requested times, with the time of the round."""
    reasons_heard = []

    class Hears(Observer):
        def reasons_given(self, record, reasons):
            reasons_heard.extend((record.now, reason) for reason in reasons)

    replay(system, dispatcher, jobs, (Hears(),), predictor=RequestedTime())
    return reasons_heard


def test_a_promise_that_could_not_be_kept():
    """Job 1 outlives its 2 s, so that job 2, promised for 2, has to wait on."""
    jobs = (traced(1, 0, 1, 6, requested_time=2), traced(2, 0, 1, 1), traced(3, 4, 1, 1))
    at_4 = [reason for now, reason in heard(make_system(1), conservative(), *jobs) if now == 4]
    assert at_4 == [
        Reason(2, "no_room", None, 5, "at first promised for 2 s"),
        Reason(3, "no_room", None, 6),
    ]


def test_a_broken_promise_of_a_job_for_which_there_is_room():
    """As job 1 outlives its 2 s, job 2 is moved from 2 to 5, and job 3, behind it, from 3 to 6."""
    jobs = (
        traced(1, 0, 1, 6, requested_time=2),
        traced(2, 0, 2, 1),
        traced(3, 0, 1, 3),
        traced(4, 4, 1, 2),
    )
    at_4 = [reason for now, reason in heard(make_system(2), conservative(), *jobs) if now == 4]
    assert at_4 == [
        Reason(2, "no_room", None, 5, "at first promised for 2 s"),
        Reason(3, "reserved_for", 2, 6, "at first promised for 3 s"),
        Reason(4, "reserved_for", 2, 6),
    ]


def test_of_two_jobs_in_the_way_the_first_to_come_is_named():
    """Job 3 is reserved for 8, when 2 ends, and job 4 for 3, when 1 does. Both are in 5's way."""
    jobs = (
        traced(1, 0, 2, 3),
        traced(2, 0, 1, 8),
        traced(3, 0, 4, 1),
        traced(4, 0, 3, 3),
        traced(5, 1, 1, 10),
    )
    at_1 = [reason for now, reason in heard(make_system(4), conservative(), *jobs) if now == 1]
    assert at_1[-1] == Reason(5, "reserved_for", 3, 9)
