"""Shared resources in a dispatching problem: free amounts and draws of jobs."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hpcsched.system.shared_resources import SharedResource, steps_from
from hpcsched.system.space import Amounts, drawn_by_all, most_draw, total
from hpcsched.system.system import IntArray

# `problem` imports this module, so its types are imported for type checkers only.
if TYPE_CHECKING:
    from hpcsched.dispatching.problem import DispatchingProblem


class ProblemSharedResources(NamedTuple):
    """The `P` shared resources of a problem with `J` queued and `K` running jobs.

    Shared nodes are switched off with the last job on them, and their draw is counted as that
    job's, in the order of predicted ends. The arrays are read-only.

    Attributes
    ----------
    now
        Simulated time, in seconds.
    shared_resources
        The declared shared resources, `[P]`.
    free
        Free amount now, `[P]`; negative where a capacity has fallen below the draw of running jobs.
    draws
        Upper bound on each queued job's draw, `[J, P]`, as if it switched on all of its nodes;
        enough for it to start.
    allocated
        Amount that becomes free with the end of each running job, `[K, P]`.
    """

    now: int
    shared_resources: tuple[SharedResource, ...]
    free: IntArray
    draws: IntArray
    allocated: IntArray

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the shared resources, `[P]`."""
        return tuple(resource.name for resource in self.shared_resources)

    def capacity_from_now(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield pairs of a time and the capacities from then on, `[P]`; the first time is `now`.

        The iterator is infinite if changes recur.
        """
        return steps_from(self.shared_resources, self.now)


def shared_resources_of(problem: "DispatchingProblem") -> ProblemSharedResources | None:
    """Return a problem's view of the shared resources; None for a system without any."""
    shared_resources = problem.system.shared_resources
    if not shared_resources:
        return None
    allocated = allocated_draws(problem)
    capacity = [resource.capacity_at(problem.now) for resource in shared_resources]
    # Not clipped at 0: plans add the draws of jobs that end to this balance.
    free = np.array(capacity, dtype=np.int64) - np.array(
        total(allocated, len(shared_resources)), dtype=np.int64
    )
    draws = [most_draw(problem.system, job.request) for job in problem.queue]
    free.flags.writeable = False
    return ProblemSharedResources(
        problem.now,
        shared_resources,
        free,
        _rows(draws, shared_resources),
        _rows(allocated, shared_resources),
    )


def allocated_draws(problem: "DispatchingProblem") -> list[Amounts]:
    """Return the amounts that become free with the end of each running job, `[K, P]`."""
    running = [(job.allocation, job.waiting.request) for job in problem.running]
    return drawn_by_all(problem.system, running)


def _rows(amounts: Sequence[Amounts], shared_resources: Sequence[SharedResource]) -> IntArray:
    rows = np.array(amounts, dtype=np.int64).reshape(len(amounts), len(shared_resources))
    rows.flags.writeable = False
    return rows
