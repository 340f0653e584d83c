"""Choco, by its Python interface `pychoco`.

Answers are deterministic under a budget: Choco searches with one thread and fixed seeds, and the
nodes of the search tree are counted.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import cpmpy as cp
from cpmpy.expressions.variables import _IntVarImpl
from cpmpy.solvers.choco import CPM_choco
from cpmpy.transformations.get_variables import get_variables_model
from cpmpy.transformations.normalize import toplevel_list
from pychoco import backend

from hpcsched.context import Context
from hpcsched.dispatching.cp.backends.any_solver import LEAST_SECONDS, RestartedSession
from hpcsched.dispatching.cp.backends.backend import Outcome
from hpcsched.dispatching.cp.backends.solver_params import CHOCO_PACKAGE, BranchingParams
from hpcsched.dispatching.cp.formulation import BuiltModel, Phase, Variable
from hpcsched.dispatching.cp.solver_limits import Budget
from hpcsched.registration import builtin

NODES = 1000
"""Nodes of the search tree for one unit of work."""

LARGEST_SET = 1024
"""Domains with more values are intervals; as sets, places on a line take seconds to make."""


@builtin("solver", "choco", BranchingParams, summary="Choco", needs=CHOCO_PACKAGE)
class Choco(NamedTuple):
    """Choco. With `follow_phases` it branches as the formulation's search says.

    - The work of a budget is in thousands of nodes of the search tree, beside as many nodes as
      there are variables, which the way down to a first solution takes.
    - A hint is where the search begins.
    - Choco computes with 32 bits, and says that there is no solution, or ends the process, where
      they do not suffice. Numbers are kept to an eighth of that, as it adds them up.
    """

    follow_phases: bool = False
    largest: int = 1 << 28
    largest_objective: int = 1 << 28
    deterministic: bool = True

    @classmethod
    def build(cls, params: BranchingParams, _context: Context) -> Self:
        """Return the solver as its parameters say."""
        return cls(follow_phases=params.search == "papers")

    def check_installed(self) -> None:
        """Raise PluginError where pychoco is absent."""
        CHOCO_PACKAGE.require()

    def load(self, built: BuiltModel) -> RestartedSession:
        """Put a model into Choco's terms."""
        self.check_installed()
        phases = built.phases if self.follow_phases else ()
        return RestartedSession(built, lambda model: _ChocoRun(model, phases).solve)


class _Solver(CPM_choco):
    """CPMpy's solver with large domains as intervals, and two more of Choco's constraints.

    They are `diffn` for `NoOverlap2D`, and cumulatives for optional tasks.
    """

    supported_global_constraints = CPM_choco.supported_global_constraints | {"no_overlap_2d"}

    def transform(self, cpm_expr: Any) -> Any:
        """Return constraints that Choco has.

        A task that may be absent is one whose demand may be 0.
        """
        return super().transform([_by_demand(part) for part in toplevel_list(cpm_expr)])

    def _get_constraint(self, cpm_expr: Any) -> Any:
        """Return a constraint of Choco."""
        if getattr(cpm_expr, "name", None) != "no_overlap_2d":
            return super()._get_constraint(cpm_expr)
        x, width, y, height = (self._to_vars(part) for part in cpm_expr.args)
        origins = self._distinct([*x, *y])
        return self.chc_model.diff_n(origins[: len(x)], origins[len(x) :], width, height)

    def _distinct(self, variables: Sequence[Any]) -> list[Any]:
        """Replace each repeated variable by a new one that equals it.

        Units of a job share their start. When `diffn` moves a rectangle, it does not check others
        with the same variable again, and may accept rectangles that overlap. Choco's check of
        solutions then ends the process.
        """
        found: dict[int, Any] = {}  # by identity, as `==` of Choco's variables makes a constraint
        for variable in variables:
            own = variable
            if id(variable) in found:
                low, high = variable.get_lb(), variable.get_ub()
                own = self.chc_model.intvar(low, high, bounded_domain=True)
                self.chc_model.arithm(own, "=", variable).post()
            found[id(own)] = own
        return list(found.values())

    def solver_var(self, cpm_var: Any) -> Any:
        """Return the variable of Choco for one of CPMpy."""
        if (
            isinstance(cpm_var, _IntVarImpl)
            and cpm_var.ub - cpm_var.lb >= LARGEST_SET
            and cpm_var.name not in self._varmap
        ):
            self._varmap[cpm_var.name] = self.chc_model.intvar(
                cpm_var.lb, cpm_var.ub, cpm_var.name, bounded_domain=True
            )
        return super().solver_var(cpm_var)


def _by_demand(constraint: Any) -> Any:
    if getattr(constraint, "name", None) != "cumulative_optional" or len(constraint.args) != 5:
        return constraint
    starts, durations, demands, capacity, present = constraint.args
    demands = [demand * here for demand, here in zip(demands, present, strict=True)]
    return cp.Cumulative(starts, durations, demand=demands, capacity=capacity)


class _ChocoRun:
    """A model loaded into Choco."""

    def __init__(self, model: Any, phases: Sequence[Phase]) -> None:
        self._variables = get_variables_model(model)
        self._cpmpy = _Solver(model)
        self._native = self._cpmpy.chc_model.get_solver()
        if phases:
            self._follow(phases)

    def _follow(self, phases: Sequence[Phase]) -> None:
        """Branch on the variables in order, each from the end that its phase says, then on others.

        Choco can be given one order with one end: a variable's largest value is the least of its
        negative.
        """
        order: list[Any] = []
        seen: set[str] = set()
        for phase in phases:
            for variable in phase.variables:
                native = self._cpmpy.solver_var(variable)
                seen.add(variable.name)
                if phase.value == "largest":
                    native = self._cpmpy.chc_model.int_minus_view(native)
                order.append(native)
        order += [native for name, native in self._cpmpy._varmap.items() if name not in seen]
        self._native.set_input_order_lb_search(*order)

    def solve(self, limit: Budget | float, hint: dict[Variable, int] | None) -> Outcome:
        # Choco's own interface is called: CPMpy has only limits of time, and decides by its own
        # clock whether a search came to its end.
        cpmpy, native = self._cpmpy, self._native
        # Before the limit is set, as the number of known variables is part of it.
        cpmpy.solver_vars(self._variables)
        for variable, value in (hint or {}).items():
            native.add_hint(cpmpy.solver_var(variable), int(value))
        goal = cpmpy.solver_var(cpmpy.obj)
        # The search was stopped if its count has reached the limit. Not by `get_search_state`:
        # each of its strings keeps a part of Choco's memory.
        if isinstance(limit, Budget):
            node_limit = len(cpmpy._varmap) + round(limit.work * NODES)
            solution = native.find_optimal_solution(goal, maximize=False, node_limit=node_limit)
            ended = self._nodes() < node_limit
        else:
            seconds = f"{max(limit, LEAST_SECONDS):.3f}"
            solution = native.find_optimal_solution(goal, maximize=False, time_limit=f"{seconds}s")
            ended = native.get_time_count() < float(seconds)
        counted = {"branches": self._nodes(), "fails": int(native.get_fail_count())}
        if solution is None:
            return Outcome("infeasible" if ended else "unknown", **counted)
        for variable in self._variables:
            value = solution.get_int_val(cpmpy.solver_var(variable))
            # Choco's Booleans are numbers; CPMpy's expressions expect them to be bool.
            variable._value = bool(value) if variable.is_bool() else value
        return Outcome("optimal" if ended else "feasible", **counted)

    def _nodes(self) -> int:
        # pychoco 0.4's own `get_node_count` returns the time.
        count: Any = backend.get_node_count
        return int(count(self._native._handle))
