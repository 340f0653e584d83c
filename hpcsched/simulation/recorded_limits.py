"""Limits of a cluster that a live run saw, in its simulation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from hpcsched.dispatching.decision_reasons import Reason
from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.simulation.limits import Account
from hpcsched.system.group_limits import GroupUsage, LimitedJob
from hpcsched.workload.job import Job

_TOGETHER: Account = ("", 0)
"""Account of all limited jobs: their groups overlap, so that they are looked at together."""


class RecordedLimits:
    """Limits of jobs by number, and the running jobs that count in them; see `Limits`."""

    def __init__(self, jobs: Mapping[int, LimitedJob]) -> None:
        self._jobs = {number: job for number, job in jobs.items() if job.groups or job.until}
        self._running: dict[int, tuple[LimitedJob, tuple[int, ...]]] = {}
        self._usage: GroupUsage | None = None

    def account(self, job: Job) -> Account | None:
        """Return the account of a job; None if it has no limit and counts in none."""
        return _TOGETHER if job.job_id in self._jobs else None

    def held_until(self, job_id: int) -> int:
        """Return the second up to which a job may not start by itself; 0: it may at once."""
        job = self._jobs.get(job_id)
        return 0 if job is None else job.until

    def blocked(self, queue: Iterable[WaitingJob], now: int) -> dict[int, Reason]:
        """Return the reasons of the queued jobs that may not start by themselves, by number."""
        return {
            one.job_id: Reason(one.job_id, "limit", detail=self._jobs[one.job_id].why)
            for one in queue
            if self.held_until(one.job_id) > now
        }

    def started(self, running: RunningJob) -> None:
        """Record the start of a job."""
        job = self._jobs.get(running.job_id)
        if job is not None:
            self._running[running.job_id] = job, running.allocation.nodes
            self._usage = None

    def ended(self, running: RunningJob) -> None:
        """Record the end of a job."""
        if self._running.pop(running.job_id, None) is not None:
            self._usage = None

    def held_back(self, queue: Sequence[WaitingJob]) -> dict[int, str]:
        """Return the queued jobs beyond a limit, with the limit, by number; see `GroupUsage`."""
        waiting = [self._jobs[one.job_id] for one in queue if one.job_id in self._jobs]
        if self._usage is None:
            self._usage = GroupUsage(self._running.values())
        held = self._usage.held_back(waiting)
        return {number: held[key] for number, key in self._keys(queue) if key in held}

    def _keys(self, queue: Iterable[WaitingJob]) -> Iterator[tuple[int, str]]:
        for one in queue:
            if one.job_id in self._jobs:
                yield one.job_id, self._jobs[one.job_id].key
