"""Jobs that are held back in a replay: they wait for others, are not due, or a limit is reached.

They are looked at again only where that may have changed: where a job of their user has come or
gone in their partition, or what they wait for has.
"""

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import Tables
from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.dispatching.reasons import Reason
from hpcsched.simulation.dependencies import Dependencies
from hpcsched.simulation.limits import Account, Limits
from hpcsched.simulation.parts import Parts
from hpcsched.workload.job import Job

_Together = Account | int
"""Jobs that are looked at together: those of a user in a partition, or a job by itself."""


class _Queued(NamedTuple):
    """A job in the queue that may be held back, and its row in the table of jobs."""

    waiting: WaitingJob
    row: int


class ArrayHolding:
    """Which jobs are held back, and until when if nothing else happens.

    Jobs are known by their places among all submitted. The nodes that outages leave to a job are
    not looked at here, but count: a job for which these are too few does not use up what its user
    may run.
    """

    def __init__(self, parts: Parts) -> None:
        self._dependencies = Dependencies() if parts.dependencies else None
        self._recorded = parts.recorded
        self._limits = Limits(parts.partitions, parts.system)
        self._beside_outages = bool(parts.outages.all)
        self._queues: dict[_Together, dict[int, _Queued]] = {}
        self._changed: set[_Together] = set()
        # When jobs are released that nothing else would release, and which; or when a round is
        # wanted whatever happens.
        self._turns = count()
        self._releases: list[tuple[int, int, _Together | None]] = [
            (instant, next(self._turns), None) for instant in parts.instants
        ]
        # Who was held back when it was looked at last, because of others and because of a limit.
        self._waiting: set[int] = set()
        self._limited: set[int] = set()
        # The rows of all jobs in the system, by number of the job.
        self._rows: dict[int, int] = {}

    def may_hold(self, job: Job) -> bool:
        """Say whether the job or others may be held back, or not any more, because of it."""
        if self._recorded is not None:
            return True
        return bool(job.after) or self._limits.account(job) is not None

    def submitted(self, waiting: WaitingJob, k: int, row: int, now: int, tables: Tables) -> None:
        """Take note of a job that joins the queue; those that it waits for are watched then."""
        job = waiting.job
        if self._dependencies is not None:
            self._dependencies.submitted(job, now)
            self._rows[job.job_id] = row
            for other in job.after:
                if other in self._rows:
                    tables.jobs[self._rows[other], codes.WATCHED] = 1
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
        """Take note of a job that is submitted and refused."""
        if self._dependencies is not None:
            self._dependencies.submitted(waiting.job, now)
            self._note_release(waiting.job, now)
        self._left(waiting.job, now)

    def started(self, running: RunningJob, k: int) -> None:
        """Take note of a job that has started."""
        job = running.waiting.job
        self._limits.started(running)
        if self._dependencies is not None:
            self._dependencies.started(job.job_id)
        if self._recorded is not None:
            self._recorded.started(job.job_id, running.start_time)
        self._leave_queue(job, k)

    def dismissed(self, job: Job, k: int, now: int) -> None:
        """Take note of a job in the queue that the dispatcher rejects."""
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
        """Take note of a job that has lost a node and waits again, at its old place."""
        job = running.waiting.job
        self._limits.ended(running)
        if self.may_hold(job):
            queue = self._queues.setdefault(self._with(job), {})
            queue[k] = _Queued(running.waiting, row)
            self._queues[self._with(job)] = dict(sorted(queue.items()))
            self._changed.add(self._with(job))

    def ended(self, running: RunningJob, now: int) -> None:
        """Take note of a job that runs no more, and leaves."""
        job = running.waiting.job
        self._limits.ended(running)
        if self._limits.account(job) is not None:
            self._changed.add(self._with(job))
        self._left(job, now)

    def turned(self, now: int, tables: Tables) -> list[int]:
        """Return the rows of those who are held back now and were not before, or vice versa."""
        found = []
        for together in self._to_look_at(now):
            queue = self._queues[together]
            held = self._held_by_others(queue, now)
            free = [k for k in queue if k not in held and not _is_shut_out(queue[k], tables)]
            limited = self._over_limit(queue, free)
            self._waiting = (self._waiting - queue.keys()) | held
            self._limited = (self._limited - queue.keys()) | limited
            for k, (_, row) in queue.items():
                before = tables.jobs[row, codes.HELD] & codes.HELD_BY_OTHERS
                if (k in held or k in limited) != bool(before):
                    found.append(row)
        self._changed.clear()
        return found

    @property
    def next_release(self) -> int:
        """When a job is released next, or a round wanted, if nothing else happens."""
        return self._releases[0][0] if self._releases else codes.NEVER

    def frees(self, now: int, tables: Tables) -> bool:
        """Say whether someone who was held back at the last look would not be any more."""
        for together in self._to_look_at(now):
            queue = self._queues[together]
            before = self._waiting & queue.keys()
            if not before <= self._held_by_others(queue, now):
                return True
            shown = [k for k in queue if k not in before and not _is_shut_out(queue[k], tables)]
            if not self._limited & queue.keys() <= self._over_limit(queue, shown):
                return True
        return False

    def _with(self, job: Job) -> _Together:
        return self._limits.account(job) or job.job_id

    def reasons(
        self, queue: Sequence[WaitingJob], shut_out: Mapping[int, Reason], now: int
    ) -> dict[int, Reason]:
        """Return why jobs of a queue are held back, by number; `shut_out` is what outages hold."""
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
        """Take note of a job that has left the system."""
        if self._recorded is not None:
            self._recorded.left(job.job_id)
        if self._dependencies is None:
            return
        self._rows.pop(job.job_id, None)
        for other in self._dependencies.left(job.job_id, now):
            self._changed.add(self._with(other))
            self._note_release(other, now)

    def _note_release(self, job: Job, now: int) -> None:
        """Have the job be looked at again once its think time is over."""
        assert self._dependencies is not None
        time = self._dependencies.held_until(job.job_id)
        if time is not None and time > now:
            heappush(self._releases, (time, next(self._turns), self._with(job)))

    def _to_look_at(self, now: int) -> Iterable[_Together]:
        """Return those of whom some may be held back, or not any more, since the last look."""
        while self._releases and self._releases[0][0] <= now:
            together = heappop(self._releases)[-1]
            if together is not None:
                self._changed.add(together)
        if self._beside_outages:
            return tuple(self._queues)
        return [together for together in self._changed if together in self._queues]

    def _held_by_others(self, queue: Mapping[int, _Queued], now: int) -> set[int]:
        """Return the jobs that wait for others, for their think time to be over, or to be due."""
        return {k for k, (waiting, _) in queue.items() if self._is_held(waiting.job_id, now)}

    def _is_held(self, job_id: int, now: int) -> bool:
        until: int | None = 0
        if self._dependencies is not None:
            until = self._dependencies.held_until(job_id)
        if until is not None and self._recorded is not None:
            until = max(until, self._recorded.due(job_id))
        return until is None or until > now

    def _over_limit(self, queue: Mapping[int, _Queued], among: Iterable[int]) -> set[int]:
        """Return the jobs that a limit holds back, in order of arrival, if the others are shown."""
        numbers = {queue[k].waiting.job_id: k for k in among}
        held = self._limits.held_back([queue[k].waiting for k in numbers.values()])
        return {numbers[job_id] for job_id in held}


def _is_shut_out(queued: _Queued, tables: Tables) -> bool:
    """Say whether outages leave too few nodes to a job."""
    return bool(tables.jobs[queued.row, codes.HELD] & codes.HELD_BY_OUTAGES)
