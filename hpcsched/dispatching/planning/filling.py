"""Jobs beyond the plan: they start now where that delays none of the planned jobs.

A plan is of the first jobs by priority. Goponenko et al. (DEBS 2024, section 5.5) suggest to switch
to another approach for the rest of the queue; here it is the greedy one, beside the plan's starts,
as list schedulers do once all reservations are given out.
"""

from collections.abc import Sequence

from hpcsched._core import Rule
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Start
from hpcsched.dispatching.planning.explaining import ExecutedPlan
from hpcsched.dispatching.planning.plan_execution import allocation_of
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.core_calls import CoreCalls, starts_of
from hpcsched.system.allocation import Allocation


class Filling:
    """Starts jobs that are not planned where they delay no job that is.

    Parameters
    ----------
    allocator
        Places the jobs.
    """

    def __init__(self, allocator: Allocator) -> None:
        self._core = CoreCalls(Rule.BESIDE_PLAN, allocator)

    def starts_beside(
        self,
        problem: DispatchingProblem,
        by_priority: Sequence[WaitingJob],
        executed: ExecutedPlan,
        starts: Sequence[Start],
    ) -> tuple[Start, ...]:
        """Return the starts of unplanned jobs that delay no planned job.

        Each is considered once, by priority, and started if it fits beside all others until its
        predicted end.

        Parameters
        ----------
        problem
            The dispatching problem.
        by_priority
            All queued jobs, the first by priority first.
        executed
            The plan.
        starts
            The jobs that the plan starts now.
        """
        selection, plan = executed
        if len(selection.jobs) == len(by_priority):
            return ()
        planned = executed.start_times(problem.now)
        beyond = [job for job in by_priority if job.job_id not in planned]
        if not beyond:
            return ()
        job_of = {job.job_id: job for job in selection.jobs}
        order = [job_of[start.job_id] for start in starts]
        places: dict[int, Allocation] = {start.job_id: start.allocation for start in starts}
        started = set(places)
        # Stable, so that jobs of one start keep their order of priority.
        for i in plan.starts.argsort(kind="stable").tolist():
            job = selection.jobs[i]
            if job.job_id in started:
                continue
            order.append(job)
            where = allocation_of(executed, i)
            if where is not None:
                places[job.job_id] = where
        order += beyond
        filled = self._core.fill(problem, order)
        filled.set_reservations(order, planned, places)
        self._core.start_beside_plan(problem, order, len(starts), len(planned))
        return starts_of(order, filled)[len(starts) :]
