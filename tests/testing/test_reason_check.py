"""Reasons are checked against the starts of their own round."""

import pytest

from hpcsched.dispatching.decision import Reason
from hpcsched.testing import make_problem, make_system
from hpcsched.testing.workload_checks import ReasonCheck
from tests.runs.hand_made import JOBS, rounds_of

TABLE = """
job_id  submit_time  units  requested_time  start_time
1       0            1      10              0
2       0            1      10              0
"""
FIRST, SECOND, *_ = rounds_of(JOBS)
ONE, TWO = make_problem(make_system(2), TABLE).running


def checked(*started: int) -> ReasonCheck:
    """Return a check that was told that these jobs start."""
    check = ReasonCheck()
    for job in (ONE, TWO):
        if job.job_id in started:
            check.job_started(job)
    return check


def test_reasons_that_are_so() -> None:
    """Job 1 starts as planned, and job 2 waits."""
    checked(1).reasons_given(FIRST, [Reason(1, "planned"), Reason(2, "no_room")])


def test_a_start_without_a_reason() -> None:
    """A dispatcher may say nothing."""
    checked(1, 2).reasons_given(FIRST, [])


@pytest.mark.parametrize(
    ("started", "reason", "message"),
    [
        ((1,), Reason(1, "no_room"), "job 1 is 'no_room', and the job starts$"),
        ((1,), Reason(2, "backfilled"), "job 2 is 'backfilled', and the job does not start$"),
    ],
)
def test_reasons_that_are_not_so(started: tuple[int, ...], reason: Reason, message: str) -> None:
    """The round, the job and its reason are named."""
    with pytest.raises(AssertionError, match=f"^round 1: the reason of {message}"):
        checked(*started).reasons_given(FIRST, [reason])


def test_each_round_by_itself() -> None:
    """A job that started in the round before does not start in this one."""
    check = checked(1)
    check.reasons_given(FIRST, [Reason(1, "in_order")])
    check.job_started(TWO)
    with pytest.raises(AssertionError, match=r"^round 2: the reason of job 1 "):
        check.reasons_given(SECOND, [Reason(2, "in_order"), Reason(1, "in_order")])
