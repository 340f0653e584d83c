"""The block `partitions`: its declaration, and the partitions that follow from it."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import InitErrorDetails

from hpcsched.parameters import Listed, Params, PositiveDuration
from hpcsched.scenario.faults import refusal
from hpcsched.scenario.system import Name
from hpcsched.workload.site_partitions import Criterion, Partition, Partitions

_CRITERIA: tuple[Criterion, ...] = ("partition", "queue", "group", "application")
_LARGEST_PRIORITY = 2**31
_Number = Annotated[int, Field(ge=0)]
_Numbers = Annotated[tuple[_Number, ...], Listed]
_NumbersAndNames = Annotated[tuple[_Number | Annotated[str, Field(min_length=1)], ...], Listed]


class JobNumbers(Params):
    """Filter of the jobs of a partition, by numbers and names in the trace."""

    partition: _NumbersAndNames = Field(
        default=(), description="Numbers of partitions in the trace, or names where it has them."
    )
    queue: _NumbersAndNames = Field(
        default=(), description="Numbers of queues in the trace, or names where it has them."
    )
    group: _Numbers = Field(default=(), description="Numbers of groups of users in the trace.")
    application: _Numbers = Field(default=(), description="Numbers of applications in the trace.")

    @model_validator(mode="after")
    def _name_something(self) -> Self:
        if not any(getattr(self, criterion) for criterion in _CRITERIA):
            raise ValueError(
                "expected a number of a partition, queue, group or application, found none; leave"
                " out 'jobs' for a partition that takes what no other takes"
            )
        return self

    def by_criterion(self) -> dict[Criterion, frozenset[int | str]]:
        """Return the given numbers and names, by criterion."""
        return {what: frozenset(getattr(self, what)) for what in _CRITERIA if getattr(self, what)}


class PartitionDeclaration(Params):
    """A partition: its jobs, its nodes, and its limits."""

    name: Name = Field(description="The partition's name.")
    jobs: JobNumbers | None = Field(
        default=None,
        description="Jobs of the partition, by numbers or names in the trace: a job belongs to the"
        " first partition that matches. Without this key, all jobs that match no other"
        " partition.",
    )
    groups: Annotated[tuple[str, ...], Listed] | None = Field(
        default=None, min_length=1, description="Node groups that its jobs may use; all by default."
    )
    max_time: PositiveDuration | None = Field(
        default=None,
        description="Maximum requested time: seconds, or with a unit; a job that requests more is"
        " refused at submission. No limit by default.",
    )
    nodes_per_user: int | None = Field(
        default=None,
        ge=1,
        description="Maximum number of nodes in it that one user's running jobs may use; no limit"
        " by default.",
    )
    running_jobs_per_user: int | None = Field(
        default=None,
        ge=1,
        description="Maximum number of running jobs of one user in it; no limit by default.",
    )
    priority: int = Field(
        default=0,
        ge=0,
        le=_LARGEST_PRIORITY,
        description="Priority in the order `multifactor`, in relation to the largest.",
    )

    def build(self) -> Partition:
        """Return the partition that is declared."""
        return Partition(
            self.name,
            {} if self.jobs is None else self.jobs.by_criterion(),
            None if self.groups is None else frozenset(self.groups),
            self.max_time,
            self.nodes_per_user,
            self.running_jobs_per_user,
            self.priority,
        )


def build_partitions(declared: Sequence[PartitionDeclaration]) -> Partitions:
    """Return the partitions that are declared."""
    return Partitions(tuple(partition.build() for partition in declared))


def partition_clashes(declared: Sequence[PartitionDeclaration]) -> Iterator[InitErrorDetails]:
    """Yield clashes between partitions: equal names, and two without a filter."""
    names: set[str] = set()
    rest: PartitionDeclaration | None = None
    for n, partition in enumerate(declared):
        if partition.name in names:
            message = f"two partitions are called {partition.name!r}"
            yield refusal("duplicate-name", message, partition.name, at=(n, "name"))
        names.add(partition.name)
        if partition.jobs is None:
            if rest is not None:
                message = f"{partition.name} and {rest.name} both take what no other takes;"
                message += " 'jobs' is missing in one of them"
                yield refusal("bad-value", message, partition.name, at=(n,))
            # Every later one is compared with the first, so that each message names a pair.
            rest = rest or partition


def unknown_groups(
    declared: Sequence[PartitionDeclaration], groups: Sequence[str]
) -> Iterator[InitErrorDetails]:
    """Yield the node groups that partitions name and that are not among those of the system."""
    for n, partition in enumerate(declared):
        for k, name in enumerate(partition.groups or ()):
            if name not in groups:
                message = f"there is no node group {name!r}; there are: {', '.join(groups)}"
                at = ("partitions", n, "groups", k)
                yield refusal("unknown-group", message, name, at=at)
