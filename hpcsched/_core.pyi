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
