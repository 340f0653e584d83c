"""Eligibility of queued jobs: dependencies and recorded starts.

A job is looked at again only where its eligibility may have changed: where it is due, or a job that
it depends on has left.
"""

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from hpcsched._core import NEVER, State
from hpcsched.dispatching.decision import Reason
from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.simulation.parts import Parts
from hpcsched.workload.job import Job


class Dependencies:
    """Jobs that wait for others to end, and the instants of their release.

    Times are in seconds. Memory grows with the trace: the end of each job is kept, since any later
    job may depend on it.
    """

    def __init__(self) -> None:
        self._ends: dict[int, int] = {}
        self._present: set[int] = set()
        # Of each held job, those that it still waits for; and who waits for each job.
        self._missing: dict[int, set[int]] = {}
        self._waiting_for: dict[int, list[Job]] = {}
        # Of each job whose others have ended, when the think time is over and who ended last.
        self._released: dict[int, tuple[int, int]] = {}

    def submitted(self, job: Job, now: int) -> None:
        """Add a job that has joined the queue, or was refused on its way there."""
        self._present.add(job.job_id)
        if not job.after:
            return
        missing = {other for other in job.after if other in self._present and other != job.job_id}
        for other in missing:
            self._waiting_for.setdefault(other, []).append(job)
        if missing:
            self._missing[job.job_id] = missing
        else:
            self._release(job, now)

    def left(self, job_id: int, now: int) -> list[Job]:
        """Record a job that has left; return the jobs that waited for it and for no other."""
        released = []
        self._present.discard(job_id)
        self._ends[job_id] = now
        self._missing.pop(job_id, None)
        self._released.pop(job_id, None)
        for job in self._waiting_for.pop(job_id, ()):
            missing = self._missing.get(job.job_id)
            if missing is not None:
                missing.discard(job_id)
                if not missing:
                    del self._missing[job.job_id]
                    self._release(job, now)
                    released.append(job)
        return released

    def started(self, job_id: int) -> None:
        """Record a job that has started and waits no longer."""
        self._released.pop(job_id, None)

    def held_until(self, job_id: int) -> int | None:
        """Return the second from which a queued job may start; None while it waits for others."""
        if job_id in self._missing:
            return None
        return self._released[job_id][0] if job_id in self._released else 0

    def held_back(self, queue: Iterable[WaitingJob], now: int) -> dict[int, Reason]:
        """Return the queued jobs that may not start yet, with their reasons, by number."""
        held = {}
        for job in queue:
            job_id = job.job_id
            missing = self._missing.get(job_id)
            if missing is not None:
                held[job_id] = Reason(job_id, "dependency", min(missing))
            elif job_id in self._released and self._released[job_id][0] > now:
                time, last = self._released[job_id]
                held[job_id] = Reason(
                    job_id, "dependency", last, detail=f"think time, until second {time}"
                )
        return held

    def _release(self, job: Job, now: int) -> None:
        """Set the second from which a job may start, after the jobs that it depends on."""
        ends = [(self._ends[other], other) for other in job.after if other in self._ends]
        if not ends:
            return
        end, last = max(ends)
        self._released[job.job_id] = end + job.think_time, last


class _Queued(NamedTuple):
    """A queued job that may be ineligible, and its row in the table of jobs."""

    waiting: WaitingJob
    row: int


class ReplayEligibility:
    """Eligibility of the queued jobs, and the next instant at which it changes by itself.

    Jobs are known by their places among all submitted. Nodes that outages close and limits are
    handled elsewhere.
    """

    def __init__(self, parts: Parts) -> None:
        self._dependencies = Dependencies() if parts.dependencies else None
        self._recorded = parts.recorded
        self._queue: dict[int, _Queued] = {}
        self._places: dict[int, int] = {}
        self._changed: set[int] = set()
        # When jobs are released that nothing else would release, and which.
        self._releases: list[tuple[int, int]] = []
        # Who was held back when it was looked at last.
        self._held: set[int] = set()
        # The rows of all jobs in the system, by number of the job.
        self._rows: dict[int, int] = {}

    def may_hold(self, job: Job) -> bool:
        """Return True if a job may become ineligible, or change the eligibility of others."""
        return self._recorded is not None or bool(job.after)

    def submitted(self, waiting: WaitingJob, k: int, row: int, now: int, state: State) -> None:
        """Add a job to the queue, and watch the jobs that it depends on."""
        job = waiting.job
        self._join_queue(waiting, k, row)
        if self._dependencies is not None:
            self._dependencies.submitted(job, now)
            self._rows[job.job_id] = row
            for other in job.after:
                if other in self._rows:
                    state.set_jobs("watched", np.array([self._rows[other]]), np.array([1]))
            self._note_release(job, now)
        if self._recorded is not None:
            self._recorded.submitted(job)
            due = self._recorded.due(job.job_id)
            if due > now:
                heappush(self._releases, (due, k))

    def refused(self, waiting: WaitingJob, now: int) -> None:
        """Record a job that is refused at submission."""
        if self._dependencies is not None:
            self._dependencies.submitted(waiting.job, now)
        self._left(waiting.job, now)

    def started(self, running: RunningJob, k: int) -> None:
        """Record the start of a job."""
        job = running.waiting.job
        if self._dependencies is not None:
            self._dependencies.started(job.job_id)
        if self._recorded is not None:
            self._recorded.started(job.job_id, running.start_time)
        self._leave_queue(job, k)

    def dismissed(self, job: Job, k: int, now: int) -> None:
        """Record a queued job that the dispatcher rejects, or that is withdrawn."""
        self._leave_queue(job, k)
        # Nothing changes any more at the end of its think time.
        self._releases = [one for one in self._releases if one[1] != k]
        heapify(self._releases)
        self._left(job, now)

    def put_back(self, running: RunningJob, k: int, row: int) -> None:
        """Record a job that has lost a node and waits again, at its old place."""
        self._join_queue(running.waiting, k, row)

    def ended(self, running: RunningJob, now: int) -> None:
        """Record a job that has ended and leaves."""
        self._left(running.waiting.job, now)

    def turned(self, now: int, state: State) -> list[int]:
        """Return the rows of the jobs with another eligibility than at the last call."""
        found = []
        for k in self._to_look_at(now):
            waiting, row = self._queue[k]
            is_held = self._is_held(waiting.job_id, now)
            (self._held.add if is_held else self._held.discard)(k)
            if is_held != state.held(row)[1]:
                found.append(row)
        self._changed.clear()
        return found

    @property
    def next_release(self) -> int:
        """Next second at which a job becomes eligible, or a round is wanted, by itself."""
        return self._releases[0][0] if self._releases else NEVER

    def frees(self, now: int) -> bool:
        """Return True if a job that was ineligible at the last look would be eligible now."""
        looked_at = self._held.intersection(self._to_look_at(now))
        return not all(self._is_held(self._queue[k].waiting.job_id, now) for k in looked_at)

    def reasons(
        self, queue: Sequence[WaitingJob], shut_out: Mapping[int, Reason], now: int
    ) -> dict[int, Reason]:
        """Return the reasons of ineligible jobs, by number.

        Parameters
        ----------
        now
            Simulated second.
        """
        held: dict[int, Reason] = {}
        if self._dependencies is not None:
            held |= self._dependencies.held_back(queue, now)
        if self._recorded is not None:
            others = [job for job in queue if job.job_id not in held]
            held |= self._recorded.held_back(others, now)
        return {**shut_out, **held}

    def _join_queue(self, waiting: WaitingJob, k: int, row: int) -> None:
        if self.may_hold(waiting.job):
            self._queue[k] = _Queued(waiting, row)
            self._places[waiting.job_id] = k
            self._changed.add(k)

    def _leave_queue(self, job: Job, k: int) -> None:
        if self._queue.pop(k, None) is not None:
            self._held.discard(k)
            del self._places[job.job_id]

    def _left(self, job: Job, now: int) -> None:
        """Record a job that has left the system."""
        if self._recorded is not None:
            self._recorded.left(job.job_id)
        if self._dependencies is None:
            return
        self._rows.pop(job.job_id, None)
        for other in self._dependencies.left(job.job_id, now):
            if other.job_id in self._places:
                self._changed.add(self._places[other.job_id])
            self._note_release(other, now)

    def _note_release(self, job: Job, now: int) -> None:
        """Schedule another look at a job for the end of its think time."""
        assert self._dependencies is not None
        time = self._dependencies.held_until(job.job_id)
        if time is not None and time > now and job.job_id in self._places:
            heappush(self._releases, (time, self._places[job.job_id]))

    def _to_look_at(self, now: int) -> list[int]:
        """Return the jobs that may have changed eligibility since the last look, in order."""
        while self._releases and self._releases[0][0] <= now:
            self._changed.add(heappop(self._releases)[-1])
        return sorted(self._changed & self._queue.keys())

    def _is_held(self, job_id: int, now: int) -> bool:
        until: int | None = 0
        if self._dependencies is not None:
            until = self._dependencies.held_until(job_id)
        if until is not None and self._recorded is not None:
            until = max(until, self._recorded.due(job_id))
        return until is None or until > now
