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
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import RejectedBy
from hpcsched.system.space import idle_room
from hpcsched.system.system import Request, System
from hpcsched.workload.job import Job
from hpcsched.workload.site_partitions import Partition, Partitions


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


Account = tuple[str, int]
"""Name of a partition, and number of a user."""


class Admission(NamedTuple):
    """A job as its partition lets it run.

    Attributes
    ----------
    refused_by
        Rule that refuses it; None if none does.
    """

    job: Job
    refused_by: RejectedBy | None


class _Allocated(NamedTuple):
    """Running jobs and nodes of a user in a partition."""

    jobs: int
    nodes: int


_NOTHING = _Allocated(0, 0)


class Limits:
    """Limits of all partitions, and the running jobs of each user.

    A job of an unknown user has a user of its own: only itself counts.
    """

    def __init__(self, partitions: Partitions, system: System) -> None:
        self._partitions = partitions
        self._system = system
        self._limiting = {of.name: of for of in partitions if of.limits_users}
        self._all_groups = frozenset(group.name for group in system.groups)
        self._accounts: dict[Account, _Allocated] = {}

    def admit(self, job: Job) -> Admission:
        """Return the job as its partition lets it run, or the rule that refuses it."""
        partition = self._partitions.of(job)
        if partition is None:
            return Admission(job, "no_partition")
        if partition.max_time is not None and job.requested_time > partition.max_time:
            return Admission(job, "over_partition_time")
        groups = partition.groups
        # A job that may use all groups stays as it is: equal requests share one fit count.
        if groups is not None and groups != self._all_groups:
            if job.node_groups is not None:
                groups &= job.node_groups
            job = job._replace(request=job.request._replace(node_groups=groups))
        if job.units > idle_room(self._system, job.request).units:
            return Admission(job, "larger_than_partition")
        most = partition.nodes_per_user
        if most is not None and self._most_nodes(job.request) > most:
            return Admission(job, "over_nodes_per_user")
        return Admission(job, None)

    def account(self, job: Job) -> Account | None:
        """Return the account of a job; None if it has no limit."""
        partition = self._partitions.of(job) if self._limiting else None
        if partition is None or not partition.limits_users or job.user is None:
            return None
        return partition.name, job.user

    def started(self, running: RunningJob) -> None:
        """Record the start of a job."""
        self._add(running, 1)

    def ended(self, running: RunningJob) -> None:
        """Record the end of a job."""
        self._add(running, -1)

    def held_back(self, queue: Iterable[WaitingJob]) -> dict[int, str]:
        """Return the queued jobs beyond a limit, with the limit, by number.

        The others may start, whichever of them do. The queue is in order of arrival. A user's jobs
        in a partition become eligible in that order: the first that is beyond a limit holds back
        those behind it, so that none is overtaken for ever by smaller ones.
        """
        held: dict[int, str] = {}
        if not self._limiting:
            return held
        taken: dict[Account, _Allocated] = {}
        full: dict[Account, str] = {}
        for waiting in queue:
            job = waiting.job
            account = self.account(job)
            if account is None:
                continue
            # Once a job of an account is held back, so are all behind it: see above.
            if account not in full:
                running = taken.get(account) or self._accounts.get(account, _NOTHING)
                with_it = _Allocated(
                    running.jobs + 1, running.nodes + self._most_nodes(job.request)
                )
                limit = _broken(self._limiting[account[0]], with_it)
                if limit is None:
                    taken[account] = with_it
                    continue
                full[account] = limit
            held[waiting.job_id] = full[account]
        return held

    def _add(self, running: RunningJob, sign: int) -> None:
        account = self.account(running.waiting.job)
        if account is None:
            return
        before = self._accounts.get(account, _NOTHING)
        nodes = len(running.allocation.nodes)
        after = _Allocated(before.jobs + sign, before.nodes + sign * nodes)
        # Accounts without running jobs are dropped, so that memory does not grow with users.
        if after.jobs:
            self._accounts[account] = after
        else:
            del self._accounts[account]

    def _most_nodes(self, request: Request) -> int:
        """Return the largest number of nodes on which a request could be placed."""
        return min(request.units, idle_room(self._system, request).nodes)


def _broken(partition: Partition, allocated: _Allocated) -> str | None:
    """Return the limit that a user has exceeded in a partition, in words; None if there is none."""
    most = partition.running_jobs_per_user
    if most is not None and allocated.jobs > most:
        return f"partition {partition.name}: running_jobs_per_user {most}"
    most = partition.nodes_per_user
    if most is not None and allocated.nodes > most:
        return f"partition {partition.name}: nodes_per_user {most}"
    return None


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
