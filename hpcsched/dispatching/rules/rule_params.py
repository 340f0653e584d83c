"""Parameters of rule-based dispatchers, queue orders and allocators."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from hpcsched.parameters import (
    Duration,
    Listed,
    OrElse,
    Params,
    PositiveDuration,
    Selects,
)
from hpcsched.registration import Caution
from hpcsched.system.system import System
from hpcsched.workload.job import WaitClass

MissingStart = Literal["error", "submission"]
"""Treatment of a job without a recorded start: an error, or due at its submission."""

ClassNumber = Annotated[int, Field(strict=False)]
"""Number of a queue or partition, or number of units, as a key; keys of a scenario are texts."""


class ExpectedWaitParams(Params):
    """Expected wait times of jobs, by queue, by partition or by size."""

    other: PositiveDuration
    """Expected wait of jobs in no listed class, in seconds or with a unit."""
    by_queue: Mapping[ClassNumber, PositiveDuration] = Field(default_factory=dict)
    """Expected wait by queue number."""
    by_partition: Mapping[ClassNumber, PositiveDuration] = Field(default_factory=dict)
    """Expected wait by partition number."""
    by_units: Mapping[ClassNumber, PositiveDuration] = Field(default_factory=dict)
    """Expected wait by size: the key is the smallest number of units of a class, which extends to
    the next key."""

    @property
    def by(self) -> WaitClass:
        """Criterion of the classes of jobs."""
        return next((by for by in WaitClass if getattr(self, f"by_{by}")), WaitClass.QUEUE)

    @property
    def waits(self) -> Mapping[int, int]:
        """Expected waits by class, in seconds."""
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
    """Parameters of the queue order `slowdown`."""

    ties: Literal["arrival", "area"] = "arrival"
    """Tie breaker of equal slowdowns: earlier submission, or, as in the papers' CP dispatchers,
    smaller area."""


class RunTimeOrderParams(Params):
    """Parameters of queue orders by run time and demand."""

    run_times: Literal["predicted", "expected"] = "predicted"
    """Run times of the order: predicted, or expected from the ended jobs of the same user and
    prediction, of the user, and of all. Reservations remain as predicted."""


class ShortestJobParams(RunTimeOrderParams):
    """Parameters of the queue order `sjf`."""

    ties: Literal["demand", "arrival"] = "demand"
    """Tie breaker of equal run times: smaller demand, or earlier submission."""


class PlacingParams(Params):
    """Parameters of every dispatcher that places jobs by an allocator."""

    allocator: Annotated[Any, Selects("allocator")] = "first-fit"
    """Allocator, which chooses the nodes of a job."""


class ListParams(PlacingParams):
    """Parameters of list scheduling."""

    order: Annotated[Any, Selects("queue_order")] = "fcfs"
    """Order in which queued jobs are considered."""
    option: Literal["strict", "greedy", "backfill", "committed", "committed-backfill"] = "backfill"
    """Treatment of a job that cannot start now: strict stops the round, greedy skips the job,
    backfill reserves room for it at the earliest time, committed starts nothing else until it
    starts, committed-backfill only jobs that end before its expected start."""
    depth: int | None = Field(None, ge=0)
    """With backfill, maximum number of reservations per round; no limit by default."""

    @model_validator(mode="after")
    def _depth_needs_backfill(self) -> Self:
        if self.depth is not None and self.option != "backfill":
            raise ValueError(
                f"depth limits reservations, and the option {self.option!r} makes none"
            )
        return self


class PrbParams(Params):
    """Parameters of the priority rule: expected waits and allocator."""

    expected_wait: ExpectedWaitParams | None = None
    """Expected wait times; if not given, equal for all queues, so that the jobs that have waited
    longest come first."""
    allocator: Annotated[Any, Selects("allocator")] = "best-fit"
    """Allocator, which chooses the nodes of a job."""


class EasyParams(PlacingParams):
    """Parameters of EASY: orders and allocator."""

    order: Annotated[Any, Selects("queue_order")] = "fcfs"
    """Order in which jobs start; the first that cannot is the head job."""
    backfill_order: Annotated[Any, Selects("queue_order"), OrElse(None)] = None
    """Order of the jobs behind the head job; as `order` if not given."""


class RelaxedParams(EasyParams):
    """Parameters of relaxed backfilling."""

    relaxation: float = Field(0.2, ge=0)
    """Maximum delay of a head job as a share of its expected wait (ω); 0: as EASY."""


class ConservativeParams(PlacingParams):
    """Parameters of conservative backfilling."""

    compression: Literal["arrival", "reservation"] = "arrival"
    """Order in which reservations are moved to earlier times after early ends: by arrival of the
    jobs, or by start of the reservations."""


class SlackParams(ConservativeParams):
    """Parameters of slack-based backfilling."""

    share: float = Field(0.5, ge=0)
    """Slack as a share of the promised wait."""
    least_slack: Duration = 0
    """Additional slack of every job, in seconds or with a unit."""


class SlurmBackfillParams(PlacingParams):
    """Parameters of Slurm's two schedulers, under the names that `SchedulerParameters` gives them.

    Defaults are those of Slurm. Times are in seconds or with a unit; Slurm's `bf_window` is in
    minutes.
    """

    order: Annotated[Any, Selects("queue_order")] = "fcfs"
    """Priority order of the jobs; Slurm's own is `multifactor`."""
    default_queue_depth: int = Field(100, ge=0)
    """Number of jobs that the main scheduler tries at each event, in order."""
    bf_interval: PositiveDuration = 30
    """Least time between two rounds of the backfill scheduler."""
    bf_max_job_test: int = Field(500, ge=1)
    """Number of jobs that a round of the backfill scheduler tries."""
    bf_max_job_user: int = Field(0, ge=0)
    """The same for the jobs of one user; 0: no limit."""
    bf_window: PositiveDuration = 86_400
    """Time from now up to which reservations are made; a job that could start only later gets
    none."""
    bf_resolution: PositiveDuration = 60
    """Resolution of time: predicted ends are rounded up to its multiples."""
    reserve_past_outages: bool = True
    """Whether a job that must wait for the end of an announced outage gets a reservation there; a
    real Slurm passes over it, and starts others."""


class RecordedParams(PlacingParams):
    """Parameters of the dispatcher `recorded`."""

    missing_start: MissingStart = "error"
    """Treatment of a job without a recorded start: error, or due at its submission."""


class ScarceResourceParams(Params):
    """Resource types that are reserved for jobs that request them."""

    scarce_resources: Annotated[tuple[str, ...] | None, Listed] = None
    """Names of the resource types that count as scarce; if not given, those that not every node
    has."""


def review_scarce_types(params: ScarceResourceParams, system: System) -> Iterator[Caution]:
    """Report the scarce resource types that no node group has."""
    for name in params.scarce_resources or ():
        if name not in system.resource_types:
            message = f"{name} cannot be scarce: no node group has it"
            yield Caution("unknown-resource-type", message, "scarce_resources", "error")
