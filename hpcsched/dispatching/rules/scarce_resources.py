"""Allocators for heterogeneous systems: balanced, weighted, and both combined.

They follow the ideas of A. Netti, C. Galleguillos, Z. Kiziltan, A. Sîrbu and O. Babaoglu,
Heterogeneity-aware resource allocation in HPC systems, ISC High Performance 2018, not the details
of their programs: keep jobs off resources that other jobs will need, and consume scarce resources
evenly.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from hpcsched.context import Context
from hpcsched.dispatching.allocator import Room, fill
from hpcsched.dispatching.rules.allocators import free_share
from hpcsched.dispatching.rules.pressure import Pressure
from hpcsched.dispatching.rules.rule_params import ScarceResourceParams, review_scarce_types
from hpcsched.errors import Finding, InputError
from hpcsched.registration import builtin
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import IntArray, System

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
        """Create the allocator from its parameters.

        Raises
        ------
        InputError
            The system has no resource type of a given name.
        """
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
        """Create the allocator from its parameters.

        Raises
        ------
        InputError
            The system has no resource type of a given name.
        """
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
