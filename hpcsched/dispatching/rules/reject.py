"""The dispatcher that refuses every job: what is left is the cost of the simulator itself."""

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.registration import builtin


@builtin("dispatcher", "reject", summary="refuses every job: measures the simulator alone")
class Reject:
    """Refuses every job, like AccaSim's rejecting dispatcher (thesis 2020, section 3.4)."""

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Reject the whole queue."""
        return Decision(rejected=tuple(job.job_id for job in problem.queue))
