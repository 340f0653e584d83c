"""The shared part of PCP'20 and PCP'21: positions of units in one array of all resources of a type.

Model (Galleguillos et al., CP 2021, section 3; PCP'20 preprint, section 3; PCP₅ in the thesis,
section 6.2): the resources of type r of all nodes are an array, in the order of the nodes, of
length Tcapᵣ = Σₙ capₙᵣ. Unit j of job i takes positions yᵢᵣⱼ … yᵢᵣⱼ + reqᵢᵣ / rnᵢ − 1 of it as long
as the job runs:

1. diffn([s(τᵢ)], [d(τᵢ)], [yᵢᵣⱼ], [reqᵢᵣ / rnᵢ]) for each r; running jobs are boxes at the lowest
   positions of their nodes;
2. implied: cumulative([s(τᵢ)], [d(τᵢ)], [reqᵢᵣ / rnᵢ], Tcapᵣ), and the same with axes exchanged,
   cumulative([yᵢᵣⱼ], [reqᵢᵣ / rnᵢ], [d(τᵢ)], eoh) (in the papers' text with s(τᵢ) for d(τᵢ));
   two jobs that together ask for more than Tcapᵣ are disjunct in time, as in `pcp4`;
3. element(mapᵣ, yᵢᵣⱼ) is the node of position yᵢᵣⱼ: equal for all resource types that a job asks
   for, and for the first and the last position of a unit.

It is a restriction. A unit needs positions that are side by side and stay the same as long as it
runs, while a node only needs to have enough: what is free on it may be in pieces. A plan that is
good by count can have no positions.

There are |Q̄| + Σᵢ rnᵢ · |R| decision variables, as the papers count them; types of which a job
asks nothing have none.

Ours departs in this.

- (3) without `element`, which is slow on long arrays: each unit has a node gᵢⱼ, and on the array of
  r each node has strideᵣ positions, as many as the largest node has of r: strideᵣ · gᵢⱼ ≤ yᵢᵣⱼ ≤
  strideᵣ · gᵢⱼ + strideᵣ − reqᵢᵣ / rnᵢ. Positions that a smaller node does not have are taken by a
  box for all time. Where all nodes have equally much these are the papers' positions, elsewhere
  they are the same in another numbering. gᵢⱼ follows from y and is not counted.
- Running jobs are merged by node and end, the latest end lowest, so that what is free of a node is
  in one piece at any time. Positions within a node are alike, so that nobody has to move for it.
- While a node is closed by an announced outage, a box takes all of its positions.
- The papers know no job whose units each need a node of their own. Here its gᵢⱼ are ascending,
  which loses nothing, as its units are alike.
- The axes are not exchanged in (2) where the horizon is at least the sum of all run times and the
  last running job, as it says nothing there: no two units of a job share a position.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import cpmpy as cp
import numpy as np

from hpcsched.dispatching.cp.formulation import BuiltModel, Phase, Value, Variable
from hpcsched.dispatching.cp.formulations.position_packing import (
    Positions,
    hint_positions,
    taken_positions,
    usable_nodes,
)
from hpcsched.dispatching.cp.formulations.scheduling import (
    cumulatives,
    disjunctions,
    in_values,
    start_objective,
    start_variables,
)
from hpcsched.dispatching.cp.no_overlap_2d import NoOverlap2D
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.system.system import IntArray


def variable_count(data: ModelData, types: int) -> int:
    """Return |Q̄| + Σᵢ rnᵢ · |R|, |R| being `types`.

    Parameters
    ----------
    data
        The model's data.
    types
        Numbers of the modelled resource types.
    """
    return data.job_count + int(data.units.sum()) * types


def largest_area(data: ModelData) -> int:
    """Return the largest area of an array of positions over the horizon."""
    return int(data.capacity.max(initial=1)) * data.node_count * data.horizon


def scarcest_first(data: ModelData) -> list[int]:
    """Return the resource types by the amount available now, the scarcest first."""
    order: list[int] = data.available.sum(axis=0).argsort(kind="stable").tolist()
    return order


def build_by_position(
    data: ModelData,
    types: Sequence[int],
    variables: int,
    symmetry: Callable[[ModelData, Positions], list[Any]],
    value: Value,
) -> BuiltModel:
    """Build the model with positions of these resource types, and constraints against symmetry.

    The search takes job by job: its start, then its positions type by type, from the end that
    `value` says.

    Parameters
    ----------
    data
        The model's data.
    types
        Numbers of the modelled resource types.
    variables
        Number of decision variables.
    symmetry
        Returns constraints that break the symmetry of units.
    value
        End from which the other variables' values are tried.
    """
    starts = start_variables(data)
    goal, constraints = start_objective(data, starts)
    positions, on_nodes = place_units(data, types)
    constraints += on_nodes
    constraints += packed(data, starts, positions, types)
    constraints += symmetry(data, positions)
    model = cp.Model(constraints)
    model.minimize(goal)

    def hint(plan: Plan) -> dict[Variable, int]:
        values: dict[Variable, int] = dict(zip(starts, plan.starts.tolist(), strict=True))
        return values | hint_positions(data, positions, plan, types)

    phases = [
        phase
        for start, by_type in zip(starts, positions.origins, strict=True)
        for phase in (Phase([start]), *(Phase(origins, value) for origins in by_type.values()))
    ]
    return BuiltModel(
        model, starts, lambda: units_on_nodes(data, positions), hint, variables, phases
    )


def place_units(data: ModelData, types: Sequence[int]) -> tuple[Positions, list[Any]]:
    """Return position variables of these resource types, and constraints that tie them to nodes.

    Parameters
    ----------
    data
        The model's data.
    types
        Numbers of the modelled resource types.
    """
    # One stride for all nodes: a unit's node and its place there then follow from one number.
    strides = [
        int(data.capacity[usable_nodes(data, r), r].max(initial=1)) for r in range(data.type_count)
    ]
    nodes: list[list[Variable]] = []
    origins: list[dict[int, list[Variable]]] = []
    constraints: list[Any] = []
    for i, units in enumerate(data.units.tolist()):
        usable = data.room[i].nonzero()[0].tolist()
        first, last = usable[0], usable[-1]
        # A single usable node needs no variables.
        of_job: list[Variable] = [first] * units
        if len(usable) > 1:
            of_job = [cp.intvar(first, last, name=f"g{i},{j}") for j in range(units)]
            for node in of_job:
                constraints += in_values(node, usable)
            if data.apart[i]:
                constraints += [a < b for a, b in pairwise(of_job)]
        nodes.append(of_job)
        by_type: dict[int, list[Variable]] = {}
        for r in types:
            asked, stride = int(data.requests[i, r]), strides[r]
            if not asked:
                continue
            low, high = stride * first, stride * last + int(data.capacity[last, r]) - asked
            by_type[r] = [cp.intvar(low, high, name=f"y{i},{r},{j}") for j in range(units)]
            if len(usable) > 1:
                # The position lies within the stretch of its own node.
                for node, origin in zip(of_job, by_type[r], strict=True):
                    constraints.append(origin - stride * node >= 0)
                    constraints.append(origin - stride * node <= stride - asked)
        origins.append(by_type)
    return Positions(nodes, origins, strides), constraints


def packed(
    data: ModelData, starts: Sequence[Variable], positions: Positions, types: Sequence[int]
) -> list[Any]:
    """Return the constraints that no two units share a position at any time, and implied ones.

    Parameters
    ----------
    data
        The model's data.
    starts
        The start variables, `[J]`; numbers where the start is fixed.
    positions
        The position variables.
    types
        Numbers of the modelled resource types.
    """
    constraints = cumulatives(data, starts)
    constraints += disjunctions(data, starts)
    last_end = int(data.allocated_until.max(initial=0))
    crossed = int(data.run_times.sum()) + last_end > data.horizon
    for r in types:
        units = [
            (starts[i], int(data.run_times[i]), origin, int(data.requests[i, r]))
            for i, by_type in enumerate(positions.origins)
            for origin in by_type.get(r, ())
        ]
        if not units:
            continue
        stride = positions.strides[r]
        units += [
            (box.begin, box.end - box.begin, stride * n + box.low, box.high - box.low)
            for n, boxes in taken_positions(data, r, stride).items()
            for box in boxes
        ]
        # One rectangle overlaps nothing.
        if len(units) == 1:
            continue
        begins, durations, origins, amounts = (list(part) for part in zip(*units, strict=True))
        constraints.append(NoOverlap2D(begins, durations, origins, amounts))
        # With a longer horizon this follows from the rest (see the module's last point).
        if crossed:
            constraints.append(
                cp.Cumulative(origins, amounts, demand=durations, capacity=data.horizon)
            )
    return constraints


def units_on_nodes(data: ModelData, positions: Positions) -> IntArray:
    """Return where the present solution has units, `[J, N]`.

    Parameters
    ----------
    data
        The model's data.
    positions
        The position variables.
    """
    counts = np.zeros((data.job_count, data.node_count), dtype=np.int64)
    for i, of_job in enumerate(positions.nodes):
        for node in of_job:
            counts[i, node if isinstance(node, int) else node.value()] += 1
    return counts
