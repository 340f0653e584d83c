"""What builds the CP dispatchers.

To be imported where one is built: CPMpy takes time to import, and so does what compiles list plans.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

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
from hpcsched.dispatching.cp.guard import InProcess, SolverProcess
from hpcsched.dispatching.cp.limits import Budget, Patience
from hpcsched.dispatching.cp.params import (
    BUDGET,
    CpParams,
    Hcp19Params,
    JointNowParams,
    Pcp21Params,
    PlanAllParams,
    VersionParams,
)
from hpcsched.dispatching.heuristic.orders import QueueOrder
from hpcsched.dispatching.objective import Objective
from hpcsched.dispatching.planned_cost import Plannable, PlannedCost
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.errors import Finding, InputError

CostOf = Callable[[Sequence[WaitingJob], int], PlannedCost]


class Context(Protocol):
    """What the factories here need of an assembly."""

    @property
    def objective(self) -> Objective:
        """The scenario's objective."""

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
    backend = context.make("solver", params.solver)
    backend.check_installed()
    return CpDispatcher(
        formulation,
        backend,
        SolverProcess() if settings.guard is not None else InProcess(),
        priority,
        cost_of,
        context.make("allocator", params.allocator),
        settings,
    )


def _settings(params: CpParams, orders: Sequence[QueueOrder]) -> CpSettings:
    limits = params.time_limits
    return CpSettings(
        jobs=params.jobs,
        length=params.queue_length,
        limits=Budget(params.budget or BUDGET)
        if limits is None
        else Patience(limits.first, limits.most, limits.extensions),
        orders=tuple(orders),
        spare_nodes=params.spare_nodes,
        largest_model=params.largest_model,
        guard=params.guard,
    )


def _cost_of(objective: Objective) -> CostOf:
    """Return what plans cost; raises InputError for an objective that cannot be planned for."""
    if not isinstance(objective, Plannable):
        message = f"{type(objective).__name__} cannot be planned for: its plans have no cost"
        raise InputError(Finding("no-planned-cost", message, key="objective"))
    return objective.planned_cost


MAKERS: Mapping[str, Callable[[Any, Context], CpDispatcher]] = {
    "hcp19": make_hcp19,
    "pcp19": make_pcp19,
    "pcp4": make_pcp4,
    "pcp20": make_pcp20,
    "pcp21": make_pcp21,
    "node-time": make_node_time,
    "joint-now": make_joint_now,
}
"""What builds each dispatcher, by name."""
