"""Allocators: rankings of the nodes, which are filled in that order."""

from collections.abc import Sequence
from itertools import chain
from typing import Self

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.allocator import Room, fill
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.rule_params import ScarceResourceParams, review_scarce_types
from hpcsched.errors import Finding, InputError
from hpcsched.registration import Context, builtin
from hpcsched.system.space import Interval, NodeAllocation
from hpcsched.system.system import IntArray, System


class Pressure:
    """Pressure on each resource type, computed once per round.

    It is the amount requested by waiting jobs and allocated to running jobs, over the system's
    total.
    """

    def __init__(self) -> None:
        self._problem: DispatchingProblem | None = None
        self._pressure: Sequence[float] = ()

    def of(self, room: Room) -> Sequence[float]:
        """Return the pressure in the round of a room.

        Returns
        -------
        Sequence[float]
            Pressure on each resource type, `[R]`; 1 for each outside of a round.
        """
        if room.problem is None:
            return [1.0] * len(room.system.totals)
        # By identity: problems are immutable, and each round has its own.
        if room.problem is not self._problem:
            self._problem, self._pressure = room.problem, _pressure(room.problem)
        return self._pressure


def _pressure(problem: DispatchingProblem) -> Sequence[float]:
    # Python integers do not overflow, whatever the length of the queue.
    wanted = [0] * len(problem.system.totals)
    for job in chain(problem.queue, (running.waiting for running in problem.running)):
        for r, amount in enumerate(job.unit_request):
            wanted[r] += amount * job.units
    shares = zip(wanted, problem.system.totals, strict=True)
    return [amount / total if total else 0.0 for amount, total in shares]


Ranks = npt.NDArray[np.float64]
"""Rank of each node, `[N]`; the lowest is preferred."""


def _checked_types(params: ScarceResourceParams, system: System) -> tuple[str, ...] | None:
    # The first finding ends the assembly; `hpcsched validate` reports all of them.
    for caution in review_scarce_types(params, system):
        raise InputError(Finding(caution.rule, caution.message, key="dispatcher"))
    return params.scarce_resources


@builtin(
    "allocator",
    "balanced",
    ScarceResourceParams,
    summary="nodes without scarce resources, then the others by weighted round robin",
    review=review_scarce_types,
)
class Balanced:
    """Allocator that uses nodes without scarce resources first, and the others evenly.

    Scarce are the resource types named as `scarce_resources`, or, if none are named, those that not
    every node has. Nodes without scarce resources other than those that the job requests come
    first, the fullest first. The others are classified by their scarce types; the classes take
    turns by weighted round robin, the weight being the free share of their types, the fullest nodes
    first within a class.

    Parameters
    ----------
    scarce_resources
        Names of the scarce resource types; None: those that not every node has.
    """

    @classmethod
    def build(cls, params: ScarceResourceParams, context: Context) -> Self:
        """Create the allocator from its parameters."""
        return cls(_checked_types(params, context.system))

    def __init__(self, scarce_resources: Sequence[str] | None = None) -> None:
        self.scarce_resources = scarce_resources

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units, classes by weighted round robin."""
        ranks = free_share(room)
        scarce = scarce_types(room.system, self.scarce_resources)
        return fill(units, room.fits, weighted_round_robin(room, scarce, ranks))


@builtin("allocator", "weighted", summary="nodes that would keep the least capacity in demand")
class Weighted:
    """Allocator that prefers nodes that keep the least capacity in demand.

    A node's weight is the sum, over all resource types, of the amount left free if it took as many
    units as it can, as a share of the whole system's capacity, times the pressure on the type: the
    amount requested by waiting jobs and allocated to running jobs, as a share of the same. The
    least weight comes first; ties go to the lowest number.
    """

    def __init__(self) -> None:
        self._pressure = Pressure()

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units on the nodes of least weight."""
        ranks = weights(units, room, self._pressure.of(room))
        return fill(units, room.fits, np.argsort(ranks, kind="stable"))


@builtin(
    "allocator",
    "hybrid",
    ScarceResourceParams,
    summary="as balanced, with the ranks of weighted within a class",
    review=review_scarce_types,
)
class Hybrid:
    """Allocator that classifies nodes as `Balanced` does, and ranks those of a class as `Weighted`.

    Parameters
    ----------
    scarce_resources
        Names of the scarce resource types; None: those that not every node has.
    """

    @classmethod
    def build(cls, params: ScarceResourceParams, context: Context) -> Self:
        """Create the allocator from its parameters."""
        return cls(_checked_types(params, context.system))

    def __init__(self, scarce_resources: Sequence[str] | None = None) -> None:
        self.scarce_resources = scarce_resources
        self._pressure = Pressure()

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units, classes by weighted round robin, nodes of a class by weight."""
        ranks = weights(units, room, self._pressure.of(room))
        scarce = scarce_types(room.system, self.scarce_resources)
        return fill(units, room.fits, weighted_round_robin(room, scarce, ranks))


def scarce_types(system: System, names: Sequence[str] | None) -> list[int]:
    """Return the numbers of the scarce resource types.

    Parameters
    ----------
    names
        Names of the scarce types; None: the types that some nodes lack.
    """
    if names is not None:
        return [r for r, name in enumerate(system.resource_types) if name in names]
    everywhere = (system.capacity > 0).all(axis=0)
    return np.flatnonzero(~everywhere).tolist()


def weights(units: int, room: Room, pressure: Sequence[float]) -> Ranks:
    """Return the capacity in demand that would be left on each node.

    Parameters
    ----------
    pressure
        Pressure on each resource type, `[R]`.

    Returns
    -------
    Ranks
        Weight of each node, `[N]`; the least is preferred.
    """
    placed = np.minimum(room.fits, units)
    left = np.zeros(len(room.fits))
    for row, asked, total, wanted in zip(
        room.available, room.unit_request, room.system.totals, pressure, strict=True
    ):
        if total:
            left += wanted * (row - asked * placed) / total
    return left


def weighted_round_robin(room: Room, scarce_resources: Sequence[int], ranks: Ranks) -> IntArray:
    """Return the nodes in order of preference, classes taking turns by their free share.

    Class 0 has the nodes without scarce resources beyond those that the job requests; it comes
    first.

    Parameters
    ----------
    ranks
        Ranks of the nodes within their class, `[N]`.

    Returns
    -------
    IntArray
        Permutation of the nodes, `[N]`, best first.
    """
    unwanted = [r for r in scarce_resources if not room.unit_request[r]]
    has = room.system.capacity[:, unwanted] > 0
    # A class is a bit mask of the scarce types that its nodes have.
    classes = has @ (1 << np.arange(len(unwanted), dtype=np.int64))
    turn = np.zeros(len(ranks))
    for number in np.unique(classes[classes > 0]):
        members = np.flatnonzero(classes == number)
        # Nodes without room come last: they must not use up turns of their class.
        members = members[np.lexsort((ranks[members], room.fits[members] == 0))]
        # The k-th of a class with a share s of what is free comes at turn (k + ½) / s.
        types = [r for k, r in enumerate(unwanted) if number >> k & 1]
        shares = [_share_free(room, r, members) for r in types]
        # Added up one after the other: pairwise summation may round differently from the core.
        free = np.add.accumulate(shares)[-1] / len(shares)
        # The bound keeps a class without free capacity finite, behind all others.
        turn[members] = (np.arange(len(members)) + 0.5) / max(float(free), 1e-9)
    return np.lexsort((ranks, turn))


def _share_free(room: Room, r: int, members: IntArray) -> float:
    """Return the free amount of a resource type on some nodes, as a share of the system's total."""
    return float(room.available[r][members].sum() / room.system.totals[r])


@builtin(
    "allocator",
    "first-fit",
    summary="the lowest-numbered nodes with room",
    aliases=("first_fit",),
)
class FirstFit:
    """Allocator that fills nodes in the order in which the system declares them."""

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units on the lowest-numbered nodes with room."""
        return fill(units, room.fits)

    def allocate_slots(self, units: int, free: list[Interval]) -> tuple[Interval, ...]:
        """Take the lowest slots, which lie on the lowest-numbered nodes with room.

        Parameters
        ----------
        free
            Ascending intervals of free slots; changed in place.

        Raises
        ------
        ValueError
            Fewer slots are free.
        """
        # Intervals are ascending, so the lowest slots are a prefix of them.
        missing = units
        for k, (low, high) in enumerate(free):
            missing -= high - low
            if missing <= 0:
                end = high + missing
                chosen = (*free[:k], (low, end))
                free[: k + 1] = [(end, high)] if missing else []
                return chosen
        raise ValueError(f"{units} slots asked for, {units - missing} free")


@builtin(
    "allocator",
    "best-fit",
    summary="the fullest nodes with room",
    aliases=("best_fit",),
)
class BestFit:
    """Allocator that fills the fullest nodes first, so that large blocks stay free.

    Nodes are ranked by the mean free share of their resource types, ascending; ties go to the
    lowest number (as in AccaSim's best fit: Galleguillos, thesis 2020, section 3.1).
    """

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units on the nodes with the least free."""
        # Stable: ties go to the lowest node number, as in the compiled core.
        return fill(units, room.fits, np.argsort(free_share(room), kind="stable"))


@builtin(
    "allocator",
    "keep-scarce",
    summary="nodes with the least capacity that the job does not use; the fullest first",
    aliases=("keep_scarce",),
)
class KeepScarce:
    """Allocator that keeps scarce resources free for the jobs that request them; then best fit.

    A node's price for a job is the loss to other jobs: over the resource types that the job does
    not request, the sum of the node's free amount as a share of the whole system's capacity, times
    the pressure on that type, which is the amount requested by waiting jobs and allocated to
    running jobs, as a share of the same. Among equal prices the nodes that offer least of those
    types come first. So a job that needs no accelerator goes to nodes without one while there is
    room, and otherwise to those whose accelerators are in least demand.
    """

    def __init__(self) -> None:
        self._pressure = Pressure()

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units on the cheapest nodes, the fullest first among equals."""
        price, offer = np.zeros(len(room.fits)), np.zeros(len(room.fits))
        for row, asked, total, pressure in zip(
            room.available,
            room.unit_request,
            room.system.totals,
            self._pressure.of(room),
            strict=True,
        ):
            # Types are added up in a fixed order: the core must get the same rounded sums.
            if not asked and total:
                share = row / total
                price += pressure * share
                offer += share
        # lexsort is stable, and its last key is the first to count.
        return fill(units, room.fits, np.lexsort((free_share(room), offer, price)))


def free_share(room: Room) -> npt.NDArray[np.float64]:
    """Return each node's mean free share over the resource types that it has.

    Returns
    -------
    npt.NDArray[np.float64]
        Shares between 0 and 1, `[N]`.
    """
    capacity = room.system.capacity.T
    shares = np.divide(room.available, capacity, out=np.zeros(capacity.shape), where=capacity > 0)
    offered = np.maximum((capacity > 0).sum(axis=0), 1)
    return np.asarray(shares.sum(axis=0) / offered)
