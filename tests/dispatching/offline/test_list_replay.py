"""List scheduling on-line by hand, on 4 slots."""

import numpy as np

from hpcsched._core import replay_list


def starts(rank: list[int], submit: list[int], demands: list[int], run_times: list[int]) -> object:
    """Return the start of each job."""
    found = np.full(len(rank), -1)
    columns = [np.array(column) for column in (rank, submit, demands, run_times)]
    replay_list(*columns, 4, found)
    return found.tolist()


def test_a_job_is_backfilled_where_it_delays_none_before_it() -> None:
    """Job 0 has 3 slots until 10, so that job 1, of 4, is reserved from 10 on.

    Job 2 runs on the slot left from 2 to 10, in time; job 3 would run until 11, and waits until
    job 1 ends at 15.
    """
    assert starts([0, 1, 2, 3], [0, 1, 2, 2], [3, 4, 1, 1], [10, 5, 8, 9]) == [0, 10, 2, 15]


def test_the_queue_order_is_by_rank() -> None:
    """Both wait for job 0 until 10; job 2 ranks before job 1 and ends at 13."""
    assert starts([0, 2, 1], [0, 1, 2], [4, 4, 4], [10, 5, 3]) == [0, 13, 10]
