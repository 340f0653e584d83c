"""The papers' search, schedule or postpone, on the data of a formulation: no model is built.

Answers are deterministic under a budget: the nodes of the search tree are counted. The tree is
`hpcsched._core.PostponeSearch`, in `hpcsched/cpp/postpone`.

Source: Galleguillos, thesis 2020, section 2.2.2 (algorithm 1, after Le Pape et al.) and section 6.3
(algorithm 4); Galleguillos et al., PCP'20 preprint, section 3, and CP 2021, section 3.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from hpcsched._core import PostponeMode, PostponeSearch
from hpcsched.dispatching.cp.backends.backend import Budget, Limits, StoppingRule, Watch
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations import (
    joint_now,
    pcp19,
    scheduling,
    unit_positions,
)
from hpcsched.dispatching.cp.solver_process import Answer
from hpcsched.dispatching.decision import SolverStatus
from hpcsched.dispatching.planning.model_data import ModelData, Plan, fault_of
from hpcsched.errors import Finding, InputError
from hpcsched.registration import builtin
from hpcsched.system.system import IntArray

NODES = 1_000_000
"""Nodes of the tree for one unit of work."""

_BETWEEN_LOOKS = 100
"""After so many nodes the clock is looked at, where there is a limit of time."""

_SLICE_SECONDS = 0.05
"""After so long the search lets Python handle signals."""

_Functions = tuple[Callable[..., Any], ...]

MEANINGS: dict[Any, tuple[PostponeMode, _Functions, _Functions]] = {
    scheduling.Nowhere: (PostponeMode.AGGREGATED, (scheduling.system_cumulatives,), ()),
    joint_now.CountsNow: (
        PostponeMode.NOW,
        (scheduling.cumulatives, joint_now.units_that_start_now, joint_now.class_capacities),
        (),
    ),
    pcp19.UnitIntervals: (
        PostponeMode.COUNTS,
        (pcp19.alternatives, pcp19.node_cumulatives),
        (scheduling.cumulatives,),
    ),
    pcp19.UnitCounts: (
        PostponeMode.COUNTS,
        (pcp19.all_units, pcp19.node_capacities),
        (scheduling.cumulatives, scheduling.disjunctions),
    ),
    unit_positions.UnitPositions: (
        PostponeMode.POSITIONS,
        (unit_positions.on_nodes, unit_positions.no_overlap),
        (
            scheduling.cumulatives,
            scheduling.disjunctions,
            unit_positions.ascending,
            unit_positions.all_different,
        ),
    ),
}
"""The mode of the search by the variables of a formulation, with the constraints that it keeps, and
others that leave at least one best plan."""


def mode_of(formulation: Formulation) -> PostponeMode:
    """Return the mode of the search; raises InputError if the search has other constraints."""
    unlike: set[Any] = {formulation.placing}
    if meaning := MEANINGS.get(formulation.placing):
        mode, kept, implied = meaning
        unlike = set(kept).symmetric_difference(formulation.constraints) - set(implied)
        if not unlike:
            return mode
    names = ", ".join(sorted(getattr(kind, "__name__", type(kind).__name__) for kind in unlike))
    message = (
        f"schedule-or-postpone and the formulation {formulation.name} differ in {names};"
        " expected a solver of CPMpy's models, such as ortools"
    )
    raise InputError(Finding("unknown-constraint", message, key="dispatcher.solver"))


class Cumulatives(NamedTuple):
    """The `G` cumulative resources: of the nodes together, and shared ones.

    Attributes
    ----------
    demands
        Demand of each job, `[J, G]`.
    total
        Their capacity, `[G]`.
    used_at, used
        Amounts that others than the jobs to be planned use from each time on, ascending from 0,
        `[F]`, `[F, G]`: running jobs, closed nodes and jobs with a fixed start; or that shared
        resources do not offer.
    """

    demands: IntArray
    total: IntArray
    used_at: IntArray
    used: IntArray


def cumulatives(data: ModelData, mode: PostponeMode, fixed: IntArray) -> Cumulatives:
    """Return the cumulative resources of a model in a mode of the search.

    Where plans name no nodes, they may be those of the whole system. `fixed` has the fixed starts
    of jobs, -1 for jobs with a free start, `[J]`.
    """
    shared = () if data.shared_resources is None else (data.shared_resources,)
    whole = data.aggregated_nodes if mode is PostponeMode.AGGREGATED else None
    types = data.type_count if whole is None else 0
    if whole is not None:
        shared = (whole, *shared)
    demands = np.hstack([data.demands[:, :types], *(resource.draws for resource in shared)])
    total = np.concatenate([data.totals[:types], *(resource.capacity for resource in shared)])
    # Jobs with a fixed start use nodes, but no shared resources.
    put_off = [resource is whole for resource in shared for _ in range(resource.shared_count)]
    late = demands * np.array([True] * types + put_off, dtype=np.int64)
    # Begin, end and amounts of what is taken of the nodes, and of all resources.
    tasks = [(0, end, amounts) for end, amounts in data.allocated_together] if types else []
    tasks += data.closed_together if types else ()
    begins, ends = fixed, fixed + data.run_times
    put_off_jobs = [(int(begins[j]), int(ends[j]), late[j]) for j in np.flatnonzero(fixed >= 0)]
    # Amounts change at these times alone, so that an entry for each is enough.
    times = {0, *(time for task in (*tasks, *put_off_jobs) for time in task[:2])}
    times.update(time for resource in shared for time in resource.since.tolist())
    at = np.array(sorted(times), dtype=np.int64)
    used = np.zeros((len(at), len(total)), dtype=np.int64)
    for begin, end, amounts in tasks:
        used[(begin <= at) & (at < end), :types] += amounts
    for begin, end, amounts in put_off_jobs:
        used[(begin <= at) & (at < end)] += amounts
    first = types
    for resource in shared:
        of = np.searchsorted(resource.since, at, side="right") - 1
        used[:, first : first + resource.shared_count] += resource.capacity - resource.free[of]
        first += resource.shared_count
    return Cumulatives(demands, total, at, used)


def open_search(
    data: ModelData,
    formulation: Formulation,
    mode: PostponeMode,
    shared: Cumulatives,
    order: Sequence[int],
) -> PostponeSearch:
    """Return a search at the root of its tree; `order` is the order of decisions on jobs."""
    return PostponeSearch(
        data,
        shared,
        np.flatnonzero(formulation.fixed_starts(data) < 0).tolist(),
        order,
        mode=mode,
        back_to_start=formulation.back_to_start,
        last_node_first=formulation.last_node_first,
        dominations=None,
    )


@builtin("solver", "schedule-or-postpone")
class ScheduleOrPostpone(NamedTuple):
    """Solver: the papers' search, which is part of hpcsched.

    A budget is in millions of nodes, beside as many as there are jobs.
    """

    largest: int = 1 << 60
    largest_objective: int = 1 << 50
    deterministic: bool = True

    def check_installed(self) -> None:
        """Do nothing: it is part of hpcsched."""

    def check_formulation(self, formulation: Formulation) -> None:
        """Raise InputError for a formulation with constraints that the search does not know."""
        mode_of(formulation)

    def solve(
        self,
        formulation: Formulation,
        data: ModelData,
        limits: Limits,
        hint: Plan | None,
    ) -> Answer:
        """Search for the best plan within limits; see `DataBackend`.

        A hint is improved on; where units have positions it is not looked at.
        """
        began = perf_counter()
        mode, fixed = mode_of(formulation), formulation.fixed_starts(data)
        shared = cumulatives(data, mode, fixed)
        if (shared.used > shared.total).any():
            return Answer("infeasible", variables=formulation.variables(data), branches=0, fails=0)
        best = None
        if hint is not None and mode is not PostponeMode.POSITIONS and formulation.first is None:
            # A wrong hint would be a limit that no plan can meet.
            best = hint if fault_of(hint, data) is None else None
        free = int((fixed < 0).sum())
        search = open_search(data, formulation, mode, shared, range(free))
        if best is not None:
            search.improve_on(data.cost(best.starts))
        ended = _go_through(search, limits, free)
        if search.starts is not None:
            jobs, placed = np.flatnonzero(fixed < 0), np.zeros_like(data.room)
            fixed[jobs] = search.starts
            for j, n, units in search.placed:
                placed[jobs[j], n] = units
            best = Plan(fixed, placed)
        elif best is not None and mode is not PostponeMode.COUNTS:
            # The hint names nodes that this formulation leaves open.
            named = (best.starts == 0) & (mode is PostponeMode.NOW)
            best = best._replace(placed=best.placed * named[:, np.newaxis])
        # The end of the tree proves nothing where plans were left out of it, or where a job may get
        # cheaper by waiting, which the search does not look for.
        may_wait = any(slope < 0 for curve in data.curves or () for slope in curve.slopes)
        ended = ended and not search.left_out and not may_wait
        status: SolverStatus = "optimal" if ended else "feasible"
        if best is None:
            status = "infeasible" if ended else "unknown"
        cost = None if best is None else data.cost(best.starts)
        return Answer(
            status,
            best,
            cost,
            # The search has no bound of the whole tree: only its end proves one.
            cost if ended else None,
            formulation.variables(data),
            solve_time=perf_counter() - began,
            branches=search.nodes,
            fails=search.fails,
        )


def _go_through(search: PostponeSearch, limits: Limits, count: int) -> bool:
    """Say whether all of the tree was seen within the limits."""
    began = perf_counter()
    watch = Watch(limits) if isinstance(limits, StoppingRule) else None
    nodes = count + (round(limits.work * NODES) if isinstance(limits, Budget) else 0)
    while not search.advance(nodes, 1 << 62, _SLICE_SECONDS):  # however many fails there are
        if search.nodes >= nodes:
            if watch is None:
                return False
            nodes += _BETWEEN_LOOKS
            while perf_counter() - began >= watch.limit:
                if not watch.goes_on(search.best_cost):
                    return False
    return True
