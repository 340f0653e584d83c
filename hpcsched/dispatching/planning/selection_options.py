"""Options of a selection: the jobs, nodes and accuracy of a model."""

from typing import Literal, NamedTuple

Jobs = Literal["fitting", "pool", "all"]


LARGEST = 1 << 62
"""Upper limit of a model's objective where no solver has to count it."""


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
    step
        Seconds in a step.
    largest
        Upper limit of the model's objective.
    overdue
        Whether a running job that has outlived its prediction still holds its room.
    whole
        Whether running jobs are taken to run for their whole predicted run time from now.
    worst_case
        Whether the horizon is the sum of all run times, running jobs included, which is more than
        plans need.
    curves
        Whether the model's objective has the non-linear part of the cost.
    priced
        Whether the model has an objective at all; only solvers need one.
    aggregated
        Whether models have all nodes as one resource of each type (aggregated nodes).
    counted
        Whether units that are all alike are counted although the problem has nodes, so that a plan
        is the same in either form.
    few
        Queued jobs × nodes up to which no node is left out.
    """

    jobs: Jobs
    length: int
    spare_nodes: float | None
    step: int = 1
    largest: int = 1 << 40
    overdue: bool = True
    whole: bool = False
    worst_case: bool = False
    curves: bool = True
    priced: bool = True
    aggregated: bool = False
    counted: bool = False
    few: int = 0
