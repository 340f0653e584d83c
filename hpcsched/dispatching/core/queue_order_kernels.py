"""Compiled queue orders: by keys that a job keeps, or by how long it has waited in relation to one.

The latter change with time, and so do those that Python works out. What a wait is divided by is the
first key of a job: its expected wait, or its predicted run time for its slowdown.
"""

from hpcsched.dispatching.core.array_kernels import numbers, shares
from hpcsched.dispatching.core.codes import SEQUENCE, SUBMIT_TIME
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.system.system import IntArray


@compiled()
def _goes_before(one: int, other: int, first: int, keys: IntArray, jobs: IntArray) -> bool:
    """Say whether a job is considered before another: by keys from the `first` on, then arrival."""
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
    """Insert a row into a queue of `count` rows where its keys say, or at its end.

    The latter suits what has just arrived, and orders that are made anew for each round.
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
    """Merge the first `count` rows of a queue with `others` that begin at a later place.

    Both are in order. Where the order is by wait, it will be made anew.
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
    """Say whether Python puts a queue in order."""
    return by_wait is not None and not by_wait


@compiled()
def sort_by_wait(
    now: int, queue: IntArray, count: int, by_wait: bool | None, keys: IntArray, jobs: IntArray
) -> bool:
    """Sort a queue of `count` rows by wait over their first key, the largest first.

    Ties are broken by the other keys. Return whether the queue is ordered so at all; if not, it
    stays as it is. Rows are inserted one after the other: any two change places but once while they
    wait, so that most of a queue is in order from one time to the next.
    """
    if by_wait is None or not by_wait:
        return False
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
