"""The shared part of formulations with the units of each job on each node."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.system.system import IntArray


class Place(NamedTuple):
    """A resource type of a node that can be short.

    `jobs` may be on the node and ask for the type. `allocated` is what they cannot have: from
    when, how long and how much, by running jobs, and all of the node while it is closed.
    """

    node: int
    resource_type: int
    capacity: int
    jobs: tuple[int, ...]
    allocated: tuple[tuple[int, int, int], ...]


def most_units(data: ModelData) -> IntArray:
    """Return how many units of each job each idle node can hold (the papers' pᵢₙ), `[J, N]`."""
    return np.minimum(data.room, data.units[:, np.newaxis])


def scarce_places(data: ModelData) -> Iterator[Place]:
    """Yield the nodes and resource types that the jobs' demands could exceed."""
    most = most_units(data)
    allocated: list[list[int]] = [[] for _ in range(data.node_count)]
    for k, n in enumerate(data.allocated_on.tolist()):
        allocated[n].append(k)
    closed: dict[int, list[tuple[int, int]]] = {}
    for n, begin, end in data.closed:
        closed.setdefault(n, []).append((begin, end))
    asked = most.T @ data.requests  # at most, by all jobs together, [N, R]
    np.add.at(asked, data.allocated_on, data.allocated)
    # Once is enough, however often a node is closed: any job beside a closure makes the node
    # scarce.
    asked[list(closed)] += data.capacity[list(closed)]
    for n, r in np.argwhere(asked > data.capacity).tolist():
        jobs = np.flatnonzero((most[:, n] > 0) & (data.requests[:, r] > 0))
        if len(jobs):
            capacity = int(data.capacity[n, r])
            taken = [
                (0, int(data.allocated_until[k]), int(data.allocated[k, r]))
                for k in allocated[n]
                if data.allocated[k, r] > 0
            ]
            taken += [
                (begin, end - begin, capacity) for begin, end in closed.get(n, ()) if capacity
            ]
            yield Place(n, r, capacity, tuple(jobs.tolist()), tuple(taken))


def by_room(most: IntArray) -> list[int]:
    """Return the nodes that a job may use, `most` units on each, those with least room first."""
    nodes = most.nonzero()[0]
    ranked: list[int] = nodes[most[nodes].argsort(kind="stable")].tolist()
    return ranked
