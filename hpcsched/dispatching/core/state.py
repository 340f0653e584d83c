"""The state of a replay, and what it reads and writes, as arrays.

`N` nodes, `R` resource types and `S` shapes: distinct requests of a unit. A *row* is a job in the
system, a *cell* one stretch of a running job's places, the next of which it names. Where slots are
counted a cell holds the first slot and the one behind the last; otherwise a node and the units on
it. All numbers are 64-bit integers, times in seconds.
"""

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.core import codes
from hpcsched.system.system import IntArray

if TYPE_CHECKING:
    from hpcsched.dispatching.core.external_allocator import ExternalAllocator
    from hpcsched.dispatching.core.state_function import StateFunction

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
NodeArray = npt.NDArray[np.int32]
_Array = TypeVar("_Array", bound=npt.NDArray[Any])

ByNode = Literal[True] | None
"""True where units are placed node by node, None where slots are counted.

It is a constant. numba leaves out of a function what the other value leads to, so that a replay has
half as much to compile.
"""


Explains = Literal[True] | None
"""True where each job that waits is to have a reason, None otherwise; a constant as well."""


Reserves = Literal[True] | None
"""True for rules that may reserve for all jobs that wait, None for those that do for one at most.

A constant as well, so that only what the rule of a scenario needs is compiled.
"""


class Choices(NamedTuple):
    """What a replay follows; the numbers are those of `codes`.

    `depth` bounds the reservations of `BACKFILL` (-1: none). `own_backfill_order` says that jobs
    behind the head job of a rule are tried in an order of their own, and `writes_places` that the
    nodes of jobs are written down when they end. The head job of `RELAXED` may be delayed by a
    share of its expected wait, the `relaxation`. The promise of a job may slip with `SLACK`: by
    `least_slack` seconds and, beside that, a `slack_share` of the wait promised.

    What few replays follow is None in the others, and what would look at it is not compiled for
    these. Jobs come `by_wait` over their first key, not by that key; so do those behind the head
    job, `behind_by_wait`. Where that is False, Python puts them in order before each round.
    `scarce`, `[R]`, says which resource types are to be kept for jobs that ask for them; where it
    is None, the allocator is one of the first three. `external` is what is asked in place of an
    allocator of the core (see `external_allocator`). `compression` is that of rules that keep
    reservations from round to round. `decides` is by what the loop of events has a round decided:
    machine code of its own (see `code_call`).
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
    external: "ExternalAllocator | None" = None
    compression: int | None = None
    slack_share: float = 0.0
    least_slack: int = 0
    decides: "StateFunction | None" = None


class Batch(NamedTuple):
    """Jobs in order of submission, `[B]`; `last` says that no other batch follows.

    Jobs are considered by ascending `keys`, `[B, K]`, compared one after the other, and then by
    their order of submission; `behind_keys` are those of an own backfill order. Where an order is
    by wait, the first key is what the wait is divided by. Once a `watched` job is submitted, starts
    or ends, others may be held back, or not any more. `refused` says what refuses a job when it is
    submitted, -1 that nothing does; it is None where nothing refuses any. `draws`, `[B, P]`, is
    what jobs draw from pools wherever they run; None where there are no pools.
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
    """The distinct requests: what a unit asks for `[S, R]`, and its units on an idle node `[S, N]`.

    `exclusive` units go on idle nodes only. `uncountable` ones, those and units that each need a
    node of their own, cannot be planned for by number. `fits`, `[S, N]`, is how many units fit now
    and `fitting`, `[S]`, their sum, kept for those shapes in `active` that a queued job has;
    `shape_waiting` counts these jobs.
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
    """Outages, and what they leave to jobs; each field is None in a replay without any.

    Announced ones begin at `outage_start` and end at `outage_end`, by start; outage `k` is on
    `outage_nodes` from `outage_first[k]` to before `outage_first[k + 1]`. Likewise
    `change_nodes` go out of service (`change_sign` 1) or come back (-1) at `change_time`; these are
    announced or not. `down`, `[N]`, counts the outages that each node is in, and `closed` says that
    its room is taken away. `clear_until`, `[N]`, is when its next announced outage begins, and
    `limits` are these instants, each once, ascending.

    Shapes on fewer nodes follow those that jobs are submitted with. `kind`, `[S]`, is the same for
    requests that differ in their allowed nodes only, `may_use`, `[S, N]`, says which these are.
    `room`, `[S]`, is how many units fit on idle nodes. `narrowed` and `narrowed_span` say of which
    shape it is a narrower one, for jobs of which `SPAN`.
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
    clear_until: IntArray | None = None
    limits: IntArray | None = None
    requeue: bool | None = None
    kind: IntArray | None = None
    may_use: BoolArray | None = None
    room: IntArray | None = None
    narrowed: IntArray | None = None
    narrowed_span: IntArray | None = None


class PoolTables(NamedTuple):
    """The `P` pools, and what is drawn from them; each field is None in a replay without any.

    A pool offers `pool_capacity`, `[P]`, until the first of its changes: those from `pool_first[p]`
    to before `pool_first[p + 1]`, at each of which, `pool_at`, it offers `pool_offer` from then on.
    They come again `pool_every` so many seconds, or once (0). `pool_period` is the period of all,
    and `pool_settled` the second from which on they offer the same in each. The job of a row draws
    `pool_own`, `[rows, P]`, wherever it runs; a node that is switched on draws `pool_node`.

    `pool_nodes`, `[S]`, is how many idle nodes can hold a unit of a shape. `pool_drawn` is what is
    drawn now, `pool_jobs_on`, `[N]`, how many jobs run on each node, and `pool_on_until` until when
    it is on in the plans of a round. `pool_time` and `pool_free` are described in `pool_kernels`.
    `pool_levels` is written: from when on how much was drawn, `[L, 1 + P]`. Decisions have seen all
    that pools offer once `pool_rounds` of their periods are over.
    """

    pool_capacity: IntArray | None = None
    pool_first: IntArray | None = None
    pool_at: IntArray | None = None
    pool_offer: IntArray | None = None
    pool_every: IntArray | None = None
    pool_period: int | None = None
    pool_settled: int | None = None
    pool_own: IntArray | None = None
    pool_node: IntArray | None = None
    pool_nodes: IntArray | None = None
    pool_drawn: IntArray | None = None
    pool_jobs_on: IntArray | None = None
    pool_on_until: IntArray | None = None
    pool_time: IntArray | None = None
    pool_free: IntArray | None = None
    pool_levels: IntArray | None = None
    pool_rounds: int | None = None


class Tables(NamedTuple):
    """What is free, who waits and who runs.

    `queue` has the rows that wait, in the order in which they are considered, `behind` the same in
    the backfill order; those by wait are sorted when a round looks at them. `running` has the rows
    that run, by predicted end; `ends` the same as a heap, by real end; `started` those that the
    last round has started, in turn. Of the `waiting_amounts` jobs that are held back ask for
    `held_amounts`. `available` is `[R, N]`. `interval_low` and `interval_high` are the intervals of
    free slots, and `first_slot`, `[N + 1]`, numbers the slots of each node.
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
    clock: IntArray


class Output(NamedTuple):
    """What the loop writes: jobs that have left, their places, and rounds with their durations."""

    jobs: IntArray
    nodes: NodeArray
    units: NodeArray
    rounds: IntArray
    decision_times: FloatArray


class FollowedTables(NamedTuple):
    """What the loop writes for what follows it in Python; None where nothing does.

    `events` are in order. The nodes of jobs that start, and the units on each, are in `start_nodes`
    and `start_units`. `turned` has the rows that are to be held back, or not any more; it is None
    where nothing holds jobs back that Python works out.
    """

    events: IntArray | None = None
    start_nodes: NodeArray | None = None
    start_units: NodeArray | None = None
    turned: IntArray | None = None


def followed_tables(events: int, places: int) -> FollowedTables:
    """Return empty tables for so many events, and places of jobs that start."""
    return FollowedTables(
        np.empty((events, codes.EVENT_COLUMNS), dtype=np.int64),
        np.empty(places, dtype=np.int32),
        np.empty(places, dtype=np.int32),
    )


class FlightTables(NamedTuple):
    """What is known of a decision that is not carried out by what makes it.

    Decisions may take simulated time: `lost`, `[R]`, is what was free meanwhile although it was
    waited for, × seconds; None where they take none. They may be made by Python: `dismissed` are
    the rows of the jobs that are rejected; None where they are not. `decision_seconds`, `[1]`, is
    how long the decision took in real seconds; None where neither holds.
    """

    lost: IntArray | None = None
    dismissed: IntArray | None = None
    decision_seconds: FloatArray | None = None


def new_output(types: int, jobs: int, places: int, rounds: int) -> Output:
    """Return empty tables of the given sizes."""
    return Output(
        np.empty((jobs, codes.OUT_COLUMNS), dtype=np.int64),
        np.empty(places, dtype=np.int32),
        np.empty(places, dtype=np.int32),
        np.empty((rounds, codes.ROUND_COLUMNS + 3 * types), dtype=np.int64),
        np.empty(rounds),
    )


def new_tables(
    capacity: IntArray, first_slot: IntArray, keys: int, behind_keys: int, cells: int
) -> Tables:
    """Return the state of an idle system without jobs.

    `first_slot` numbers slots; it is `[0]` where they are not counted. `keys` and `behind_keys` are
    how many there are of a job.
    """
    types = capacity.shape[1]
    slots = int(first_slot[-1])
    totals = capacity.sum(axis=0)
    counters = np.zeros(codes.COUNTERS, dtype=np.int64)
    counters[codes.FREE_ROW] = counters[codes.FREE_CELL] = -1
    counters[codes.RELEASE] = codes.NEVER
    counters[codes.PAUSED_AT] = -1
    counters[codes.FREE_SLOTS] = slots
    counters[codes.INTERVALS] = 1 if slots else 0
    low, high = (np.zeros(slots // 2 + 2, dtype=np.int64) for _ in range(2))
    high[0] = slots
    none = np.empty(0, dtype=np.int64)
    tables = Tables(
        counters=counters,
        capacity=np.array(capacity),
        totals=totals,
        available=np.array(capacity.T, order="C"),
        free_amounts=totals.copy(),
        waiting_amounts=np.zeros(types, dtype=np.int64),
        held_amounts=np.zeros(types, dtype=np.int64),
        running_amounts=np.zeros(types, dtype=np.int64),
        jobs=np.empty((0, codes.JOB_COLUMNS), dtype=np.int64),
        keys=np.empty((0, keys), dtype=np.int64),
        behind_keys=np.empty((0, behind_keys), dtype=np.int64),
        queue=none,
        behind=none,
        running=none,
        ends=none,
        started=none,
        cells=np.empty((0, 3), dtype=np.int64),
        interval_low=low,
        interval_high=high,
        first_slot=first_slot,
        clock=np.zeros(2, dtype=np.int64),
    )
    return with_cells(with_rows(tables, 256), cells)


def with_rows(tables: Tables, rows: int) -> Tables:
    """Return the state with at least so many rows for jobs, those in use where they were."""
    before = len(tables.jobs)
    jobs = with_length(tables.jobs, rows)
    # Unused rows are a list, too: each names the next in its first column.
    jobs[before:, 0] = np.arange(before + 1, rows + 1)
    jobs[-1, 0] = tables.counters[codes.FREE_ROW]
    tables.counters[codes.FREE_ROW] = before
    return tables._replace(
        jobs=jobs,
        keys=with_length(tables.keys, rows),
        behind_keys=with_length(tables.behind_keys, rows),
        queue=with_length(tables.queue, rows),
        behind=with_length(tables.behind, rows),
        running=with_length(tables.running, rows),
        ends=with_length(tables.ends, rows),
        started=with_length(tables.started, rows),
    )


def with_cells(tables: Tables, cells: int) -> Tables:
    """Return the state with at least so many cells for places, those in use where they were."""
    before = len(tables.cells)
    longer = with_length(tables.cells, cells)
    longer[before:, 2] = np.arange(before + 1, cells + 1)
    longer[-1, 2] = tables.counters[codes.FREE_CELL]
    tables.counters[codes.FREE_CELL] = before
    tables.counters[codes.CELLS_FREE] += cells - before
    return tables._replace(cells=longer)


def with_length(array: _Array, length: int) -> _Array:
    """Return an array of at least this length that begins with the given one, then zeros."""
    longer = np.zeros((max(length, len(array)), *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return cast(_Array, longer)
