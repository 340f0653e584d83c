"""Limits of partitions: refusal at submission, and jobs of a user at a time.

A job is refused at submission if it can never run as its partition wants it. Limits on the running
jobs of a user are kept by hiding the jobs that would break them from the dispatcher.
"""

from collections.abc import Iterable
from typing import NamedTuple

from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.simulation.records import RejectedBy
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import Request, ShapeKey, System, shape_key
from hpcsched.workload.job import Job
from hpcsched.workload.site_partitions import Partition, Partitions

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


class _Room(NamedTuple):
    """Units of a request that fit on the idle system, and number of nodes with room for one."""

    units: int
    nodes: int


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
        self._rooms: dict[ShapeKey, _Room] = {}

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
        if job.units > self._room(job.request).units:
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
        return min(request.units, self._room(request).nodes)

    def _room(self, request: Request) -> _Room:
        # By shape: a log has few of them, and counting the room of one walks over all nodes.
        shape = shape_key(request)
        room = self._rooms.get(shape)
        if room is None:
            fits = units_that_fit(self._system, self._system.capacity.T, request)
            room = self._rooms[shape] = _Room(int(fits.sum()), int((fits > 0).sum()))
        return room


def _broken(partition: Partition, allocated: _Allocated) -> str | None:
    """Return the limit that a user has exceeded in a partition, in words; None if there is none."""
    most = partition.running_jobs_per_user
    if most is not None and allocated.jobs > most:
        return f"partition {partition.name}: running_jobs_per_user {most}"
    most = partition.nodes_per_user
    if most is not None and allocated.nodes > most:
        return f"partition {partition.name}: nodes_per_user {most}"
    return None
