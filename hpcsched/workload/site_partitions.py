"""Partitions: named parts of a site's workload, each with nodes, limits and a priority of its own.

They are what Slurm calls partitions and other systems call queues or classes. Which jobs belong to
which follows from the numbers that the trace gives, or from names, of which few traces have any.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from hpcsched.system.system import System
from hpcsched.workload.job import Job

Criterion = Literal["partition", "queue", "group", "application"]
"""The numbers of a job by which a partition can claim it."""

_NAMES: Mapping[Criterion, str] = {"partition": "partition_name", "queue": "queue_name"}
"""The fields of a job that have names for numbers."""


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition.

    `jobs` has the numbers that it claims, by what they are numbers of, and names among those of
    partitions and queues; without any it takes what no other claims. `groups` names the node groups
    that its jobs may use (None: any). `max_time` is in seconds. The limits hold for each user,
    among the user's jobs in the partition; None: there is none. `nodes_per_user` counts the nodes
    of each job, so that a node on which two jobs of the user run counts twice.
    """

    name: str
    jobs: Mapping[Criterion, frozenset[int | str]] = field(default_factory=dict)
    groups: frozenset[str] | None = None
    max_time: int | None = None
    nodes_per_user: int | None = None
    running_jobs_per_user: int | None = None
    priority: int = 0

    @property
    def takes_the_rest(self) -> bool:
        """Whether it takes the jobs that no partition claims."""
        return not self.jobs

    @property
    def limits_users(self) -> bool:
        """Whether there is a limit to what a user may run at a time."""
        return self.nodes_per_user is not None or self.running_jobs_per_user is not None

    def claims(self, job: Job) -> bool:
        """Say whether it names one of the job's numbers, or its partition or queue."""
        return any(
            getattr(job, what) in claimed
            or (what in _NAMES and getattr(job, _NAMES[what]) in claimed)
            for what, claimed in self.jobs.items()
        )


class Partitions:
    """All partitions of a site, in the order in which they are declared; maybe none."""

    def __init__(self, partitions: tuple[Partition, ...] = ()) -> None:
        self._partitions = partitions
        self._rest = next((p for p in partitions if p.takes_the_rest), None)
        self._known: dict[tuple[int | str | None, ...], Partition | None] = {}

    def __len__(self) -> int:
        return len(self._partitions)

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._partitions)

    def of(self, job: Job) -> Partition | None:
        """Return the first partition that claims the job, or the one that takes the rest."""
        numbers = job.partition, job.queue, job.group, job.application
        told = *numbers, job.partition_name, job.queue_name
        try:
            return self._known[told]
        except KeyError:
            claiming = (partition for partition in self._partitions if partition.claims(job))
            found = self._known[told] = next(claiming, self._rest)
            return found

    @property
    def largest_priority(self) -> int:
        """The largest priority of a partition; 0 if there is none."""
        return max((partition.priority for partition in self._partitions), default=0)

    def bind_nodes(self, system: System) -> bool:
        """Say whether a partition keeps its jobs off some of the nodes."""
        groups = {group.name for group in system.groups}
        return any(p.groups is not None and p.groups != groups for p in self._partitions)


NO_PARTITIONS = Partitions()
"""What a site without partitions has: every job may run anywhere, and any number of them."""
