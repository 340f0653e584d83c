"""The parameters of the dispatchers that follow rules, of their orders and of their allocators."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from hpcsched.dispatching.recorded_due_times import MissingStart
from hpcsched.parameters import Duration, Listed, OrNull, Params, PositiveDuration, Selects
from hpcsched.system.system import System
from hpcsched.workload.wait_classes import WaitClass

ClassNumber = Annotated[int, Field(strict=False)]
"""The number of a queue or partition, or of units, as a key: keys of a scenario are texts."""


class ExpectedWaitParams(Params):
    """How long jobs are expected to wait, by queue, by partition or by size."""

    other: PositiveDuration = Field(
        description="The expected wait of jobs of which nothing else says it, in seconds or with a"
        " unit."
    )
    by_queue: Mapping[ClassNumber, PositiveDuration] = Field(
        default_factory=dict, description="The expected wait by number of queue."
    )
    by_partition: Mapping[ClassNumber, PositiveDuration] = Field(
        default_factory=dict, description="The expected wait by number of partition."
    )
    by_units: Mapping[ClassNumber, PositiveDuration] = Field(
        default_factory=dict,
        description="The expected wait by size: of jobs with so many units or more, up to the next"
        " number here.",
    )

    @property
    def by(self) -> WaitClass:
        """What jobs are told apart by."""
        return next((by for by in WaitClass if getattr(self, f"by_{by}")), WaitClass.QUEUE)

    @property
    def waits(self) -> Mapping[int, int]:
        """The expected waits by that, in seconds."""
        found: Mapping[int, int] = getattr(self, f"by_{self.by}")
        return found

    @model_validator(mode="after")
    def _by_one_thing(self) -> Self:
        given = [f"by_{by}" for by in WaitClass if getattr(self, f"by_{by}")]
        if len(given) > 1:
            raise ValueError(
                f"expected one of by_queue, by_partition and by_units, found {' and '.join(given)}"
            )
        return self


class SlowdownParams(Params):
    """How jobs of equal slowdowns are sorted."""

    ties: Literal["arrival", "area"] = Field(
        "arrival",
        description="Which of two jobs of equal slowdowns comes first: the one that was submitted"
        " first, or, as in the papers' CP dispatchers, the one of the smaller area.",
    )


class ShortestJobParams(Params):
    """How jobs of equal run times are sorted."""

    ties: Literal["demand", "arrival"] = Field(
        "demand",
        description="Which of two jobs of equal run times comes first: the one of the smaller"
        " demand, or the one that was submitted first.",
    )


class PlacingParams(Params):
    """How a dispatcher places jobs."""

    allocator: Annotated[Any, Selects("allocator")] = Field(
        "first-fit", description="Decides on which nodes a job is placed."
    )


class ListParams(Params):
    """How a list scheduler goes through its queue."""

    order: Annotated[Any, Selects("queue_order")] = Field(
        "fcfs", description="In which order the queue is considered."
    )
    option: Literal["strict", "greedy", "backfill", "committed", "committed-backfill"] = Field(
        "backfill",
        description="What happens at a job that cannot start now: stop the round, skip the job,"
        " reserve room for it at the earliest time, or start nothing else until it starts; or, with"
        " committed-backfill, nothing but what ends before the start that it expects.",
    )
    depth: int | None = Field(
        None,
        ge=0,
        description="With backfill, how many jobs get a reservation in a round; all if not given.",
    )
    allocator: Annotated[Any, Selects("allocator")] = Field(
        "first-fit", description="Decides on which nodes a job is placed."
    )

    @model_validator(mode="after")
    def _depth_needs_backfill(self) -> Self:
        if self.depth is not None and self.option != "backfill":
            raise ValueError(
                f"depth limits reservations, and the option {self.option!r} makes none"
            )
        return self


class PrbParams(Params):
    """What the priority rule goes by, and how it places jobs."""

    expected_wait: ExpectedWaitParams | None = Field(
        None,
        description="How long jobs are expected to wait; if not given, alike in all queues, so that"
        " the jobs that have waited longest come first.",
    )
    allocator: Annotated[Any, Selects("allocator")] = Field(
        "best-fit", description="Decides on which nodes a job is placed."
    )


class EasyParams(PlacingParams):
    """In which orders EASY considers jobs, and how it places them."""

    order: Annotated[Any, Selects("queue_order")] = Field(
        "fcfs", description="In which order jobs start; the first that cannot is the head job."
    )
    backfill_order: Annotated[Any, Selects("queue_order"), OrNull()] = Field(
        None,
        description="In which order jobs behind the head job are tried; as `order` if not given.",
    )


class RelaxedParams(EasyParams):
    """How far relaxed backfilling lets a head job be delayed."""

    relaxation: float = Field(
        0.2,
        ge=0,
        description="By how much of its expected wait a head job may be delayed (ω); 0: as EASY.",
    )


class ConservativeParams(PlacingParams):
    """How conservative backfilling compresses its schedule, and how it places jobs."""

    compression: Literal["arrival", "reservation"] = Field(
        "arrival",
        description="In which order reservations are moved to earlier times when jobs have ended"
        " early: of the jobs' arrival, or of the starts reserved.",
    )


class SlackParams(ConservativeParams):
    """How much slack a job's promised start has."""

    share: float = Field(
        0.5, ge=0, description="The slack as a share of the wait that the job was promised."
    )
    least_slack: Duration = Field(
        0, description="Slack of every job beside that, in seconds or with a unit."
    )


class RecordedParams(PlacingParams):
    """What holds for jobs without a recorded start, and how jobs are placed."""

    missing_start: MissingStart = Field(
        "error",
        description="What stands in for a start that the log does not record: none, or the job's"
        " submission.",
    )


class ScarceResourceParams(Params):
    """Which resource types are to be kept for jobs that ask for them."""

    critical: Annotated[tuple[str, ...] | None, Listed] = Field(
        None,
        description="The names of the resource types that count as critical; if not given, those"
        " that not every node has.",
    )

    def unknown(self, system: System) -> Iterator[str]:
        """Yield the names that the system does not have."""
        return (name for name in self.critical or () if name not in system.resource_types)
