"""Compiled random numbers, and random changes of an order."""

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.system.system import IntArray


@compiled()
def uniform(state: IntArray) -> float:
    """Return a uniform random number in [0, 1), by xorshift64*."""
    # Unsigned: right shifts of signed integers would copy the sign bit.
    x = np.uint64(state[0])
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = np.int64(x)
    return float((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@compiled()
def below(count: int, state: IntArray) -> int:
    """Return a random integer from 0 to `count` - 1."""
    return int(uniform(state) * count)


@compiled()
def draw_change(count: int, front_bias: float, state: IntArray) -> tuple[int, int, int]:
    """Draw a random change of an order: a swap of two jobs, or a move of one.

    A move to the adjacent position is a swap, and a swap has the lower position first.

    Parameters
    ----------
    count
        Number of jobs in the order.
    front_bias
        Exponent of the uniform number that selects the first position; 1: uniform.
    state
        State of the generator, `[1]`; updated.

    Returns
    -------
    tuple[int, int, int]
        Two positions, and 1 for a swap or 0 for a move from the first to the second.
    """
    a = int(count * uniform(state) ** front_bias)
    b = below(count - 1, state)
    if b >= a:
        b += 1
    if uniform(state) < 0.5 or abs(a - b) == 1:
        return min(a, b), max(a, b), 1
    return a, b, 0


@compiled()
def change(a: int, b: int, swaps: int, order: IntArray, trial: IntArray) -> tuple[int, int]:
    """Write a changed order into `trial`, from the first position that changes on.

    Parameters
    ----------
    a
        First position.
    b
        Second position.
    swaps
        1 for a swap, 0 for a move from `a` to `b`.
    order
        The order.
    trial
        Changed order; written.

    Returns
    -------
    tuple[int, int]
        First and last position that change.
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
