"""The protocol of formulations, and the model that one builds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.system.system import IntArray

Variable = Any
"""A decision variable of CPMpy."""

Fit = Literal["exact", "restriction", "relaxation"]
"""Relation of a model's plans to those of the dispatching problem: the same, fewer, more."""

Binds = Literal["plan", "now", "nothing"]
"""Jobs whose nodes a formulation decides: all, those that start now, none."""


Value = Literal["least", "largest"]
"""End from which a variable's values are tried."""


class Phase(NamedTuple):
    """A step of a search.

    Attributes
    ----------
    variables
        The variables, in the order to branch on them.
    value
        End from which their values are tried.
    """

    variables: Sequence[Variable]
    value: Value = "least"


class Terms(NamedTuple):
    """The meaning of a formulation, for a solver that works on the data and needs no model.

    Attributes
    ----------
    nodes
        Jobs whose nodes a plan has: `none`, those that start `now`, or all by `counts`;
        `positions`: all, with units side by side that stay where they are.
    value
        End from which positions are tried.
    back_to_start
        Whether a failure leads to another start of the job rather than to another position.
    first
        Number of jobs, the first by priority, whose start is free; all others end with the horizon.
        None: all jobs.
    shortest_first
        Whether, of jobs that can start first, the shortest is taken rather than the first by
        priority.
    ordered
        Whether jobs that dominate others start no later (see `dominations`).
    """

    nodes: Literal["none", "now", "counts", "positions"]
    value: Value = "least"
    back_to_start: bool = False
    first: int | None = None
    shortest_first: bool = False
    ordered: bool = False


def in_decision_order(data: ModelData, *, shortest_first: bool) -> list[int]:
    """Return the jobs in the order of decisions: by priority, or the shortest first."""
    jobs = range(data.job_count)
    return sorted(jobs, key=data.run_times.__getitem__) if shortest_first else list(jobs)


def dominations(data: ModelData) -> list[tuple[int, int]]:
    """Return the pairs of jobs of which the first dominates the second one.

    It has the higher priority, and no more energy (amount × run time) of any resource type that
    both ask for, of which there is one. Jobs of a pair that is disjunct by energy (see
    `scheduling.disjunctions`) do not dominate one another. Source: the code that the authors of
    PCP'20 and PCP'21 published (cgalleguillosm/cp_dispatchers); their papers do not have it.
    """
    energy = data.demands * data.run_times[:, np.newaxis]
    pairs = []
    for i in range(data.job_count):
        for j in range(i + 1, data.job_count):
            both = (data.requests[i] > 0) & (data.requests[j] > 0)
            most = data.totals * max(data.run_times[i], data.run_times[j])
            less = both.any() and (energy[i] <= energy[j])[both].all()
            if less and not (energy[i] + energy[j] > most)[both].any():
                pairs.append((i, j))
    return pairs


@dataclass(frozen=True)
class BuiltModel:
    """A CPMpy model, and the functions that read it.

    Attributes
    ----------
    model
        The CPMpy model.
    starts
        Start of each job, a variable or a number, `[J]`.
    placed
        Returns the units of each job on each node, `[J, N]`, once the model is solved; jobs without
        nodes in the formulation have none.
    hint
        Returns values for variables from a plan (a warm start).
    variables
        Number of decision variables.
    phases
        The papers' search, for backends that can follow it.
    forbid
        Returns a constraint against the placement of the present solution, for formulations whose
        placements may turn out wrong; None: they never do.
    """

    model: Any
    starts: Sequence[Variable]
    placed: Callable[[], IntArray]
    hint: Callable[[Plan], dict[Variable, int]]
    variables: int
    phases: Sequence[Phase] = ()
    forbid: Callable[[], Any] | None = field(default=None)


class Formulation(Protocol):
    """Builds models; knows nothing of solvers."""

    @property
    def fit(self) -> Fit:
        """Relation of its models' plans to those of the dispatching problem.

        `exact`: the same; `restriction`: fewer; `relaxation`: more, so that a plan may turn out not
        to be one.
        """

    @property
    def binds(self) -> Binds:
        """Jobs that get nodes in its plans: all, those that start now, or none.

        The allocator chooses the nodes of the others.
        """

    @property
    def terms(self) -> Terms:
        """Meaning of its models, for `schedule-or-postpone`, which builds none."""

    def variables(self, data: ModelData) -> int:
        """Return the number of decision variables of the model, as the source counts them.

        Parameters
        ----------
        data
            The problem of the round.
        """

    def magnitude(self, data: ModelData) -> int:
        """Return the largest number in the constraints that a solver may have to work with.

        Where it is above that of the solver, the same problem is tried in longer steps.

        Parameters
        ----------
        data
            The problem of the round.
        """

    def build(self, data: ModelData) -> BuiltModel:
        """Build the model.

        Parameters
        ----------
        data
            The problem of the round: `J` jobs, `N` nodes, `R` resource types, times in steps from
            now.

        Returns
        -------
        BuiltModel
            The CPMpy model with its objective, and the functions that read it. An exception counts
            as a failure of the solver in this round: a list plan is carried out.
        """
