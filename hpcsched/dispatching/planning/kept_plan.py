"""A kept plan: its execution goes on while jobs arrive, start and end as it was planned."""

from collections.abc import Sequence

from hpcsched.dispatching.decision import Start
from hpcsched.dispatching.planning.explaining import ExecutedPlan
from hpcsched.dispatching.problem import DispatchingProblem


class KeptPlan:
    """The plan that was made last, for rounds that need no new one.

    It is dropped once reality differs from it: a job has been submitted, one has ended sooner or
    later than predicted, or one has not started when it was to.
    """

    def __init__(self) -> None:
        self._executed: ExecutedPlan | None = None
        self._made = 0
        # When jobs that wait are to start, and running ones to end, by job number.
        self._starts: dict[int, int] = {}
        self._ends: dict[int, int] = {}

    def keep(
        self, problem: DispatchingProblem, executed: ExecutedPlan | None, starts: Sequence[Start]
    ) -> None:
        """Keep a plan that was made now, if it covers all that is known to come.

        It is not kept where it leaves out queued jobs, where other jobs start than it says, and
        where there are shared resources or outages, in view of which plans are cautious.
        """
        self._executed = None
        if executed is None or problem.system.shared_resources or problem.outages:
            return
        if len(executed.selection.jobs) < len(problem.queue):
            return
        now = problem.now
        self._starts = executed.start_times(now)
        to_start = {job_id for job_id, start in self._starts.items() if start == now}
        if to_start != {start.job_id for start in starts}:
            return
        self._executed, self._made = executed, now
        self._ends = {job.job_id: job.predicted_end_time for job in problem.running}
        self.carry_on(problem, starts)

    def plan_at(self, problem: DispatchingProblem) -> ExecutedPlan | None:
        """Return the plan with starts from now on; None if there is none that still holds."""
        if self._executed is None:
            return None
        plan, data = self._executed.plan, self._executed.selection.data
        steps, rest = divmod(problem.now - self._made, data.step)
        # A time between two steps has no place in the plan.
        if rest or not self._is_as_planned(problem):
            self._executed = None
            return None
        return self._executed._replace(plan=plan._replace(starts=plan.starts - steps))

    def carry_on(self, problem: DispatchingProblem, starts: Sequence[Start]) -> None:
        """Record the jobs that the plan starts now."""
        started = {start.job_id for start in starts}
        for job in problem.queue:
            if job.job_id in started:
                self._ends[job.job_id] = problem.now + job.predicted_run_time
                del self._starts[job.job_id]

    def _is_as_planned(self, problem: DispatchingProblem) -> bool:
        """Say whether the waiting and running jobs are those of the plan, and none is late."""
        now, starts = problem.now, self._starts
        if problem.outages or len(problem.queue) != len(starts):
            return False
        if any(starts.get(job.job_id, -1) < now for job in problem.queue):
            return False
        # Jobs that were to end by now are gone; any that still runs makes the two differ.
        self._ends = {job_id: end for job_id, end in self._ends.items() if end > now}
        running = {job.job_id: job.predicted_end_time for job in problem.running}
        return running == self._ends
