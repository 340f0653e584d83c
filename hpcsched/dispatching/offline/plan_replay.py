"""Plan replay: the dispatcher that carries out a plan of a whole trace."""

from dataclasses import dataclass

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision, ReasonKind, Start
from hpcsched.dispatching.offline.offline_problem import OfflinePlan
from hpcsched.dispatching.planning.plan_execution import planned_reasons
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.workspace import open_workspace

ZERO_LENGTH_FIRST = "jobs that run for no time go first in an instant"
"""Reason of a job that is due now and starts in a later round of the same instant."""


@dataclass(frozen=True)
class ReplaysPlan:
    """Starts each job at its planned time, on the plan's nodes or else on the allocator's.

    A planned start is the submission of a job or the end of one, so that there is a round then.
    """

    plan: OfflinePlan
    allocator: Allocator

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now; raises ValueError where one should have started before.

        Jobs that run for no time go first, as planned; when they have ended there is another round.
        """
        decision = Decision(self._starts(problem))
        if not problem.explain:
            return decision
        starts = self.plan.starts
        planned = {job.job_id: starts[job.job_id] for job in problem.queue}
        left_over: tuple[ReasonKind, str] = "solver_postponed", ZERO_LENGTH_FIRST
        reasons = planned_reasons(problem, decision, planned, self.allocator, left_over)
        return decision._replace(reasons=reasons)

    def _starts(self, problem: DispatchingProblem) -> tuple[Start, ...]:
        """Return the starts of the jobs that are due and have room in this round."""
        starts = self.plan.starts
        due = [job for job in problem.queue if starts[job.job_id] <= problem.now]
        for job in due:
            if starts[job.job_id] < problem.now:
                raise ValueError(f"job {job.job_id} was to start at {starts[job.job_id]}")
        workspace = open_workspace(problem, self.allocator)
        zero_length = [job for job in due if job.job_id in self.plan.zero_length]
        if zero_length:  # as many as there is room for together, one placed after another
            fitting = (job for job in zero_length if workspace.fits(job))
            return tuple(Start(job.job_id, workspace.place(job)) for job in fitting)
        allocations = self.plan.allocations
        return tuple(
            Start(job.job_id, allocations.get(job.job_id) or workspace.place(job)) for job in due
        )
