"""PCP'19 and PCP₄: units of jobs on each node, as optional intervals or as counts.

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

PCP₄ (Galleguillos, thesis 2020, section 6.1) has counts aᵢₙ ∈ [0, pᵢₙ] with Σₙ aᵢₙ = rnᵢ: |Q̄| + Σᵢ
|N| decision variables, of which those with pᵢₙ = 0 are none and are not counted here. Ours departs
in its constraints, and has all plans on nodes and no others.

- The mirror of the aggregated cumulatives, with the axes exchanged, is not posted: where the
  horizon is at least the sum of all durations, as in the thesis, every choice of origins satisfies
  it, and elsewhere it is not implied.
- Two jobs are disjunct in time where they together ask for more than there is (see `disjunctions`),
  which the thesis says of energies. For running jobs it says that a job starts no sooner than they
  leave enough.
- diffn on each node, of boxes with origins of no consequence, is a cumulative of the counts: boxes
  would want a job's share of a node in one piece as long as it runs.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import cpmpy as cp
import numpy as np

from hpcsched.dispatching.cp.formulation import Formulation, ModelParts, Variable
from hpcsched.dispatching.cp.formulations.scheduling import (
    Task,
    cumulative,
    cumulatives,
    disjunctions,
    largest_aggregated_area,
)
from hpcsched.dispatching.planning.model_data import ModelData, Plan
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
    allocated: dict[int, list[int]] = defaultdict(list)
    for k, n in enumerate(data.allocated_on.tolist()):
        allocated[n].append(k)
    closed: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for n, begin, end in data.closed:
        closed[n].append((begin, end))
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
            taken += [(begin, end - begin, capacity) for begin, end in closed[n] if capacity]
            yield Place(n, r, capacity, tuple(jobs.tolist()), tuple(taken))


def by_room(most: IntArray) -> list[int]:
    """Return the nodes that a job may use, `most` units on each, those with least room first."""
    nodes = most.nonzero()[0]
    ranked: list[int] = nodes[most[nodes].argsort(kind="stable")].tolist()
    return ranked


def pcp19() -> Formulation:
    """Return PCP'19: starts, and for each node which of a job's units are there."""
    return Formulation(
        "PCP'19",
        "exact",
        "plan",
        variable_count,
        largest_aggregated_area,
        UnitIntervals,
        (alternatives, node_cumulatives, cumulatives),
    )


def variable_count(data: ModelData) -> int:
    """Return |Q̄| + Σᵢ Σₙ pᵢₙ."""
    return data.job_count + int(most_units(data).sum())


class UnitIntervals:
    """Presences of units, `present[i][n][j]`, for the nodes that could hold some."""

    def __init__(self, data: ModelData) -> None:
        self._data = data
        most = most_units(data)
        self.present: list[dict[int, list[Variable]]] = [
            {
                n: [cp.boolvar(name=f"u{i},{n},{j}") for j in range(most[i, n])]
                for n in by_room(most[i])
            }
            for i in range(data.job_count)
        ]

    def placed(self) -> IntArray:
        """Return the units of each job on each node, `[J, N]`."""
        counts = np.zeros((self._data.job_count, self._data.node_count), dtype=np.int64)
        for i, of_job in enumerate(self.present):
            for n, copies in of_job.items():
                counts[i, n] = sum(bool(copy.value()) for copy in copies)
        return counts

    def hint(self, plan: Plan) -> dict[Variable, int]:
        """Return presences for a plan."""
        return {
            copy: int(j < plan.placed[i, n])
            for i, of_job in enumerate(self.present)
            # Zeros for a job without nodes would contradict the sum of its units.
            if plan.placed[i].any()
            for n, copies in of_job.items()
            for j, copy in enumerate(copies)
        }


def _every(of_job: dict[int, list[Variable]]) -> list[Variable]:
    return [copy for copies in of_job.values() for copy in copies]


def alternatives(parts: ModelParts) -> list[Any]:
    """Return that as many copies are present as a job has units, on a node the first ones."""
    constraints: list[Any] = []
    for i, of_job in enumerate(parts.placing.present):
        for copies in of_job.values():
            # Copies on a node are alike: ordering them removes their permutations.
            constraints += [later.implies(copy) for copy, later in pairwise(copies)]
        constraints.append(cp.sum(_every(of_job)) == int(parts.data.units[i]))
    return constraints


def node_cumulatives(parts: ModelParts) -> list[Any]:
    """Return a cumulative of present copies for each node and type that can be short."""
    data, constraints = parts.data, []
    run_times = data.run_times.tolist()
    for place in scarce_places(data):
        asked = data.requests[:, place.resource_type].tolist()
        tasks = [
            (parts.starts[i], run_times[i], asked[i], copy)
            for i in place.jobs
            for copy in parts.placing.present[i][place.node]
        ]
        tasks += [(*allocated, True) for allocated in place.allocated]
        begins, durations, amounts, copies = (list(part) for part in zip(*tasks, strict=True))
        constraints.append(
            cp.CumulativeOptional(
                begins, durations, demand=amounts, capacity=place.capacity, is_present=copies
            )
        )
    return constraints


def pcp4() -> Formulation:
    """Return PCP₄: starts, and for each node how many of a job's units are there."""
    return Formulation(
        "PCP₄",
        "exact",
        "plan",
        count_variables,
        largest_aggregated_area,
        UnitCounts,
        (all_units, node_capacities, cumulatives, disjunctions),
    )


def count_variables(data: ModelData) -> int:
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
