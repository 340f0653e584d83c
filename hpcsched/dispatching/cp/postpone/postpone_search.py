"""Schedule-or-postpone within limits: from a model's data to the best plan that was found."""

from random import Random
from time import perf_counter
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.core.compiled import is_compiled, plain
from hpcsched.dispatching.cp.formulation import Formulation, in_decision_order
from hpcsched.dispatching.cp.formulations.hcp19 import hcp19
from hpcsched.dispatching.cp.postpone import search_tables
from hpcsched.dispatching.cp.postpone.bound_kernels import NEVER
from hpcsched.dispatching.cp.postpone.known_constraints import mode_of
from hpcsched.dispatching.cp.postpone.preparing import Given, prepare
from hpcsched.dispatching.cp.postpone.search_kernels import advance
from hpcsched.dispatching.cp.postpone.search_opening import open_search
from hpcsched.dispatching.cp.postpone.search_tables import Search
from hpcsched.dispatching.cp.solver_limits import Budget, Limits, StoppingRule, Watch
from hpcsched.dispatching.decision import SolverStatus
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan import Plan, fault_of
from hpcsched.system.system import IntArray

NODES = 1_000_000
"""Nodes of the tree for one unit of work."""

_BETWEEN_LOOKS = 100
"""After so many nodes the clock is looked at, where there is a limit of time."""

_PLAIN_SIZE = 64
_PLAIN_NODES = 5000
"""Of problems of so many jobs × nodes, so many nodes are done before anything is compiled."""


class Found(NamedTuple):
    """The result of a search.

    `nodes` counts decisions and their changes, `fails` dead ends.
    """

    status: SolverStatus
    plan: Plan | None
    objective: int | None
    nodes: int
    fails: int


def schedule_or_postpone(
    data: ModelData,
    formulation: Formulation,
    limits: Limits,
    hint: Plan | None,
    restart_after: int | None,
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
    """
    mode = mode_of(formulation)
    given = prepare(data, formulation, mode)
    if (given.problem.fixed > given.problem.total).any():
        return Found("infeasible", None, None, 0, 0)
    best = None
    if hint is not None and mode != search_tables.POSITIONS and formulation.first is None:
        # A wrong hint would be a limit that no plan can meet.
        best = hint if fault_of(hint, data) is None else None
    fixed = formulation.fixed_starts(data)
    by_choice = in_decision_order(data, shortest_first=formulation.shortest_first)
    order = np.array([j for j in by_choice if fixed[j] < 0], dtype=np.int64)
    search = open_search(given, data, order)
    if best is not None:
        search.state[search_tables.BEST] = data.cost(best.starts)
    search, ended = _go_through(given, data, search, limits, restart_after)
    state = search.state
    if state[search_tables.SOLUTIONS]:
        best = _plan_of(given, data, search, fixed)
    elif best is not None and mode != search_tables.COUNTS:
        # The hint names nodes that this formulation leaves open.
        named = (best.starts == 0) & (mode == search_tables.NOW)
        best = best._replace(placed=best.placed * named[:, np.newaxis])
    # The end of the tree proves nothing where plans were left out of it.
    ended = ended and not state[search_tables.LEFT_OUT] and not _may_wait(data)
    nodes, fails = int(state[search_tables.NODES]), int(state[search_tables.FAILS])
    if best is None:
        return Found("infeasible" if ended else "unknown", None, None, nodes, fails)
    cost = data.cost(best.starts)
    return Found("optimal" if ended else "feasible", best, cost, nodes, fails)


def _may_wait(data: ModelData) -> bool:
    """Say whether a job may get cheaper by waiting, which the search does not look for."""
    return any(slope < 0 for curve in data.curves or () for slope in curve.slopes)


def _plan_of(given: Given, data: ModelData, search: Search, fixed: IntArray) -> Plan:
    starts, jobs = fixed.copy(), fixed < 0
    starts[jobs] = search.best_start
    placed = np.zeros((data.job_count, data.node_count), dtype=np.int64)
    placed[np.ix_(jobs, given.order)] = search.best_placed
    return Plan(starts, placed)


def _go_through(
    given: Given, data: ModelData, search: Search, limits: Limits, restart_after: int | None
) -> tuple[Search, bool]:
    """Go through the tree within limits; return the search, and whether all of it was seen."""
    count = len(given.problem.units)
    few = _PLAIN_NODES if _is_small(count, len(given.order)) else 0
    fails = restart_after or NEVER
    until, random, goes_on = fails, Random(0), _Limit(limits, count)
    while True:
        most = goes_on.nodes
        # Plain Python and compiled code change the same arrays: one goes on where the other
        # stopped.
        ended = plain(advance)(min(most, few), until, given.problem, search)
        state = search.state
        if not ended and state[search_tables.NODES] < most and state[search_tables.FAILS] < until:
            ended = advance(most, until, given.problem, search)
        if ended:
            return search, True
        if state[search_tables.FAILS] >= until:
            fails *= 2
            until = int(state[search_tables.FAILS]) + fails
            search = open_search(given, data, _other_order(count, random), search)
        elif not goes_on.beyond(search):
            return search, False


def _is_small(jobs: int, nodes: int) -> bool:
    return jobs * max(nodes, 1) <= _PLAIN_SIZE


def make_ready(data: ModelData) -> None:
    """Compile the search, if it is not, unless it may be done with before that pays.

    The machine code is kept, so that other processes find it.
    """
    if _is_small(data.job_count, data.node_count) or is_compiled(advance):
        return
    none = np.zeros(0, dtype=np.int64)
    one, empty = np.ones(1, dtype=np.int64), none.reshape(0, 1)
    table = one.reshape(1, 1)
    tiny = ModelData(
        1, one, table, one, table, table, none, none, empty, table, table, 0, horizon=1
    )
    given = prepare(tiny, hcp19(), search_tables.AGGREGATED)
    advance(1, 1, given.problem, open_search(given, tiny, one - 1))


class _Limit:
    """The number of `nodes` at which a search ends, until limits are reached."""

    def __init__(self, limits: Limits, count: int) -> None:
        self._watch = Watch(limits) if isinstance(limits, StoppingRule) else None
        self._began = perf_counter()
        self.nodes = count
        if isinstance(limits, Budget):
            self.nodes += round(limits.work * NODES)

    def beyond(self, search: Search) -> bool:
        """Say whether to go on beyond the nodes so far, and up to how many more."""
        if self._watch is None:
            return False
        self.nodes += _BETWEEN_LOOKS
        best = int(search.state[search_tables.BEST])
        while perf_counter() - self._began >= self._watch.limit:
            if not self._watch.goes_on(None if best == NEVER else best):
                return False
        return True


def _other_order(count: int, random: Random) -> IntArray:
    """Return an order by priority in which jobs may change places with others close by."""
    key = [rank + random.random() * count / 2 for rank in range(count)]
    return np.argsort(np.array(key), kind="stable").astype(np.int64)
