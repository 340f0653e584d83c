"""Dispatcher that rejects every job, to measure the cost of the simulator alone."""

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.registration import builtin


@builtin("dispatcher", "reject", summary="refuses every job: measures the simulator alone")
class Reject:
    """Dispatcher that rejects every job, like AccaSim's (thesis 2020, section 3.4)."""

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Reject the whole queue."""
        return Decision(rejected=tuple(job.job_id for job in problem.queue))
