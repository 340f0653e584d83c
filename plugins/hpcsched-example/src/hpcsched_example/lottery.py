"""The dispatcher `lottery`: a random order, in which those who have waited long come first."""

from random import Random

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision, Start
from hpcsched.dispatching.heuristic.workspace import open_workspace
from hpcsched.dispatching.problem import DispatchingProblem


class Lottery:
    """Draws the queue's order by lot in every round, and starts each job that fits.

    A job has one ticket, and one more for every `ticket_every` seconds that it has waited; lots are
    numbers, drawn at the rate of the tickets, of which the lowest comes first.
    """

    def __init__(self, ticket_every: int, allocator: Allocator, seed: int) -> None:
        self._ticket_every = ticket_every
        self._allocator = allocator
        self._lot = Random(seed).expovariate

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        workspace = open_workspace(problem, self._allocator)
        now, every = problem.now, self._ticket_every
        drawn = sorted(
            problem.queue, key=lambda job: self._lot(1 + (now - job.submit_time) // every)
        )
        starts = [Start(job.job_id, workspace.place(job)) for job in drawn if workspace.fits(job)]
        return Decision(tuple(starts))
