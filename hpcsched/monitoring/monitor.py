"""The monitor: an observer that shows the progress of a run."""

from collections import Counter, deque
from collections.abc import Sequence

from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.monitoring.round_log import log_round
from hpcsched.monitoring.run_state import DecisionTimes
from hpcsched.monitoring.state_board import StateBoard
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import Interruption, JobRecord, RoundRecord
from hpcsched.system.shared_draws import drawn_by_all, total


class Monitor(Observer):
    """Counts and sums of a simulation, shown on a board.

    Events are only recorded; a state is computed at the end of a round in which a view is due.

    Parameters
    ----------
    board
        Board that shows the state.
    """

    def __init__(self, board: StateBoard) -> None:
        self._board, self._system = board, board.system
        self._running: dict[int, RunningJob] = {}
        # Jobs that ran, by their ends: of the last simulated day, and whatever ended since the last
        # state was made.
        self._ran: deque[JobRecord] = deque()
        self.first_submit: int | None = None
        self.submitted = self.ended = 0
        self._round: RoundRecord | None = None
        self._decision_times = self._longest = 0.0
        self.statuses: Counter[str] = Counter()
        board.begin(self)

    def job_submitted(self, job: WaitingJob) -> None:
        """Count the job."""
        if self.first_submit is None:
            self.first_submit = job.submit_time
        self.submitted += 1

    def job_started(self, job: RunningJob) -> None:
        """Record a running job."""
        self._running[job.job_id] = job

    def job_interrupted(self, interruption: Interruption) -> None:
        """Record a job that is queued again."""
        if interruption.requeued:
            self._running.pop(interruption.job.job_id, None)

    def job_ended(self, record: JobRecord) -> None:
        """Record a job that has left; a rejected one did not run."""
        self.ended += 1
        if self._running.pop(record.job.job_id, None) is not None:
            self._ran.append(record)

    def round_ended(self, record: RoundRecord) -> None:
        """Record and log the round, and show the state where that is due."""
        self._round = record
        self._decision_times += record.decision_time
        self._longest = max(self._longest, record.decision_time)
        if record.solver is not None:
            self.statuses[record.solver.status] += 1
        log_round(record.round, record.now, record.queued, record.decision_time, record.solver)
        self._board.look(self)

    def close(self) -> None:
        """Show the last state on all views."""
        self._board.close(self)

    @property
    def now(self) -> int | None:
        """Simulated second of the replay; None before the first round."""
        if self._round is None:
            return None
        decided = self._round.now + self._round.latency
        # Jobs may have ended since, with nothing left to decide.
        return max(decided, self._ran[-1].end_time or 0) if self._ran else decided

    @property
    def running(self) -> int:
        """Number of running jobs."""
        return len(self._running)

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self._round.round if self._round else 0

    @property
    def decision_times(self) -> DecisionTimes:
        """Decision times of the rounds so far."""
        if self._round is None:
            return DecisionTimes(mean=None, last=None, longest=None)
        return DecisionTimes(
            mean=self._decision_times / self._round.round,
            last=self._round.decision_time,
            longest=self._longest,
        )

    def allocated(self) -> list[int]:
        """Return the amount of each resource type allocated to running jobs."""
        amounts = [0] * len(self._system.resource_types)
        for job in self._running.values():
            for r, amount in enumerate(job.waiting.unit_request):
                amounts[r] += job.units * amount
        return amounts

    def drawn(self) -> Sequence[int]:
        """Return the amount of each shared resource in use by running jobs."""
        running = [(job.allocation, job.waiting.request) for job in self._running.values()]
        return total(drawn_by_all(self._system, running), len(self._system.shared_resources))

    def areas(self, begin: int, now: int) -> list[int]:
        """Return the area of each resource type allocated in a window.

        Parameters
        ----------
        begin, now
            Bounds of the window, in simulated seconds.

        Returns
        -------
        list
            Amount × seconds, by resource type.
        """
        while self._ran and (self._ran[0].end_time or 0) <= begin:
            self._ran.popleft()
        areas = [0] * len(self._system.resource_types)
        for record in self._ran:
            start, end = record.start_time, record.end_time
            assert start is not None and end is not None  # it ran
            _add(areas, record.job.units, record.job.unit_request, end - max(start, begin))
        for job in self._running.values():
            seconds = now - max(job.start_time, begin)
            _add(areas, job.units, job.waiting.unit_request, seconds)
        return areas


def _add(areas: list[int], units: int, request: tuple[int, ...], seconds: int) -> None:
    """Add the area of a job, in amount × seconds, to the areas by resource type."""
    for r, amount in enumerate(request):
        areas[r] += units * amount * seconds
