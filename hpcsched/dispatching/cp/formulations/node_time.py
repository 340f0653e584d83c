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
from typing import Any

import cpmpy as cp
import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.cp.formulation import Formulation, ModelParts, Variable
from hpcsched.dispatching.cp.formulations.scheduling import cumulative, cumulatives
from hpcsched.dispatching.planning.model_data import ModelData, Plan
from hpcsched.system.system import IntArray

BoolArray = npt.NDArray[np.bool_]


def node_time() -> Formulation:
    """Return `node-time`: nodes and starts of all units, on one line."""
    return Formulation(
        "node-time",
        "exact",
        "plan",
        variable_count,
        line_area,
        UnitNodes,
        (nodes_of_units, line_cumulatives, all_nodes_together),
    )


def variable_count(data: ModelData) -> int:
    """Return |Q̄| + Σ units, of the jobs that have a choice of nodes."""
    return data.job_count + int(data.units[_has_choice(data)].sum())


def line_area(data: ModelData) -> int:
    """Return the area of the line."""
    return int(data.capacity.max(initial=1)) * data.horizon * data.node_count


class UnitNodes:
    """Nodes of units, g, and their places on the line, z, of jobs that have a choice of nodes.

    Attributes
    ----------
    choice
        Which jobs have one, `[J]`. The units of the others run side by side on their only node:
        they are one task, which needs no variables.
    usable
        Nodes that can hold a job when idle, `[J]`.
    """

    def __init__(self, data: ModelData) -> None:
        self._data = data
        self.choice = _has_choice(data)
        self.usable = [room.nonzero()[0].tolist() for room in data.room]
        self.nodes: list[list[Variable]] = []
        self.lines: list[list[Variable]] = []
        for i, usable in enumerate(self.usable):
            units = range(data.units[i] if self.choice[i] else 0)
            first, last = data.horizon * usable[0], data.horizon * usable[-1]
            last += int(data.latest_starts[i])
            self.nodes.append([cp.intvar(usable[0], usable[-1], name=f"g{i},{j}") for j in units])
            self.lines.append([cp.intvar(first, last, name=f"z{i},{j}") for j in units])

    def placed(self) -> IntArray:
        """Return the units of each job on each node, `[J, N]`."""
        data, alone = self._data, ~self.choice
        counts = np.zeros((data.job_count, data.node_count), dtype=np.int64)
        counts[alone] = np.where(data.room[alone] > 0, data.units[alone, np.newaxis], 0)
        for i, of_job in enumerate(self.nodes):
            for node in of_job:
                counts[i, node.value()] += 1
        return counts

    def hint(self, plan: Plan) -> dict[Variable, int]:
        """Return nodes and places for a plan."""
        values: dict[Variable, int] = {}
        for i, start in enumerate(plan.starts.tolist()):
            where = np.repeat(np.arange(self._data.node_count), plan.placed[i]).tolist()
            # Without nodes in the plan `where` is empty, and only the start is suggested.
            for node, z, value in zip(self.nodes[i], self.lines[i], where, strict=False):
                values[node] = value
                values[z] = self._data.horizon * value + start
        return values


def nodes_of_units(parts: ModelParts) -> list[Any]:
    """Return z[i, j] = H · g[i, j] + s[i], with the nodes of a job's units usable and in order."""
    data, placing = parts.data, parts.placing
    constraints: list[Any] = []
    for i, (start, of_job) in enumerate(zip(parts.starts, placing.nodes, strict=True)):
        constraints += [
            z == data.horizon * node + start
            for z, node in zip(placing.lines[i], of_job, strict=True)
        ]
        first, last = placing.usable[i][0], placing.usable[i][-1]
        # Without a gap the bounds of the variable say it all.
        if last - first + 1 > len(placing.usable[i]):
            rows = [[n] for n in placing.usable[i]]
            constraints += [cp.Table([node], rows) for node in of_job]
        if data.apart[i]:
            constraints += [a < b for a, b in pairwise(of_job)]
        else:
            constraints += [a <= b for a, b in pairwise(of_job)]
    return constraints


def line_cumulatives(parts: ModelParts) -> list[Any]:
    """Return a cumulative over the line for each resource type."""
    data, placing = parts.data, parts.placing
    places = [
        lines if has_choice else [data.horizon * usable[0] + start if usable[0] else start]
        for start, lines, has_choice, usable in zip(
            parts.starts, placing.lines, placing.choice.tolist(), placing.usable, strict=True
        )
    ]
    demands = np.where(placing.choice, 1, data.units)[:, np.newaxis] * data.requests
    return [line for r in range(data.type_count) for line in _line(data, r, places, demands[:, r])]


def all_nodes_together(parts: ModelParts) -> list[Any]:
    """Return the implied cumulatives, which find out sooner where starts cannot be right."""
    return cumulatives(parts) if parts.data.node_count > 1 else []


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
    return [cumulative(tasks, capacity)]
