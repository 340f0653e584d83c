"""OR-Tools CP-SAT, the default backend.

Answers of one worker are deterministic under a budget: a fixed seed, and work that is counted
(`max_deterministic_time`). Turns of several workers (`interleave_search`) would be, too, but took
twenty times a budget of 0.3.
"""

import threading
from math import ceil
from time import perf_counter
from typing import Any, NamedTuple, Self

from cpmpy.exceptions import NotSupportedError
from cpmpy.solvers.ortools import CPM_ortools
from ortools.sat.python import cp_model

from hpcsched.dispatching.cp.backends.any_solver import STATUS
from hpcsched.dispatching.cp.backends.backend import Budget, Limits, Outcome, StoppingRule, Watch
from hpcsched.dispatching.cp.cp_params import OrToolsParams
from hpcsched.dispatching.cp.formulation import BuiltModel, Variable
from hpcsched.registration import Context, builtin

_FROM_HINT = {
    "cp_model_presolve": False,
    "linearization_level": 0,
    "cp_model_probing_level": 0,
    "symmetry_level": 0,
}
"""With a complete hint, what comes before the search costs more than it brings."""


class CpSat(CPM_ortools):
    """CPMpy's solver with `NoOverlap2D` posted natively."""

    has_boxes = False
    supported_global_constraints = CPM_ortools.supported_global_constraints | {"no_overlap_2d"}

    def _post_constraint(self, cpm_expr: Any, reifiable: bool = False) -> Any:
        if getattr(cpm_expr, "name", None) != "no_overlap_2d":
            return super()._post_constraint(cpm_expr, reifiable)
        if reifiable:
            raise NotSupportedError("a no_overlap_2d that may or may not hold")
        x, width, y, height = cpm_expr.args
        model = self.ort_model
        self.has_boxes = True
        intervals = [
            [
                model.new_fixed_size_interval_var(self.solver_var(origin), size, "")
                for origin, size in zip(origins, sizes, strict=True)
            ]
            for origins, sizes in ((x, width), (y, height))
        ]
        return model.add_no_overlap_2d(*intervals)


@builtin("solver", "ortools", OrToolsParams)
class OrTools(NamedTuple):
    """Solver: OR-Tools CP-SAT.

    The work of a budget is its deterministic time.
    """

    workers: int = 1
    largest: int = 1 << 60
    largest_objective: int = 1 << 50

    @classmethod
    def build(cls, params: OrToolsParams, _context: Context) -> Self:
        """Return the solver as its parameters say."""
        return cls(params.workers)

    @property
    def deterministic(self) -> bool:
        """With one worker, equal problems get equal answers under a budget."""
        return self.workers == 1

    def check_installed(self) -> None:
        """Do nothing: hpcsched depends on OR-Tools."""

    def load(self, built: BuiltModel) -> "OrToolsSession":
        """Put a model into CP-SAT's terms."""
        return OrToolsSession(CpSat(built.model), self.workers)


class OrToolsSession:
    """A model in CP-SAT's terms."""

    def __init__(self, solver: CpSat, workers: int) -> None:
        self._solver = solver
        self._workers = workers

    def add(self, constraint: Any) -> None:
        """Add a constraint before solving again."""
        self._solver += constraint

    def solve(self, limits: Limits, hint: dict[Variable, int] | None) -> Outcome:
        """Solve within limits; see `Session`."""
        solver = self._solver
        options: dict[str, Any] = {
            "num_workers": self._workers,
            "random_seed": 0,
            "catch_sigint_signal": False,  # Ctrl-C is the simulation's affair
        }
        if solver.has_boxes and not hint:
            # 0.1 s to a first plan of 78 units on 64 nodes, where the default has none after 2.5 s.
            options["search_branching"] = cp_model.PORTFOLIO_SEARCH
        if hint:
            solver.solution_hint(list(hint), list(hint.values()))
            options |= _FROM_HINT
        if isinstance(limits, Budget):
            solver.solve(max_deterministic_time=limits.work, **options)
        else:
            _solve_watched(solver, limits, options)
        status = STATUS[solver.cpm_status.exitstatus]
        native = solver.ort_solver
        counted = {"branches": native.num_branches, "fails": native.num_conflicts}
        if status in ("unknown", "infeasible") or not solver.has_objective():
            return Outcome(status, **counted)
        # Costs are whole numbers; the bound is one but for the rounding of its scale.
        bound = ceil(native.best_objective_bound - 1e-6)
        return Outcome(status, round(native.objective_value), bound, **counted)


def _solve_watched(solver: CpSat, rule: StoppingRule, options: dict[str, Any]) -> None:
    """Solve without starting anew, looking at the best solution at the end of each limit."""
    best = _Best()
    done = threading.Event()
    watch = Watch(rule)
    began = perf_counter()

    def look() -> None:
        # Limits count from the beginning of the search, not from the last look.
        while not done.wait(max(began + watch.limit - perf_counter(), 0)):
            if not watch.goes_on(best.objective):
                solver.ort_solver.stop_search()
                return

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        solver.solve(time_limit=rule.most, solution_callback=best, **options)
    finally:
        # The watcher is gone before the next call, which it could stop otherwise.
        done.set()
        watcher.join()


class _Best(cp_model.CpSolverSolutionCallback):
    """Notes the objective of each better solution."""

    def __init__(self) -> None:
        super().__init__()
        self.objective: int | None = None

    def on_solution_callback(self) -> None:
        """Note the objective."""
        self.objective = round(self.objective_value)
