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

- (3) without `element`, which is slow on long arrays: each unit has a node gᵢⱼ. Nodes with equally
  much of each type and room for the same jobs are neighbours in the array. On a stretch of
  neighbours from node f with strideᵣ positions each, from position bᵣ on, a unit is within its
  node: 0 ≤ yᵢᵣⱼ − bᵣ − strideᵣ · (gᵢⱼ − f) ≤ strideᵣ − reqᵢᵣ / rnᵢ. Where a job can use several
  stretches, cᵢⱼₖ says which one. These are the papers' positions with the nodes in another order,
  which changes no plan. gᵢⱼ and cᵢⱼₖ follow from y and are not counted.
- Running jobs are merged by node and end, the latest end lowest, so that what is free of a node is
  in one piece at any time. Positions within a node are alike, so that nobody has to move for it.
- As long as running jobs leave a node less than any unit asks for, all of its positions are taken,
  and those of neighbours together are one box. Numbers of variables, constraints and boxes are thus
  independent of the number of nodes; nodes that are used in part have boxes of their own.
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

from hpcsched.dispatching.cp.formulation import (
    BuiltModel,
    Phase,
    Terms,
    Variable,
    dominations,
    in_decision_order,
)
from hpcsched.dispatching.cp.formulations.position_packing import (
    Numbering,
    Positions,
    Segment,
    hint_positions,
    merged_boxes,
    numbered,
    taken_positions,
)
from hpcsched.dispatching.cp.formulations.scheduling import (
    cumulatives,
    disjunctions,
    objective,
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
    return int(data.totals.max(initial=1)) * data.horizon


def scarcest_first(data: ModelData) -> list[int]:
    """Return the resource types by the amount available now, the scarcest first."""
    order: list[int] = data.available.sum(axis=0).argsort(kind="stable").tolist()
    return order


def build_by_position(
    data: ModelData,
    types: Sequence[int],
    variables: int,
    symmetry: Callable[[ModelData, Positions], list[Any]],
    terms: Terms,
) -> BuiltModel:
    """Build the model with positions of these resource types, and constraints against symmetry.

    The search takes job by job: its start, then its positions type by type.

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
    terms
        The order of decisions, the end from which positions are tried, and whether jobs that
        dominate others start no later.
    """
    starts = start_variables(data)
    goal, constraints = objective(data, starts)
    positions, on_nodes = place_units(data, types)
    constraints += on_nodes
    constraints += packed(data, starts, positions, types)
    constraints += symmetry(data, positions)
    if terms.ordered:
        constraints += [starts[j] >= starts[i] for i, j in dominations(data)]
    model = cp.Model(constraints)
    model.minimize(goal)

    def hint(plan: Plan) -> dict[Variable, int]:
        values: dict[Variable, int] = dict(zip(starts, plan.starts.tolist(), strict=True))
        return values | hint_positions(data, positions, plan, types)

    phases = [
        phase
        for i in in_decision_order(data, shortest_first=terms.shortest_first)
        for phase in (
            Phase([starts[i]]),
            *(Phase(origins, terms.value) for origins in positions.origins[i].values()),
        )
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
    numbering = numbered(data)
    positions = Positions(numbering, [], [], [], [])
    constraints: list[Any] = []
    for i, units in enumerate(data.units.tolist()):
        asked = {r: int(data.requests[i, r]) for r in types if data.requests[i, r]}
        segments = _segments(data, i, numbering, list(asked))
        first, last = segments[0].first, segments[-1].last
        # A single usable node needs no variables.
        nodes: list[Variable] = [first] * units
        if first < last:
            nodes = [cp.intvar(first, last, name=f"g{i},{j}") for j in range(units)]
            if data.apart[i]:
                constraints += [a < b for a, b in pairwise(nodes)]
        origins = {
            r: [
                cp.intvar(
                    int(numbering.first[first, r]),
                    int(numbering.first[last + 1, r]) - amount,
                    name=f"y{i},{r},{j}",
                )
                for j in range(units)
            ]
            for r, amount in asked.items()
        }
        within = [
            [cp.boolvar(name=f"c{i},{j},{k}") for k in range(len(segments)) if len(segments) > 1]
            for j in range(units)
        ]
        constraints += [cp.sum(chosen) == 1 for chosen in within if chosen]
        for j, node in enumerate(nodes if first < last else ()):
            for k, segment in enumerate(segments):
                limits = [] if len(segments) == 1 else [node >= segment.first, node <= segment.last]
                for r, amount in asked.items():
                    stride = numbering.stride(segment.first, r)
                    # Place of the unit on its node, which lies within the node's positions.
                    before = int(numbering.first[segment.first, r]) - stride * segment.first
                    place = origins[r][j] - stride * node - before
                    limits += [place >= 0, place <= stride - amount]
                if len(segments) > 1:
                    limits = [within[j][k].implies(limit) for limit in limits]
                constraints += limits
        positions.nodes.append(nodes)
        positions.origins.append(origins)
        positions.segments.append(segments)
        positions.within.append(within)
    return positions, constraints


def _segments(data: ModelData, i: int, numbering: Numbering, types: Sequence[int]) -> list[Segment]:
    """Return the nodes that a job can use: neighbours with equally much of these types are one."""
    usable = (data.room[i] > 0)[numbering.order]
    amounts = np.diff(numbering.first, axis=0)[:, list(types)]
    breaks = np.r_[True, (np.diff(amounts, axis=0) != 0).any(axis=1) | ~usable[:-1]]
    begins = (usable & breaks).nonzero()[0]
    ends = (usable & np.r_[breaks[1:] | ~usable[1:], True]).nonzero()[0]
    return [Segment(*ends_of) for ends_of in zip(begins.tolist(), ends.tolist(), strict=True)]


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
        numbering = positions.numbering
        units += [
            (box.begin, box.end - box.begin, box.low, box.high - box.low)
            for box in merged_boxes(taken_positions(data, r, numbering), r, numbering)
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
    order = positions.numbering.order
    for i, of_job in enumerate(positions.nodes):
        for node in of_job:
            counts[i, order[node if isinstance(node, int) else node.value()]] += 1
    return counts
