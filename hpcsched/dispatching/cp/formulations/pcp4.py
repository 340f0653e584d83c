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

from hpcsched.dispatching.cp.formulation import Binds, BuiltModel, Fit, Terms, Variable
from hpcsched.dispatching.cp.formulations.node_allocation import (
    by_room,
    most_units,
    scarce_places,
)
from hpcsched.dispatching.cp.formulations.scheduling import (
    cumulatives,
    disjunctions,
    largest_aggregated_area,
    start_by_start,
    start_objective,
    start_variables,
)
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.system.system import IntArray


class Pcp4:
    """Starts, and for each node how many of a job's units are there."""

    fit: Fit = "exact"
    binds: Binds = "plan"
    terms = Terms("counts")

    def variables(self, data: ModelData) -> int:
        """Return |Q̄| and the number of pᵢₙ > 0."""
        return data.job_count + int((most_units(data) > 0).sum())

    def magnitude(self, data: ModelData) -> int:
        """Return the largest area of aggregated nodes over the horizon."""
        return largest_aggregated_area(data)

    def build(self, data: ModelData) -> BuiltModel:
        """Build the model."""
        starts = start_variables(data)
        goal, constraints = start_objective(data, starts)
        most = most_units(data)
        counts: list[dict[int, Variable]] = []
        for i in range(data.job_count):
            of_job = {n: cp.intvar(0, int(most[i, n]), name=f"a{i},{n}") for n in by_room(most[i])}
            constraints.append(cp.sum(list(of_job.values())) == int(data.units[i]))
            counts.append(of_job)
        # What a job takes of a node; the same variable for types of which it asks equally much.
        taken: dict[tuple[int, int, int], Variable] = {}
        for place in scarce_places(data):
            tasks: list[tuple[Any, int, Any]] = []
            for i in place.jobs:
                asked, count = int(data.requests[i, place.resource_type]), counts[i][place.node]
                key = i, place.node, asked
                # One unit of the type per job unit: the count itself is the demand.
                if asked == 1:
                    taken[key] = count
                elif key not in taken:
                    taken[key] = cp.intvar(0, asked * int(most[i, place.node]))
                    constraints.append(taken[key] == asked * count)
                tasks.append((starts[i], int(data.run_times[i]), taken[key]))
            tasks += place.allocated
            begins, durations, amounts = (list(part) for part in zip(*tasks, strict=True))
            constraints.append(
                cp.Cumulative(begins, durations, demand=amounts, capacity=place.capacity)
            )
        constraints += cumulatives(data, starts)
        constraints += disjunctions(data, starts)
        model = cp.Model(constraints)
        model.minimize(goal)

        def placed() -> IntArray:
            values = np.zeros((data.job_count, data.node_count), dtype=np.int64)
            for i, of_job in enumerate(counts):
                for n, count in of_job.items():
                    values[i, n] = count.value()
            return values

        def hint(plan: Plan) -> dict[Variable, int]:
            values: dict[Variable, int] = {}
            for start, value in zip(starts, plan.starts.tolist(), strict=True):
                values[start] = value
            for i, of_job in enumerate(counts):
                if plan.placed[i].any():
                    # Only with nodes in the plan: zeros would contradict the sum of a job's units.
                    values |= {count: int(plan.placed[i, n]) for n, count in of_job.items()}
            for (i, n, asked), amount in taken.items():
                if plan.placed[i].any():
                    values[amount] = asked * int(plan.placed[i, n])
            return values

        phases = start_by_start(starts, (list(of_job.values()) for of_job in counts), "largest")
        return BuiltModel(model, starts, placed, hint, self.variables(data), phases)
