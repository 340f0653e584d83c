"""Partitions: named parts of a site's workload, with nodes, limits and a priority of their own.

Slurm calls them partitions, other systems queues or classes. The numbers in the trace, or names, of
which few traces have any, assign jobs to partitions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from hpcsched.system.limits import NO_LIMITS, SiteLimits
from hpcsched.system.system import System
from hpcsched.workload.job import Job

Criterion = Literal["partition", "queue", "group", "application"]
"""Numbers of a job by which a partition can claim it."""

_NAMES: Mapping[Criterion, str] = {"partition": "partition_name", "queue": "queue_name"}
"""Fields with names for numbers."""


@dataclass(frozen=True, slots=True)
class Partition:
    """Partition of a site.

    Attributes
    ----------
    jobs
        Numbers that it claims, by kind of number, and names of partitions and queues. Empty: it
        takes the jobs that no other partition claims.
    groups
        Names of the node groups that its jobs may use; None: any.
    max_time
        Maximum requested time in seconds; None: no limit.
    limits
        Limits of its jobs.
    qos
        Number or name of the QOS whose limits are those of its jobs, in place of `limits`.
    tier
        Jobs of partitions of higher tiers come first, whatever their order (Slurm's PriorityTier).
    """

    name: str
    jobs: Mapping[Criterion, frozenset[int | str]] = field(default_factory=dict)
    groups: frozenset[str] | None = None
    max_time: int | None = None
    priority: int = 0
    limits: SiteLimits = NO_LIMITS
    qos: int | str | None = None
    tier: int = 1

    @property
    def takes_the_rest(self) -> bool:
        """True if it takes the jobs that no partition claims."""
        return not self.jobs

    def claims(self, job: Job) -> bool:
        """Return whether the partition claims a job by its numbers or names."""
        return any(
            getattr(job, what) in claimed
            or (what in _NAMES and getattr(job, _NAMES[what]) in claimed)
            for what, claimed in self.jobs.items()
        )


class Partitions:
    """All partitions of a site, in the order of their declaration; possibly none."""

    def __init__(self, partitions: tuple[Partition, ...] = ()) -> None:
        self._partitions = partitions
        self._rest = next((p for p in partitions if p.takes_the_rest), None)
        self._known: dict[tuple[int | str | None, ...], Partition | None] = {}

    def __len__(self) -> int:
        return len(self._partitions)

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._partitions)

    def of(self, job: Job) -> Partition | None:
        """Return the first partition that claims a job, or the one for the rest, or None."""
        numbers = job.partition, job.queue, job.group, job.application
        # Cached by these fields, since `claims` reads nothing else of a job.
        told = *numbers, job.partition_name, job.queue_name
        try:
            return self._known[told]
        except KeyError:
            claiming = (partition for partition in self._partitions if partition.claims(job))
            found = self._known[told] = next(claiming, self._rest)
            return found

    @property
    def largest_priority(self) -> int:
        """Largest priority of a partition; 0 if there is none."""
        return max((partition.priority for partition in self._partitions), default=0)

    def bind_nodes(self, system: System) -> bool:
        """Return whether a partition keeps its jobs off some of the nodes."""
        groups = {group.name for group in system.groups}
        return any(p.groups is not None and p.groups != groups for p in self._partitions)


NO_PARTITIONS = Partitions()
"""Site without partitions: jobs may run anywhere, in any number."""
