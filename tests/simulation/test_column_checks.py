"""Jobs are looked at before they are replayed in compiled code, a batch at a time."""

import numpy as np
import pytest

from hpcsched.errors import HpcschedError
from hpcsched.simulation.replay_admission import ColumnChecks
from hpcsched.system.system import IntArray
from hpcsched.workload.job_batches import NO_JOBS, JobColumns
from tests.builders import traced

ROOM = np.array([8])
"""Units that fit, of the one request there is."""

ASKED = np.array([[1 << 40]])
"""What a unit asks for."""

NOTHING = np.array([0])


def batch(numbers: IntArray | list[int], submit_time: int = 0, run_time: int = 1) -> JobColumns:
    """Return jobs of one unit."""
    numbers = np.array(numbers)
    ones = np.ones(len(numbers), dtype=np.int64)
    times = ones * submit_time, ones * run_time, ones * run_time
    return JobColumns(numbers, *times, ones, 0 * ones, [traced(1, 0, 1, 1).job], NO_JOBS.details)


def check(*batches: JobColumns, present: IntArray = NOTHING) -> None:
    """Check batches one after the other."""
    checks = ColumnChecks()
    for columns in batches:
        checks.check(columns)
        checks.check_amounts(columns, ASKED, present)


def test_nothing_is_found() -> None:
    """Numbers in any order, times that ascend from batch to batch, and no jobs at all."""
    check(batch([5, 6, 9]), batch([7, 8, 1], 3), NO_JOBS, batch([10, 2], 3))
    check(batch([1])._replace(units=ROOM))


@pytest.mark.parametrize(
    ("batches", "what"),
    [
        ([batch([1, 2]), batch([3, 2])], "found one twice"),
        ([batch([1, 5, 9]), batch([3, 4, 5])], "found one twice"),
        ([batch([7, 7])], "found one twice"),
        ([batch([1], 5), batch([2], 4)], "job 2 is submitted at 4, before"),
        ([batch([1])._replace(submit_time=np.array([-1]))], "job 1: expected times of 0"),
        ([batch([1], run_time=(1 << 32) + 1)], "job 1: expected times of 0"),
        ([batch([1])._replace(units=np.array([0]))], "without units"),
    ],
)
def test_what_is_found(batches: list[JobColumns], what: str) -> None:
    """Within a batch, and from one to another."""
    with pytest.raises(HpcschedError, match=what):
        check(*batches)


def test_times_in_all() -> None:
    """2²¹ jobs of 2³² s each are the limit, 2⁵³ s in all."""
    half = 1 << 20
    first, second = (batch(np.arange(half) + k * half, run_time=1 << 32) for k in range(2))
    check(first, second)
    with pytest.raises(HpcschedError, match="too large in all"):
        check(first, second, batch([-5]))


def test_amounts_in_all() -> None:
    """2²¹ units of 2⁴⁰ each are the limit, 2⁶¹ in all, with what is in the system already.

    One job may ask for some of them.
    """
    jobs = batch(np.arange((1 << 21) - 1))
    check(jobs, present=ASKED[0])
    wide = batch([1])._replace(units=ROOM)
    check(wide, present=((1 << 21) - 8) * ASKED[0])
    with pytest.raises(HpcschedError, match="61 bits"):
        check(wide, present=((1 << 21) - 7) * ASKED[0])
    with pytest.raises(HpcschedError, match="61 bits"):
        check(jobs, present=2 * ASKED[0])
