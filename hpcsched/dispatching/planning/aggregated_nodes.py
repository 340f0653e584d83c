"""Aggregated nodes: all nodes as one resource of each type, as in HCP'19: Tcapᵣ = Σₙ capₙᵣ.

All nodes count, also those that no planned job fits on, and the remainders of several nodes are
added up (Galleguillos, thesis 2020, section 2.3; Galleguillos et al., CP 2021, section 2.2).
"""

from collections.abc import Sequence

import numpy as np

from hpcsched.dispatching.planning.outage_data import (
    OutageInterval,
    outage_data,
    outage_intervals_of,
)
from hpcsched.dispatching.planning.planning_input import PlanningInput, reserved_amounts
from hpcsched.dispatching.planning.releases import Releases
from hpcsched.dispatching.planning.shared_resource_data import SharedResourceData
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.system import IntArray, System

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
