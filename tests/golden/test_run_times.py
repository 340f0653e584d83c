"""Schedules in which run times are zero, cut short, or longer than predicted."""

import pytest

from hpcsched.prediction.predictors import RequestedTime
from tests.builders import Told, alike, easy, lists, replay
from tests.golden.pictures import check, job

SYSTEM = alike(2, core=1)


@pytest.mark.parametrize("uniform_request", [(1,), None], ids=["aggregated", "node level"])
def test_zero_run_time(uniform_request):
    """B, D and F end in the instant in which they start, and leave their cores to the next round.

    At 3 A ends and B starts and ends; a second round starts C and D, D ends, and a third finds
    one core free, too few for E. F comes at 6 and starts and ends at 7.
    """
    jobs = (
        job("A", submit_time=0, units=2, run_time=3),
        job("B", submit_time=1, units=2, run_time=0),
        job("C", submit_time=1, units=1, run_time=2),
        job("D", submit_time=2, units=1, run_time=0),
        job("E", submit_time=2, units=2, run_time=2),
        job("F", submit_time=6, units=1, run_time=0),
    )
    recorder = replay(SYSTEM, easy(), jobs, uniform_request=uniform_request)
    check(
        SYSTEM,
        recorder,
        """
        node-0 AAACCEE
        node-1 AAA..EE
        """,
    )
    assert recorder.start_times == {1: 0, 2: 3, 3: 3, 4: 3, 5: 5, 6: 7}
    assert [record.now for record in recorder.rounds] == [0, 1, 2, 3, 3, 3, 5, 6, 7]


LIMITED = (
    job("A", submit_time=0, units=1, run_time=6, requested_time=3),
    job("B", submit_time=0, units=1, run_time=2, requested_time=4),
    job("C", submit_time=1, units=2, run_time=2, requested_time=2),
    job("D", submit_time=1, units=1, run_time=5, requested_time=1),
    job("E", submit_time=2, units=1, run_time=1, requested_time=3),
    job("F", submit_time=2, units=1, run_time=3, requested_time=3),
)


def test_killing_at_the_requested_time():
    """A and D are ended at their requested times, so C starts at 3 as reserved for it."""
    recorder = replay(
        SYSTEM, easy(), LIMITED, predictor=RequestedTime(), kill_at_requested_time=True
    )
    check(
        SYSTEM,
        recorder,
        """
        node-0 AAACCE..
        node-1 BBDCCFFF
        """,
    )
    killed = [job_id for job_id, record in recorder.jobs.items() if record.state == "killed"]
    assert sorted(killed) == [1, 4]


def test_not_killing_at_the_requested_time():
    """D is let in at 2 because it asks for a second only, and then delays C until 7."""
    recorder = replay(SYSTEM, easy(), LIMITED, predictor=RequestedTime())
    check(
        SYSTEM,
        recorder,
        """
        node-0 AAAAAA.CCE..
        node-1 BBDDDDDCCFFF
        """,
    )
    assert {record.state for record in recorder.jobs.values()} == {"completed"}


@pytest.mark.parametrize("dispatcher", [easy(), lists()], ids=["easy", "fcfs"])
@pytest.mark.parametrize("uniform_request", [(1,), None], ids=["aggregated", "node level"])
def test_outliving_a_prediction(dispatcher, uniform_request):
    """A is predicted to end at 2, and from then on, in each round, a second from now.

    So B is always expected to start within a second, and E and F, which take a second, may pass it;
    D, which takes two, may not.
    """
    jobs = (
        job("A", submit_time=0, units=1, run_time=6),
        job("B", submit_time=1, units=2, run_time=2),
        job("C", submit_time=1, units=1, run_time=1),
        job("D", submit_time=1, units=1, run_time=2),
        job("E", submit_time=2, units=1, run_time=1),
        job("F", submit_time=4, units=1, run_time=1),
    )
    predictor = Told({1: 2, 2: 2, 3: 1, 4: 2, 5: 1, 6: 1})
    recorder = replay(
        SYSTEM, dispatcher, jobs, predictor=predictor, uniform_request=uniform_request
    )
    check(
        SYSTEM,
        recorder,
        """
        node-0 AAAAAABBDD
        node-1 .CE.F.BB..
        """,
    )
