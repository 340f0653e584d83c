"""Planning input: amounts, whole nodes and time steps, made as small as they can be."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.planning.outage_data import (
    OutageInterval,
    first_outages,
    outage_data,
    outage_intervals_of,
)
from hpcsched.dispatching.planning.releases import Releases
from hpcsched.dispatching.planning.shared_resource_data import SharedResourceData
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.system import IntArray, System

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


_ALWAYS = 1 << 62
"""A horizon before which every interval begins."""


def aggregated_nodes(
    problem: DispatchingProblem,
    inputs: PlanningInput,
    used: IntArray,
    releases: Releases,
    step: int,
) -> SharedResourceData:
    """Return the free amounts of all nodes together, by time, and the jobs' demands.

    Amounts are in units of the greatest common divisor of all demands; free amounts are rounded
    down to them, for all nodes together.

    Parameters
    ----------
    problem
        The dispatching problem, which has nodes.
    inputs
        The jobs, with a unit's amounts as requested. One resource type beyond `used` is the node
        share (see `with_whole_nodes`).
    used
        Numbers of the resource types that the jobs ask for.
    releases
        Predicted releases of running jobs.
    step
        Seconds in a step.
    """
    system = problem.system
    nodes = np.arange(system.node_count)
    outage_intervals = outage_intervals_of(problem, nodes, step)
    until, on, allocated = reserved_amounts(
        nodes, used, releases, problem.now, step, outage_intervals=outage_intervals
    )
    capacity = system.capacity[:, used]
    if inputs.capacity.shape[1] > len(used):
        shares = np.maximum(capacity.sum(axis=1), inputs.capacity[:, -1].max(initial=1))
        allocated = np.column_stack((allocated, np.minimum(allocated.sum(axis=1), shares[on])))
        capacity = np.column_stack((capacity, shares))
    demands = inputs.units[:, np.newaxis] * inputs.asked
    since, free = _free(capacity, until, allocated, outage_intervals)
    common = np.maximum(np.gcd.reduce(demands, axis=0), 1)
    free //= common
    # Rounding can make neighbouring amounts equal; equal ones are one step of the profile.
    changed = np.concatenate(([True], (np.diff(free, axis=0) != 0).any(axis=1)))
    none = np.zeros(len(inputs.jobs), dtype=np.int64)
    last = int(until.max(initial=0))
    return SharedResourceData(demands // common, since[changed], free[changed], none, last)


def units_in_pool(system: System, job: WaitingJob) -> int:
    """Return how many units of a job the amounts of all nodes together are enough for."""
    totals = system.capacity.sum(axis=0).tolist()
    asked = zip(totals, job.unit_request, strict=True)
    return int(min(total // amount for total, amount in asked if amount))


def aggregated_slots(
    units: IntArray, pooled: int, until: IntArray, allocated: IntArray
) -> SharedResourceData:
    """Return the pool of a system that is counted in slots, in units.

    Parameters
    ----------
    units
        Units of the jobs, `[J]`.
    pooled
        Units that all amounts together are enough for.
    until, allocated
        Units, `[K, 1]`, that come free at steps, `[K]`, ascending.
    """
    since = np.concatenate(([0], until)).astype(np.int64)
    held = int(allocated.sum()) - np.concatenate((np.zeros((1, 1), np.int64), allocated)).cumsum(
        axis=0
    )
    none = np.zeros(len(units), dtype=np.int64)
    return SharedResourceData(
        units[:, np.newaxis], since, pooled - held, none, int(until.max(initial=0))
    )


def _free(
    capacity: IntArray,
    until: IntArray,
    allocated: IntArray,
    outage_intervals: Sequence[OutageInterval],
) -> tuple[IntArray, IntArray]:
    """Return the steps at which the free amounts change, `[T]`, and the amounts, `[T, R]`."""
    changes = [(np.zeros(1, dtype=np.int64), capacity.sum(axis=0)[np.newaxis])]
    changes += [(np.zeros(len(allocated), dtype=np.int64), -allocated), (until, allocated)]
    outages = outage_data(outage_intervals, _ALWAYS)
    if outages is not None:
        closed = capacity[outages.nodes]
        changes += [(outages.begins, -closed), (outages.ends, closed)]
    times = np.concatenate([at for at, _ in changes])
    since, of = np.unique(times, return_inverse=True)
    free = np.zeros((len(since), capacity.shape[1]), dtype=np.int64)
    np.add.at(free, of.reshape(-1), np.concatenate([amounts for _, amounts in changes]))
    return since, free.cumsum(axis=0)
