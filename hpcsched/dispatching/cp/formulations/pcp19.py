"""PCP'19: each unit that a node could hold is a variable; as many are chosen as the job has units.

Model (Galleguillos et al., CP 2021, section 2.2; thesis 2020, section 2.3): beside starts and
aggregated cumulatives (see `hcp19`), each queued job τᵢ has, on each node n, pᵢₙ = min(rnᵢ, minᵣ
⌊capₙᵣ / (reqᵢᵣ / rnᵢ)⌋) optional intervals uᵢₙⱼ with s(uᵢₙⱼ) = s(τᵢ) and d(uᵢₙⱼ) = d(τᵢ), which
are present, x(uᵢₙⱼ) = 1, or not;

- alternative: Σₙ Σⱼ x(uᵢₙⱼ) = rnᵢ;
- for each node and resource type, cumulative([s(uᵢₙⱼ)], [d(uᵢₙⱼ)], [reqᵢᵣ / rnᵢ], capₙᵣ), running
  jobs included.

There are |Q̄| + Σᵢ Σₙ pᵢₙ decision variables: starts and presences. Any plan on nodes is one of the
model, and the reverse.

Ours departs in this: an interval that is present shares the job's start instead of having one that
is made equal; copies on a node are alike, so that copy j + 1 is present only beside copy j; and a
resource type that cannot be short, on a node or on all, has no constraint. None loses a placement.
"""

from itertools import pairwise

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
    largest_aggregated_area,
    start_by_start,
    start_objective,
    start_variables,
)
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.system.system import IntArray


class Pcp19:
    """Starts, and for each node which of a job's units are there."""

    fit: Fit = "exact"
    binds: Binds = "plan"
    terms = Terms("counts")

    def variables(self, data: ModelData) -> int:
        """Return |Q̄| + Σᵢ Σₙ pᵢₙ."""
        return data.job_count + int(most_units(data).sum())

    def magnitude(self, data: ModelData) -> int:
        """Return the largest area of aggregated nodes over the horizon."""
        return largest_aggregated_area(data)

    def build(self, data: ModelData) -> BuiltModel:
        """Build the model."""
        starts = start_variables(data)
        goal, constraints = start_objective(data, starts)
        most = most_units(data)
        present: list[dict[int, list[Variable]]] = []
        for i in range(data.job_count):
            of_job = {
                n: [cp.boolvar(name=f"u{i},{n},{j}") for j in range(most[i, n])]
                for n in by_room(most[i])
            }
            for copies in of_job.values():
                # Copies on a node are alike: ordering them removes their permutations.
                constraints += [later.implies(copy) for copy, later in pairwise(copies)]
            every = [copy for copies in of_job.values() for copy in copies]
            constraints.append(cp.sum(every) == int(data.units[i]))
            present.append(of_job)
        for place in scarce_places(data):
            tasks = [
                (
                    starts[i],
                    int(data.run_times[i]),
                    int(data.requests[i, place.resource_type]),
                    copy,
                )
                for i in place.jobs
                for copy in present[i][place.node]
            ]
            tasks += [(*allocated, True) for allocated in place.allocated]
            begins, durations, amounts, copies = (list(part) for part in zip(*tasks, strict=True))
            constraints.append(
                cp.CumulativeOptional(
                    begins, durations, demand=amounts, capacity=place.capacity, is_present=copies
                )
            )
        constraints += cumulatives(data, starts)
        model = cp.Model(constraints)
        model.minimize(goal)

        def placed() -> IntArray:
            counts = np.zeros((data.job_count, data.node_count), dtype=np.int64)
            for i, of_job in enumerate(present):
                for n, copies in of_job.items():
                    counts[i, n] = sum(bool(copy.value()) for copy in copies)
            return counts

        def hint(plan: Plan) -> dict[Variable, int]:
            values: dict[Variable, int] = {}
            for i, (start, of_job) in enumerate(zip(starts, present, strict=True)):
                values[start] = int(plan.starts[i])
                # Zeros for a job without nodes would contradict the sum of its units.
                if plan.placed[i].any():
                    for n, copies in of_job.items():
                        for j, copy in enumerate(copies):
                            values[copy] = int(j < plan.placed[i, n])
            return values

        units = ([copy for copies in of_job.values() for copy in copies] for of_job in present)
        phases = start_by_start(starts, units, "largest")
        return BuiltModel(model, starts, placed, hint, self.variables(data), phases)
