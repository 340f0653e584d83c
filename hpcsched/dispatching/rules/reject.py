"""The dispatcher that refuses every job: what is left is the cost of the simulator itself."""

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem


class Reject:
    """Refuses every job, like AccaSim's rejecting dispatcher (thesis 2020, section 3.4)."""

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Reject the whole queue."""
        return Decision(rejected=tuple(job.job_id for job in problem.queue))
