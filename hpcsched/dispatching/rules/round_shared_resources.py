"""Free amounts of shared resources during one round, computed by the core."""

from typing import Any

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.core.problem_state import ProblemState
from hpcsched.dispatching.core.shared_resource_kernels import (
    draw_for_start,
    open_shared,
    shared_short_of,
)
from hpcsched.dispatching.core.state import Choices
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.allocation import Allocation

_open = plain(open_shared)
_short_of = plain(shared_short_of)
_draw = plain(draw_for_start)


class RoundSharedResources:
    """Free amounts of shared resources from now on, reduced by every job that starts.

    Parameters
    ----------
    problem
        Problem of the round, on a system with shared resources.
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
        # No round is decided on this state: rule and allocator are placeholders.
        filled = ProblemState(problem.system, None, choices)
        filled.fill(problem, problem.queue, None)
        self._row_of = {job.job_id: row for row, job in enumerate(problem.queue)}
        state: Any = filled.state(plainly=True)
        _open(problem.now, state, state.shared_drawn)
        self._state = state

    def lacking(self, job: WaitingJob) -> str | None:
        """Return the name of a shared resource that is short for a queued job, or None.

        Parameters
        ----------
        job
            A job of the problem's queue.

        Returns
        -------
        str | None
            A shared resource that offers too little between now and the job's predicted end, or
            None.
        """
        state = self._state
        resource = _short_of(self._row_of[job.job_id], self._problem.now, state, state.shared_free)
        return None if resource == -1 else self._problem.system.shared_resources[resource].name

    def start(self, job: WaitingJob, allocation: Allocation) -> None:
        """Subtract the draw of a queued job that starts now.

        Parameters
        ----------
        job
            A job of the problem's queue.
        allocation
            Nodes of its units.
        """
        state = self._state
        placed = np.zeros(self._problem.system.node_count, dtype=np.int64)
        placed[list(allocation.nodes)] = allocation.units
        _draw(self._row_of[job.job_id], placed, self._problem.now, state, state.shared_free)
