"""The two schedulers of Slurm: a strict one at each event, and backfilling from time to time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Self

from hpcsched._core import Rule
from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.decision_reasons import Reason
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.core_rounds import CoreRounds
from hpcsched.dispatching.rules.orders import QueueOrder, sorted_queue
from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched.registration import builtin


class _Given:
    """Queue order that returns a list of jobs as it is given."""

    def __init__(self, jobs: Sequence[WaitingJob]) -> None:
        self._jobs = jobs

    def sort(self, _problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the list."""
        return self._jobs


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
        self._order = order
        self._params = params
        self._main = CoreRounds(Rule.STRICT, allocator)
        self._backfill = CoreRounds(Rule.BACKFILL, allocator, window=params.bf_window)
        self._last_backfill: int | None = None

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        order = sorted_queue(self._order, problem)
        decision, started = self._main_round(problem, order)
        if len(started) == len(order):
            return decision
        due = self._due(problem.now)
        if due > problem.now:
            return decision._replace(call_again_at=due)
        self._last_backfill = problem.now
        rest = [job for job in order if job.job_id not in started]
        first = [job for job in order if job.job_id in started]
        backfilled = self._round(self._backfill, problem, [*first, *self._tested(problem, rest)])
        return backfilled._replace(reasons=_latest(decision.reasons, backfilled.reasons))

    def _due(self, now: int) -> int:
        """Return the time of the next backfill round, in seconds."""
        if self._last_backfill is None:
            return now
        return max(now, self._last_backfill + self._params.bf_interval)

    def _main_round(
        self, problem: DispatchingProblem, order: Sequence[WaitingJob]
    ) -> tuple[Decision, set[int]]:
        """Return the decision of the main scheduler, and the numbers of the jobs it starts.

        A strict round ends at the first job that does not fit. It is held again without the jobs of
        that one's partition behind it, until each partition has come to its end.
        """
        tried = list(order[: self._params.default_queue_depth])
        beyond = order[len(tried) :]
        reasons: tuple[Reason, ...] = ()
        if problem.explain:
            reasons = tuple(
                Reason(job.job_id, "beyond_depth", detail="default_queue_depth") for job in beyond
            )
        while True:
            decision = self._round(self._main, problem, tried)
            reasons = _latest(reasons, decision.reasons)
            started = {start.job_id for start in decision.starts}
            at = next((k for k, job in enumerate(tried) if job.job_id not in started), None)
            if at is None:
                return decision._replace(reasons=reasons), started
            partition = tried[at].job.partition
            tried = [
                *tried[:at],
                *(job for job in tried[at + 1 :] if job.job.partition != partition),
            ]

    def _tested(
        self, problem: DispatchingProblem, rest: Sequence[WaitingJob]
    ) -> Iterator[WaitingJob]:
        """Yield the jobs that the backfill scheduler tries, with their ends rounded up."""
        params, now = self._params, problem.now
        tested, of_user = 0, Counter[int]()
        for job in rest:
            if tested == params.bf_max_job_test:
                return
            user = job.job.user
            if params.bf_max_job_user and user is not None:
                if of_user[user] == params.bf_max_job_user:
                    continue
                of_user[user] += 1
            tested += 1
            end = now + job.predicted_run_time
            rounded = end + -end % params.bf_resolution
            # A job may run up to an outage, whose times are exact, as those of Slurm's own
            # reservations are.
            begins = (outage.start for outage in problem.outages if outage.start >= end)
            yield job._replace(predicted_run_time=min(rounded, *begins, rounded) - now)

    def _round(
        self, rounds: CoreRounds, problem: DispatchingProblem, jobs: Sequence[WaitingJob]
    ) -> Decision:
        """Hold a round of one of the schedulers for some jobs in their order."""
        return rounds.decide(problem._replace(queue=tuple(jobs)), _Given(jobs))


def _latest(reasons: Sequence[Reason], later: Sequence[Reason]) -> tuple[Reason, ...]:
    """Return reasons of all jobs, those of a later round in place of those of an earlier one."""
    return tuple(
        ({why.job_id: why for why in reasons} | {why.job_id: why for why in later}).values()
    )
