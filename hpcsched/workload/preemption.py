"""Preemption: which jobs may end or suspend running ones, and what checkpoints save of their work.

Source: SchedMD's page on preemption, and the sources of Slurm 22.05 (`preempt/qos`,
`preempt/partition_prio`, `select/cons_tres`).
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from hpcsched.workload.job import Job
from hpcsched.workload.site_partitions import Partitions

PreemptMode = Literal["off", "requeue", "cancel", "suspend"]
PREEMPT_MODES: tuple[PreemptMode, ...] = get_args(PreemptMode)
"""What preemption does to a job, in the order of the core."""

PreemptBy = Literal["qos", "partition", "priority"]

RELEASED = "core"
"""Resource type that suspended jobs release; they keep all others."""


class PreemptClass(NamedTuple):
    """Jobs of a partition or quality of service, as preemption sees them.

    Attributes
    ----------
    exempt, grace
        Run time before a job may be preempted, and time until its end then, in seconds.
    priority
        Of the candidates, jobs of the lowest priority are preempted first.
    preempts
        Names of the classes whose jobs its jobs preempt.
    """

    name: str
    mode: PreemptMode
    exempt: int
    grace: int
    priority: int
    preempts: frozenset[str] = frozenset()


class Preemption(NamedTuple):
    """Rules of preemption; without classes none, but a rank of the partitions.

    Attributes
    ----------
    by
        What decides who preempts whom; `priority` is the order of the queue.
    classes
        One for each partition, in order, or for each quality of service; one with `priority`.
    youngest_first
        Candidates go by the latest start, and not by priority and number of nodes.
    requeue_delay
        Time until a job that was requeued may start again, in seconds.
    """

    by: PreemptBy
    classes: tuple[PreemptClass, ...]
    partitions: Partitions
    youngest_first: bool = False
    requeue_delay: int = 0

    def class_of(self, job: Job) -> int:
        """Return the number of a job's class; -1: it neither preempts nor is preempted."""
        if not self.classes or self.by == "priority":
            return len(self.classes) - 1
        if self.by == "partition":
            partition = self.partitions.of(job)
            names: set[str | None] = {partition.name} if partition else set()
        else:
            names = {str(job.queue), job.queue_name}
        numbers = (k for k, one in enumerate(self.classes) if one.name in names)
        return next(numbers, -1)

    def level(self, number: int) -> int:
        """Return the length of the longest chain of classes that preempt one another below one."""
        numbers = {one.name: k for k, one in enumerate(self.classes)}
        below = self.classes[number].preempts if number >= 0 else frozenset()
        return max((1 + self.level(numbers[name]) for name in below), default=0)

    def precedence(self, job: Job) -> tuple[int, int]:
        """Return the rank of a job in the queue, the highest first, and its class.

        Those who may preempt come before those whom they may preempt, then tiers count.
        """
        partition, number = self.partitions.of(job), self.class_of(job)
        tier = 0 if partition is None else partition.tier
        level = self.level(number) if self.by == "qos" else 0
        return (level << 32) + tier, number

    @property
    def may_preempt(self) -> list[list[bool]]:
        """Whether jobs of a class preempt those of another, `[C, C]`."""
        return [[other.name in one.preempts for other in self.classes] for one in self.classes]


class Checkpoints(NamedTuple):
    """Checkpoints of jobs, one after each `every` seconds of work; times in seconds.

    Attributes
    ----------
    cost, restart
        Time to write one, and to read one when a job begins again.
    """

    every: int
    cost: int = 0
    restart: int = 0

    def saved(self, work: int, elapsed: int, *, restarts: bool) -> int:
        """Return the seconds of work that an attempt saves.

        Parameters
        ----------
        work
            Work that was left when it began, in seconds.
        elapsed
            Seconds that it ran.
        restarts
            Whether it began at a checkpoint.
        """
        written = (elapsed - self.restart * restarts) // (self.every + self.cost)
        return min(max(written, 0), max(work - 1, 0) // self.every) * self.every

    def run_time(self, work: int, *, restarts: bool) -> int:
        """Return the seconds that an attempt takes for the work that is left."""
        return self.restart * restarts + work + max(work - 1, 0) // self.every * self.cost

    def work(self, run_time: int, *, restarts: bool) -> int:
        """Return the work of an attempt that ran to the end of its job, in seconds."""
        at_work = run_time - self.restart * restarts
        return at_work - max(at_work - 1, 0) // (self.every + self.cost) * self.cost


def by_tiers(tiers: Mapping[str, int]) -> dict[str, frozenset[str]]:
    """Return the names of the partitions with a lower tier, by partition."""
    return {
        name: frozenset(other for other, lower in tiers.items() if lower < tier)
        for name, tier in tiers.items()
    }
