"""What builds the CP dispatchers.

To be imported where one is built: CPMpy takes time to import, and so does what compiles list plans.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np

from hpcsched.dispatching.cp.aims import Aim, OwnRatio, RatioSoFar, Total
from hpcsched.dispatching.cp.asking import Asker
from hpcsched.dispatching.cp.backends.backend import Backend
from hpcsched.dispatching.cp.dispatcher import CpDispatcher, CpSettings
from hpcsched.dispatching.cp.expected_waits import ExpectedWaits
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations.hcp19 import Hcp19
from hpcsched.dispatching.cp.formulations.joint_now import JointNow
from hpcsched.dispatching.cp.formulations.node_time import NodeTime
from hpcsched.dispatching.cp.formulations.pcp4 import Pcp4
from hpcsched.dispatching.cp.formulations.pcp19 import Pcp19
from hpcsched.dispatching.cp.formulations.pcp20 import Pcp20
from hpcsched.dispatching.cp.formulations.pcp21 import Pcp21
from hpcsched.dispatching.cp.guard import InProcess, Solver, SolverProcess
from hpcsched.dispatching.cp.improving import Improve, Improving, ImprovingSettings
from hpcsched.dispatching.cp.limits import Budget, Limits, Patience
from hpcsched.dispatching.cp.modelling import Models
from hpcsched.dispatching.cp.params import (
    BUDGET,
    BestOfParams,
    CpParams,
    CpPlanParams,
    Hcp19Params,
    ImproveParams,
    JointNowParams,
    Pcp21Params,
    PlanAllParams,
    VersionParams,
)
from hpcsched.dispatching.heuristic.orders import QueueOrder
from hpcsched.dispatching.objective import Objective
from hpcsched.dispatching.planned_cost import Plannable, PlannableRatio, PlannedCost
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.search.level import Level
from hpcsched.dispatching.search.order_kernels import Effort
from hpcsched.errors import Finding, InputError
from hpcsched.parameters import NONE

SEARCH_BIAS = 2.0
"""By how much more often a search moves jobs from the front of the order (see `Effort`)."""

CostOf = Callable[[Sequence[WaitingJob], int], PlannedCost]


class Context(Protocol):
    """What the factories here need of an assembly."""

    @property
    def objective(self) -> Objective:
        """The scenario's objective."""

    @property
    def seed(self) -> int:
        """A seed for this plugin."""

    def make(self, kind: str, choice: Any) -> Any:
        """Return what another plugin builds."""


def make_hcp19(params: Hcp19Params, context: Context) -> CpDispatcher:
    """Return HCP'19, or a version before it."""
    formulation = Hcp19(params.queue_length if params.version == 0 else None)
    return _make_version(formulation, params, context, params.decode, ExpectedWaits.hcp_cost)


def make_pcp19(params: VersionParams, context: Context) -> CpDispatcher:
    """Return PCP'19, or a version before it."""
    decode: Literal["list", "prb"] = "list" if params.version >= 2 else "prb"
    return _make_version(Pcp19(), params, context, decode, ExpectedWaits.pcp_cost)


def make_pcp4(params: CpParams, context: Context) -> CpDispatcher:
    """Return PCP₄."""
    return _make(Pcp4(), params, context)


def make_pcp20(params: CpParams, context: Context) -> CpDispatcher:
    """Return PCP'20."""
    return _make(Pcp20(), params, context)


def make_pcp21(params: Pcp21Params, context: Context) -> CpDispatcher:
    """Return PCP'21."""
    return _make(Pcp21(symmetric=params.symmetric), params, context)


def make_node_time(params: PlanAllParams, context: Context) -> CpDispatcher:
    """Return `node-time`."""
    return _make(NodeTime(), params, context)


def make_joint_now(params: JointNowParams, context: Context) -> CpDispatcher:
    """Return `joint-now`."""
    return _make(JointNow(classes=params.node_classes), params, context)


def make_cp(params: CpPlanParams, context: Context) -> Improving:
    """Return `cp`; raises InputError for an objective that cannot be planned for."""
    effort = Effort(params.search, SEARCH_BIAS) if params.search else None
    return _make_improving("best", params, context, effort)


def make_best_of(params: BestOfParams, context: Context) -> Improving:
    """Return `best-of`; raises InputError for an objective that cannot be planned for."""
    return _make_improving("each", params, context)


def _make_improving(
    improve: Improve, params: ImproveParams, context: Context, effort: Effort | None = None
) -> Improving:
    formulation = Hcp19()
    models, asker = Models(formulation, params.largest_model), None
    if params.solver != NONE:
        backend = _backend(params, context)
        models = models._replace(
            largest=backend.largest, largest_objective=backend.largest_objective
        )
        asker = Asker(formulation, backend, _solver(params.guard), params.guard)
    settings = ImprovingSettings(
        params.jobs,
        params.queue_length,
        params.spare_nodes,
        tuple(context.make("queue_order", order) for order in params.orders),
        weighted=improve == "best" and bool(params.orders),
        improve=improve,
        limits=_limits(params),
        effort=effort,
    )
    return Improving(
        _aim(context.objective, params.level),
        models,
        asker,
        context.make("queue_order", params.priority),
        context.make("allocator", params.allocator),
        settings,
        # The state of the search's random numbers, which is never 0.
        np.array([context.seed % (1 << 62) + 1], dtype=np.int64),
    )


def _aim(objective: Objective, level: float | None) -> Aim:
    """Return what plans are made for; raises InputError where plans for it have no cost."""
    if isinstance(objective, Plannable):
        return Total(objective)
    if not isinstance(objective, PlannableRatio):
        raise _no_cost(objective)
    return OwnRatio(objective) if level is None else RatioSoFar(Level(objective, level))


def _make(formulation: Formulation, params: CpParams, context: Context) -> CpDispatcher:
    """Return a dispatcher that plans for the scenario's objective."""
    priority = context.make("queue_order", params.priority)
    orders = tuple(context.make("queue_order", order) for order in params.orders)
    return _assemble(
        formulation,
        params,
        context,
        priority=priority,
        cost_of=_cost_of(context.objective),
        settings=_settings(params, orders),
    )


def _make_version(
    formulation: Formulation,
    params: VersionParams,
    context: Context,
    decode: Literal["list", "prb"],
    cost_of: Callable[[ExpectedWaits, Sequence[WaitingJob], int], PlannedCost],
) -> CpDispatcher:
    """Return the version of a dispatcher (thesis, sections 2.3, 5.1 and 5.2)."""
    expected = params.expected_wait
    orders = [context.make("queue_order", order) for order in params.orders]
    priority: QueueOrder
    if expected is None:
        priority = context.make("queue_order", params.priority)
        cost = _cost_of(context.objective)
    else:
        waits = ExpectedWaits(expected.other, expected.by_queue)
        priority = waits

        def cost(jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
            return cost_of(waits, jobs, now)

    settings = _settings(params, orders if params.version >= 2 else ())._replace(
        decode=decode,
        overdue=params.version >= 2,
        worst_case_horizon=params.horizon == "worst_case",
    )
    if params.version == 0:
        settings = settings._replace(jobs="all", length=1 << 30)
    return _assemble(
        formulation, params, context, priority=priority, cost_of=cost, settings=settings
    )


def _assemble(
    formulation: Formulation,
    params: CpParams,
    context: Context,
    *,
    priority: QueueOrder,
    cost_of: CostOf,
    settings: CpSettings,
) -> CpDispatcher:
    return CpDispatcher(
        formulation,
        _backend(params, context),
        _solver(settings.guard),
        priority,
        cost_of,
        context.make("allocator", params.allocator),
        settings,
    )


def _settings(params: CpParams, orders: Sequence[QueueOrder]) -> CpSettings:
    return CpSettings(
        jobs=params.jobs,
        length=params.queue_length,
        limits=_limits(params),
        orders=tuple(orders),
        spare_nodes=params.spare_nodes,
        largest_model=params.largest_model,
        guard=params.guard,
    )


def _backend(params: CpParams, context: Context) -> Backend:
    backend: Backend = context.make("solver", params.solver)
    backend.check_installed()
    return backend


def _solver(guard: float | None) -> Solver:
    return SolverProcess() if guard is not None else InProcess()


def _limits(params: CpParams) -> Limits:
    limits = params.time_limits
    if limits is None:
        return Budget(params.budget or BUDGET)
    return Patience(limits.first, limits.most, limits.extensions)


def _cost_of(objective: Objective) -> CostOf:
    """Return what plans cost; raises InputError for an objective that cannot be planned for."""
    if not isinstance(objective, Plannable):
        raise _no_cost(objective)
    return objective.planned_cost


def _no_cost(objective: Objective) -> InputError:
    message = f"{type(objective).__name__} cannot be planned for: its plans have no cost"
    return InputError(Finding("no-planned-cost", message, key="objective"))


MAKERS: Mapping[str, Callable[[Any, Context], CpDispatcher | Improving]] = {
    "hcp19": make_hcp19,
    "pcp19": make_pcp19,
    "pcp4": make_pcp4,
    "pcp20": make_pcp20,
    "pcp21": make_pcp21,
    "node-time": make_node_time,
    "joint-now": make_joint_now,
    "cp": make_cp,
    "best-of": make_best_of,
}
"""What builds each dispatcher, by name."""
