"""The monitor of a replay, which sees parts of the replay, not single events."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from hpcsched.runs import round_log
from hpcsched.runs.run_state import DecisionTimes
from hpcsched.runs.state_board import StateBoard
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.records import RoundRemarks
from hpcsched.simulation.replay_output import LeftJobs, ReplayedRounds
from hpcsched.system.system import IntArray
from hpcsched.workload.job_batches import JobColumns


class Monitor:
    """Counts and sums of a replay, shown on a board after each part.

    Attributes
    ----------
    replay
        The replay; another one takes over where a trace has been planned off-line.
    statuses
        Number of rounds that asked a solver, by status.
    """

    def __init__(self, board: StateBoard, replay: EventLoop) -> None:
        self._board, self.replay = board, replay
        self.statuses: Counter[str] = Counter()
        # What each distinct request asks for, [S, R], known by the jobs that have left and run.
        self._amounts = np.empty((0, len(board.system.resource_types)))
        # Of the last simulated day, and whatever ended since the last state was made: start, end,
        # units and request of jobs that ran.
        self._ran: list[tuple[IntArray, ...]] = []
        self.first_submit: int | None = None
        self.ended = self.rounds = 0
        self._decision_times = self._last = self._longest = 0.0
        board.begin(self)

    def read(self, columns: JobColumns) -> None:
        """Count a batch of jobs that has been read."""
        if self.first_submit is None and len(columns.submit_time):
            self.first_submit = int(columns.submit_time[0])
        known = len(self._amounts)
        more = [job.unit_request for job in columns.requests[known:]]
        if more:
            self._amounts = np.concatenate([self._amounts, np.array(more, dtype=np.float64)])

    def replayed(
        self,
        columns: JobColumns,
        left: LeftJobs,
        rounds: ReplayedRounds,
        remarks: Sequence[RoundRemarks],
    ) -> None:
        """Count a part of the replay, and show the state where that is due.

        Parameters
        ----------
        remarks
            What their decisions say; empty where none was made in Python.
        """
        self.ended += len(left.sequence)
        self._ran.append((left.start_time, left.end_time, columns.units, columns.request))
        if len(rounds.now):
            self.rounds = int(rounds.round[-1])
            self._decision_times += float(rounds.decision_time.sum())
            self._last = float(rounds.decision_time[-1])
            self._longest = max(self._longest, float(rounds.decision_time.max()))
            slow = dict.fromkeys(np.flatnonzero(rounds.decision_time >= round_log.SLOW).tolist())
            calls = {k: one.solver for k, one in enumerate(remarks) if one.solver is not None}
            for k, call in sorted((slow | calls).items()):
                how_long = rounds.decision_time[k]
                round_log.log_round(
                    rounds.round[k], rounds.now[k], rounds.queued[k], how_long, call
                )
            self.statuses.update(call.status for call in calls.values())
        self._board.look(self)

    def close(self) -> None:
        """Show the last state on all views."""
        self._board.close(self)

    @property
    def now(self) -> int | None:
        """Simulated second of the replay; None before the first round."""
        return self.replay.now if self.rounds else None

    @property
    def submitted(self) -> int:
        """Number of submitted jobs."""
        return self.replay.submitted

    @property
    def running(self) -> int:
        """Number of running jobs."""
        return self.replay.running

    @property
    def decision_times(self) -> DecisionTimes:
        """Decision times of the rounds so far."""
        if not self.rounds:
            return DecisionTimes(mean=None, last=None, longest=None)
        mean = self._decision_times / self.rounds
        return DecisionTimes(mean=mean, last=self._last, longest=self._longest)

    def allocated(self) -> list[int]:
        """Return the amount of each resource type allocated to running jobs."""
        amounts: list[int] = self.replay.allocated.tolist()
        return amounts

    def drawn(self) -> tuple[int, ...]:
        """Return the amount of each shared resource in use by running jobs."""
        return self.replay.drawn

    def areas(self, begin: int, now: int) -> list[float]:
        """Return the area of each resource type allocated in a window.

        Parameters
        ----------
        begin, now
            Bounds of the window, in simulated seconds. `begin` never decreases, so that jobs that
            ended at `begin` or before are forgotten.

        Returns
        -------
        list
            Amount × seconds, by resource type.
        """
        # Ends ascend from part to part.
        self._ran = [part for part in self._ran if len(part[1]) and part[1][-1] > begin]
        start, units, request = self.replay.running_jobs
        running = start, np.full(len(start), now), units, request
        areas = np.zeros(self._amounts.shape[1])
        for start, end, units, request in (*self._ran, running):
            seconds = np.maximum(end - np.maximum(start, begin), 0)
            areas += (units * seconds.astype(np.float64)) @ self._amounts[request]
        found: list[float] = areas.tolist()
        return found
