"""`joint-now`: exact nodes for jobs that start now, aggregated nodes for the rest of the plan.

Only jobs that start now are bound by a decision. The model therefore has starts and aggregated
cumulatives as in HCP'19, and for what starts now:

- b[i] ⇔ s[i] = now;
- x[i, c] ∈ [0, …]: units of job i on node class c, among nodes with room now;
- Σ_c x[i, c] = units[i] · b[i];
- for each class and resource type, Σᵢ requests[i, r] · x[i, c] ≤ available[c, r].

A class is the nodes with equal availability that the same jobs may use; what is available on a
class is that of its nodes together. Units of a class then have to be packed onto its nodes; where
that fails, the counts are forbidden and the model is solved again.

It is a relaxation: starts after now need no nodes. There are |Q̄| starts, as many b, and
at most Σᵢ |classes| counts.
"""

from typing import Any

import cpmpy as cp
import numpy as np

from hpcsched.dispatching.cp.formulation import Formulation, ModelParts, Variable
from hpcsched.dispatching.cp.formulations.scheduling import cumulatives, largest_aggregated_area
from hpcsched.dispatching.planning.model_data import ModelData, Plan
from hpcsched.system.system import IntArray


def joint_now() -> Formulation:
    """Return `joint-now`: starts of all jobs, nodes of those that start now."""
    return Formulation(
        "joint-now",
        "relaxation",
        "now",
        variable_count,
        largest_aggregated_area,
        CountsNow,
        (cumulatives, units_that_start_now, class_capacities),
        forbid=other_counts,
    )


def variable_count(data: ModelData) -> int:
    """Return the number of starts, of b and of x."""
    counts = sum(int(np.count_nonzero(data.room_now[:, nodes[0]])) for nodes in _classes(data))
    return 2 * data.job_count + counts


class CountsNow:
    """Which jobs begin now, b[i], and their units on each class of nodes, x[i, c]."""

    def __init__(self, data: ModelData) -> None:
        self._data = data
        self.classes = _classes(data)
        self.begins_now = [cp.boolvar(name=f"b{i}") for i in range(data.job_count)]
        room = [data.room_now[:, nodes[0]].tolist() for nodes in self.classes]
        self.counts: list[dict[int, Variable]] = [
            {
                c: cp.intvar(0, min(units, here[i] * len(nodes)), name=f"x{i},{c}")
                for c, (nodes, here) in enumerate(zip(self.classes, room, strict=True))
                if here[i]
            }
            for i, units in enumerate(data.units.tolist())
        ]

    def placed(self) -> IntArray:
        """Return the units of jobs that start now, packed onto nodes, `[J, N]`."""
        chosen = [
            {c: count.value() for c, count in of_job.items() if count.value()}
            for of_job in self.counts
        ]
        return _pack(self._data, self.classes, chosen)

    def hint(self, plan: Plan) -> dict[Variable, int]:
        """Return values for a plan."""
        values: dict[Variable, int] = {}
        for i, now in enumerate(self.begins_now):
            values[now] = int(plan.starts[i] == 0)
            for c, count in self.counts[i].items():
                # Jobs that start later have no counts, whatever nodes the plan names.
                values[count] = values[now] * int(plan.placed[i, self.classes[c]].sum())
        return values


def units_that_start_now(parts: ModelParts) -> list[Any]:
    """Return b[i] ⇔ s[i] = now, and Σ_c x[i, c] = units[i] · b[i]."""
    constraints: list[Any] = []
    units = parts.data.units.tolist()
    begins_now = parts.placing.begins_now
    for i, (start, now) in enumerate(zip(parts.starts, begins_now, strict=True)):
        constraints.append((start == 0) == now)
        # With the 0 there is a sum where no class has room; it says that the job cannot start now.
        constraints.append(cp.sum([0, *parts.placing.counts[i].values()]) == units[i] * now)
    return constraints


def class_capacities(parts: ModelParts) -> list[Any]:
    """Return the capacity of each class for the units that start now."""
    data, counts = parts.data, parts.placing.counts
    constraints = []
    for c, nodes in enumerate(parts.placing.classes):
        for r in range(data.type_count):
            terms = [
                int(data.requests[i, r]) * of_job[c]
                for i, of_job in enumerate(counts)
                if c in of_job and data.requests[i, r]
            ]
            if terms:
                # All nodes of a class have equally much free. What a request leaves over on each of
                # them is only found out when units are packed.
                free = int(data.available[nodes[0], r]) * len(nodes)
                constraints.append(cp.sum(terms) <= free)
    return constraints


def other_counts(parts: ModelParts) -> Any:
    """Return a constraint against the present counts."""
    counts = [count for of_job in parts.placing.counts for count in of_job.values()]
    return cp.any([count != count.value() for count in counts])


def _classes(data: ModelData) -> list[IntArray]:
    """Return the classes of nodes with room for some job now."""
    nodes = np.flatnonzero(data.room_now.any(axis=0))
    alike = np.column_stack((data.available[nodes], data.room_now.T[nodes]))
    _, first, class_of = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    order = first.argsort()  # classes in order of their first nodes
    return [nodes[class_of.reshape(-1) == c] for c in order]


def _pack(data: ModelData, classes: list[IntArray], chosen: list[dict[int, int]]) -> IntArray:
    """Put the units of each class onto its nodes: large units first, each where least is left.

    Among equally large units those of jobs with one unit per node come first, as they need the most
    nodes. Jobs of which a unit found no room are left without any.
    """
    placed = np.zeros((data.job_count, data.node_count), dtype=np.int64)
    free = data.available.copy()
    totals = np.maximum(data.totals, 1)
    size = (data.requests / totals).max(axis=1)
    lost: set[int] = set()
    for i in sorted(range(data.job_count), key=lambda i: (-size[i], not data.apart[i], i)):
        for c, count in chosen[i].items():
            nodes = classes[c]
            missing = count
            left = (free[nodes] / totals).sum(axis=1)
            for n in nodes[left.argsort(kind="stable")].tolist():
                asked = data.requests[i]
                some = asked > 0
                here = min(
                    missing, int(data.room_now[i, n]), int((free[n][some] // asked[some]).min())
                )
                placed[i, n] += here
                free[n] -= here * asked
                missing -= here
            if missing:
                lost.add(i)
    # A job starts whole or not at all.
    for i in lost:
        placed[i] = 0
    return placed
