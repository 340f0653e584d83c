"""What rules keep from round to round, written into the core before a round and read after it."""

from collections.abc import Sequence
from typing import Protocol

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.problem_state import ProblemState
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.allocation import Allocation


class CarriedState(Protocol):
    """What a rule keeps."""

    def write(
        self, filled: ProblemState, problem: DispatchingProblem, queue: Sequence[WaitingJob]
    ) -> None:
        """Write what is kept into the state of a round, whose first rows are the queue's jobs."""

    def read(
        self, filled: ProblemState, problem: DispatchingProblem, queue: Sequence[WaitingJob]
    ) -> None:
        """Keep what the round has made of it."""


class CarriedPromises:
    """When head jobs were promised to start, by number, until they start."""

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
        """Keep the promises."""
        self._promised.update(filled.column(queue, codes.PROMISE))
        for row, _ in filled.started():
            self._promised.pop(queue[row].job_id, None)


class CarriedReservations:
    """Reservations and first promises of jobs that wait, by number."""

    def __init__(self) -> None:
        self.promised: dict[int, int] = {}
        self._starts: dict[int, int] = {}
        self._places: dict[int, Allocation] = {}
        # When the jobs that ran after the last round were to end.
        self._ends: dict[int, int] = {}

    def write(
        self, filled: ProblemState, problem: DispatchingProblem, queue: Sequence[WaitingJob]
    ) -> None:
        """Write the reservations, and whether a job has ended before it was predicted to."""
        filled.set_promises(queue, self.promised)
        filled.set_reservations(queue, self._starts, self._places)
        running = {job.job_id for job in problem.running}
        now, ends = problem.now, self._ends.items()
        freed = any(end > now and name not in running for name, end in ends)
        filled.tables.counters[codes.FREED_UNTIL] = now + 1 if freed else 0

    def read(
        self, filled: ProblemState, problem: DispatchingProblem, queue: Sequence[WaitingJob]
    ) -> None:
        """Keep the reservations of the jobs that wait on."""
        self.promised = filled.column(queue, codes.PROMISE)
        self._starts = filled.column(queue, codes.RESERVED)
        self._ends = {job.job_id: job.predicted_end_time for job in problem.running}
        for row, _ in filled.started():
            job = queue[row]
            self.promised.pop(job.job_id, None)
            self._starts.pop(job.job_id, None)
            self._ends[job.job_id] = problem.now + job.predicted_run_time
        self._places = filled.reserved_places(queue)
