"""The CP dispatchers: each is assembled of a formulation, a solver and list plans."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from hpcsched.dispatching.cp import cp_params
from hpcsched.dispatching.cp.backends.backend import Backend, Budget, DataBackend, StoppingRule
from hpcsched.dispatching.cp.cp_improver import CpImprover, Method, SolverClient
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations.joint_now import joint_now
from hpcsched.dispatching.cp.formulations.pcp19 import pcp4, pcp19
from hpcsched.dispatching.cp.formulations.scheduling import hcp19
from hpcsched.dispatching.cp.formulations.unit_positions import pcp20, pcp21
from hpcsched.dispatching.cp.solver_process import InProcess, SolverProcess
from hpcsched.dispatching.planned_cost import (
    Plannable,
    PlannedCost,
    linear,
    planned_cost_of,
    sum_of_products,
    wait_times,
)
from hpcsched.dispatching.planning.node_choice import LITTLE
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.planning.search_objective import (
    ModelCost,
    SearchObjective,
    no_cost,
    search_objective,
)
from hpcsched.dispatching.planning.selection import LARGEST, SelectionOptions
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.rules.orders import ExpectedWaitOrder, QueueOrder
from hpcsched.dispatching.search.order_search import OrderSearch, random_state
from hpcsched.errors import Finding, InputError
from hpcsched.parameters import NONE
from hpcsched.registration import Context, builtin


@dataclass(frozen=True)
class ExpectedWaits(ExpectedWaitOrder):
    """The wait that jobs of each queue are expected to have (ewt), for the first PCP and HCP.

    Their priority is that of priority rules. Source: Galleguillos, thesis 2020, section 2.3.
    """

    def pcp_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the objective of PCP: Σ max(0, (sᵢ − qᵢ − ewtᵢ) / ewtᵢ)."""
        expected = self.of(jobs)
        left = expected - wait_times(jobs, now)
        weights = 1 / expected
        # `linear` charges weight · max(start, left): less weight · left that is the excess over
        # ewt, also for a job that has waited longer already (left < 0).
        return linear(weights, np.maximum(left, 0), -sum_of_products(weights, left))

    def hcp_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the objective of HCP: Σ max(ewt) / ewtᵢ · (sᵢ − qᵢ)."""
        weights = self.largest / self.of(jobs)
        waits = wait_times(jobs, now)
        return linear(weights, constant=sum_of_products(weights, waits))


@builtin("dispatcher", "hcp19", cp_params.Hcp19Params)
def make_hcp19(params: cp_params.Hcp19Params, context: Context) -> PlanningDispatcher:
    """Return a dispatcher: CP: when jobs start, nodes aggregated; where, by best fit (HCP'19).

    `version` chooses one before HCP'19.
    """
    first = params.queue_length if params.version == 0 else None
    # In the papers HCP counts all nodes, also those that a smaller model would leave out.
    cost_of = ExpectedWaits.hcp_cost
    return _make_version(hcp19(first), params, context, params.decode, cost_of, aggregated=True)


@builtin("dispatcher", "pcp19", cp_params.VersionParams)
def make_pcp19(params: cp_params.VersionParams, context: Context) -> PlanningDispatcher:
    """Return a dispatcher: CP: an optional interval for each unit on each node (PCP'19).

    `version` chooses one before PCP'19.
    """
    # Up to version 1 the solver's nodes may be those of overdue jobs, so the allocator places anew.
    method: Method = "list" if params.version >= 2 else "prb"
    return _make_version(pcp19(), params, context, method, ExpectedWaits.pcp_cost)


@builtin("dispatcher", "pcp4", cp_params.PaperParams)
def make_pcp4(params: cp_params.PaperParams, context: Context) -> PlanningDispatcher:
    """Return a dispatcher: CP: counts of units on each node (thesis, section 6.1)."""
    return cp_dispatcher(pcp4(), params, context)


@builtin("dispatcher", "pcp20", cp_params.PaperParams)
def make_pcp20(params: cp_params.PaperParams, context: Context) -> PlanningDispatcher:
    """Return a dispatcher: CP: units as boxes on an array of each resource type (PCP'20)."""
    return cp_dispatcher(pcp20(), params, context)


@builtin("dispatcher", "pcp21", cp_params.Pcp21Params)
def make_pcp21(params: cp_params.Pcp21Params, context: Context) -> PlanningDispatcher:
    """Return a dispatcher: CP: as PCP'20, with ordered units (PCP'21)."""
    return cp_dispatcher(pcp21(symmetric=params.symmetric), params, context)


@builtin("dispatcher", "joint-now", cp_params.PlanAllParams)
def make_joint_now(params: cp_params.PlanAllParams, context: Context) -> PlanningDispatcher:
    """Return a dispatcher: CP: nodes for jobs that start now, start times for all others."""
    return cp_dispatcher(joint_now(), params, context)


@builtin("dispatcher", "cp", cp_params.CpPlanParams)
def make_cp(params: cp_params.CpPlanParams, context: Context) -> PlanningDispatcher:
    """Return a dispatcher: CP: improves the best list plan, nodes aggregated, for any objective.

    It raises InputError for an objective that cannot be planned for.
    """
    return _make_any_objective("best", params, context, params.search)


@builtin(
    "dispatcher",
    "best-of",
    cp_params.BestOfParams,
    summary="CP: improves several list plans and solves once without one; takes the best",
)
def make_best_of(params: cp_params.BestOfParams, context: Context) -> PlanningDispatcher:
    """Return `best-of`; raises InputError for an objective that cannot be planned for."""
    return replace(_make_any_objective("each", params, context), weighted=False)


def _make_any_objective(
    method: Method, params: cp_params.ImproveParams, context: Context, effort: int = 0
) -> PlanningDispatcher:
    """Return a dispatcher of aggregated resources for any objective that plans can be made for."""
    objective = search_objective(context.objective, params.dinkelbach_parameter)
    search = OrderSearch(effort, 2.0, random_state(context.seed)) if effort else None
    options = {"curves": False, "few": LITTLE, "aggregated": params.solver != NONE}
    return _assemble(
        hcp19(), params, context, method, objective=objective, search=search, **options
    )


def cp_dispatcher(
    formulation: Formulation, params: cp_params.CpParams, context: Context
) -> PlanningDispatcher:
    """Return a dispatcher that solves a formulation in each round, for the scenario's objective.

    A plugin with a formulation of its own registers a dispatcher whose factory calls this function;
    `hpcsched init plugin formulation NAME` writes one.

    Parameters
    ----------
    params
        Solver, budget, list plans to start from, and selection of the jobs to plan. `orders` and
        `fill` are refused with a strict formulation, whose constraints no list plan keeps.

    Raises
    ------
    InputError
        If plans have no cost in the objective, if the solver does not know a constraint of the
        formulation, or if `orders` or `fill` is set although list plans know none of them.
    PluginError
        If the solver is not installed.
    """
    objective = _model_cost(context)
    if not formulation.strict:
        return _assemble(formulation, params, context, "list", objective=objective)
    if in_vain := params.model_fields_set & {"orders", "fill"}:
        message = f"{formulation.name} has constraints that no list plan keeps; expected no {{}}"
        raise InputError(
            Finding("no-list-plans", message.format(key), key=f"dispatcher.{key}")
            for key in sorted(in_vain)
        )
    # Only plans of the model keep to its constraints: no list plans, no filling, a long horizon.
    made = _assemble(formulation, params, context, "prb", objective=objective, worst_case=True)
    return replace(made, orders=(), weighted=False, fill=False, strict=True)


def _model_cost(context: Context) -> SearchObjective:
    """Return the scenario's objective in a model; raises InputError if plans have no cost in it."""
    if not isinstance(context.objective, Plannable):
        raise no_cost(context.objective)
    return ModelCost(partial(planned_cost_of, context.objective))


def _make_version(
    formulation: Formulation,
    params: cp_params.VersionParams,
    context: Context,
    method: Method,
    cost_of: Callable[[ExpectedWaits, Sequence[WaitingJob], int], PlannedCost],
    **options: Any,
) -> PlanningDispatcher:
    """Return the version of a dispatcher (thesis, sections 2.3, 5.1 and 5.2)."""
    # The original models the whole queue; later versions a part of it.
    if params.version == 0:
        options |= {"jobs": "all", "length": 1 << 30}
    # Up to version 1 nothing is planned before the solver is called, and jobs that outlive their
    # prediction hold nothing (thesis, table 5.1).
    options["overdue"] = params.version >= 2
    if params.expected_wait is None:
        options["objective"] = _model_cost(context)
    else:
        waits = ExpectedWaits.build(params.expected_wait, context)
        options |= {"objective": ModelCost(partial(cost_of, waits)), "priority": waits}
    made = _assemble(formulation, params, context, method, **options)
    return made if params.version >= 2 else replace(made, orders=(), weighted=False)


def _assemble(
    formulation: Formulation,
    params: cp_params.CpParams,
    context: Context,
    method: Method,
    *,
    objective: SearchObjective,
    priority: QueueOrder | None = None,
    search: OrderSearch | None = None,
    **options: Any,
) -> PlanningDispatcher:
    """Return a dispatcher; None as `priority`: the queue order of the parameters."""
    improver, largest = None, LARGEST
    if params.solver != NONE:
        backend: Backend | DataBackend = context.make("solver", params.solver)
        backend.check_installed()
        if isinstance(backend, DataBackend):
            backend.check_formulation(formulation)
        # Without a guard nothing needs a process of its own, and calls are cheaper in this one.
        solver = InProcess() if params.guard is None else SolverProcess()
        client = SolverClient(formulation, backend, solver, params.guard)
        times, budget = params.time_limits, Budget(params.budget or cp_params.BUDGET)
        limits = budget if times is None else StoppingRule(**times.model_dump())
        improver = CpImprover(client, params.largest_model, limits, method, search)
        largest = backend.largest_objective
    selection = SelectionOptions(
        params.jobs, params.queue_length, params.spare_nodes, largest=largest
    )
    if isinstance(params, cp_params.PaperParams):
        selection = selection._replace(worst_case=params.horizon == "worst_case")
    return PlanningDispatcher(
        objective,
        priority or context.make("queue_order", params.priority),
        improver,
        context.make("allocator", params.allocator),
        selection._replace(**options),
        tuple(context.make("queue_order", order) for order in params.orders),
        weighted=bool(params.orders),
        fill=params.fill,
    )
