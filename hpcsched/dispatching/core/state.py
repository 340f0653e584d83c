"""State of a replay, with its input and output, as arrays.

`N` nodes, `R` resource types and `S` shapes: distinct requests of a unit. A *row* is a job in the
system, a *cell* one stretch of a running job's places with the number of the next cell. Where slots
are counted a cell holds the first slot and the one behind the last; otherwise a node and the units
on it. All numbers are 64-bit integers, times in seconds.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched.system.system import IntArray

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
NodeArray = npt.NDArray[np.int32]


class Choices(NamedTuple):
    """Rule, allocator and options of a replay; the numbers are those of `codes`.

    Attributes
    ----------
    rule
        The rule.
    depth
        Maximum number of reservations of `BACKFILL`; -1: no maximum.
    own_backfill_order
        Whether jobs behind the head job are tried in an order of their own.
    allocator
        The allocator.
    correction
        Correction of predictions that have run out.
    writes_places
        Whether to write the nodes of jobs when they end.
    relaxation
        Maximum delay of the head job of `RELAXED` as a share of its expected wait.
    by_wait
        True for an order by wait over the first key, False for one computed by Python before each
        round, None for fixed keys.
    behind_by_wait
        The same for the order behind the head job.
    scarce
        Whether each resource type is scarce, `[R]`; None with `FIRST_FIT`, `BEST_FIT` and
        `KEEP_SCARCE`.
    compression
        Order of compression of rules that keep reservations from round to round.
    slack_share
        Slack of a promise with `SLACK` as a share of the promised wait.
    least_slack
        Additional slack, in seconds.
    window
        Seconds from now up to which `BACKFILL` makes reservations; None: no limit.
    """

    rule: int
    depth: int
    own_backfill_order: bool
    allocator: int
    correction: int
    writes_places: bool
    relaxation: float = 0.0
    by_wait: bool | None = None
    behind_by_wait: bool | None = None
    scarce: BoolArray | None = None
    compression: int | None = None
    slack_share: float = 0.0
    least_slack: int = 0
    window: int | None = None


class Batch(NamedTuple):
    """Jobs in order of submission, `[B]`.

    Attributes
    ----------
    number
        Job numbers.
    submit_time
        Submit times.
    run_time
        Real run times.
    predicted
        Predicted run times.
    requested
        Requested times.
    units
        Numbers of units.
    shape
        Shapes of the requests.
    keys
        Sort keys, ascending, `[B, K]`, before the order of submission; in orders by wait, the first
        key is the divisor of the wait.
    behind_keys
        Sort keys of an own backfill order.
    watched
        Whether the submission, start or end of a job may change the set of jobs that are held back.
    last
        Whether no other batch follows.
    refused
        Cause of the refusal of each job at submission, -1 without one; None if none is refused.
    draws
        Draws on shared resources that do not depend on nodes, `[B, P]`; None without shared
        resources.
    """

    number: IntArray
    submit_time: IntArray
    run_time: IntArray
    predicted: IntArray
    requested: IntArray
    units: IntArray
    shape: IntArray
    keys: IntArray
    behind_keys: IntArray
    watched: BoolArray
    last: bool
    refused: IntArray | None = None
    draws: IntArray | None = None


class Shapes(NamedTuple):
    """Distinct requests, with fit counts.

    Attributes
    ----------
    asked
        Requested amounts per unit, `[S, R]`.
    on_idle
        Units that fit on each idle node, `[S, N]`.
    exclusive
        Whether units go on idle nodes only, `[S]`.
    uncountable
        Whether units cannot be planned by number, `[S]`: exclusive ones, and those that each need a
        node of their own.
    fits
        Units that fit on each node now, `[S, N]`, for active shapes.
    fitting
        Sum of `fits` over nodes, `[S]`.
    shape_waiting
        Number of queued jobs, `[S]`.
    active
        Shapes of queued jobs.
    """

    asked: IntArray
    on_idle: IntArray
    exclusive: BoolArray
    uncountable: BoolArray
    fits: IntArray
    fitting: IntArray
    shape_waiting: IntArray
    active: IntArray


class OutageTables(NamedTuple):
    """Outages and their effects on requests; each field is None in a replay without any.

    Announced outages begin at `outage_start` and end at `outage_end`, sorted by start; outage `k`
    is on `outage_nodes` from `outage_first[k]` to before `outage_first[k + 1]`. Likewise
    `change_nodes` go out of service (`change_sign` 1) or come back (-1) at `change_time`; these are
    announced or not. `down`, `[N]`, counts the current outages of each node, and `closed` marks the
    nodes without free capacity for that reason; `missed` are those of the last round that made
    reservations. `clear_until`, `[N]`, is the begin of the node's next announced outage, and
    `limits` are these times, each once, ascending.

    Shapes on fewer nodes follow those of submitted jobs. `kind`, `[S]`, is the same for requests
    that differ in their allowed nodes only, `may_use`, `[S, N]`, marks the allowed nodes. `room`,
    `[S]`, is the number of units that fit on idle nodes. `narrowed` is the shape of which a shape
    is a narrower one, `narrowed_span` the `SPAN` of the jobs it is for.
    """

    outage_start: IntArray | None = None
    outage_end: IntArray | None = None
    outage_first: IntArray | None = None
    outage_nodes: IntArray | None = None
    change_time: IntArray | None = None
    change_sign: IntArray | None = None
    change_first: IntArray | None = None
    change_nodes: IntArray | None = None
    down: IntArray | None = None
    closed: BoolArray | None = None
    missed: BoolArray | None = None
    clear_until: IntArray | None = None
    limits: IntArray | None = None
    requeue: bool | None = None
    kind: IntArray | None = None
    may_use: BoolArray | None = None
    room: IntArray | None = None
    narrowed: IntArray | None = None
    narrowed_span: IntArray | None = None


class SharedResourceTables(NamedTuple):
    """The `P` shared resources and their draws; each field is None in a replay without any.

    A shared resource offers `shared_capacity`, `[P]`, until the first of its changes: those from
    `shared_first[p]` to before `shared_first[p + 1]`, with time `shared_at` and new capacity
    `shared_offer`. They recur every `shared_every` seconds, or never (0). `shared_period` is the
    common period, and `shared_settled` the second from which on all periods are equal. The job of a
    row draws `shared_own`, `[rows, P]`, wherever it runs; a node that is switched on draws
    `shared_node`.

    `shared_nodes`, `[S]`, is the number of idle nodes that can hold a unit of a shape.
    `shared_drawn` is the present draw, `shared_jobs_on`, `[N]`, the number of jobs on each node,
    and `shared_on_until` the time until which it is on in the plans of a round. `shared_levels` is
    output: times and draws, `[L, 1 + P]`. Decisions have seen all capacities after `shared_rounds`
    periods.
    """

    shared_capacity: IntArray | None = None
    shared_first: IntArray | None = None
    shared_at: IntArray | None = None
    shared_offer: IntArray | None = None
    shared_every: IntArray | None = None
    shared_period: int | None = None
    shared_settled: int | None = None
    shared_own: IntArray | None = None
    shared_node: IntArray | None = None
    shared_nodes: IntArray | None = None
    shared_drawn: IntArray | None = None
    shared_jobs_on: IntArray | None = None
    shared_on_until: IntArray | None = None
    shared_levels: IntArray | None = None
    shared_rounds: int | None = None


class Tables(NamedTuple):
    """Free capacity, queued jobs and running jobs.

    `queue` has the waiting rows in the order in which they are considered, `behind` the same in the
    backfill order; orders by wait are sorted when a round needs them. `running` has the running
    rows by predicted end; `ends` the same as a heap by real end; `started` those that the last
    round has started, in order. `held_amounts` is the part of `waiting_amounts` of jobs that are
    held back. `available` is `[R, N]`. `interval_low` and `interval_high` are the intervals of free
    slots, and `first_slot`, `[N + 1]`, numbers the slots of each node.
    """

    counters: IntArray
    capacity: IntArray
    totals: IntArray
    available: IntArray
    free_amounts: IntArray
    waiting_amounts: IntArray
    held_amounts: IntArray
    running_amounts: IntArray
    jobs: IntArray
    keys: IntArray
    behind_keys: IntArray
    queue: IntArray
    behind: IntArray
    running: IntArray
    ends: IntArray
    started: IntArray
    cells: IntArray
    interval_low: IntArray
    interval_high: IntArray
    first_slot: IntArray


class Output(NamedTuple):
    """Output of the event loop: jobs that have left, their places, rounds and decision times."""

    jobs: IntArray
    nodes: NodeArray
    units: NodeArray
    rounds: IntArray
    decision_times: FloatArray


class FollowedTables(NamedTuple):
    """Output of the event loop for observers in Python; None without observers.

    Attributes
    ----------
    events
        Events in order.
    start_nodes
        Nodes of jobs that start.
    start_units
        Units on each of these nodes.
    turned
        Rows to hold back or to release; None where Python holds no jobs back.
    """

    events: IntArray | None = None
    start_nodes: NodeArray | None = None
    start_units: NodeArray | None = None
    turned: IntArray | None = None


class FlightTables(NamedTuple):
    """Data of decisions that are pending, or made by Python.

    Attributes
    ----------
    lost
        Idle capacity × seconds during pending decisions, `[R]`; None where decisions take no
        simulated time.
    dismissed
        Rows of the jobs that Python rejects; None where Python does not decide.
    decision_seconds
        Real seconds that the decision took, `[1]`; None where neither is the case.
    """

    lost: IntArray | None = None
    dismissed: IntArray | None = None
    decision_seconds: FloatArray | None = None
