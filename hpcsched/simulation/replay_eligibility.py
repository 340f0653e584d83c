"""Eligibility of queued jobs: dependencies, recorded starts and limits of users.

A job is looked at again only where its eligibility may have changed: where a job of its user has
come or gone in its partition, or a job that it depends on has left.
"""

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

import numpy as np

from hpcsched._core import NEVER, State
from hpcsched.dispatching.decision import Reason
from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.simulation.dependencies import Dependencies
from hpcsched.simulation.limits import Account, Limits
from hpcsched.simulation.parts import Parts
from hpcsched.workload.job import Job

_Together = Account | int
"""Jobs that are looked at together: those of a user in a partition, or a job by itself."""


class _Queued(NamedTuple):
    """A queued job that may be ineligible, and its row in the table of jobs."""

    waiting: WaitingJob
    row: int


class ReplayEligibility:
    """Eligibility of the queued jobs, and the next instant at which it changes by itself.

    Jobs are known by their places among all submitted. Nodes that outages close are handled
    elsewhere, but count: a job with too few open nodes does not use up the limit of its user.
    """

    def __init__(self, parts: Parts) -> None:
        self._dependencies = Dependencies() if parts.dependencies else None
        self._recorded = parts.recorded
        self._limits = Limits(parts.partitions, parts.system)
        self._beside_outages = bool(parts.outages.all)
        self._queues: dict[_Together, dict[int, _Queued]] = {}
        self._changed: set[_Together] = set()
        # When jobs are released that nothing else would release, and which.
        self._turns = count()
        self._releases: list[tuple[int, int, _Together]] = []
        # Who was held back when it was looked at last, because of others and because of a limit.
        self._waiting: set[int] = set()
        self._limited: set[int] = set()
        # The rows of all jobs in the system, by number of the job.
        self._rows: dict[int, int] = {}

    def may_hold(self, job: Job) -> bool:
        """Return True if a job may become ineligible, or change the eligibility of others."""
        if self._recorded is not None:
            return True
        return bool(job.after) or self._limits.account(job) is not None

    def submitted(self, waiting: WaitingJob, k: int, row: int, now: int, state: State) -> None:
        """Add a job to the queue, and watch the jobs that it depends on."""
        job = waiting.job
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
                heappush(self._releases, (due, next(self._turns), self._with(job)))
        if self.may_hold(job):
            self._queues.setdefault(self._with(job), {})[k] = _Queued(waiting, row)
            self._changed.add(self._with(job))

    def refused(self, waiting: WaitingJob, now: int) -> None:
        """Record a job that is refused at submission."""
        if self._dependencies is not None:
            self._dependencies.submitted(waiting.job, now)
            self._note_release(waiting.job, now)
        self._left(waiting.job, now)

    def started(self, running: RunningJob, k: int) -> None:
        """Record the start of a job."""
        job = running.waiting.job
        self._limits.started(running)
        if self._dependencies is not None:
            self._dependencies.started(job.job_id)
        if self._recorded is not None:
            self._recorded.started(job.job_id, running.start_time)
        self._leave_queue(job, k)

    def dismissed(self, job: Job, k: int, now: int) -> None:
        """Record a queued job that the dispatcher rejects."""
        self._leave_queue(job, k)
        self._left(job, now)

    def _leave_queue(self, job: Job, k: int) -> None:
        if self.may_hold(job):
            together = self._with(job)
            self._changed.add(together)
            del self._queues[together][k]
            if not self._queues[together]:
                del self._queues[together]

    def put_back(self, running: RunningJob, k: int, row: int) -> None:
        """Record a job that has lost a node and waits again, at its old place."""
        job = running.waiting.job
        self._limits.ended(running)
        if self.may_hold(job):
            queue = self._queues.setdefault(self._with(job), {})
            queue[k] = _Queued(running.waiting, row)
            self._queues[self._with(job)] = dict(sorted(queue.items()))
            self._changed.add(self._with(job))

    def ended(self, running: RunningJob, now: int) -> None:
        """Record a job that has ended and leaves."""
        job = running.waiting.job
        self._limits.ended(running)
        if self._limits.account(job) is not None:
            self._changed.add(self._with(job))
        self._left(job, now)

    def turned(self, now: int, state: State) -> list[int]:
        """Return the rows of the jobs with another eligibility than at the last call."""
        found = []
        for together in self._to_look_at(now):
            queue = self._queues[together]
            held = self._held_by_others(queue, now)
            free = [k for k in queue if k not in held and not _is_shut_out(queue[k], state)]
            limited = self._over_limit(queue, free)
            self._waiting = (self._waiting - queue.keys()) | held
            self._limited = (self._limited - queue.keys()) | limited
            for k, (_, row) in queue.items():
                before = state.held(row)[1]
                if (k in held or k in limited) != before:
                    found.append(row)
        self._changed.clear()
        return found

    @property
    def next_release(self) -> int:
        """Next second at which a job becomes eligible, or a round is wanted, by itself."""
        return self._releases[0][0] if self._releases else NEVER

    def frees(self, now: int, state: State) -> bool:
        """Return True if a job that was ineligible at the last look would be eligible now."""
        for together in self._to_look_at(now):
            queue = self._queues[together]
            before = self._waiting & queue.keys()
            if not before <= self._held_by_others(queue, now):
                return True
            shown = [k for k in queue if k not in before and not _is_shut_out(queue[k], state)]
            if not self._limited & queue.keys() <= self._over_limit(queue, shown):
                return True
        return False

    def _with(self, job: Job) -> _Together:
        return self._limits.account(job) or job.job_id

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
        held |= {job_id: reason for job_id, reason in shut_out.items() if job_id not in held}
        limited = self._limits.held_back([job for job in queue if job.job_id not in held])
        return held | {
            job_id: Reason(job_id, "limit", detail=detail) for job_id, detail in limited.items()
        }

    def _left(self, job: Job, now: int) -> None:
        """Record a job that has left the system."""
        if self._recorded is not None:
            self._recorded.left(job.job_id)
        if self._dependencies is None:
            return
        self._rows.pop(job.job_id, None)
        for other in self._dependencies.left(job.job_id, now):
            self._changed.add(self._with(other))
            self._note_release(other, now)

    def _note_release(self, job: Job, now: int) -> None:
        """Schedule another look at a job for the end of its think time."""
        assert self._dependencies is not None
        time = self._dependencies.held_until(job.job_id)
        if time is not None and time > now:
            heappush(self._releases, (time, next(self._turns), self._with(job)))

    def _to_look_at(self, now: int) -> Iterable[_Together]:
        """Return the groups of jobs that may have changed eligibility since the last look."""
        while self._releases and self._releases[0][0] <= now:
            self._changed.add(heappop(self._releases)[-1])
        if self._beside_outages:
            return tuple(self._queues)
        return [together for together in self._changed if together in self._queues]

    def _held_by_others(self, queue: Mapping[int, _Queued], now: int) -> set[int]:
        """Return the jobs that wait for others, for their think time, or to be due."""
        return {k for k, (waiting, _) in queue.items() if self._is_held(waiting.job_id, now)}

    def _is_held(self, job_id: int, now: int) -> bool:
        until: int | None = 0
        if self._dependencies is not None:
            until = self._dependencies.held_until(job_id)
        if until is not None and self._recorded is not None:
            until = max(until, self._recorded.due(job_id))
        return until is None or until > now

    def _over_limit(self, queue: Mapping[int, _Queued], among: Iterable[int]) -> set[int]:
        """Return the jobs beyond a limit, in order of arrival, if the others are shown."""
        numbers = {queue[k].waiting.job_id: k for k in among}
        held = self._limits.held_back([queue[k].waiting for k in numbers.values()])
        return {numbers[job_id] for job_id in held}


def _is_shut_out(queued: _Queued, state: State) -> bool:
    """Return True if outages leave too few nodes to a job."""
    return state.held(queued.row)[0]
