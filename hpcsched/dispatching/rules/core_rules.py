"""Rules that the core decides: EASY, lists, and the other kinds of backfilling.

A rule is a `CoreRule`: a rule of the core with options, an allocator, and queue orders. A function
makes each. In `hpcsched/cpp/rules`, `round.cpp` has the lists, `easy.cpp` EASY and what varies it,
`backfill_*.cpp` backfilling with more reservations, and a file of its name each other rule.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np

from hpcsched._core import NEVER, Compression, Rule, WaitReason
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import NOTHING, Decision, Reason, ReasonKind
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.core_calls import ProblemState
from hpcsched.dispatching.rules.orders import (
    ArrivalOrder,
    ExpectedWaitOrder,
    QueueOrder,
    sorted_queue,
)
from hpcsched.dispatching.rules.rule_params import (
    ConservativeParams,
    EasyParams,
    ListParams,
    PrbParams,
    RelaxedParams,
    SlackParams,
    SlurmBackfillParams,
)
from hpcsched.registration import Context, builtin
from hpcsched.system.space import NodeAllocation

_KINDS: dict[int, ReasonKind] = {
    WaitReason.NO_ROOM: "no_room",
    WaitReason.RESERVED_FOR: "reserved_for",
    WaitReason.BEHIND: "behind",
    WaitReason.BEYOND_DEPTH: "beyond_depth",
    WaitReason.SHORT_OF_SHARED: "no_room",
    WaitReason.BEYOND_QUEUE_DEPTH: "beyond_depth",
    WaitReason.HELD: "not_planned",
    WaitReason.LIMIT: "limit",
}

Option = Literal["strict", "greedy", "backfill", "committed", "committed-backfill"]
"""Treatment of a job that cannot start (see `ListParams`)."""


class CarriedPromises:
    """Promised starts of head jobs, in seconds by job number, kept until they start."""

    def __init__(self) -> None:
        self.promised: dict[int, int] = {}

    def write(self, filled: ProblemState) -> None:
        """Write the promises into the core before a round."""
        filled.set_promises(self.promised)

    def read(self, filled: ProblemState) -> None:
        """Read the promises of head jobs that still wait after a round."""
        self.promised.update(filled.column("promise"))
        # Promised jobs count as chosen, so that of a started one must go.
        for job in filled.started():
            self.promised.pop(job.job_id, None)


class CarriedReservations:
    """Reservations and first promises of waiting jobs, by job number."""

    def __init__(self) -> None:
        self.promised: dict[int, int] = {}
        self._starts: dict[int, int] = {}
        self._places: dict[int, NodeAllocation] = {}
        # Predicted ends of the jobs that ran after the last round, and the nodes that were out of
        # service: a job that is gone before its end, or a node that is back, has freed room, so
        # that the schedule is compressed.
        self._ends: dict[int, int] = {}
        self._missed: frozenset[int] = frozenset()

    def write(self, filled: ProblemState) -> None:
        """Write the reservations, and whether there is room that they were made without."""
        filled.set_promises(self.promised)
        filled.set_reservations(self._starts, self._places)
        problem = filled.problem
        running = {job.job_id for job in problem.running}
        now, ends = problem.now, self._ends.items()
        freed = any(end > now and name not in running for name, end in ends)
        # So has a job that is held back, which has lost its reservation.
        waiting = {job.job_id for job in filled.order}
        freed = freed or any(name not in waiting for name in self._starts)
        missing = _out_of_service(problem)
        freed = freed or bool(self._missed - missing)
        self._missed = missing
        filled.state.freed_until = now + 1 if freed else 0

    def read(self, filled: ProblemState) -> None:
        """Read the reservations of the jobs that still wait."""
        self.promised = filled.column("promise")
        self._starts = filled.column("reserved")
        problem = filled.problem
        self._ends = {job.job_id: job.predicted_end_time for job in problem.running}
        for job in filled.started():
            self.promised.pop(job.job_id, None)
            self._starts.pop(job.job_id, None)
            self._ends[job.job_id] = problem.now + job.predicted_run_time
        self._places = filled.reserved_places()


class CarriedBackfill:
    """Time of the last round of the backfill scheduler, -1 before the first."""

    def __init__(self) -> None:
        self._last = -1

    def write(self, filled: ProblemState) -> None:
        """Write it, and users and partitions."""
        filled.set_owners()
        filled.state.last_backfill = self._last

    def read(self, filled: ProblemState) -> None:
        """Read it."""
        self._last = filled.state.last_backfill


class Carried(Protocol):
    """Memory of a rule from round to round, where each round is a problem of its own."""

    def write(self, filled: ProblemState) -> None:
        """Write it into the core before a round."""

    def read(self, filled: ProblemState) -> None:
        """Read it after a round."""


class CoreRule:
    """Dispatcher that has one rule of the core decide its rounds.

    A replay hands `rule` and `options` to the core, which then decides all rounds by itself. Where
    a part needs Python at each event, such as an allocator in Python, `dispatch` asks the core for
    one round.

    Attributes
    ----------
    rule, options
        Rule of the core, and its options.
    order
        Queue order; first come, first served unless given.
    backfill_order
        Order of the jobs behind the head job; None: the same order.
    plans_past_outages
        True for rules that make reservations (see `Dispatcher`), unless they are told not to.
    considered
        Queued jobs of the last problem, in the order of the queue.
    needs_python
        What else of the scenario has to be asked in Python in each round, in words.
    """

    needs_python: tuple[str, ...] = ()

    def __init__(
        self,
        rule: Rule,
        allocator: Allocator,
        order: QueueOrder | None = None,
        backfill_order: QueueOrder | None = None,
        *,
        carried: Carried | None = None,
        reserve_past_outages: bool = True,
        **options: Any,
    ) -> None:
        self.rule = rule
        self.allocator = allocator
        self.order: QueueOrder = ArrivalOrder() if order is None else order
        self.backfill_order = backfill_order
        self.options: Mapping[str, Any] = {
            "own_backfill_order": backfill_order is not None,
            **options,
        }
        self.carried = carried
        self.considered: Sequence[WaitingJob] = ()
        reserves = rule not in (Rule.STRICT, Rule.GREEDY, Rule.COMMITTED)
        self.plans_past_outages = reserves and reserve_past_outages
        self._filled = ProblemState(rule, allocator, **self.options)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now, with reasons if the problem requests them."""
        if not problem.queue:
            return NOTHING
        # A number of units that no start can exceed.
        free = NEVER if problem.free_units is None else problem.free_units
        goes_on = problem.explain or self.carried is not None
        # Most rounds of a full system start nothing, and end here without filling the state.
        if not goes_on and not any(job.units <= free for job in problem.queue):
            return NOTHING
        queue = self.considered = sorted_queue(self.order, problem)
        if isinstance(self.carried, CarriedPromises) and self.rule != Rule.RELAXED:
            promised = self.carried.promised
            queue = sorted(queue, key=lambda job: job.job_id not in promised)
        behind = self.backfill_order
        in_turn = None if behind is None else sorted_queue(behind, problem)
        filled = self._filled
        filled.fill(problem, queue, in_turn)
        if self.carried is not None:
            self.carried.write(filled)
        filled.state.decide(filled.asked, problem.explain)
        if self.carried is not None:
            self.carried.read(filled)
        again = filled.state.call_again
        return Decision(
            filled.starts(),
            reasons=_reasons(filled, self.rule) if problem.explain else (),
            call_again_at=None if again == NEVER else again,
        )


@builtin("dispatcher", "easy", EasyParams)
def make_easy(params: EasyParams, context: Context) -> CoreRule:
    """Return the rule: EASY backfilling: in order of arrival or any other, one reservation.

    The first job that does not fit, the head job, gets the one reservation of the round, at its
    shadow time: the earliest instant at which it fits if running jobs end as predicted, all ends of
    that instant counted. A later job that fits now is backfilled if it is predicted to end by then,
    or if the head job still fits beside it at the shadow time.
    """
    return CoreRule(Rule.EASY, *_parts_of(params, context))


@builtin("dispatcher", "relaxed", RelaxedParams)
def make_relaxed(params: RelaxedParams, context: Context) -> CoreRule:
    """Return the rule: as easy, but the head job may be delayed a little.

    The head job's promise is the earliest shadow time that it has had; its expected wait lasts from
    its submission to its promise. The reservation that later jobs must respect lies `relaxation`
    (the paper's ω) times that wait after the promise, or at the present shadow time if this is
    later. The promise never becomes later, so that small delays do not add up.

    Source: W. A. Ward, C. L. Mahood and J. E. West, Scheduling jobs on parallel systems using a
    relaxed backfill strategy, JSSPP 2002. The reference point of the delay is our reading.
    """
    parts, carried = _parts_of(params, context), CarriedPromises()
    return CoreRule(Rule.RELAXED, *parts, carried=carried, relaxation=params.relaxation)


@builtin(
    "dispatcher",
    "list",
    ListParams,
    summary="list scheduling: strict, greedy, committed, or with a reservation for every job",
)
def make_list_scheduler(params: ListParams, context: Context) -> CoreRule:
    """Create `list` from its parameters."""
    order = context.make("queue_order", params.order)
    return list_rule(
        order, params.option, context.make("allocator", params.allocator), params.depth
    )


@builtin(
    "dispatcher",
    "prb",
    PrbParams,
    summary="priority rule: jobs by wait over expected wait, those without room skipped",
)
def make_prb(params: PrbParams, context: Context) -> CoreRule:
    """Create `prb`: greedy list scheduling by expected wait."""
    waits = params.expected_wait
    order = ExpectedWaitOrder(1) if waits is None else ExpectedWaitOrder.build(waits, context)
    return list_rule(order, "greedy", context.make("allocator", params.allocator))


def list_rule(
    order: QueueOrder, option: Option, allocator: Allocator, depth: int | None = None
) -> CoreRule:
    """Return list scheduling: the queue in an order, and each job starts that can.

    With the option `backfill` every job that cannot start now gets a reservation at the earliest
    possible time beside all reservations made before it; all are planned anew in every round. After
    `depth` reservations no more are made, as in Slurm: jobs further down start if they fit beside
    those reservations, and are skipped otherwise. None: no maximum.

    With `committed` and `committed-backfill` the first job that does not fit is chosen: it starts
    next, even if jobs that precede it in the order arrive before it does. The others wait until
    then; with `committed-backfill`, those that fit are started in order of arrival if they are
    predicted to end before the start that the chosen job expected when it was chosen. A chosen job
    that is held back gives way. Once it is no longer held back it is chosen again, the first in
    order if there are several.

    Source of these two: the simulator of D. Zhang, D. Dai, Y. He, F. S. Bao and B. Xie,
    RLScheduler: an automated HPC batch job scheduler using reinforcement learning, SC 2020.
    """
    return CoreRule(
        Rule[option.replace("-", "_").upper()],
        allocator,
        order,
        ArrivalOrder() if option == "committed-backfill" else None,
        carried=CarriedPromises() if option.startswith("committed") else None,
        depth=-1 if depth is None else min(depth, NEVER),
    )


@builtin("dispatcher", "conservative", ConservativeParams)
def make_conservative(params: ConservativeParams, context: Context) -> CoreRule:
    """Return the rule: a reservation for every job from its submission on, never moved later.

    Each job gets the earliest reservation that respects all earlier ones, and keeps it from round
    to round, with its nodes where nodes matter. A job starts as soon as its start moves no
    reservation. When jobs have ended early, nodes are back, or reservations were lost, the schedule
    is compressed before new jobs get reservations: each reservation in turn is moved to the
    earliest time that respects the others, never to a later one. `compression` selects the order of
    turns: arrival, or start of the reservations.

    If jobs outlive their predictions, or start late because decisions take time, some promises
    cannot be kept. Reservations are then moved later, in order of their starts and no more than
    needed, and the schedule is compressed. The reasons of a round state the first promise of such a
    job.

    Source: A. W. Mu'alem and D. G. Feitelson, Utilization, predictability, workloads, and user
    runtime estimates in scheduling the IBM SP2 with backfilling, IEEE Transactions on Parallel and
    Distributed Systems 12(6), 2001.
    """
    return _reserving(Rule.CONSERVATIVE, params, context)


@builtin("dispatcher", "slack", SlackParams)
def make_slack(params: SlackParams, context: Context) -> CoreRule:
    """Return the rule: as conservative, but promised starts may slip a little.

    A job's latest start is its first promise and its slack: `least_slack` seconds, and `share`
    times the promised wait. A job that would have to wait because of reservations is started
    nevertheless if these can be moved, one after the other, to other times that are not past any
    latest start. Slack is counted from the first promise, so that small delays do not add up.
    Without slack a reservation may still be pushed back as far as the first promise, if it has been
    moved to an earlier time since.

    Source: D. Talby and D. G. Feitelson, Supporting priorities and improving utilization of the IBM
    SP scheduler using slack-based backfilling, IPPS/SPDP 1999. There slack follows from priorities
    and the mean wait, and the cheapest of many schedules is sought; here both are simpler.
    """
    share, least = params.share, params.least_slack
    return _reserving(Rule.SLACK, params, context, slack_share=share, least_slack=least)


def _reserving(
    rule: Rule, params: ConservativeParams, context: Context, **options: Any
) -> CoreRule:
    """Return a rule that keeps reservations."""
    return CoreRule(
        rule,
        context.make("allocator", params.allocator),
        carried=CarriedReservations(),
        compression=Compression[f"BY_{params.compression.upper()}"],
        **options,
    )


@builtin(
    "dispatcher",
    "slurm-backfill",
    SlurmBackfillParams,
    summary="as Slurm does: a strict round at each event, backfilling every bf_interval",
)
def make_slurm_backfill(params: SlurmBackfillParams, context: Context) -> CoreRule:
    """Create the rule of Slurm's main scheduler and its plugin `sched/backfill`.

    The main scheduler runs at each event. It takes the first `default_queue_depth` jobs in order
    and starts each that fits, but none behind the first of its partition that does not, and none on
    nodes that this one may use.

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
    return CoreRule(
        Rule.SLURM_BACKFILL,
        context.make("allocator", params.allocator),
        context.make("queue_order", params.order),
        carried=CarriedBackfill(),
        window=params.bf_window,
        **params.model_dump(exclude={"name", "order", "allocator", "bf_window"}),
    )


def _parts_of(
    params: EasyParams, context: Context
) -> tuple[Allocator, QueueOrder, QueueOrder | None]:
    """Return the allocator, the queue order, and the order behind the head job or None."""
    behind = params.backfill_order
    return (
        context.make("allocator", params.allocator),
        context.make("queue_order", params.order),
        None if behind is None else context.make("queue_order", behind),
    )


def _out_of_service(problem: DispatchingProblem) -> frozenset[int]:
    """Return the nodes on which nothing is free and nothing runs."""
    full = ~problem.free_amounts.any(axis=0)
    used = (job.allocation.nodes for job in problem.running)
    return frozenset(np.flatnonzero(full).tolist()).difference(*used)


def _reasons(filled: ProblemState, rule: Rule) -> tuple[Reason, ...]:
    """Return the reasons of a round, in the order in which jobs were considered."""
    head: int | None = None
    reasons, order = [], filled.order
    reports_promises = rule in (Rule.CONSERVATIVE, Rule.SLACK)
    noted = [filled.values(name) for name in ("waits", "why", "other", "when", "promise")]
    for job, waits, why, other, time, promise in zip(order, *noted, strict=True):
        if waits:
            name, details = None, []
            if why == WaitReason.SHORT_OF_SHARED:
                details.append(
                    f"shared resource {filled.problem.system.shared_resources[other].name}"
                )
            elif why == WaitReason.BEYOND_QUEUE_DEPTH:
                details.append("default_queue_depth")
            elif why == WaitReason.HELD:
                details.append("it would hold up the others by more than it has waited")
            elif why == WaitReason.LIMIT and filled.problem.limits is not None:
                details.append(filled.problem.limits.words[other])
            elif other != -1:
                name = order[other].job_id
            if reports_promises and time > promise and why != WaitReason.LIMIT:
                details.append(f"at first promised for {promise} s")
            planned = None if time in (-1, NEVER) or why == WaitReason.LIMIT else time
            reasons.append(Reason(job.job_id, _KINDS[why], name, planned, "; ".join(details)))
            if head is None:
                head = job.job_id
        else:
            # Under Slurm, jobs behind one that waits may be started in order.
            if rule == Rule.SLURM_BACKFILL:
                head = None if other == -1 else order[other].job_id
            reasons.append(Reason(job.job_id, "in_order" if head is None else "backfilled", head))
    return tuple(reasons)
