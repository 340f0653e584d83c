"""The core's allocators: rankings of the nodes, which are filled in that order."""

from collections.abc import Sequence
from itertools import chain
from typing import ClassVar, Self

import numpy as np

from hpcsched import _core
from hpcsched.dispatching.allocator import Allocator, Room
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.rule_params import ScarceResourceParams, review_scarce_types
from hpcsched.errors import Finding, InputError
from hpcsched.registration import Context, builtin
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import System


class CoreAllocator:
    """Base of the allocators of the core."""

    kind: ClassVar[_core.Allocator]

    def scarce(self, _system: System) -> list[bool]:
        """Return which resource types are scarce, `[R]`; empty where that does not matter."""
        return []

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units; outside of a round, the pressure on each resource type is 1."""
        system, problem = room.system, room.problem
        places = _core.place_units(
            self.kind,
            self.scarce(system),
            system.capacity,
            room.available,
            np.array(room.unit_request),
            units,
            room.fits,
            [1.0] * len(system.totals) if problem is None else pressure_in(problem),
        )
        return NodeAllocation(*zip(*places, strict=True))


def kind_in_core(allocator: Allocator) -> _core.Allocator:
    """Return the core's allocator; `EXTERNAL` for one that runs in Python."""
    # A subclass elsewhere may do anything else.
    own = __name__.removesuffix("allocators")
    if isinstance(allocator, CoreAllocator) and type(allocator).__module__.startswith(own):
        return allocator.kind
    return _core.Allocator.EXTERNAL


def scarce_in(system: System, allocator: Allocator) -> list[bool]:
    """Return `CoreAllocator.scarce`; empty for an allocator that runs in Python."""
    return allocator.scarce(system) if isinstance(allocator, CoreAllocator) else []


def pressure_in(problem: DispatchingProblem) -> Sequence[float]:
    """Return the pressure on each resource type, `[R]`.

    It is the amount requested by waiting jobs and allocated to running jobs, over the system's
    total.
    """
    # Python integers do not overflow, whatever the length of the queue.
    wanted = [0] * len(problem.system.totals)
    for job in chain(problem.queue, (running.waiting for running in problem.running)):
        for r, amount in enumerate(job.unit_request):
            wanted[r] += amount * job.units
    shares = zip(wanted, problem.system.totals, strict=True)
    return [amount / total if total else 0.0 for amount, total in shares]


class _ByScarceTypes(CoreAllocator):
    """Base of allocators that look at the scarce resource types.

    Parameters
    ----------
    scarce_resources
        Names of the scarce resource types; None: those that not every node has.
    """

    @classmethod
    def build(cls, params: ScarceResourceParams, context: Context) -> Self:
        """Create the allocator from its parameters."""
        # The first finding ends the assembly; `hpcsched validate` reports all of them.
        for caution in review_scarce_types(params, context.system):
            raise InputError(Finding(caution.rule, caution.message, key="dispatcher"))
        return cls(params.scarce_resources)

    def __init__(self, scarce_resources: Sequence[str] | None = None) -> None:
        self._scarce_resources = scarce_resources

    def scarce(self, system: System) -> list[bool]:
        """Return which resource types are scarce, `[R]`."""
        if self._scarce_resources is not None:
            return [name in self._scarce_resources for name in system.resource_types]
        return [not all(amounts) for amounts in (system.capacity > 0).T]


@builtin("allocator", "balanced", ScarceResourceParams, review=review_scarce_types)
class Balanced(_ByScarceTypes):
    """Allocator: nodes without scarce resources, then the others by weighted round robin.

    Nodes without scarce resources other than those that the job requests come first, the fullest
    first. The others are classified by their scarce types; the classes take turns by weighted round
    robin, the weight being the free share of their types, the fullest nodes first within a class.
    """

    kind = _core.Allocator.BALANCED


@builtin("allocator", "weighted")
class Weighted(CoreAllocator):
    """Allocator: nodes that would keep the least capacity in demand.

    A node's weight is the sum, over all resource types, of the amount left free if it took as many
    units as it can, as a share of the whole system's capacity, times the pressure on the type. The
    least weight comes first; ties go to the lowest number.
    """

    kind = _core.Allocator.WEIGHTED

    def scarce(self, system: System) -> list[bool]:
        """Return that none is."""
        return [False] * len(system.resource_types)


@builtin("allocator", "hybrid", ScarceResourceParams, review=review_scarce_types)
class Hybrid(_ByScarceTypes):
    """Allocator: as balanced, with the ranks of weighted within a class."""

    kind = _core.Allocator.HYBRID


@builtin("allocator", "first-fit", aliases=("first_fit",))
class FirstFit(CoreAllocator):
    """Allocator: the lowest-numbered nodes with room.

    Nodes are filled in the order in which the system declares them.
    """

    kind = _core.Allocator.FIRST_FIT


@builtin("allocator", "best-fit", aliases=("best_fit",))
class BestFit(CoreAllocator):
    """Allocator: the fullest nodes with room.

    Large blocks stay free.

    Nodes are ranked by the mean free share of their resource types, ascending; ties go to the
    lowest number (as in AccaSim's best fit: Galleguillos, thesis 2020, section 3.1).
    """

    kind = _core.Allocator.BEST_FIT


@builtin("allocator", "keep-scarce", aliases=("keep_scarce",))
class KeepScarce(CoreAllocator):
    """Allocator: nodes with the least capacity that the job does not use; the fullest first.

    Scarce resources stay free for the jobs that request them.

    A node's price for a job is the loss to other jobs: over the resource types that the job does
    not request, the sum of the node's free amount as a share of the whole system's capacity, times
    the pressure on that type. Among equal prices the nodes that offer least of those types come
    first. So a job that needs no accelerator goes to nodes without one while there is room, and
    otherwise to those whose accelerators are in least demand.
    """

    kind = _core.Allocator.KEEP_SCARCE
