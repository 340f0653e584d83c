"""The compiled core of hpcsched."""

from collections.abc import Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


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
    The search tree of schedule-or-postpone.

    Times are in steps from now. `J` jobs by priority, `N` nodes, `R` resource types, `G`
    cumulative resources, `T` terms of the objective. Not for several threads at once.

    Parameters
    ----------
    mode
        Jobs whose nodes a plan names.
    back_to_start
        Whether a failure leads to another start of a job rather than to other nodes for it.
    last_node_first
        Whether nodes are tried from the last one on.
    order
        Numbers of the jobs in the order of decisions, `[J]`.
    units, run_times, latest_starts, requests
        Units of the jobs, their run times and latest starts, `[J]`; requests of a unit, `[J, R]`.
    idle_room, room
        Units of each job that a node can hold when it is idle, and in this mode, `[J, N]`.
    capacity, free
        Capacity of the nodes, and the amounts free now, `[N, R]`.
    closed
        Node, begin and end of outages.
    held_until, held_on, held
        Ends and nodes of running jobs, `[K]`, and the amounts that they hold, `[K, R]`.
    total, demands
        The cumulative resources, `[G]`, and the jobs' demands, `[J, G]`.
    used_at, used
        Amounts used by others from the steps `used_at` on, ascending from 0, `[F]`, `[F, G]`.
    weights, free_until, makespan, curves
        The objective: Σ weights · max(start, free_until), `[T, J]`, + makespan · last end,
        + start-time cost functions: corners, costs there, slopes between them; empty without any.
    horizon
        Step after which no job needs to end.
    dominations
        Pairs of a job and one that starts no sooner; None where the plan need not keep to any.
    """

    def __init__(self, *, mode: PostponeMode, back_to_start: bool, last_node_first: bool, order: Sequence[int], units: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], run_times: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], latest_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], requests: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], idle_room: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], room: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], free: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], closed: Sequence[tuple[int, int, int]], held_until: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], held_on: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], held: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], total: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], demands: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], used_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], used: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], free_until: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], makespan: int, curves: Sequence[tuple[Sequence[int], Sequence[int], Sequence[int]]], horizon: int, dominations: Sequence[tuple[int, int]] | None) -> None: ...

    def restart(self, order: Sequence[int]) -> None:
        """Begin anew with another order; counts and the best plan stay."""

    def advance(self, nodes: int, fails: int, seconds: float) -> bool:
        """
        Go on up to a number of nodes or fails; say whether the tree is done.

        Parameters
        ----------
        nodes, fails
            Numbers, since the first order, at which to pause.
        seconds
            Time after which to pause all the same.
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

class State:
    """
    State of a replay or of a round, over arrays of Python.

    Parameters
    ----------
    tables, shapes, choices, outages, followers, flight, shared_resources, batch, output
        Records of `hpcsched.dispatching.core.state`.
    by_node
        Whether units are placed node by node; otherwise slots are counted.
    """

    def __init__(self, tables: object, shapes: object, choices: object, outages: object, followers: object, flight: object, shared_resources: object, batch: object, output: object, by_node: bool) -> None: ...

    def advance(self, seconds: float) -> int:
        """
        Replay until something is needed or the replay is over.

        Parameters
        ----------
        seconds
            Real time after which the loop pauses between two instants; negative: after each instant.

        Returns
        -------
        int
            Code of the cause of the return. The next call continues where this one stopped.
        """

    def decide(self, allocator: object | None, explains: bool) -> None:
        """
        Hold the round of a single problem.

        Parameters
        ----------
        allocator
            Python object that places jobs: `place(row, fits, available)` and `take_slots(units)`; None
            for one of the core's.
        explains
            Whether to note reasons of waiting jobs.
        """

    def start_beside_plan(self, allocator: object | None) -> None:
        """
        Start planned jobs of a single problem, and those that fit beside; see `decide`.
        """

    def open_shared(self) -> None:
        """Find the free amounts of shared resources from now on."""

    def short_resource(self, row: int, begin: int) -> int:
        """
        Return a shared resource that is short for a job from a start on; -1 if none is.
        """

    def earliest_in_shared(self, row: int, begin: int) -> int:
        """Return the earliest start of a job at which shared resources suffice."""

    def reserve_shared(self, row: int, begin: int, sign: int) -> None:
        """Reserve a job's draw from a start on (sign 1), or give it back (-1)."""

    def shared_steps(self) -> tuple[list[int], list[list[int]]]:
        """
        Return the starts of steps, and the free amounts of shared resources in each.
        """

    def draw_for_start(self, row: int, placed: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Subtract the draw of a job that starts now with units on nodes, `[N]`."""

def corrected_end(job: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], now: int, correction: int) -> int:
    """
    Return the end, after now, of a job that has outlived its prediction, from its row.
    """

class RoundPlan:
    """
    Plan of a single problem, asked about one job after another.

    Jobs may be started before the plan is opened and, beside reservations, afterwards.

    Parameters
    ----------
    state
        A state without an allocator in Python.
    """

    def __init__(self, state: State) -> None: ...

    def open(self, counted: bool) -> None:
        """Open the plan: by count of units, or node by node."""

    def fits_now(self, row: int) -> bool:
        """Return whether a job could be placed now, whatever is reserved."""

    def start(self, row: int) -> None:
        """Start a job, before the plan is opened."""

    def start_on(self, row: int, placed: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Start a job with units on nodes, `[N]`."""

    def fits_beside(self, row: int) -> bool:
        """
        Return whether a job fits until its predicted end, beside all reservations.
        """

    def start_beside(self, row: int) -> bool:
        """Start a job beside all reservations; return whether it fitted."""

    def earliest(self, row: int) -> int:
        """Return the earliest start of a job, node by node."""

    def reserve(self, row: int, release: int) -> int:
        """Reserve room for a job at the earliest time, which is returned."""

    def hold(self, row: int, begin: int) -> bool:
        """Reserve room for a job from a time on; return whether it fits."""

    def cancel(self, row: int) -> None:
        """Cancel the reservation of a job, whose nodes stay noted."""

    def segments(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64]]:
        """
        Return start, successor and free amounts of the segments: `[S]`, `[S]`, `[S, R]`.
        """

class FreeResources:
    """
    Free resources over time, before any job is planned.

    Parameters
    ----------
    now
        First step.
    available
        Amounts free now, `[R, N + P]`; shared resources are rows behind the nodes.
    times, nodes, amounts
        Later releases, by time: `[K]`, `[K]` and `[K, R]`.
    """

    def __init__(self, now: int, available: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], times: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], amounts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def __copy__(self) -> FreeResources: ...

    def close(self, begin: int, end: int, nodes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Set the free amounts of nodes to 0 for a time."""

    def take(self, begin: int, end: int, nodes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], amounts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """Take amounts, `[K, R]`, of nodes for a time."""

    def draw(self, begin: int, end: int, draws: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: int) -> None:
        """
        Take draws, `[P]`, from the shared resources behind `nodes` nodes for a time.
        """

def plan_in_order(order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], jobs: object, free: FreeResources, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], placed: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> bool:
    """
    Plan each job of an order at its earliest start beside those before it.

    Parameters
    ----------
    order
        Numbers of the jobs.
    jobs
        A `ModelJobs`.
    free
        Free resources; unchanged.
    starts, placed
        Receive the start of each job, `[J]`, and its units on each node, `[J, N]`.

    Returns
    -------
    bool
        Whether all jobs could be planned.
    """

def search_orders(orders: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], jobs: object, free: FreeResources, costs: object, budget: int, front_bias: float, random: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], placed: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> tuple[float, bool]:
    """
    Search for the order with the cheapest list plan, from the best of some orders on.

    Parameters
    ----------
    orders
        Numbers of the jobs, `[K, J]`.
    jobs, free, costs
        A `ModelJobs`, its free resources, and `StartTimeCosts`.
    budget
        Number of segments looked through, in making plans, at which the search ends.
    front_bias
        How much more often moves take a job from the front of the order; 1: from anywhere alike.
    random
        State of the random numbers, `[1]`; changed.
    order, starts, placed
        Receive the best order, `[J]`, and its plan.

    Returns
    -------
    tuple[float, bool]
        Cost of the plan, and whether no order can cost less.
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
    Return the least cost plus price of jobs, each by itself, and the size of its terms.

    Parameters
    ----------
    demands
        Units that each job holds of the resource type, `[J]`.
    cheapest
        Start of least cost of each job without multipliers, in seconds, `[J]`.
    costs
        The `StartTimeCosts`.
    edges, rates, upto
        The multipliers: borders of pieces of time, `[B + 1]`, price within each, `[B]`, and price of
        one unit up to each edge, `[B + 1]`.
    used
        Receives the use of each piece of time, in units × seconds, `[B]`.
    """

def replay_list(rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], submit: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], demands: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], run_times: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: int, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the starts of list scheduling on-line with reservations for all; by submission.
    """

def search_neighbourhoods(seeds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int, budget: int, random: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], jobs: object, costs: object, least: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], placed: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Look for a better plan of a trace in the neighbourhood of each seed.

    Parameters
    ----------
    seeds
        Jobs to look around.
    width
        Number of jobs that are planned anew together.
    budget
        Number of segments that may be looked through.
    random
        State of the random numbers, `[1]`; changed.
    jobs, costs
        A `ModelJobs` and `StartTimeCosts`.
    least
        Least cost of each job, `[J]`.
    order
        The jobs by start, `[J]`; changed.
    starts, placed
        The plan, `[J]` and `[J, N]`; changed.

    Returns
    -------
    int
        Rest of the budget.
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
    """

    def __init__(self, *, sorts: bool, skips_zero_run_time: bool, clips: bool, missing_requested_time: int | None, longest: int, largest_sum: int) -> None: ...

    @property
    def earliest(self) -> int:
        """Submit time that the next job has at least."""

    @property
    def sum(self) -> int:
        """Sum of the times of the jobs so far, in seconds."""

    def check(self, job_id: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], submit_time: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], run_time: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], requested_time: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], think_time: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], verdicts: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu')], cut: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Check the next records, `[L]`; -1 is a number that is not given.

        Parameters
        ----------
        job_id, submit_time, think_time
            Their numbers and times.
        run_time, requested_time
            Changed where a requested time is missing or a run time is cut.
        verdicts
            Verdicts on their lines and requests; changed into those on the records.
        cut
            Receives whether a run time was cut.
        """
