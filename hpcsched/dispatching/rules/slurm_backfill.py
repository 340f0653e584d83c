"""The two schedulers of Slurm: a strict one at each event, and backfilling from time to time."""

from collections.abc import Sequence
from typing import Self

from hpcsched._core import Rule
from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.core_rounds import CoreRounds
from hpcsched.dispatching.rules.orders import QueueOrder
from hpcsched.dispatching.rules.problem_state import ProblemState
from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched.registration import builtin


class CarriedBackfill:
    """Time of the last round of the backfill scheduler, -1 before the first."""

    def __init__(self) -> None:
        self._last = -1

    def write(
        self, filled: ProblemState, _problem: DispatchingProblem, queue: Sequence[WaitingJob]
    ) -> None:
        """Write it, and users and partitions."""
        filled.set_owners(queue)
        filled.state.last_backfill = self._last

    def read(
        self, filled: ProblemState, _problem: DispatchingProblem, _queue: Sequence[WaitingJob]
    ) -> None:
        """Read it."""
        self._last = filled.state.last_backfill


@builtin(
    "dispatcher",
    "slurm-backfill",
    SlurmBackfillParams,
    summary="as Slurm does: a strict round at each event, backfilling every bf_interval",
)
class SlurmBackfill:
    """Dispatcher that starts jobs as Slurm's main scheduler and its plugin `sched/backfill` do.

    The main scheduler runs at each event. It takes the first `default_queue_depth` jobs in order
    and starts each that fits, but none behind the first of its partition that does not.

    The backfill scheduler runs at an event, if its last round is at least `bf_interval` ago, or
    else as soon as that time is over. It takes the remaining jobs in order, `bf_max_job_test` at
    most and `bf_max_job_user` of each user. A job that fits beside all reservations made before it
    starts; any other gets a reservation at the earliest possible time, unless that is more than
    `bf_window` from now. Reservations last for one round.

    Slurm rounds the start of a reservation down to a multiple of `bf_resolution`, so that a job may
    pass only if it ends by then. Here ends are rounded up instead, which lets the same jobs pass;
    reservations then last up to one `bf_resolution` longer than in Slurm, where their ends are
    rounded down. No end is rounded beyond the begin of an announced outage.

    Jobs are taken to run for their predicted run times; Slurm takes their time limits, which is the
    predictor `requested-time`.

    Source: the manual page `slurm.conf` of SchedMD, `SchedulerParameters`, with the defaults of
    Slurm 24.11.
    """

    @classmethod
    def build(cls, params: SlurmBackfillParams, context: Context) -> Self:
        """Create the dispatcher from its parameters."""
        order = context.make("queue_order", params.order)
        return cls(order, context.make("allocator", params.allocator), params)

    def __init__(
        self, order: QueueOrder, allocator: Allocator, params: SlurmBackfillParams
    ) -> None:
        self.order = order
        self.allocator = allocator
        self.rounds = CoreRounds(
            Rule.SLURM_BACKFILL,
            allocator,
            carried=CarriedBackfill(),
            window=params.bf_window,
            default_queue_depth=params.default_queue_depth,
            bf_interval=params.bf_interval,
            bf_max_job_test=params.bf_max_job_test,
            bf_max_job_user=params.bf_max_job_user,
            bf_resolution=params.bf_resolution,
        )

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        return self.rounds.decide(problem, self.order)
