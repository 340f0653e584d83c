"""Compiled: random numbers, and random changes of an order."""

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.system.system import IntArray


@compiled()
def uniform(state: IntArray) -> float:
    """Return a number from 0 to below 1, by xorshift64*."""
    x = np.uint64(state[0])
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = np.int64(x)
    return float((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@compiled()
def below(count: int, state: IntArray) -> int:
    """Return a whole number from 0 to below `count`."""
    return int(uniform(state) * count)


@compiled()
def draw_change(count: int, bias: float, state: IntArray) -> tuple[int, int, int]:
    """Draw a change of an order: two positions, and 1 to swap them or 0 to move the job of one.

    By `bias` more often a job is taken from the front of the order; 1: from anywhere alike. A move
    to the position beside is a swap, and a swap has the lower position first.
    """
    a = int(count * uniform(state) ** bias)
    b = below(count - 1, state)
    if b >= a:
        b += 1
    if uniform(state) < 0.5 or abs(a - b) == 1:
        return min(a, b), max(a, b), 1
    return a, b, 0


@compiled()
def change(a: int, b: int, swaps: int, order: IntArray, trial: IntArray) -> tuple[int, int]:
    """Write an order as it is changed into `trial`, from the first position on that changes.

    Return the first and the last position that change.
    """
    low, high = min(a, b), max(a, b)
    for k in range(low, len(order)):
        trial[k] = order[k]
    if swaps:
        trial[a] = order[b]
    else:
        step = 1 if a < b else -1
        for k in range(a, b, step):
            trial[k] = order[k + step]
    trial[b] = order[a]
    return low, high
