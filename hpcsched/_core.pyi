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
