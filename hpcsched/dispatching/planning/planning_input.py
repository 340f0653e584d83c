"""Planning input: amounts, whole nodes and time steps, made as small as they can be."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.planning.outage_data import OutageInterval, first_outages
from hpcsched.dispatching.planning.releases import Releases
from hpcsched.dispatching.planning.shared_resource_data import SharedResourceData
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.system.system import IntArray

BoolArray = npt.NDArray[np.bool_]

Allocated = tuple[IntArray, IntArray, IntArray]
"""`allocated_until`, `allocated_on` and `allocated` of `ModelData`."""


class PlanningInput(NamedTuple):
    """The jobs, nodes and reserved amounts of one model, before they become `ModelData`.

    Attributes
    ----------
    jobs
        The `J` jobs, by priority.
    units
        Job units of each job, `[J]`.
    asked
        Amount of each resource type that one unit asks for, `[J, R]`.
    capacity
        Capacity of each node, `[N, R]`.
    room
        Units of each job that an idle node can hold, `[J, N]`.
    allocated
        Amounts that running jobs hold, see `ReservedAmounts`; times in steps.
    remaining
        Sum of the predicted remaining run times of running jobs, in seconds.
    nodes
        Numbers of the system's nodes, `[N]`; None where all slots are alike.
    bundles
        Units of each job per whole node; 0 for jobs that share nodes.
    aggregated_nodes
        All nodes as one resource of each type; see `ModelData`.
    """

    jobs: tuple[WaitingJob, ...]
    units: IntArray
    asked: IntArray
    capacity: IntArray
    room: IntArray
    allocated: Allocated
    remaining: int
    nodes: IntArray | None
    bundles: tuple[int, ...]
    aggregated_nodes: SharedResourceData | None = None


def units_of(jobs: Sequence[WaitingJob]) -> IntArray:
    """Return the number of units of each job, `[J]`."""
    return np.array([job.units for job in jobs], dtype=np.int64)


def in_steps(seconds: IntArray, step: int) -> IntArray:
    """Return durations in steps, rounded up.

    Parameters
    ----------
    seconds
        Durations in seconds.
    step
        Seconds in a step.
    """
    if step == 1:
        return seconds.astype(np.int64)
    return -(-seconds.astype(np.int64) // step)


def reserved_amounts(
    nodes: IntArray,
    used: IntArray,
    releases: Releases,
    now: int,
    step: int,
    *,
    outage_intervals: Sequence[OutageInterval],
) -> Allocated:
    """Return the amounts that running jobs hold, by end and node; equal ends on a node are merged.

    A job that still runs when its node goes down holds it until then: the job will be lost.

    Parameters
    ----------
    nodes
        Numbers of the model's nodes in the system, `[N]`.
    used
        Numbers of the resource types in the model.
    releases
        What comes free on which node, and when, in seconds.
    now
        The time of the round, in seconds.
    step
        Seconds in a step.
    outage_intervals
        Announced outages of the model's nodes.
    """
    column = np.full(int(nodes.max(initial=0)) + 1, -1, dtype=np.int64)
    column[nodes] = np.arange(len(nodes))
    known = releases.nodes < len(column)
    kept = known.nonzero()[0]
    kept = kept[column[releases.nodes[kept]] >= 0]
    on, until = column[releases.nodes[kept]], in_steps(releases.times[kept] - now, step)
    amounts = releases.amounts[kept][:, used]
    some = amounts.any(axis=1)
    if outage_intervals:
        until = np.minimum(until, first_outages(outage_intervals, len(nodes))[on])
        some &= until > 0
    on, until, amounts = on[some], until[some], amounts[some]
    # By end first: compiled code and models expect ascending ends.
    order = np.lexsort((on, until))
    on, until, amounts = on[order], until[order], amounts[order]
    if not len(on):
        return until, on, amounts
    first = np.concatenate(([True], (on[1:] != on[:-1]) | (until[1:] != until[:-1]))).nonzero()[0]
    return until[first], on[first], np.add.reduceat(amounts, first, axis=0)


def scaled(inputs: PlanningInput) -> PlanningInput:
    """Divide all amounts by the greatest common divisor of the requests, by resource type.

    Free amounts are rounded down, at each time; nothing is lost, as no request can use the
    remainder.

    Parameters
    ----------
    inputs
        The input of the model.
    """
    common = np.gcd.reduce(inputs.asked, axis=0)
    if (common == 1).all():
        return inputs
    until, on, amounts = inputs.allocated
    by_node = on.argsort(kind="stable")
    allocated_on = amounts[by_node]
    first = np.diff(on[by_node], prepend=-1) > 0
    before = allocated_on.cumsum(axis=0) - allocated_on
    # The running sum goes over all nodes; what came before a node's first entry is taken off.
    before -= before[first][first.cumsum() - 1]  # of the same node
    now = inputs.capacity.copy()
    np.subtract.at(now, on, amounts)
    free = now[on[by_node]] + before
    rounded = np.empty_like(amounts)
    # Rounding the free amount at each time, not each release: rounded releases would not add up.
    rounded[by_node] = (free + allocated_on) // common - free // common
    some = rounded.any(axis=1)
    return inputs._replace(
        asked=inputs.asked // common,
        capacity=inputs.capacity // common,
        allocated=(until[some], on[some], rounded[some]),
    )


def with_whole_nodes(inputs: PlanningInput, alone: BoolArray) -> PlanningInput:
    """Add the resource type `node share`, so that an exclusive job takes all shares of its nodes.

    Any other unit takes one share. A node has as many shares as units could ever be on it at once.
    The units of an exclusive job are bundled: as many on each node as leave it enough nodes. A job
    without a suitable bundle size is left out.

    Parameters
    ----------
    inputs
        The input of the model.
    alone
        Whether each job is alone on its nodes (exclusive), `[J]`.
    """
    until, on, amounts = inputs.allocated
    shares = int(inputs.capacity.sum(axis=1).max(initial=1))
    units, room = inputs.units.copy(), inputs.room.copy()
    bundles = list(inputs.bundles)
    kept = np.ones(len(units), dtype=np.bool_)
    for i in np.flatnonzero(alone):
        sizes = [
            size
            for size in np.unique(room[i][room[i] > 0]).tolist()
            if (room[i] >= size).sum() * size >= units[i]
        ]
        if not sizes:
            kept[i] = False
            continue
        bundles[i] = min(sizes[0], int(units[i]))
        units[i] = -(-units[i] // bundles[i])
        room[i] = room[i] >= bundles[i]
    # A running job's unit holds at least one of any amount, so the sum bounds its shares from
    # above.
    allocated = np.column_stack((amounts, np.minimum(amounts.sum(axis=1), shares)))
    return inputs._replace(
        jobs=tuple(job for job, keep in zip(inputs.jobs, kept, strict=True) if keep),
        units=units[kept],
        asked=np.column_stack((inputs.asked, np.where(alone, shares, 1)))[kept],
        capacity=np.column_stack((inputs.capacity, np.full(len(inputs.capacity), shares))),
        room=room[kept],
        allocated=(until, on, allocated),
        bundles=tuple(size for size, keep in zip(bundles, kept, strict=True) if keep),
    )
