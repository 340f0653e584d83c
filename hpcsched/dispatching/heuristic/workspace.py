"""A dispatching round's working copy of what is free, with the plans that reach beyond now.

There are two: `pooled`, for rounds in which all jobs ask for equal units, so that counting free
slots is enough; and `node_level`, which is right for any mix of requests. They answer the same
questions, so that each dispatcher is written once.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.heuristic.held import Held
from hpcsched.dispatching.heuristic.node_level import NodeWorkspace
from hpcsched.dispatching.heuristic.pooled import PooledWorkspace
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.allocation import Allocation


class Shadow(Protocol):
    """The reservation of a head job at its shadow time, as in EASY (Feitelson and Weil 1998)."""

    time: int
    """When the head job is to start, in seconds."""

    def postpone(self, time: int) -> None:
        """Move the reservation to a later time, before anything is started beside it."""

    def backfill(self, job: WaitingJob) -> Allocation | None:
        """Start the job now if it fits and does not delay the head job; None if it must wait."""


class Profile(Protocol):
    """What is free from now on, given predicted ends and reservations."""

    def fits(self, job: WaitingJob) -> bool:
        """Say whether the job could be started now, if nothing else is started or reserved."""

    def start_now(self, job: WaitingJob) -> Allocation | None:
        """Start the job now if it fits until its predicted end; None if it must wait."""

    def reserve(self, job: WaitingJob, not_before: int | None = None) -> int:
        """Reserve room for the job at the earliest time that it fits, which is returned.

        That is from now on, or from `not_before` on.
        """

    def hold(self, job: WaitingJob, held: Held) -> bool:
        """Reserve room for the job from a given start on; return whether there is any."""

    def held(self, job: WaitingJob) -> Held:
        """Return what is reserved for the job."""

    def cancel(self, job: WaitingJob) -> Held:
        """Give back what is reserved for the job, and return what it was."""

    def first_conflict(self, job: WaitingJob, order: Sequence[int] | None = None) -> int | None:
        """Return the first job whose reservation leaves too little for a start now.

        That is the first, in the order in which reservations were made or in a given one, beside
        whose reservation and those before it the job does not fit; None if it fits beside all.
        """


class Workspace(Protocol):
    """What is free now, and less so with every job that is started."""

    def fits(self, job: WaitingJob) -> bool:
        """Say whether the job could be placed now."""

    def fitting(self, jobs: Iterable[WaitingJob]) -> list[WaitingJob]:
        """Return those of the jobs that could be placed now, each by itself."""

    def short_of(self, job: WaitingJob) -> str:
        """Return what the job lacks where nodes have room for it now: a pool; empty otherwise."""

    def place(self, job: WaitingJob) -> Allocation:
        """Start the job now; it must fit."""

    def shadow(self, head: WaitingJob) -> Shadow:
        """Reserve room for a head job that does not fit now."""

    def profile(self) -> Profile:
        """Return a profile without reservations; from then on start jobs through it."""


def open_workspace(problem: DispatchingProblem, allocator: Allocator) -> Workspace:
    """Return the workspace that suits the problem."""
    if problem.free_slots is not None:
        return PooledWorkspace(problem, allocator)
    return NodeWorkspace(problem, allocator)
