"""CP Optimizer of IBM ILOG CPLEX Optimization Studio, by CPMpy's interface to `docplex`.

It is the solver of Goponenko et al. (DEBS 2024). The package `docplex` builds models; to solve them
takes the program `cpoptimizer`, which comes with a licence.
"""

import io
from contextlib import redirect_stdout
from typing import Any, NamedTuple, Self

from cpmpy.solvers.cpo import CPM_cpo

from hpcsched.context import Context
from hpcsched.dispatching.cp.backends.backend import Outcome
from hpcsched.dispatching.cp.backends.restarting import LEAST_SECONDS, STATUS, RestartedSession
from hpcsched.dispatching.cp.backends.solver_params import CPO_PACKAGE, CpOptimizerParams
from hpcsched.dispatching.cp.formulation import BuiltModel, Variable
from hpcsched.dispatching.cp.solver_limits import Budget
from hpcsched.errors import PluginError
from hpcsched.registration import builtin


@builtin(
    "solver",
    "cpo",
    CpOptimizerParams,
    summary="CP Optimizer, which takes a licence and stops by the clock",
    needs=CPO_PACKAGE,
)
class CpOptimizer(NamedTuple):
    """CP Optimizer.

    - The work of a budget is in seconds of the clock.
    - A hint is its starting point.
    - Decision strategies of formulations are not followed.
    - It has no constraint for rectangles, which are said to be apart pair by pair.
    """

    workers: int = 1
    largest: int = 1 << 50
    largest_objective: int = 1 << 50

    @classmethod
    def build(cls, params: CpOptimizerParams, _context: Context) -> Self:
        """Return the solver as its parameters say."""
        return cls(params.workers)

    @property
    def deterministic(self) -> bool:
        """A budget is counted by the clock."""
        return False

    def check_installed(self) -> None:
        """Raise PluginError where docplex or the program cpoptimizer is absent."""
        CPO_PACKAGE.require()
        with redirect_stdout(io.StringIO()):  # docplex says at length what it does not find
            found = CPM_cpo.license_ok()
        if not found:
            raise PluginError(
                "solver cpo: the program cpoptimizer is not found; install IBM ILOG CPLEX"
                " Optimization Studio, and put cpoptimizer into a folder of PATH"
            )

    def load(self, built: BuiltModel) -> RestartedSession:
        """Put a model into CP Optimizer's terms."""
        self.check_installed()
        return RestartedSession(built, lambda model: _CpoRun(model, self.workers))


class _CpoRun:
    """A model in CP Optimizer's terms."""

    def __init__(self, model: Any, workers: int) -> None:
        self._workers = workers
        with redirect_stdout(io.StringIO()):
            self._cpmpy = CPM_cpo(model)

    def solve(self, limit: Budget | float, hint: dict[Variable, int] | None) -> Outcome:
        cpmpy = self._cpmpy
        if hint:
            point = cpmpy.cpo_model.create_empty_solution()
            for variable, value in hint.items():
                point.add_integer_var_solution(cpmpy.solver_var(variable), int(value))
            cpmpy.cpo_model.set_starting_point(point)
        seconds = limit.work if isinstance(limit, Budget) else limit
        cpmpy.solve(
            time_limit=max(seconds, LEAST_SECONDS),
            Workers=self._workers,
            RandomSeed=0,
        )
        return Outcome(STATUS[cpmpy.status().exitstatus])
