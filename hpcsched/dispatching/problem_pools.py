"""Shared resources (pools) in a dispatching problem: free amounts and draws of jobs."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hpcsched.system.pool_draws import Amounts, drawn_by_all, most_draw, total
from hpcsched.system.shared_resources import Pool, steps_from
from hpcsched.system.system import IntArray

# `problem` imports this module, so its types are imported for type checkers only.
if TYPE_CHECKING:
    from hpcsched.dispatching.problem import DispatchingProblem


class ProblemPools(NamedTuple):
    """Shared resources (`P` pools) of a problem with `J` queued and `K` running jobs.

    Shared nodes are switched off with the last job on them, and their draw is counted as that
    job's, in the order of predicted ends. The arrays are read-only.

    Attributes
    ----------
    now
        Simulated time, in seconds.
    pools
        The declared pools, `[P]`.
    free
        Free amount now, `[P]`; negative where a capacity has fallen below the draw of running jobs.
    draws
        Upper bound on each queued job's draw, `[J, P]`, as if it switched on all of its nodes;
        enough for it to start.
    held
        Amount that becomes free with the end of each running job, `[K, P]`.
    """

    now: int
    pools: tuple[Pool, ...]
    free: IntArray
    draws: IntArray
    held: IntArray

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the pools, `[P]`."""
        return tuple(pool.name for pool in self.pools)

    def capacity_from_now(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield pairs of a time and the capacities from then on, `[P]`; the first time is `now`.

        The iterator is infinite if changes recur.
        """
        return steps_from(self.pools, self.now)


def pools_of(problem: "DispatchingProblem") -> ProblemPools | None:
    """Return a problem's view of the shared resources; None for a system without pools."""
    pools = problem.system.pools
    if not pools:
        return None
    held = allocated_draws(problem)
    capacity = [pool.capacity_at(problem.now) for pool in pools]
    # Not clipped at 0: plans add the draws of jobs that end to this balance.
    free = np.array(capacity, dtype=np.int64) - np.array(total(held, len(pools)), dtype=np.int64)
    draws = [most_draw(problem.system, job.request) for job in problem.queue]
    free.flags.writeable = False
    return ProblemPools(problem.now, pools, free, _rows(draws, pools), _rows(held, pools))


def allocated_draws(problem: "DispatchingProblem") -> list[Amounts]:
    """Return the amounts that become free with the end of each running job, `[K, P]`."""
    running = [(job.allocation, job.waiting.request) for job in problem.running]
    return drawn_by_all(problem.system, running)


def _rows(amounts: Sequence[Amounts], pools: Sequence[Pool]) -> IntArray:
    rows = np.array(amounts, dtype=np.int64).reshape(len(amounts), len(pools))
    rows.flags.writeable = False
    return rows
