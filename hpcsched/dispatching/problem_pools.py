"""What a dispatching problem says of pools: what is free of them, and what jobs draw."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hpcsched.system.pool_draws import Amounts, drawn_by_all, most_draw, total
from hpcsched.system.shared_resources import Pool, steps_from
from hpcsched.system.system import IntArray

if TYPE_CHECKING:
    from hpcsched.dispatching.problem import DispatchingProblem


class ProblemPools(NamedTuple):
    """The `P` pools of a problem with `J` queued and `K` running jobs, in the pools' own units.

    `free`, `[P]`, is what is free now; it is negative where a capacity has fallen below what
    running jobs draw. `draws`, `[J, P]`, is what each queued job draws at most, as if it switched
    on all of its nodes; nothing larger is needed for it to start. `held`, `[K, P]`, is what comes
    free with the end of each running job. Nodes that are shared are switched off with the last job
    on them, and count as its own, in the order of predicted ends. The arrays are read-only.
    """

    now: int
    pools: tuple[Pool, ...]
    free: IntArray
    draws: IntArray
    held: IntArray

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the pools, `[P]`."""
        return tuple(pool.name for pool in self.pools)

    def capacity_from_now(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield from which second on the pools offer how much, `[P]`, the first being now.

        There is no end of it where changes come again and again.
        """
        return steps_from(self.pools, self.now)


def pools_of(problem: "DispatchingProblem") -> ProblemPools | None:
    """Return what a problem says of pools; None where the system has none."""
    pools = problem.system.pools
    if not pools:
        return None
    held = allocated_draws(problem)
    capacity = [pool.capacity_at(problem.now) for pool in pools]
    free = np.array(capacity, dtype=np.int64) - np.array(total(held, len(pools)), dtype=np.int64)
    draws = [most_draw(problem.system, job.request) for job in problem.queue]
    free.flags.writeable = False
    return ProblemPools(problem.now, pools, free, _rows(draws, pools), _rows(held, pools))


def allocated_draws(problem: "DispatchingProblem") -> list[Amounts]:
    """Return what comes free with the end of each running job of a problem, `[K, P]`."""
    running = [(job.allocation, job.waiting.request) for job in problem.running]
    return drawn_by_all(problem.system, running)


def _rows(amounts: Sequence[Amounts], pools: Sequence[Pool]) -> IntArray:
    rows = np.array(amounts, dtype=np.int64).reshape(len(amounts), len(pools))
    rows.flags.writeable = False
    return rows
