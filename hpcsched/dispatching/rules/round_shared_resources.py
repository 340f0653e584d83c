"""Free amounts of shared resources during one round, computed by the core."""

import numpy as np

from hpcsched._core import Choices, Rule
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.problem_state import ProblemState
from hpcsched.system.space import Allocation


class RoundSharedResources:
    """Free amounts of shared resources from now on, reduced by every job that starts."""

    def __init__(self, problem: DispatchingProblem) -> None:
        self._problem = problem
        # No round is decided on this state: the rule is a placeholder.
        filled = ProblemState(problem.system, None, Choices(Rule.GREEDY))
        filled.fill(problem, problem.queue, None)
        self._row_of = {job.job_id: row for row, job in enumerate(problem.queue)}
        self._state = filled.state
        self._state.open_shared()

    def lacking(self, job: WaitingJob) -> str | None:
        """Return the name of a shared resource that is short for a queued job, or None.

        Returns
        -------
        str | None
            A shared resource that offers too little between now and the job's predicted end, or
            None.
        """
        resource = self._state.short_resource(self._row_of[job.job_id], self._problem.now)
        return None if resource == -1 else self._problem.system.shared_resources[resource].name

    def start(self, job: WaitingJob, allocation: Allocation) -> None:
        """Subtract the draw of a queued job that starts now."""
        placed = np.zeros(self._problem.system.node_count, dtype=np.int64)
        placed[list(allocation.nodes)] = allocation.units
        self._state.draw_for_start(self._row_of[job.job_id], placed)
