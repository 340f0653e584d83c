"""Allocators for systems of unlike nodes: balanced, weighted, and both together.

They follow the ideas of A. Netti, C. Galleguillos, Z. Kiziltan, A. Sîrbu and O. Babaoglu,
Heterogeneity-aware resource allocation in HPC systems, ISC High Performance 2018, not the details
of their programs: keep jobs off resources that others will miss, and use up what is scarce evenly.
"""

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from hpcsched.context import Context
from hpcsched.dispatching.allocator import Room, fill
from hpcsched.dispatching.rules.allocators import free_share
from hpcsched.dispatching.rules.pressure import Pressure
from hpcsched.dispatching.rules.rule_params import ScarceResourceParams
from hpcsched.errors import Finding, InputError
from hpcsched.registration import Caution, builtin
from hpcsched.system.allocation import NodeAllocation
from hpcsched.system.system import IntArray, System

Ranks = npt.NDArray[np.float64]
"""By what nodes are preferred, the least first, `[N]`."""


def review_scarce_types(params: ScarceResourceParams, system: System) -> Iterator[Caution]:
    """Refuse critical resource types that no node group has."""
    for name in params.unknown(system):
        message = f"{name} cannot be critical: no node group has it"
        yield Caution("unknown-resource-type", message, "critical", "error")


def _checked_types(params: ScarceResourceParams, system: System) -> tuple[str, ...] | None:
    for caution in review_scarce_types(params, system):
        raise InputError(Finding(caution.rule, caution.message, key="dispatcher"))
    return params.critical


@builtin(
    "allocator",
    "balanced",
    ScarceResourceParams,
    summary="nodes without critical resources, then by turns those that have some",
    review=review_scarce_types,
)
class Balanced:
    """Uses nodes without critical resources first, and then evenly those that have some.

    Critical are the resource types of these names, or, if none are named, those that not every node
    has. First come the nodes with nothing critical but what the job asks for, the fullest first.
    The others are divided by which critical types they have; nodes of these classes take turns,
    each class as often as is its share of what is free of its types, the fullest nodes first.
    """

    @classmethod
    def build(cls, params: ScarceResourceParams, context: Context) -> Self:
        """Return the allocator; raises InputError for resource types that are not there."""
        return cls(_checked_types(params, context.system))

    def __init__(self, critical: Sequence[str] | None = None) -> None:
        self.critical = critical

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units."""
        ranks = free_share(room)
        scarce = scarce_types(room.system, self.critical)
        return fill(units, room.fits, weighted_round_robin(room, scarce, ranks))


@builtin("allocator", "weighted", summary="nodes on which least would be left of what is in demand")
class Weighted:
    """Uses first the nodes on which least would be left of what is wanted.

    A node's weight is the sum, over all resource types, of what would stay free there if it took as
    many units as it can, as a share of the whole system's capacity, times the pressure on the type:
    what waiting jobs ask for and running jobs hold, as a share of the same. The least weight comes
    first; among equals the lowest number.
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
    summary="as balanced, by the weights of weighted among nodes of a kind",
    review=review_scarce_types,
)
class Hybrid:
    """Balanced, with weights: within a class the nodes of least weight come first."""

    @classmethod
    def build(cls, params: ScarceResourceParams, context: Context) -> Self:
        """Return the allocator; raises InputError for resource types that are not there."""
        return cls(_checked_types(params, context.system))

    def __init__(self, critical: Sequence[str] | None = None) -> None:
        self.critical = critical
        self._pressure = Pressure()

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units."""
        ranks = weights(units, room, self._pressure.of(room))
        scarce = scarce_types(room.system, self.critical)
        return fill(units, room.fits, weighted_round_robin(room, scarce, ranks))


def scarce_types(system: System, names: Sequence[str] | None) -> list[int]:
    """Return the numbers of the critical resource types: named ones, or those some nodes lack."""
    if names is not None:
        return [r for r, name in enumerate(system.resource_types) if name in names]
    everywhere = (system.capacity > 0).all(axis=0)
    return np.flatnonzero(~everywhere).tolist()


def weights(units: int, room: Room, pressure: Sequence[float]) -> Ranks:
    """Return what would be left on each node of what is wanted, `[N]`."""
    placed = np.minimum(room.fits, units)
    left = np.zeros(len(room.fits))
    for row, asked, total, wanted in zip(
        room.available, room.unit_request, room.system.totals, pressure, strict=True
    ):
        if total:
            left += wanted * (row - asked * placed) / total
    return left


def weighted_round_robin(room: Room, critical: Sequence[int], ranks: Ranks) -> IntArray:
    """Return the nodes in order of preference, `[N]`, given how they rank within a class.

    Class 0 has the nodes with nothing critical that the job does not ask for.
    """
    unwanted = [r for r in critical if not room.unit_request[r]]
    has = room.system.capacity[:, unwanted] > 0
    classes = has @ (1 << np.arange(len(unwanted), dtype=np.int64))
    turn = np.zeros(len(ranks))
    for number in np.unique(classes[classes > 0]):
        members = np.flatnonzero(classes == number)
        members = members[np.lexsort((ranks[members], room.fits[members] == 0))]
        # The k-th of a class with a share s of what is free comes at turn (k + ½) / s.
        types = [r for k, r in enumerate(unwanted) if number >> k & 1]
        shares = [_share_free(room, r, members) for r in types]
        free = np.add.accumulate(shares)[-1] / len(shares)  # added up one after the other
        turn[members] = (np.arange(len(members)) + 0.5) / max(float(free), 1e-9)
    return np.lexsort((ranks, turn))


def _share_free(room: Room, r: int, members: IntArray) -> float:
    """Return how much of a resource type is free on these nodes, as a share of the system's."""
    return float(room.available[r][members].sum() / room.system.totals[r])
