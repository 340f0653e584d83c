"""Compiled queue orders: by fixed keys, or by wait time over a key.

Orders of the latter kind change with time, as do those that Python computes. The divisor of a wait
is the first key of a job: its expected wait, or its predicted run time for its slowdown.
"""

from hpcsched.dispatching.core.array_kernels import numbers, shares
from hpcsched.dispatching.core.codes import SEQUENCE, SUBMIT_TIME
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.system.system import IntArray


@compiled()
def _goes_before(one: int, other: int, first: int, keys: IntArray, jobs: IntArray) -> bool:
    """Check whether a job is considered before another: by keys from `first` on, then arrival."""
    for k in range(first, keys.shape[1]):
        if keys[one, k] != keys[other, k]:
            return bool(keys[one, k] < keys[other, k])
    return bool(jobs[one, SEQUENCE] < jobs[other, SEQUENCE])


@compiled()
def insert_into_queue(
    row: int,
    queue: IntArray,
    count: int,
    by_wait: bool | None,
    keys: IntArray,
    jobs: IntArray,
) -> None:
    """Insert a row into a queue, by its keys or at its end.

    The end suits new arrivals, and orders that are computed anew for each round.

    Parameters
    ----------
    queue
        Queue; changed in place.
    count
        Number of rows in the queue before.
    by_wait
        True for an order by wait, False for one computed by Python, None for fixed keys.
    keys
        Keys of all rows.
    jobs
        Table of jobs.
    """
    left, right = 0, count
    if by_wait is not None or (
        count and keys.shape[1] == 0 and jobs[queue[count - 1], SEQUENCE] < jobs[row, SEQUENCE]
    ):
        left = count
    while left < right:
        middle = (left + right) // 2
        if _goes_before(queue[middle], row, 0, keys, jobs):
            left = middle + 1
        else:
            right = middle
    for k in range(count, left, -1):
        queue[k] = queue[k - 1]
    queue[left] = row


@compiled()
def merge(
    queue: IntArray,
    count: int,
    first: int,
    others: int,
    by_wait: bool | None,
    keys: IntArray,
    jobs: IntArray,
) -> None:
    """Merge two sorted parts of a queue; an order by wait is sorted later and only joined here.

    Parameters
    ----------
    queue
        Queue; changed in place.
    count
        Number of rows in the first part.
    first
        Position of the second part.
    others
        Number of rows in the second part.
    by_wait
        True for an order by wait, False for one computed by Python, None for fixed keys.
    keys
        Keys of all rows.
    jobs
        Table of jobs.
    """
    if by_wait is not None:
        for k in range(others):
            queue[count + k] = queue[first + k]
        return
    ordered = numbers(count)
    for k in range(count):
        ordered[k] = queue[k]
    left, right = 0, first
    for k in range(count + others):
        if left == count or (
            right < first + others and _goes_before(queue[right], ordered[left], 0, keys, jobs)
        ):
            queue[k] = queue[right]
            right += 1
        else:
            queue[k] = ordered[left]
            left += 1


@compiled()
def in_python(by_wait: bool | None) -> bool:
    """Check whether Python sorts a queue."""
    return by_wait is not None and not by_wait


@compiled()
def sort_by_wait(
    now: int, queue: IntArray, count: int, by_wait: bool | None, keys: IntArray, jobs: IntArray
) -> bool:
    """Sort a queue by wait over the first key, the largest first, then by the other keys.

    Insertion sort: any two jobs change places at most once while they wait, so that most of a queue
    stays sorted from one round to the next.

    Parameters
    ----------
    queue
        Queue; changed in place.
    count
        Number of rows in the queue.
    by_wait
        True for an order by wait; otherwise the queue stays as it is.
    keys
        Keys of all rows.
    jobs
        Table of jobs.

    Returns
    -------
    bool
        Whether the queue was sorted.
    """
    if by_wait is None or not by_wait:
        return False
    # Ratios are negative waits, so that ascending order has the largest wait first.
    ratios = shares(count, 0.0)
    for k in range(count):
        row = queue[k]
        ratio = (jobs[row, SUBMIT_TIME] - now) / keys[row, 0]
        place = k
        while place and (
            ratio < ratios[place - 1]
            or (ratio == ratios[place - 1] and _goes_before(row, queue[place - 1], 1, keys, jobs))
        ):
            ratios[place] = ratios[place - 1]
            queue[place] = queue[place - 1]
            place -= 1
        ratios[place] = ratio
        queue[place] = row
    return True
