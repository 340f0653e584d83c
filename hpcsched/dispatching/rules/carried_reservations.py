"""State that rules carry from round to round: promises and reservations of waiting jobs."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.problem_state import ProblemState
from hpcsched.system.space import Allocation


class CarriedState(Protocol):
    """Protocol of the state that a rule carries from round to round."""

    def write(
        self, filled: ProblemState, problem: DispatchingProblem, queue: Sequence[WaitingJob]
    ) -> None:
        """Write the carried state into the core before a round."""

    def read(
        self, filled: ProblemState, problem: DispatchingProblem, queue: Sequence[WaitingJob]
    ) -> None:
        """Read the carried state from the core after a round."""


class CarriedPromises:
    """Promised starts of head jobs, kept until they start.

    Parameters
    ----------
    promised
        Promised starts in seconds, by job number; updated in place.
    """

    def __init__(self, promised: dict[int, int]) -> None:
        self._promised = promised

    def write(
        self, filled: ProblemState, problem: DispatchingProblem, queue: Sequence[WaitingJob]
    ) -> None:
        """Write the promises."""
        filled.set_promises(queue, self._promised)

    def read(
        self, filled: ProblemState, problem: DispatchingProblem, queue: Sequence[WaitingJob]
    ) -> None:
        """Read the promises of head jobs that still wait."""
        self._promised.update(filled.column(queue, "promise"))
        # Promised jobs count as chosen, so that of a started one must go.
        for row, _ in filled.started():
            self._promised.pop(queue[row].job_id, None)


class CarriedReservations:
    """Reservations and first promises of waiting jobs, by job number."""

    def __init__(self) -> None:
        self.promised: dict[int, int] = {}
        self._starts: dict[int, int] = {}
        self._places: dict[int, Allocation] = {}
        # Predicted ends of the jobs that ran after the last round, and the nodes that were out of
        # service: a job that is gone before its end, or a node that is back, has freed room, so
        # that the schedule is compressed.
        self._ends: dict[int, int] = {}
        self._missed: frozenset[int] = frozenset()

    def write(
        self, filled: ProblemState, problem: DispatchingProblem, queue: Sequence[WaitingJob]
    ) -> None:
        """Write the reservations, and whether there is room that they were made without."""
        filled.set_promises(queue, self.promised)
        filled.set_reservations(queue, self._starts, self._places)
        running = {job.job_id for job in problem.running}
        now, ends = problem.now, self._ends.items()
        freed = any(end > now and name not in running for name, end in ends)
        # So has a job that is held back, which has lost its reservation.
        waiting = {job.job_id for job in queue}
        freed = freed or any(name not in waiting for name in self._starts)
        missing = _out_of_service(problem)
        freed = freed or bool(self._missed - missing)
        self._missed = missing
        filled.state.freed_until = now + 1 if freed else 0

    def read(
        self, filled: ProblemState, problem: DispatchingProblem, queue: Sequence[WaitingJob]
    ) -> None:
        """Read the reservations of the jobs that still wait."""
        self.promised = filled.column(queue, "promise")
        self._starts = filled.column(queue, "reserved")
        self._ends = {job.job_id: job.predicted_end_time for job in problem.running}
        for row, _ in filled.started():
            job = queue[row]
            self.promised.pop(job.job_id, None)
            self._starts.pop(job.job_id, None)
            self._ends[job.job_id] = problem.now + job.predicted_run_time
        self._places = filled.reserved_places(queue)


def _out_of_service(problem: DispatchingProblem) -> frozenset[int]:
    """Return the nodes on which nothing is free and nothing runs."""
    if problem.free_slots is not None:
        return frozenset()
    free = problem.free_amounts
    full = ~(problem.availability.any(axis=1) if free is None else free.any(axis=0))
    used = (job.allocation.nodes for job in problem.running)
    return frozenset(np.flatnonzero(full).tolist()).difference(*used)
