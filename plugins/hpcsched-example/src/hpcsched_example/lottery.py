"""The dispatcher `lottery`: a random order of the queue, weighted by wait times."""

from random import Random

from hpcsched import Allocator, Decision, DispatchingProblem, Start, open_workspace


class Lottery:
    """Dispatcher that draws an order of the queue in every round, and starts each job that fits.

    A job has one ticket, and one more for every `ticket_every` seconds of its wait.

    Parameters
    ----------
    ticket_every
        Wait time for one more ticket, in seconds.
    allocator
        Chooses the nodes of jobs.
    seed
        Seed of the draws.
    """

    def __init__(self, ticket_every: int, allocator: Allocator, seed: int) -> None:
        self._ticket_every = ticket_every
        self._allocator = allocator
        self._random = Random(seed)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        workspace = open_workspace(problem, self._allocator)
        drawn = sorted(problem.queue, key=lambda job: self._draw(problem.now - job.submit_time))
        starts = [Start(job.job_id, workspace.place(job)) for job in drawn if workspace.fits(job)]
        return Decision(tuple(starts))

    def _draw(self, wait_time: int) -> float:
        """Return a random number, the lower the more tickets there are."""
        return self._random.expovariate(1 + wait_time // self._ticket_every)
