"""What pools have left in a dispatching round, as the core keeps account of it."""

from typing import Any

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.core.pool_kernels import draw_for_start, open_pools, pool_short_of
from hpcsched.dispatching.core.problem_state import ProblemState
from hpcsched.dispatching.core.state import Choices
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.allocation import Allocation

_open = plain(open_pools)
_short_of = plain(pool_short_of)
_draw = plain(draw_for_start)


class RoundPools:
    """What is free of pools from now on beside what runs, and less so with every job that starts.

    Parameters
    ----------
    problem
        The problem of the round, on a system with pools.
    """

    def __init__(self, problem: DispatchingProblem) -> None:
        self._problem = problem
        choices = Choices(
            rule=codes.GREEDY,
            depth=-1,
            own_backfill_order=False,
            allocator=codes.FIRST_FIT,
            correction=codes.ONE_SECOND,
            writes_places=False,
        )
        filled = ProblemState(problem.system, None, choices)
        filled.fill(problem, problem.queue, None)
        self._row_of = {job.job_id: row for row, job in enumerate(problem.queue)}
        state: Any = filled.state(plainly=True)
        _open(problem.now, state, state.pool_drawn)
        self._state = state

    def lacking(self, job: WaitingJob) -> str | None:
        """Return the name of a pool that has too little for a queued job, from now to its end."""
        state = self._state
        pool = _short_of(self._row_of[job.job_id], self._problem.now, state, state.pool_free)
        return None if pool == -1 else self._problem.system.pools[pool].name

    def start(self, job: WaitingJob, allocation: Allocation) -> None:
        """Take what a queued job draws that starts now."""
        state = self._state
        placed = np.zeros(self._problem.system.node_count, dtype=np.int64)
        placed[list(allocation.nodes)] = allocation.units
        _draw(self._row_of[job.job_id], placed, self._problem.now, state, state.pool_free)
