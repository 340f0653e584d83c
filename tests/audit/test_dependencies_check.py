"""The check that jobs wait for those that they depend on, on few jobs."""

from typing import Any

import pytest

from hpcsched.audit.job_checks import dependencies
from hpcsched.audit.violations import Check
from tests.runs.hand_made import Placed, job, record_of, replayed


def of(job_id: int, submit: int, start: int | None, **more: Any) -> Placed:
    """Return a job of 10 s; without a start it was rejected."""
    return Placed(job(job_id, submit, 1, (1, 1, 0), 10, **more), start, {0: 1})


def checked(*jobs: Placed, lost: int | None = None) -> Check | None:
    """Return the check, if there is any; a job may be missing from the run."""
    records = [record_of(p) for p in jobs if p.traced.job.job_id != lost]
    return dependencies(replayed([p.traced for p in jobs], records))


def test_no_job_waits() -> None:
    """There is nothing to check."""
    assert checked(of(1, 0, 0), of(2, 0, 0)) is None


@pytest.mark.parametrize(
    ("jobs", "looked_at"),
    [
        # Job 1 ends at 10; five seconds later job 2 may start.
        ((of(1, 0, 0), of(2, 0, 15, after=(1,), think_time=5)), 1),
        # All of them count: job 2 ends at 40.
        ((of(1, 0, 0), of(2, 0, 30), of(3, 0, 40, after=(1, 2))), 2),
        # Job 1 was rejected: it left no sooner than it came.
        ((of(1, 20, None), of(2, 0, 25, after=(1,), think_time=5)), 1),
        # Not those that come later, or are unknown, nor the job itself.
        ((of(1, 0, 0, after=(70, 2, 1)), of(2, 0, 0)), 0),
        # What was rejected did not start.
        ((of(1, 0, 0), of(2, 0, None, after=(1,))), 0),
    ],
)
def test_waited_for(jobs: tuple[Placed, ...], looked_at: int) -> None:
    """A job may start in the second in which the last of them has left, and it has thought."""
    check = checked(*jobs)
    assert check is not None
    assert check.violations == []
    assert check.looked_at == looked_at


@pytest.mark.parametrize(
    ("jobs", "lost", "found"),
    [
        (
            (of(1, 0, 0), of(2, 0, 14, after=(1,), think_time=5)),
            None,
            ["job 2: start_time: expected at least 15, 5 s after job 1 left, found 14"],
        ),
        (
            (of(1, 20, None), of(2, 0, 24, after=(1,), think_time=5)),
            None,
            ["job 2: start_time: expected at least 25, 5 s after job 1 left, found 24"],
        ),
        (  # job 4 of the trace, job 1 and job 5 are passed over, and job 3 is looked at
            (of(2, 0, 0), of(1, 0, 0), of(3, 0, 9, after=(70, 4, 2)), of(4, 0, 0)),
            None,
            ["job 3: start_time: expected at least 10, 0 s after job 2 left, found 9"],
        ),
        (  # that job 1 is not in the run is told, and job 2 is looked at all the same
            (of(1, 0, 0), of(2, 0, 0), of(3, 0, 9, after=(1, 2))),
            1,
            [
                "job 3: expected job 1 to have left, found it had not",
                "job 3: start_time: expected at least 10, 0 s after job 2 left, found 9",
            ],
        ),
        (  # job 1 is not in the run: those after it are looked at
            (of(1, 0, 0), of(2, 0, 0), of(3, 0, 9, after=(2,))),
            1,
            ["job 3: start_time: expected at least 10, 0 s after job 2 left, found 9"],
        ),
        (  # nor does one that was rejected keep others from being looked at
            (of(1, 0, None), of(2, 0, 0), of(3, 0, 9, after=(2,))),
            None,
            ["job 3: start_time: expected at least 10, 0 s after job 2 left, found 9"],
        ),
    ],
)
def test_too_early(jobs: tuple[Placed, ...], lost: int | None, found: list[str]) -> None:
    """The message tells the job, for which it should have waited, and until when."""
    check = checked(*jobs, lost=lost)
    assert check is not None
    assert check.violations == found
