"""`node-time`: every unit has a node, and a place on one long line that joins nodes and times.

The meaning is that of PCP'19, with variables that do not depend on the size of the system and no
constraint but cumulatives, which every solver has. Nodes are numbered 0 … N − 1; H is the horizon.

- s[i] ∈ [0, H − d[i]]: the start of job i;
- g[i, j]: the node of its unit j, one that can hold it when idle; g[i, j] ≤ g[i, j + 1], as units
  of a job are alike and several may share a node; < where the job has one unit per node;
- z[i, j] = H · g[i, j] + s[i]: the unit's place on the line. As a job ends by H, no unit spills
  onto the next node;
- for each resource type, cumulative([z[i, j]], [d[i]], [requests[i]], C) with the capacity C of the
  largest node. A node with less, at n, has a task on [H · n, H · (n + 1)) that takes the rest; what
  running jobs hold until e is a task on [H · n, H · n + e), and a time at which the node is closed
  one that takes all of it.

There are |Q̄| + Σᵢ units[i] decision variables (the z are defined by them). Where only one node can
hold a job, all of its units are there: they are one task, and need no g.
"""

from itertools import pairwise

import cpmpy as cp
import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.cp.formulation import Binds, BuiltModel, Fit, Terms, Variable
from hpcsched.dispatching.cp.formulations.scheduling import (
    cumulatives,
    in_values,
    start_by_start,
    start_objective,
    start_variables,
)
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.system.system import IntArray

BoolArray = npt.NDArray[np.bool_]


class NodeTime:
    """Nodes and starts of all units, on one line."""

    fit: Fit = "exact"
    binds: Binds = "plan"
    terms = Terms("counts")

    def variables(self, data: ModelData) -> int:
        """Return |Q̄| + Σ units, of the jobs that have a choice of nodes."""
        return data.job_count + int(data.units[_has_choice(data)].sum())

    def magnitude(self, data: ModelData) -> int:
        """Return the area of the line."""
        return int(data.capacity.max(initial=1)) * data.horizon * data.node_count

    def build(self, data: ModelData) -> BuiltModel:
        """Build the model."""
        starts = start_variables(data)
        goal, constraints = start_objective(data, starts)
        choice = _has_choice(data)
        nodes: list[list[Variable]] = []
        places: list[list[Variable]] = []
        for i, start in enumerate(starts):
            usable = data.room[i].nonzero()[0].tolist()
            # One task for all units: on their only node they run side by side, and `demands` has
            # their sum.
            if not choice[i]:
                nodes.append([])
                places.append([data.horizon * usable[0] + start if usable[0] else start])
                continue
            of_job = [
                cp.intvar(usable[0], usable[-1], name=f"g{i},{j}") for j in range(data.units[i])
            ]
            lines = [
                cp.intvar(
                    data.horizon * usable[0],
                    data.horizon * usable[-1] + int(data.latest_starts[i]),
                    name=f"z{i},{j}",
                )
                for j in range(data.units[i])
            ]
            constraints += [
                z == data.horizon * node + start for z, node in zip(lines, of_job, strict=True)
            ]
            for node in of_job:
                constraints += in_values(node, usable)
            if data.apart[i]:
                constraints += [a < b for a, b in pairwise(of_job)]
            else:
                constraints += [a <= b for a, b in pairwise(of_job)]
            nodes.append(of_job)
            places.append(lines)
        demands = np.where(choice, 1, data.units)[:, np.newaxis] * data.requests
        for r in range(data.type_count):
            constraints += _line(data, r, places, demands[:, r])
        if data.node_count > 1:
            # Implied: all nodes together. It finds out sooner where starts cannot be right.
            constraints += cumulatives(data, starts)
        model = cp.Model(constraints)
        model.minimize(goal)

        def placed() -> IntArray:
            counts = np.zeros((data.job_count, data.node_count), dtype=np.int64)
            counts[~choice] = np.where(data.room[~choice] > 0, data.units[~choice, np.newaxis], 0)
            for i, of_job in enumerate(nodes):
                for node in of_job:
                    counts[i, node.value()] += 1
            return counts

        def hint(plan: Plan) -> dict[Variable, int]:
            values: dict[Variable, int] = {}
            for i, (start, of_job) in enumerate(zip(starts, nodes, strict=True)):
                values[start] = int(plan.starts[i])
                where = np.repeat(np.arange(data.node_count), plan.placed[i]).tolist()
                # Without nodes in the plan `where` is empty, and only the start is suggested.
                for node, z, value in zip(of_job, places[i], where, strict=False):
                    values[node] = value
                    values[z] = data.horizon * value + values[start]
            return values

        phases = start_by_start(starts, nodes)
        return BuiltModel(model, starts, placed, hint, self.variables(data), phases)


def _has_choice(data: ModelData) -> BoolArray:
    """Say of each job whether more than one node can hold it, `[J]`."""
    return np.asarray((data.room > 0).sum(axis=1) > 1)


def _line(data: ModelData, r: int, places: list[list[Variable]], demands: IntArray) -> list[object]:
    """Return the cumulative of a resource type over the line.

    `demands`, `[J]`, is what each place of a job takes.
    """
    horizon, asked = data.horizon, demands
    if not asked.any():
        return []
    usable = np.asarray(data.room[asked > 0].any(axis=0))
    capacity = int(data.capacity[usable, r].max())
    tasks = [
        (place, int(data.run_times[i]), int(asked[i]))
        for i in asked.nonzero()[0]
        for place in places[i]
    ]
    # All nodes share one capacity, the largest: a filler takes what a smaller node lacks.
    for n in usable.nonzero()[0].tolist():
        missing = capacity - int(data.capacity[n, r])
        if missing:
            tasks.append((horizon * n, horizon, missing))
    tasks += [
        (horizon * int(n), min(int(end), horizon), int(amount))  # not on to the next node
        for end, n, amount in zip(
            data.allocated_until, data.allocated_on, data.allocated[:, r], strict=True
        )
        if amount and usable[n]
    ]
    tasks += [
        (horizon * n + begin, end - begin, int(data.capacity[n, r]))
        for n, begin, end in data.closed
        if usable[n] and data.capacity[n, r]
    ]
    begins, durations, amounts = (list(column) for column in zip(*tasks, strict=True))
    return [cp.Cumulative(begins, durations, demand=amounts, capacity=capacity)]
