"""CP Optimizer of IBM ILOG CPLEX Optimization Studio, by CPMpy's interface to `docplex`.

It is the solver of Goponenko et al. (DEBS 2024). The package `docplex` builds models; to solve them
takes the program `cpoptimizer`, which comes with a licence.
"""

import io
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any, NamedTuple, Self

from cpmpy.solvers.cpo import CPM_cpo

from hpcsched.context import Context
from hpcsched.dispatching.cp.backends.restarting import ClockedRun, RestartedSession
from hpcsched.dispatching.cp.backends.solver_params import CPO_PACKAGE, CpOptimizerParams
from hpcsched.dispatching.cp.formulation import BuiltModel
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
    deterministic: bool = False

    @classmethod
    def build(cls, params: CpOptimizerParams, _context: Context) -> Self:
        """Return the solver as its parameters say."""
        return cls(params.workers)

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
        return RestartedSession(
            built, lambda model: ClockedRun(_Solver(model), Workers=self.workers, RandomSeed=0)
        )


class _Solver(CPM_cpo):
    """CPMpy's solver without docplex's words, and with hints."""

    def __init__(self, model: Any) -> None:
        with redirect_stdout(io.StringIO()):
            super().__init__(model)

    def solution_hint(self, cpm_vars: Sequence[Any], vals: Sequence[Any]) -> None:
        """Set the starting point."""
        point = self.cpo_model.create_empty_solution()
        for variable, value in zip(cpm_vars, vals, strict=True):
            point.add_integer_var_solution(self.solver_var(variable), int(value))
        self.cpo_model.set_starting_point(point)
