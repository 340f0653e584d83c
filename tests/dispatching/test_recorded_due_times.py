"""Due times of jobs according to a log, by hand."""

import pytest

from hpcsched.dispatching.rules.recorded import RecordedFigures, RecordedStarts
from hpcsched.errors import InputError
from hpcsched.testing import make_problem, make_system

QUEUE = make_problem(
    make_system(4),
    """
    job_id  submit_time  run_time
    1       10           5
    2       12           5
    3       13           5
    """,
).queue


def test_jobs_are_held_back_until_they_are_due() -> None:
    """Job 1 is due at 10 + 5, job 2 at 12 + 0, job 3 without a record at its submission."""
    starts = RecordedStarts({1: 5, 2: 0}, "log", "submission")
    for job in QUEUE:
        starts.submitted(job.job)
    assert [starts.due(number) for number in (1, 2, 3)] == [15, 12, 13]
    held_back = starts.held_back(QUEUE, 13)
    assert {number: reason.time for number, reason in held_back.items()} == {1: 15}
    assert starts.held_back(QUEUE, 15) == {}


def test_delays_are_counted() -> None:
    """Job 1 starts at 18, 3 late; job 2 when due; job 3 at 20, 7 late and without a record."""
    starts = RecordedStarts({1: 5, 2: 0}, "log", "submission")
    for job in QUEUE:
        starts.submitted(job.job)
    for number, time in ((1, 18), (2, 12), (3, 20)):
        starts.started(number, time)
        starts.left(number)
    assert starts.figures == RecordedFigures(
        jobs=3, without_start=1, later=2, later_time=10, latest=7
    )


def test_a_missing_record_is_an_error() -> None:
    """The message names the job."""
    starts = RecordedStarts({}, "log", "error")
    with pytest.raises(InputError, match="job 1 has no recorded start"):
        starts.submitted(QUEUE[0].job)
