"""The audit of a replay: each kind of fault is found."""

from collections.abc import Callable

import pytest

from hpcsched.simulation.records import JobRecord
from hpcsched.system.space import NodeAllocation
from hpcsched.testing import (
    audit_replay,
    make_jobs,
    make_system,
    replay,
    start_times,
)
from tests.builders import easy

SYSTEM = make_system(2, core=2)
JOBS = make_jobs(
    SYSTEM,
    """
    job_id  submit_time  units  run_time  requested_time
    1       0            3      10        10
    2       4            2      10        5
    """,
)
RECORDS = replay(easy(), JOBS, SYSTEM)


def test_a_valid_replay() -> None:
    """Nothing is found, killed jobs included."""
    audit_replay(RECORDS, JOBS, SYSTEM)
    killed = replay(easy(), JOBS, SYSTEM, kill_at_requested_time=True)
    assert start_times(killed) == {1: 0, 2: 10}
    audit_replay(killed, JOBS, SYSTEM, kill_at_requested_time=True)


def early(records: list[JobRecord]) -> list[JobRecord]:
    """Start the second job before its submission, when the first has not begun."""
    return [
        records[0]._replace(start_time=13, end_time=23),
        records[1]._replace(start_time=3, end_time=13),
    ]


def beside(records: list[JobRecord]) -> list[JobRecord]:
    """Start the second job at once, while the first holds most of the system."""
    return [records[0], records[1]._replace(start_time=4, end_time=14)]


def elsewhere(records: list[JobRecord]) -> list[JobRecord]:
    """Place one unit less."""
    return [records[0], records[1]._replace(allocation=NodeAllocation((1,), (1,)))]


def longer(records: list[JobRecord]) -> list[JobRecord]:
    """End later than the run time says."""
    return [records[0], records[1]._replace(end_time=21)]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (early, "job 2: start_time: expected at least 4"),
        (beside, "core: expected at most 2, its capacity, found"),
        (elsewhere, "job 2: units placed: expected 2, found 1"),
        (longer, "job 2: end_time: expected 20, found 21"),
        (lambda records: records[:1], "job 2: expected in the run"),
        (lambda records: [*records, records[0]], "job 1: expected once in the run, found 2 times"),
    ],
)
def test_faults(spoil: Callable[[list[JobRecord]], list[JobRecord]], message: str) -> None:
    """Each fault is an assertion that names the job or node."""
    with pytest.raises(AssertionError, match=message):
        audit_replay(spoil(RECORDS), JOBS, SYSTEM)
