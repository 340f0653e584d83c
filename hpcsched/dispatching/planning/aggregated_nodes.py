"""The whole system as one pool for each resource type, as HCP'19 sees it: Tcapᵣ = Σₙ capₙᵣ.

All nodes count, also those that no planned job fits on, and what several nodes have left over is
added up (Galleguillos, thesis 2020, section 2.3; Galleguillos et al., CP 2021, section 2.2).
"""

from collections.abc import Sequence

import numpy as np

from hpcsched.dispatching.planning.outage_data import Closure, closures_of, outage_data
from hpcsched.dispatching.planning.planning_input import Content, held_of
from hpcsched.dispatching.planning.pool_data import PoolData
from hpcsched.dispatching.planning.releases import Releases
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.system import IntArray

_ALWAYS = 1 << 62
"""A horizon before which every closure begins."""


def system_pool(
    problem: DispatchingProblem, content: Content, used: IntArray, releases: Releases, step: int
) -> PoolData:
    """Return what is free of each resource type on all nodes together, and what jobs ask of it.

    Amounts are in units of what all jobs' demands are multiples of; what is free is rounded down to
    them, for all nodes together.

    Parameters
    ----------
    problem
        The dispatching problem, which speaks of nodes.
    content
        The jobs, with what a unit asks for as it was requested. Where it has one resource type more
        than `used`, that is the node share (see `with_whole_nodes`).
    used
        Numbers of the resource types that the jobs ask for.
    releases
        What running jobs hold, and until when.
    step
        Seconds in a step.
    """
    system = problem.system
    nodes = np.arange(system.node_count)
    closures = closures_of(problem, nodes, step)
    until, on, held = held_of(nodes, used, releases, problem.now, step, closures=closures)
    capacity = system.capacity[:, used]
    if content.capacity.shape[1] > len(used):
        shares = np.maximum(capacity.sum(axis=1), content.capacity[:, -1].max(initial=1))
        held = np.column_stack((held, np.minimum(held.sum(axis=1), shares[on])))
        capacity = np.column_stack((capacity, shares))
    demands = content.units[:, np.newaxis] * content.asked
    since, free = _free(capacity, until, held, closures)
    common = np.maximum(np.gcd.reduce(demands, axis=0), 1)
    free //= common
    changed = np.concatenate(([True], (np.diff(free, axis=0) != 0).any(axis=1)))
    none = np.zeros(len(content.jobs), dtype=np.int64)
    last = int(until.max(initial=0))
    return PoolData(demands // common, since[changed], free[changed], none, last)


def _free(
    capacity: IntArray, until: IntArray, held: IntArray, closures: Sequence[Closure]
) -> tuple[IntArray, IntArray]:
    """Return from which steps on how much is free, `[T]` and `[T, R]`."""
    changes = [(np.zeros(1, dtype=np.int64), capacity.sum(axis=0)[np.newaxis])]
    changes += [(np.zeros(len(held), dtype=np.int64), -held), (until, held)]
    outages = outage_data(closures, _ALWAYS)
    if outages is not None:
        closed = capacity[outages.nodes]
        changes += [(outages.begins, -closed), (outages.ends, closed)]
    times = np.concatenate([at for at, _ in changes])
    since, of = np.unique(times, return_inverse=True)
    free = np.zeros((len(since), capacity.shape[1]), dtype=np.int64)
    np.add.at(free, of.reshape(-1), np.concatenate([amounts for _, amounts in changes]))
    return since, free.cumsum(axis=0)
