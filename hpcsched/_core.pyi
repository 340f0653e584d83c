"""The compiled core of hpcsched."""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


def log(x: float) -> float:
    """Return the natural logarithm, to the bit."""

def exp(x: float) -> float:
    """Return e to the power of x, to the bit."""

def expm1(x: float) -> float:
    """Return exp(x) - 1, to the bit."""

def log1p(x: float) -> float:
    """Return log(1 + x), to the bit."""

def power(base: float, exponent: float) -> float:
    """Return a number, 0 or above, to some power, to the bit."""

class PostponeMode(enum.Enum):
    """Jobs whose nodes a plan of `PostponeSearch` names."""

    AGGREGATED = 0
    """None."""

    NOW = 1
    """Those that start now."""

    COUNTS = 2
    """All, by units on each node."""

    POSITIONS = 3
    """All, by positions of units on nodes."""

class PostponeSearch:
    """
    The search tree of schedule-or-postpone. Not for several threads at once.

    Parameters
    ----------
    data, cumulatives
        A `ModelData`, and its `Cumulatives`.
    jobs
        Numbers of the `J` jobs with a free start; by these they are counted from here on.
    order
        The jobs in the order of decisions, `[J]`.
    mode
        Jobs whose nodes a plan names.
    back_to_start
        Whether a failure leads to another start of a job rather than to other nodes for it.
    last_node_first
        Whether nodes are tried from the last one on.
    dominations
        Pairs of a job and one that starts no sooner; None where the plan need not keep to any.
    """

    def __init__(self, data: object, cumulatives: object, jobs: Sequence[int], order: Sequence[int], *, mode: PostponeMode, back_to_start: bool, last_node_first: bool, dominations: Sequence[tuple[int, int]] | None) -> None: ...

    def restart(self, order: Sequence[int]) -> None:
        """Begin anew with another order; counts and the best plan stay."""

    def advance(self, nodes: int, fails: int, seconds: float) -> bool:
        """
        Go on up to numbers, since the first order, of nodes or fails, or for some seconds; say whether the tree is done.
        """

    def improve_on(self, cost: int) -> None:
        """Look only for plans that cost less."""

    @property
    def nodes(self) -> int:
        """Decisions and their changes so far."""

    @property
    def fails(self) -> int:
        """Dead ends so far."""

    @property
    def left_out(self) -> bool:
        """Whether a placement was left out that may have led to a better plan."""

    @property
    def starts(self) -> list[int] | None:
        """Starts of the best plan that was found, `[J]`; None without any."""

    @property
    def placed(self) -> list[tuple[int, int, int]]:
        """Job, node and units of each of its placements, where it names nodes."""

    @property
    def best_cost(self) -> int | None:
        """Cost that a plan has to stay below; None without any."""

class Multifactor:
    """
    Slurm's multifactor priority.

    Users are numbered users in accounts. Keys of a job are its user, its account, and the bits of:
    shares of the user, demand, and weighted factors of size, partition and quality of service.

    Parameters
    ----------
    max_age
        Wait at which the factor of age is 1, in seconds.
    half_life
        Of usage, in seconds; None: no decay.
    fair_tree
        Whether fair share is by Fair Tree instead of the classic formula.
    parents, shares
        Of each account, parents first; the root is the first.
    undeclared
        Account that is left out as long as it has no users; -1: none.
    """

    def __init__(self, *, age_weight: float, fair_share_weight: float, max_age: int, half_life: int | None, fair_tree: bool, parents: Sequence[int], shares: Sequence[float], undeclared: int) -> None: ...

    def __deepcopy__(self, memo: object) -> Multifactor: ...

    def declare(self, user: int, account: int, shares: float, usage: float) -> None:
        """
        Add a user that counts even without jobs.

        Parameters
        ----------
        shares
            In relation to those of the siblings; not a number: those of the account.
        usage
            Demand × seconds as of the first instant that is seen.
        """

    def note_start(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], now: int) -> None:
        """Record the start of a job."""

    def note_end(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: int, now: int) -> None:
        """Record the end of a job; ends ascend."""

    def usage(self, now: int, running: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list[float]:
        """
        Return the demand × seconds of each user, decayed to now, running jobs included.
        """

    def fair_shares(self, now: int, queued: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], running: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list[float]:
        """Return the fair-share factor of each user."""

    def priorities(self, now: int, submit_times: Sequence[int], queued: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], running: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list[float]:
        """Return the priorities of queued jobs."""

class Weight(enum.Enum):
    """What the wait of a job is weighed by in an objective."""

    NONE = 0

    AREA = 1

    RUN_TIME = 2
    """One over its run time."""

class SearchSettings:
    """
    What `ORDER_SEARCH` minimises, and how it searches.

    Parameters
    ----------
    terms
        Weight, factor and least response time in seconds, for which waiting costs nothing, of each
        term of the objective.
    makespan
        Cost of a second of the last end.
    alpha
        Exponent of a ratio of sums, which then stands for all terms; None without one.
    seed
        Seed of the random numbers, from 0 to 2⁶² − 1.
    """

    def __init__(self, *, terms: Sequence[tuple[Weight, float, int]], makespan: float, alpha: float | None, dinkelbach_parameter: float, discount_time_constant: float, area_exponent: float, hold: float, front_bias: float, warm_start: bool, budget: int, queue_length: int, seed: int) -> None: ...

    def __deepcopy__(self, memo: object) -> SearchSettings: ...

    @property
    def budget(self) -> int: ...

    @property
    def seed(self) -> int: ...

class SearchMemory:
    """What `ORDER_SEARCH` knows of earlier rounds."""

    def __deepcopy__(self, memo: object) -> SearchMemory: ...

class Rule(enum.Enum):
    """Rules of the core; `IN_PYTHON` stands for a dispatcher."""

    IN_PYTHON = 0

    EASY = 1

    STRICT = 2

    GREEDY = 3

    BACKFILL = 4

    RELAXED = 5

    COMMITTED = 6

    COMMITTED_BACKFILL = 7

    CONSERVATIVE = 8

    SLACK = 9

    SLURM_BACKFILL = 10

    ORDER_SEARCH = 11

    BESIDE_PLAN = 12

class Compression(enum.Enum):
    """Order in which reservations are moved up."""

    BY_ARRIVAL = 0

    BY_RESERVATION = 1

class Allocator(enum.Enum):
    """Allocators of the core; `EXTERNAL` is Python's."""

    EXTERNAL = 0

    FIRST_FIT = 1

    BEST_FIT = 2

    KEEP_SCARCE = 3

    WEIGHTED = 4

    BALANCED = 5

    HYBRID = 6

    FGD = 7

    GPU_PACKING = 8

    GPU_CLUSTERING = 9

    DOT_PRODUCT = 10

    GPU_BEST_FIT = 11

    RANDOM = 12

class Correction(enum.Enum):
    """Corrections of outlived predictions."""

    ONE_SECOND = 0

    DOUBLING = 1

    TO_REQUESTED_TIME = 2

    ASKED_FOR = 3

class OrderKind(enum.Enum):
    """How a queue is sorted."""

    BY_KEYS = 0

    BY_WAIT = 1

    BY_PRIORITY = 2

class WaitReason(enum.IntEnum):
    """Why a job waits."""

    NO_ROOM = 0

    RESERVED_FOR = 1

    BEHIND = 2

    BEYOND_DEPTH = 3

    SHORT_OF_SHARED = 4

    BEYOND_QUEUE_DEPTH = 5

    HELD = 6

    LIMIT = 7

class Counted(enum.Enum):
    """What a limit counts of running jobs."""

    AMOUNT = 0

    NODES = 1

    REMAINING = 2
    """Amounts times the time that may still be taken."""

    COMMITTED = 3
    """Amounts times the time of all jobs so far, at most."""

class Limits:
    """Limits of groups of jobs, and what counts against them."""

    def __init__(self) -> None: ...

class Choices:
    """
    Rule, allocator and options.

    Parameters
    ----------
    depth
        Maximum number of reservations of `BACKFILL`; -1: no maximum.
    own_backfill_order
        Whether jobs behind the head job are tried in an order of their own.
    relaxation
        Maximum delay of the head job of `RELAXED` as a share of its expected wait.
    order, behind_order
        How the queue is sorted, and the jobs behind its head.
    scarce
        Whether each resource type is scarce, `[R]`; empty for allocators without such types.
    compression
        For rules that keep reservations from round to round.
    slack_share, least_slack
        Slack of a promise with `SLACK` as a share of the promised wait, and more in seconds.
    window
        Seconds from now up to which `BACKFILL` makes reservations; None: no limit.
    search
        Settings of `ORDER_SEARCH`.
    learns_run_times
        Whether expected run times are learnt; they are where events are noted, or keys have powers.
    key_powers, behind_key_powers
        For each two sort keys, powers of the expected run time by which they are multiplied at the
        submission; empty: no keys are.
    default_queue_depth, bf_interval, bf_max_job_test, bf_max_job_user, bf_resolution
        Settings of `SLURM_BACKFILL`, in seconds and jobs.
    """

    def __init__(self, rule: Rule, *, depth: int = -1, own_backfill_order: bool = False, allocator: Allocator = Allocator.FIRST_FIT, correction: Correction = Correction.ONE_SECOND, writes_places: bool = False, relaxation: float = 0.0, order: OrderKind = OrderKind.BY_KEYS, behind_order: OrderKind = OrderKind.BY_KEYS, scarce: Sequence[bool] = [], compression: Compression | None = None, slack_share: float = 0.0, least_slack: int = 0, window: int | None = None, search: SearchSettings | None = None, learns_run_times: bool = False, key_powers: Sequence[int] = [], behind_key_powers: Sequence[int] = [], default_queue_depth: int = 0, bf_interval: int = 0, bf_max_job_test: int = 0, bf_max_job_user: int = 0, bf_resolution: int = 1) -> None: ...

    def __deepcopy__(self, memo: object) -> Choices: ...

    @property
    def rule(self) -> Rule: ...

    @property
    def allocator(self) -> Allocator: ...

    @property
    def correction(self) -> Correction: ...

    @property
    def depth(self) -> int: ...

    @property
    def order(self) -> OrderKind: ...

    @property
    def behind_order(self) -> OrderKind: ...

class DeviceRequest:
    """
    Devices that a unit asks for.

    Parameters
    ----------
    count
        Number of devices; 0: it asks for none.
    amount
        Amount of each part that it takes.
    parts
        Number of parts of a device.
    positions
        Sets of parts of a device that it may take, as bits; they do not overlap, and the first ones
        are preferred.
    """

    def __init__(self, count: int = 0, amount: int = 0, parts: int = 1, positions: Sequence[int] = []) -> None: ...

    def units_that_fit(self, free: Sequence[int]) -> int:
        """
        Return the number of units that fit, given what is free of each part, `[D]`.
        """

class ExpectedRunTimes:
    """
    Expected run times of jobs, learnt from those that have ended.

    They are shares of predicted run times, in decayed averages over alike jobs: by class of the
    prediction; user; user and prediction. Users of unknown number are -1; predictions are at least 1.
    """

    def __init__(self) -> None: ...

    def __deepcopy__(self, memo: object) -> ExpectedRunTimes: ...

    def learn(self, user: int, predicted: int, run_time: int) -> None:
        """Learn from a job that has ended after `run_time` seconds."""

    def share(self, user: int, predicted: int) -> float:
        """
        Return the expected run time as a share of the prediction, above 0 and at most 1.
        """

    def expected(self, user: int, predicted: int) -> int:
        """Return the expected run time, in seconds, at least 1."""

NEVER: int = 4611686018427387904

class State:
    """
    State of a replay, or of a single problem.

    A row is a job in the system. Times are in seconds.

    Parameters
    ----------
    capacity
        Of each node, `[N, R]`, and of the parts of its devices behind these, `[N, R + D]`.
    first_slot
        First slot of each node, `[N + 1]`; `[0]` where units are placed node by node.
    types
        Number of resource types; None: there are no devices.
    keys, behind_keys
        Numbers of sort keys of a job, for the queue and behind its head.
    by_python
        Whether Python makes the decisions.
    takes_time
        Whether decisions take simulated time.
    follows, tells
        Whether events are noted, and observers are told of each instant.
    holds_jobs
        Whether Python holds jobs back.
    plans_past_outages
        Whether rounds are shown jobs that wait for the end of announced outages.
    shows_startable
        Whether only jobs are shown that may all start together by their limits.
    """

    def __init__(self, capacity: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first_slot: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], choices: Choices, *, types: int | None = None, keys: int = 0, behind_keys: int = 0, by_python: bool = False, takes_time: bool = False, follows: bool = False, tells: bool = False, holds_jobs: bool = False, plans_past_outages: bool = False, shows_startable: bool = False) -> None: ...

    def copy(self) -> State:
        """Return a copy."""

    def __deepcopy__(self, memo: object) -> State: ...

    def set_priority(self, priority: Multifactor, behind: bool) -> None:
        """Set the order of the queue, or behind its head, as it is now."""

    def announce(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], end: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Set the announced outages, by start: k is on nodes[first[k]] to before first[k + 1].
        """

    def set_outages(self, time: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sign: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], requeue: bool) -> None:
        """
        Set the begins (sign 1) and ends (-1) of outages.

        Parameters
        ----------
        requeue
            Whether jobs that lose a node are put back into the queue.
        """

    def set_preemption(self, may_preempt: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], released: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], by_order: bool, youngest_first: bool, requeue_delay: int) -> None:
        """
        Set which jobs preempt others, and how.

        Parameters
        ----------
        may_preempt
            Whether jobs of a class preempt those of another, `[C, C]`.
        classes
            Mode (0 off, 1 requeue, 2 cancel, 3 suspend), exempt time, grace time and priority, `[C, 4]`.
        released
            Resource types that suspended jobs do not keep, `[R]`.
        by_order
            Whether jobs preempt those that come later in the order of the queue, whatever their class.
        requeue_delay
            Time until a job that was requeued may start again, in seconds.
        """

    def set_checkpoints(self, every: int, cost: int, restart: int) -> None:
        """Set the checkpoints of jobs, in seconds."""

    @property
    def ranks(self) -> bool:
        """Whether jobs differ in rank."""

    @ranks.setter
    def ranks(self, arg: bool, /) -> None: ...

    def set_shared_resources(self, capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], offer: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], every: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], period: int, settled: int, node: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rounds: int) -> None:
        """
        Set the shared resources, `[P]`.

        Parameters
        ----------
        capacity
            Until the first change: those of p are first[p] to before first[p + 1].
        at, offer
            Time and new capacity of each change.
        every
            Period of the changes, 0 if they do not recur; `period` is common to all.
        settled
            Second from which on all periods are equal.
        node
            Draw of a node that is switched on.
        rounds
            Number of periods after which decisions have seen all capacities.
        """

    def set_scores(self, order: Sequence[int], weighed: Sequence[bool], seed: int, parts: int = 1) -> None:
        """
        Set how an allocator by scores compares nodes.

        Parameters
        ----------
        order
            Place of each node among those with equal scores, `[N]`.
        weighed
            Whether each resource type counts in scores, `[R]`.
        seed
            Seed of what is drawn, from 0 to 2⁶² − 1.
        parts
            Number of parts of a device.
        """

    def add_shapes(self, asked: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], on_idle: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], exclusive: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], uncountable: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], may_use: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)], devices: Sequence[DeviceRequest], alike: Sequence[int]) -> None:
        """
        Append shapes: distinct requests of a unit.

        Parameters
        ----------
        asked
            Amounts, `[S, R]`.
        on_idle
            Units that fit on each idle node, `[S, N]`.
        uncountable
            Whether units cannot be planned by number, `[S]`.
        kind
            The same for requests that differ in their nodes only, `[S]`; empty without outages.
        may_use
            Nodes that a job may use, `[S, N]`; empty without outages.
        devices
            Devices of a unit, `[S]`; empty where nodes have none.
        alike
            The same for requests that differ only in types that scores do not weigh, `[S]`; empty without
            scores.
        """

    def add_counters(self, counters: Sequence[tuple[Counted, int, float]]) -> None:
        """
        Append counters of what groups of running jobs hold.

        Parameters
        ----------
        counters
            What each counts, its resource type or -1 for 1 a job, and what was counted before the replay.
        """

    def add_limits(self, counters: Sequence[int], bounds: Sequence[tuple[int, float]]) -> None:
        """
        Append a set of limits.

        Parameters
        ----------
        counters
            Counters in which jobs with these limits count.
        bounds
            Counters that they must keep to, with their maximum; all bounds are numbered in turn.
        """

    @property
    def limits(self) -> Limits:
        """Limits, and what counts against them now."""

    @limits.setter
    def limits(self, arg: Limits, /) -> None: ...

    def jobs(self, name: str, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int64]:
        """Return a number of each of some jobs."""

    def set_jobs(self, name: str, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Set a number of some jobs."""

    @property
    def needs_owners(self) -> bool:
        """Whether batches tell users and partitions."""

    def held(self, row: int) -> tuple[bool, bool, bool, bool]:
        """
        Return whether outages, Python, limits, or its begin time hold a job back.
        """

    def places(self, row: int) -> list[tuple[int, int, int]]:
        """Return a job's nodes with units, where it is placed node by node."""

    @property
    def queue(self) -> NDArray[numpy.int64]:
        """Rows of waiting jobs in the order in which they are considered."""

    @property
    def running_rows(self) -> NDArray[numpy.int64]:
        """Rows of running jobs by predicted end."""

    @property
    def started(self) -> list[int]:
        """Rows of the jobs that the last round started, in order."""

    @property
    def available(self) -> NDArray[numpy.int64]:
        """Free amounts, `[R, N]`."""

    @property
    def allocated(self) -> NDArray[numpy.int64]:
        """Amounts that running jobs hold, `[R]`."""

    @property
    def waiting_amounts(self) -> NDArray[numpy.int64]:
        """Amounts that waiting jobs request, `[R]`."""

    @property
    def drawn(self) -> NDArray[numpy.int64]:
        """Amounts drawn from shared resources, `[P]`."""

    @property
    def down(self) -> NDArray[numpy.int64]:
        """Present outages of each node, `[N]`."""

    @property
    def clear_until(self) -> NDArray[numpy.int64]:
        """Begin of each node's next announced outage, `[N]`."""

    def open_nodes(self, shape: int) -> list[int]:
        """Return the nodes that a shape may use, beside outages."""

    @property
    def now(self) -> int:
        """Present second."""

    @property
    def round(self) -> int:
        """Number of the last round."""

    @property
    def submitted(self) -> int:
        """Number of submitted jobs."""

    @property
    def waiting(self) -> int:
        """Number of waiting jobs."""

    @property
    def running(self) -> int:
        """Number of running jobs."""

    @property
    def held_back(self) -> int:
        """Number of jobs that are held back."""

    @property
    def requests(self) -> int:
        """Number of shapes."""

    @property
    def between_instants(self) -> bool:
        """Whether an instant is over."""

    def fill(self, now: int, waiting: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], running: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], behind: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Replace all jobs by those of a problem; waiting ones have the first rows.

        Parameters
        ----------
        waiting
            Predicted run times, units and expected run times in the order in which jobs are considered,
            `[Q, 3]`.
        running
            Predicted ends, ascending, and units, `[K, 2]`.
        behind
            Rows in the order behind the head job; empty: the same order.
        """

    def fill_nodes(self, shapes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], place_count: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], units: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], devices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], available: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """
        Set the shapes of all jobs, and the places of running ones.

        Parameters
        ----------
        place_count
            Number of places of each running job, `[K]`; `nodes`, `units` and `devices` follow one after
            another.
        available
            Free amounts, `[R, N]`.
        """

    def fill_draws(self, own: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """
        Set the draws of all jobs that do not depend on their nodes, `[Q + K, P]`.
        """

    def set_places(self, row: int, places: Sequence[tuple[int, int, int]]) -> None:
        """Note the nodes reserved for a job."""

    def decide(self, allocator: object | None, explains: bool) -> None:
        """
        Hold the round of a single problem.

        Parameters
        ----------
        allocator
            Python object that places jobs: `place(row, fits, available)`; None for one of the core's.
        explains
            Whether to note reasons of waiting jobs.
        """

    def start_beside_plan(self, allocator: object | None, starting: int, planned: int) -> None:
        """
        Start the first jobs, and those that delay no planned one; see `decide`.

        Parameters
        ----------
        starting, planned
            Numbers of jobs that a plan starts now, and at any time; the first ones.
        """

    @property
    def freed_until(self) -> int:
        """Latest predicted end of jobs that have ended since the last round."""

    @freed_until.setter
    def freed_until(self, arg: int, /) -> None: ...

    @property
    def last_backfill(self) -> int:
        """Time of the last round of Slurm's backfill scheduler; -1: none yet."""

    @last_backfill.setter
    def last_backfill(self, arg: int, /) -> None: ...

    @property
    def search(self) -> SearchMemory:
        """What the search of orders knows of earlier rounds."""

    @search.setter
    def search(self, arg: SearchMemory, /) -> None: ...

    def set_costs(self, costs: object) -> None:
        """Set the `StartTimeCosts` of the waiting jobs in order of arrival."""

    @property
    def call_again(self) -> int:
        """Time of the next round that the rule asked for; `NEVER` without one."""

    def fill_owners(self, owners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """Set user and partition of waiting jobs, -1 if unknown, `[Q, 2]`."""

    def open_round(self) -> None:
        """Prepare a round whose jobs are started one by one."""

    def room_now(self, row: int) -> int:
        """Return the number of a job's units that fit on nodes now."""

    def start(self, allocator: object | None, row: int) -> None:
        """Start a job that fits; see `decide`."""

    def short_resource(self, row: int, begin: int) -> int:
        """
        Return a shared resource that is short for a job from a start on; -1 if none is.
        """

    def begin_batch(self, batch: Batch) -> None:
        """Begin the next batch of jobs."""

    def advance(self, hooks: Hooks, seconds: float) -> Pause:
        """
        Replay until the batch is used up, the replay is over, or time is up.

        Parameters
        ----------
        seconds
            Real time after which the loop pauses between two instants. The next call goes on there.
        """

    def answer(self, *, rows: Sequence[int], places: Sequence[Sequence[tuple[int, int, int]]], backfilled: Sequence[bool], dismissed: Sequence[int], call_again: int, seconds: float) -> None:
        """
        Give the decision of a round.

        Parameters
        ----------
        rows, places, backfilled
            Jobs to start, their nodes with units and devices, and whether one ahead of them waits on.
        dismissed
            Rows of rejected jobs.
        seconds
            Real time that the decision took.
        """

    def take_output(self) -> tuple[NDArray[numpy.int64], tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int64]], NDArray[numpy.int64], tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int64]], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]]:
        """
        Return what was written since the last call.

        Returns
        -------
        tuple
            Jobs that have left, `[J, 12]`; nodes, units and devices of their places; lost attempts,
            `[I, 12]`, and theirs; rounds, `[K, 8]`; their waiting, free and idle amounts, `[K, 3R]`; decision
            times, `[K]`; levels of shared resources with their times, `[L, 1 + P]`.
        """

    def take_events(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int64]]:
        """
        Return the events since the last call, `[E, 6]`, and nodes, units and devices of starts.
        """

    def keep_finished(self) -> None:
        """Drop what was written after the last instant."""

    def left_since(self, first: int) -> NDArray[numpy.int64]:
        """Return the jobs that have left from one on, `[J, 12]`."""

    def round_record(self, k: int) -> tuple[int, int, int, int, int, int, int, int, list[int], float]:
        """Return the numbers of a round, its amounts, and its decision time."""

    @property
    def written(self) -> tuple[int, int]:
        """Numbers of jobs and rounds that are written."""

    @property
    def release(self) -> int:
        """When the jobs that are held back change even without an event."""

    @release.setter
    def release(self, arg: int, /) -> None: ...

    def seek(self, jobs: Sequence[int]) -> None:
        """
        Pause once some jobs have started.

        Parameters
        ----------
        jobs
            Places among all submitted, ascending.
        """

    @property
    def sought(self) -> list[int]:
        """
        Start times of the jobs that are sought; -1 of those that have not started.
        """

    def set_run_times(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], run_times: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Set the run times of jobs; running ones end later than now."""

    def future_starts(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], run_times: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], later: Callable[[int, int], Batch], ended: Callable[[int], None], threads: int) -> NDArray[numpy.int64]:
        """
        Return start times in futures of the replay, `[F, W]`.

        No part of the replay may be Python's. Jobs that do not start have -1.

        Parameters
        ----------
        rows, run_times
            Present jobs, `[J]`, and their run times in each future, `[F, J]`.
        wanted
            Places of jobs among all submitted, ascending, `[W]`.
        later
            Future and number → that batch of the jobs submitted later.
        ended
            Called with the number of futures so far.
        """

    def corrected_end(self, row: int) -> int:
        """Return the estimated end of a job that has outlived its prediction."""

def place_units(allocator: Allocator, scarce: Sequence[bool], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], available: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], unit_request: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], units: int, fits: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], pressure: Sequence[float]) -> list[tuple[int, int]]:
    """
    Return the nodes of a job by an allocator, and the units on each.

    Parameters
    ----------
    scarce
        Whether each resource type is scarce, `[R]`; empty where the allocator does not look at it.
    capacity
        Capacity of each node, `[N, R]`.
    available
        Free amounts, `[R, N]`.
    fits
        Number of units that fit on each node, `[N]`.
    pressure
        Pressure on each resource type, `[R]`.
    """

class Pause(enum.Enum):
    """Why a replay returns."""

    OVER = 0

    JOBS_NEEDED = 1

    TIME_UP = 2

    FOUND = 3

class EventKind(enum.IntEnum):
    """Events for observers."""

    SUBMITTED_JOB = 0

    REJECTED_JOB = 1

    STARTED_JOB = 2

    LOST_JOB = 3

    ENDED_JOB = 4

    ASKED_ROUND = 5

    HELD_ROUND = 6

    DISMISSED_JOB = 7

    WITHDRAWN_JOB = 8

class Batch:
    """
    Jobs in order of submission, `[B]`.

    Parameters
    ----------
    keys, behind_keys
        Sort keys, ascending, `[B, K]`; of orders by wait, the first is the divisor of the wait.
    watched
        Whether a job's submission, start or end may change the set of jobs that are held back.
    refused
        Cause of a refusal at submission, -1 without one; empty if none is.
    draws
        Draws on shared resources that do not depend on nodes, `[B, P]`.
    owners
        User and partition, -1 if unknown, `[B, 2]`; see `State.needs_owners`.
    limits
        Set of limits, -1 if a job has none, `[B]`; empty without limits.
    precedence
        Rank and class in preemption, `[B, 2]`; empty: all jobs are alike.
    waiting_times
        Seconds before which a job may not start, and at which it is withdrawn, `NEVER` if it is not,
        `[B, 2]`; empty without any.
    is_predicted
        Whether predictions are known; otherwise they are asked for at submission.
    last
        Whether no other batch follows.
    """

    def __init__(self, *, number: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], submit_time: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], run_time: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], predicted: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], requested_time: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], units: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], shape: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], keys: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], behind_keys: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], watched: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], refused: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], draws: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], owners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], limits: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], precedence: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], waiting_times: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], is_predicted: bool, last: bool) -> None: ...

class Hooks:
    """
    What a replay asks of Python where it is needed.

    Parameters
    ----------
    predict
        Job of the batch → predicted run time, sort keys in both orders, cause of a refusal or -1.
    correct
        Rows of jobs that have outlived their prediction → estimated ends.
    look
        Rows to hold back or to release, and when that changes by itself.
    look_again
        Whether a job is free that was held back in the last round, and the same time.
    decide
        Gives the decision of a round with `State.answer`.
    charge
        Number of jobs shown, real seconds → simulated seconds that a decision takes.
    pass_instant
        Whether the replay goes on after an instant.
    """

    def __init__(self, *, predict: Callable[[int], tuple[int, Sequence[int], Sequence[int], int]], correct: Callable[[Sequence[int]], Sequence[int]], look: Callable[[], tuple[Sequence[int], int]], look_again: Callable[[], tuple[bool, int]], decide: Callable[[], None], charge: Callable[[int, float], int], pass_instant: Callable[[], bool]) -> None: ...

class FreeResources:
    """Free resources of a `ModelData` over time."""

    def __init__(self, data: object) -> None: ...

    def __copy__(self) -> FreeResources: ...

    def take(self, job: int, data: object, begin: int, placed: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Take what a job holds from a step on, with units on nodes, `[N]`."""

def plan_in_order(order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], data: object, free: FreeResources, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], placed: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> bool:
    """
    Write the starts, `[J]`, and units on nodes, `[J, N]`, of the jobs of an order, each planned at its earliest start beside those before it; say whether all could be.
    """

def search_orders(orders: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], data: object, free: FreeResources, costs: object, budget: int, front_bias: float, random: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], placed: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> tuple[float, bool]:
    """
    Write the order with the cheapest list plan, `[J]`, that is found from the best of `orders`, `[K, J]`, on, and its plan; return its cost, and whether none costs less. The budget is a number of segments of plans; `random` is the state, `[1]`.
    """

def cost_at(costs: object, job: int, start: int) -> float:
    """Return the cost of a job at a start."""

def find_costs(costs: object, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], found: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Write the cost of each job at its start, `[J]`."""

def find_cheapest(costs: object, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], least: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write each job's start of least cost from its submission on, and that cost, `[J]`.
    """

def least_with_multipliers(demands: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cheapest: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: object, edges: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rates: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upto: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], used: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, float]:
    """
    Return the least cost plus price of jobs, each by itself, and the size of its terms; write the use of each piece of time, in units × seconds, `[B]`. The multipliers are those of `hpcsched.dispatching.offline.bounds`.
    """

def replay_list(rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], submit: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], demands: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], run_times: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: int, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the starts of list scheduling on-line with reservations for all; by submission.
    """

def search_neighbourhoods(seeds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int, budget: int, random: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], data: object, costs: object, least: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], placed: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Improve the plan of a trace in the neighbourhoods, of `width` jobs, of some seeds; return the rest of the budget of segments. `order` has the jobs by start.
    """

def scan_lines(text: bytes, field_count: int, number_count: int, used: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], largest: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64]]:
    """
    Read whole numbers from lines of fields between white space.

    Blank lines, and comments after `;`, are left out.

    Parameters
    ----------
    text
        The lines.
    field_count
        Number of fields that a line has.
    number_count
        Number of its first fields in which a `_` is not plain.
    used
        The fields to read, from 0, `[F]`.
    largest
        Largest number that is read.

    Returns
    -------
    tuple
        The numbers, `[F, L]`, -1 for any below 0; whether each line is plain, `[L]`: ASCII, with
        as many fields as it should have, and such numbers in those that are used; and where each line
        begins, where it ends, and its number in the text, from 0, `[L]`.
    """

class NumbersSeen:
    """Set of whole numbers, stored as runs of consecutive numbers."""

    def __init__(self) -> None: ...

    def __deepcopy__(self, arg: object, /) -> NumbersSeen: ...

    def __contains__(self, arg: int, /) -> bool: ...

    def add(self, number: int) -> bool:
        """Add a number; return False if it was there already."""

    def add_run(self, first: int, last: int) -> bool:
        """Add consecutive numbers; return False if one was there already."""

    def add_all(self, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bool:
        """Add numbers; return False if one was there already, or occurs twice."""

class Verdict(enum.IntEnum):
    """What becomes of a record: a job, or the first reason why it is none."""

    JOB = 0

    NO_RECORD = 1

    NO_NUMBER = 2

    REPEATED_NUMBER = 3

    UNSORTED = 4

    MISSING_RUN_TIME = 5

    ZERO_RUN_TIME = 6

    MISSING_PROCESSORS = 7

    MISSING_REQUESTED_TIME = 8

    REFUSED_REQUEST = 9

    TOO_LONG = 10

class RecordChecks:
    """
    Checks of the records of a log, in their order.

    Parameters
    ----------
    sorts
        Whether the log is sorted afterwards.
    skips_zero_run_time, clips
        Whether jobs of 0 s are skipped, and run times cut to the requested time.
    missing_requested_time
        Replacement for a requested time that is not given: seconds, 0 for the run time, or None.
    longest, largest_sum
        Bounds on each time of a job and on the sum of those of all jobs, in seconds.
    numbers_jobs
        Whether only jobs have numbers of their own, and records without a job may repeat them.
    renumber_from
        First number for jobs whose number another job has; None: they give no job.
    """

    def __init__(self, *, sorts: bool, skips_zero_run_time: bool, clips: bool, missing_requested_time: int | None, longest: int, largest_sum: int, numbers_jobs: bool = False, renumber_from: int | None = None) -> None: ...

    @property
    def earliest(self) -> int:
        """Submit time that the next job has at least."""

    @property
    def sum(self) -> int:
        """Sum of the times of the jobs so far, in seconds."""

    def check(self, job_id: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], submit_time: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], run_time: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], requested_time: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], think_time: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], verdicts: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu')], cut: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Check the next records, `[L]`; -1 is a number that is not given.

        Parameters
        ----------
        submit_time, think_time
            Their times.
        job_id, run_time, requested_time
            Changed where a job gets a new number, a requested time is missing or a run time is cut.
        verdicts
            Verdicts on each record by itself, which hold at their place among the checks; changed into
            those on the records.
        cut
            Receives whether a run time was cut.
        """
