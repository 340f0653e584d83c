"""PCP₄: how many units of a job are on a node is a variable.

Model (Galleguillos, thesis 2020, section 6.1): starts as in `hcp19`; for each queued job i and node
n a count aᵢₙ ∈ [0, pᵢₙ] with pᵢₙ as in `pcp19`, Σₙ aᵢₙ = rnᵢ. There are |Q̄| + Σᵢ |N| decision
variables; one with pᵢₙ = 0 is no variable, and is not counted here. For capacity:

1. aggregated cumulatives, as in `hcp19`;
2. their mirror, with the axes exchanged: jobs as tasks that begin at a unit of the resource, 0 …
   capᵣ, last as many as they ask for, and take d(τᵢ) of eoh;
3. energy: two jobs are disjunct in time where d(τᵢ) · Eᵢ + d(τⱼ) · Eⱼ > max(d(τᵢ), d(τⱼ)) · capᵣ,
   with Eᵢ what all units of a job ask for;
4. for each node and resource type, diffn of boxes with origin (s(τᵢ), yᵢ), width d(τᵢ) and height
   aᵢₙ · reqᵢᵣ / rnᵢ, in which the value of yᵢ is irrelevant.

Ours departs as follows, and with that has all plans on nodes and no others.

- Of (2) nothing is posted. Where eoh is at least the sum of all durations, as in the thesis, every
  choice of origins satisfies it. Our horizon may be less, and then it is not implied: it wants a
  job's units side by side.
- (3) is posted for all jobs that it is true of: where Eᵢ + Eⱼ > capᵣ (see `disjunctions`). Jobs of
  which any two are disjunct are one no-overlap. For running jobs it says that a job starts no
  sooner than they leave enough.
- For (4), if y is irrelevant then what is meant is that capacity suffices at any time, which is a
  cumulative with a variable demand. Boxes would say more: that a job's share of a node is in one
  piece, and the same piece, as long as it runs.
- The search takes counts by their first domains, smallest first, rather than by the present ones.
"""

from typing import Any

import cpmpy as cp
import numpy as np

from hpcsched.dispatching.cp.formulation import Formulation, ModelParts, Variable
from hpcsched.dispatching.cp.formulations.pcp19 import by_room, most_units, scarce_places
from hpcsched.dispatching.cp.formulations.scheduling import (
    Task,
    cumulative,
    cumulatives,
    disjunctions,
    largest_aggregated_area,
)
from hpcsched.dispatching.planning.model_data import ModelData, Plan
from hpcsched.system.system import IntArray


def pcp4() -> Formulation:
    """Return PCP₄: starts, and for each node how many of a job's units are there."""
    return Formulation(
        "PCP₄",
        "exact",
        "plan",
        variable_count,
        largest_aggregated_area,
        UnitCounts,
        (all_units, node_capacities, cumulatives, disjunctions),
    )


def variable_count(data: ModelData) -> int:
    """Return |Q̄| and the number of pᵢₙ > 0."""
    return data.job_count + int((most_units(data) > 0).sum())


class UnitCounts:
    """Counts of units, `counts[i][n]`, for the nodes that could hold some.

    Attributes
    ----------
    taken
        What a job takes of a node, by job, node and amount of a unit: the same variable for types
        of which it asks equally much.
    """

    def __init__(self, data: ModelData) -> None:
        self._data = data
        self.most = most_units(data)
        self.counts: list[dict[int, Variable]] = [
            {n: cp.intvar(0, int(most[n]), name=f"a{i},{n}") for n in by_room(most)}
            for i, most in enumerate(self.most)
        ]
        self.taken: dict[tuple[int, int, int], Variable] = {}

    def placed(self) -> IntArray:
        """Return the counts, `[J, N]`."""
        values = np.zeros((self._data.job_count, self._data.node_count), dtype=np.int64)
        for i, of_job in enumerate(self.counts):
            for n, count in of_job.items():
                values[i, n] = count.value()
        return values

    def hint(self, plan: Plan) -> dict[Variable, int]:
        """Return counts, and amounts taken, for the jobs that have nodes in a plan."""
        values: dict[Variable, int] = {}
        # Only with nodes in the plan: zeros would contradict the sum of a job's units.
        placed = plan.placed.sum(axis=1)
        for i in placed.nonzero()[0].tolist():
            values |= {count: int(plan.placed[i, n]) for n, count in self.counts[i].items()}
        for (i, n, asked), amount in self.taken.items():
            if placed[i]:
                values[amount] = asked * int(plan.placed[i, n])
        return values


def all_units(parts: ModelParts) -> list[Any]:
    """Return that a job's counts are as many as it has units."""
    units = parts.data.units.tolist()
    return [
        cp.sum(list(of_job.values())) == count
        for of_job, count in zip(parts.placing.counts, units, strict=True)
    ]


def node_capacities(parts: ModelParts) -> list[Any]:
    """Return a cumulative of the counts for each node and resource type that can be short."""
    data, placing = parts.data, parts.placing
    constraints: list[Any] = []
    for place in scarce_places(data):
        tasks: list[Task] = []
        for i in place.jobs:
            asked = int(data.requests[i, place.resource_type])
            count = placing.counts[i][place.node]
            key = i, place.node, asked
            # One unit of the type per job unit: the count itself is the demand.
            if asked == 1:
                placing.taken[key] = count
            elif key not in placing.taken:
                placing.taken[key] = cp.intvar(0, asked * int(placing.most[i, place.node]))
                constraints.append(placing.taken[key] == asked * count)
            tasks.append((parts.starts[i], int(data.run_times[i]), placing.taken[key]))
        constraints.append(cumulative([*tasks, *place.allocated], place.capacity))
    return constraints
