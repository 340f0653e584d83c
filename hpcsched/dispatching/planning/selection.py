"""Selection: the data of a model, with its jobs, nodes and cost, and the options of its choice."""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.planned_cost import PlannedCost
from hpcsched.dispatching.planning import Jobs
from hpcsched.dispatching.planning.model_data import (
    ModelData,
    OutageInterval,
    horizon_after_outages,
    outage_data,
)
from hpcsched.dispatching.planning.start_time_costs import Shape, SpecificCostFunctions
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import IntArray

LARGEST = 1 << 62
"""Upper limit of a model's objective where no solver has to count it."""

LARGEST_PRODUCT = 1 << 56
"""Upper limit of the slope times the cost of a start-time cost function.

Solvers multiply the numbers of lines that bound a variable: where such products pass 2⁶³, CP-SAT
9.15 calls plans optimal that are not. The distance to 2⁶³ is for sums of products.
"""


class SelectionOptions(NamedTuple):
    """Options of a selection: the jobs, nodes and accuracy of a model.

    Attributes
    ----------
    jobs
        `fitting`: only jobs that fit on nodes now; `pool`: those that ask for no more than is free
        of all nodes together; `all`: the whole queue.
    length
        Maximum number of jobs, the first by priority.
    spare_nodes
        Nodes are left out beyond this multiple of the jobs' units, if queued jobs × nodes exceed
        `few`; None: no node is left out.
    largest
        Upper limit of the model's objective.
    overdue
        Whether a running job that has outlived its prediction still holds its room.
    worst_case
        Whether the horizon is the sum of all run times, running jobs included, which is more than
        plans need.
    curves
        Whether the model's objective has the non-linear part of the cost.
    aggregated
        Whether models have all nodes as one resource of each type (aggregated nodes).
    few
        Queued jobs × nodes up to which no node is left out.
    """

    jobs: Jobs
    length: int
    spare_nodes: float | None
    largest: int = 1 << 40
    overdue: bool = True
    worst_case: bool = False
    curves: bool = True
    aggregated: bool = False
    few: int = 0


def cost_scale(cost: PlannedCost, shapes: Sequence[Shape], horizon: int, largest: int) -> float:
    """Return the factor of a cost before it is rounded to whole numbers.

    No time that counts is later than `horizon`. The model's objective stays within `largest`, and
    so does each line of a start-time cost function over all starts. Raises OverflowError where
    there is no such scale.
    """
    together = (float(cost.weights.sum()) + cost.makespan) * max(horizon, 1)
    together += sum(shape.reach for shape in shapes)
    count = cost.weights.size + len(shapes) + 1
    # Rounding a weight adds at most 1, over at most the horizon: that much is set aside.
    left = largest - count * max(horizon, 1)
    if left <= 0:
        raise OverflowError(f"{count - 1} terms over {horizon} s")
    scale = left / together if together else 1.0
    steepest = max((float(np.abs(shape.slopes).max(initial=0.0)) for shape in shapes), default=0.0)
    farthest = max((shape.reach for shape in shapes), default=0.0)
    if steepest and farthest:
        scale = min(scale, sqrt(LARGEST_PRODUCT) / sqrt(steepest) / sqrt(farthest))
    # No larger than needed: weights that are whole already stay as they are.
    whole = not cost.makespan % 1 and bool((cost.weights == np.rint(cost.weights)).all())
    return 1.0 if scale >= 1 and whole and not shapes else scale


class Selection(NamedTuple):
    """The data of a model, and the jobs and nodes that its rows and columns stand for.

    The model's objective is that of `cost`, less `offset`, times `scale`.

    Attributes
    ----------
    nodes
        Numbers of the system's nodes, `[N]`; None where all units are alike and the model has one
        node that stands for all slots.
    bundles
        Units of an exclusive job that one modelled unit, a whole node, stands for at most; 0 for
        any other job.
    cost
        The cost of planned starts, in seconds.
    largest
        Upper limit of the model's objective.
    scale, offset
        From a model's objective to the cost; see `bound`.
    outage_intervals
        Announced outages of the model's nodes, however far off; `data` has those that its plans may
        come to.
    """

    data: ModelData
    jobs: tuple[WaitingJob, ...]
    nodes: IntArray | None
    bundles: tuple[int, ...]
    cost: PlannedCost
    largest: int
    scale: float = 1.0
    offset: float = 0.0
    outage_intervals: tuple[OutageInterval, ...] = ()

    def bound(self, objective: float) -> float:
        """Convert an objective of the model to the objective's own unit."""
        return self.offset + objective / self.scale

    def repriced(self, cost: PlannedCost, *, curves: bool = True) -> "Selection":
        """Return the same jobs and nodes with another cost.

        The selection must not have been cut by `near`. The horizon grows where the cost has jobs
        start later. Raises OverflowError where there is no scale at which the objective stays
        within `largest`. `curves`: see `SelectionOptions`.
        """
        data = self.data
        specific = None
        if curves and cost.specific is not None:
            specific = SpecificCostFunctions(cost.specific, data.run_times)
        horizon = data.horizon
        shapes: list[Shape] = []
        if specific is not None:
            # Once no job gets cheaper by waiting, nothing is allocated and no node closed, a time
            # at which nothing runs can be left out of a plan: all that comes later starts sooner by
            # it, and costs no more.
            serial = int(data.run_times.sum())
            horizon = max(horizon, int(specific.turns().max(initial=0)) + serial)
            if data.shared_resources is not None:
                serial += int(data.shared_resources.allowance.sum())
            horizon = horizon_after_outages(self.outage_intervals, horizon, serial)
            shapes = specific.shapes(horizon - data.run_times)
        # What a job costs is by the later of its start and `free`, which may be beyond the horizon.
        farthest = max(horizon, int(cost.free.max(initial=1)))
        scale = cost_scale(cost, shapes, farthest, self.largest)
        data = replace(
            data,
            weights=np.rint(cost.weights * scale).astype(np.int64),
            free=cost.free.astype(np.int64),
            makespan=round(cost.makespan * scale),
            horizon=horizon,
            latest=None,
            outages=outage_data(self.outage_intervals, horizon),
            curves=None if specific is None else tuple(shape.rounded(scale) for shape in shapes),
        )
        offset = cost.constant
        if specific is not None and cost.specific is not None:  # curves begin with 0
            offset += cost.specific.value(np.zeros_like(data.run_times), data.run_times)
        return self._replace(data=data, cost=cost, scale=scale, offset=offset)

    def near(self, starts: IntArray) -> "Selection":
        """Return the selection cut down to plans that cost no more than `starts`, `[J]`.

        Start-time cost functions are made anew for the starts that are left, and become closer.
        """
        data = self.data.within(self.data.cost(starts))
        if data.curves is not None and self.cost.specific is not None:
            specific = SpecificCostFunctions(self.cost.specific, data.run_times)
            shapes = specific.shapes(data.latest_starts)
            data = replace(data, curves=tuple(shape.rounded(self.scale) for shape in shapes))
        return self._replace(data=data)

    def allocation(self, job: int, placed: IntArray) -> NodeAllocation:
        """Return a job's nodes, given the units placed on each of the model's nodes, `[N]`."""
        assert self.nodes is not None
        columns = placed.nonzero()[0]
        units = placed[columns]
        if self.bundles[job]:
            units = units * self.bundles[job]
            surplus = int(units.sum()) - self.jobs[job].units
            for k in range(len(units) - 1, -1, -1):  # every bundle keeps at least one
                less = min(surplus, int(units[k]) - 1)
                units[k] -= less
                surplus -= less
        ascending = self.nodes[columns].argsort()
        nodes = self.nodes[columns][ascending]
        return NodeAllocation(tuple(nodes.tolist()), tuple(units[ascending].tolist()))
