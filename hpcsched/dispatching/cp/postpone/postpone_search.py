"""Schedule-or-postpone within limits: from a model's data to the best plan that was found."""

from collections.abc import Sequence
from random import Random
from time import perf_counter
from typing import NamedTuple

import numpy as np

from hpcsched._core import PostponeMode, PostponeSearch
from hpcsched.dispatching.cp.formulation import Formulation, in_decision_order
from hpcsched.dispatching.cp.postpone.known_constraints import mode_of
from hpcsched.dispatching.cp.postpone.search_problem import cumulatives, open_search
from hpcsched.dispatching.cp.solver_limits import Budget, Limits, StoppingRule, Watch
from hpcsched.dispatching.decision import SolverStatus
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan import Plan, fault_of
from hpcsched.system.system import IntArray

NODES = 1_000_000
"""Nodes of the tree for one unit of work."""

_BETWEEN_LOOKS = 100
"""After so many nodes the clock is looked at, where there is a limit of time."""

_SLICE_SECONDS = 0.05
"""After so long the search lets Python handle signals, and looks for its deadline."""

_NEVER = 1 << 62
"""More fails than any search has."""


class Found(NamedTuple):
    """The result of a search.

    `nodes` counts decisions and their changes, `fails` dead ends; `late` says that the search ended
    at its deadline, before its limits.
    """

    status: SolverStatus
    plan: Plan | None
    objective: int | None
    nodes: int
    fails: int
    late: bool = False


def schedule_or_postpone(
    data: ModelData,
    formulation: Formulation,
    limits: Limits,
    hint: Plan | None,
    restart_after: int | None,
    *,
    seconds: float | None = None,
) -> Found:
    """Return the best plan that is found within limits.

    Parameters
    ----------
    data
        The jobs, by priority, and nodes.
    formulation
        What plans have to keep to; its constraints are known (see `known_constraints`).
    limits
        A budget is in millions of nodes, beside as many as there are jobs.
    hint
        A plan to be improved on; where units have positions it is not looked at.
    restart_after
        After so many fails the search begins anew with another order of jobs, after twice as many
        again, and so on; None: never.
    seconds
        Real seconds after which the search ends whatever the limits; None: never.
    """
    mode = mode_of(formulation)
    fixed = formulation.fixed_starts(data)
    shared = cumulatives(data, mode, fixed)
    if (shared.used > shared.total).any():
        return Found("infeasible", None, None, 0, 0)
    best = None
    if hint is not None and mode is not PostponeMode.POSITIONS and formulation.first is None:
        # A wrong hint would be a limit that no plan can meet.
        best = hint if fault_of(hint, data) is None else None
    by_choice = in_decision_order(data, shortest_first=formulation.shortest_first)
    order = [j for j in by_choice if fixed[j] < 0]
    search = open_search(data, formulation, mode, shared, order)
    if best is not None:
        search.improve_on(data.cost(best.starts))
    passage = _Passage(search, limits, len(order), restart_after, seconds)
    ended = passage.go_through()
    if search.starts is not None:
        best = _plan_of(data, search, search.starts, fixed)
    elif best is not None and mode is not PostponeMode.COUNTS:
        # The hint names nodes that this formulation leaves open.
        named = (best.starts == 0) & (mode is PostponeMode.NOW)
        best = best._replace(placed=best.placed * named[:, np.newaxis])
    # The end of the tree proves nothing where plans were left out of it.
    ended = ended and not search.left_out and not _may_wait(data)
    nodes, fails = search.nodes, search.fails
    if best is None:
        status: SolverStatus = "infeasible" if ended else "unknown"
        return Found(status, None, None, nodes, fails, passage.late)
    cost = data.cost(best.starts)
    return Found("optimal" if ended else "feasible", best, cost, nodes, fails, passage.late)


def _may_wait(data: ModelData) -> bool:
    """Say whether a job may get cheaper by waiting, which the search does not look for."""
    return any(slope < 0 for curve in data.curves or () for slope in curve.slopes)


def _plan_of(
    data: ModelData, search: PostponeSearch, found: Sequence[int], fixed: IntArray
) -> Plan:
    starts, jobs = fixed.copy(), np.flatnonzero(fixed < 0)
    starts[jobs] = found
    placed = np.zeros((data.job_count, data.node_count), dtype=np.int64)
    for j, n, units in search.placed:
        placed[jobs[j], n] = units
    return Plan(starts, placed)


class _Passage:
    """A passage through the tree within limits.

    Attributes
    ----------
    late
        Whether the deadline ended it.
    """

    def __init__(
        self,
        search: PostponeSearch,
        limits: Limits,
        count: int,
        restart_after: int | None,
        seconds: float | None,
    ) -> None:
        self.late = False
        self._search = search
        self._count = count
        self._restart_after = restart_after or _NEVER
        self._watch = Watch(limits) if isinstance(limits, StoppingRule) else None
        self._began = perf_counter()
        self._seconds = seconds
        self._nodes = count
        if isinstance(limits, Budget):
            self._nodes += round(limits.work * NODES)

    def go_through(self) -> bool:
        """Say whether all of the tree was seen."""
        search, random = self._search, Random(0)
        fails = until = self._restart_after
        while not search.advance(self._nodes, until, _SLICE_SECONDS):
            if search.fails >= until:
                fails *= 2
                until = search.fails + fails
                search.restart(_other_order(self._count, random))
            elif search.nodes >= self._nodes:
                if not self._goes_beyond():
                    return False
            elif self._seconds is not None and perf_counter() - self._began >= self._seconds:
                self.late = True
                return False
        return True

    def _goes_beyond(self) -> bool:
        """Say whether to go on beyond the nodes so far, and up to how many more."""
        if self._watch is None:
            return False
        self._nodes += _BETWEEN_LOOKS
        while perf_counter() - self._began >= self._watch.limit:
            if not self._watch.goes_on(self._search.best_cost):
                return False
        return True


def _other_order(count: int, random: Random) -> Sequence[int]:
    """Return an order by priority in which jobs may change places with others close by."""
    key = [rank + random.random() * count / 2 for rank in range(count)]
    return sorted(range(count), key=key.__getitem__)
