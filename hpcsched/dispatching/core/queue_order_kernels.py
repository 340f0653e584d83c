"""Compiled queue orders: by keys that a job keeps, or by how long it has waited in relation to one.

The latter change with time. What a wait is divided by is the first key of a job: its expected wait,
or its predicted run time for its slowdown.
"""

from hpcsched.dispatching.core.array_kernels import shares
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

    The latter suits orders of arrival, and those by wait, which `sort_by_wait` makes.
    """
    left, right = 0, count
    if by_wait is not None or keys.shape[1] == 0:
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
def sort_by_wait(
    now: int, queue: IntArray, count: int, by_wait: bool | None, keys: IntArray, jobs: IntArray
) -> bool:
    """Sort a queue of `count` rows by wait over their first key, the largest first.

    Ties are broken by the other keys. Return whether the queue is ordered so at all; if not, it
    stays as it is. Rows are inserted one after the other: any two change places but once while they
    wait, so that most of a queue is in order from one time to the next.
    """
    if by_wait is None:
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
