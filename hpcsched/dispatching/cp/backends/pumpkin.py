"""Pumpkin, by its Python interface `pumpkin-solver`.

Answers are not deterministic under a budget: its Python interface has no limit but the clock.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

from cpmpy.expressions.utils import is_num
from cpmpy.solvers.pumpkin import CPM_pumpkin
from cpmpy.transformations.normalize import toplevel_list

from hpcsched.context import Context
from hpcsched.dispatching.cp.backends.restarting import ClockedRun, RestartedSession
from hpcsched.dispatching.cp.backends.solver_params import PUMPKIN_PACKAGE, PumpkinParams
from hpcsched.dispatching.cp.formulation import BuiltModel
from hpcsched.registration import builtin


@builtin(
    "solver",
    "pumpkin",
    PumpkinParams,
    summary="Pumpkin, which stops by the clock",
    needs=PUMPKIN_PACKAGE,
)
class Pumpkin(NamedTuple):
    """Pumpkin.

    - The work of a budget is in seconds of the clock.
    - A hint is where the search begins.
    - Decision strategies of formulations are not followed.
    - Pumpkin computes with 32 bits, and says that there is no solution, or fails, where they do not
      suffice. Numbers are kept to an eighth of that, as it adds them up.
    """

    largest: int = 1 << 28
    largest_objective: int = 1 << 28
    deterministic: bool = False

    @classmethod
    def build(cls, _params: PumpkinParams, _context: Context) -> Self:
        """Return the solver."""
        return cls()

    def check_installed(self) -> None:
        """Raise PluginError where pumpkin-solver is absent."""
        PUMPKIN_PACKAGE.require()

    def load(self, built: BuiltModel) -> RestartedSession:
        """Put a model into Pumpkin's terms."""
        self.check_installed()
        return RestartedSession(built, lambda model: ClockedRun(_Solver(model)))


class _Solver(CPM_pumpkin):
    """CPMpy's solver with the parts that our models need and it leaves out."""

    def __init__(self, model: Any) -> None:
        with _panics():
            super().__init__(model, seed=0)

    def solve(self, **options: Any) -> bool:
        """Solve; a panic is an exception."""
        with _panics():
            return bool(super().solve(**options))

    def transform(self, cpm_expr: Any) -> Any:
        """Return constraints that Pumpkin has; its cumulative takes only numbers as demands."""
        parts = [part for one in toplevel_list(cpm_expr) for part in _decomposed(one)]
        return super().transform(parts)

    def solution_hint(self, cpm_vars: Sequence[Any], vals: Sequence[Any]) -> None:
        """Set the warm start; Pumpkin takes whole numbers only, also for Booleans."""
        if not self.pum_solver.is_inconsistent():
            self._solhint = {
                self.to_pum_ivar(variable): int(value)
                for variable, value in zip(cpm_vars, vals, strict=True)
            }


def _decomposed(constraint: Any) -> Any:
    """Return the decomposition of a cumulative that Pumpkin does not have; others as they are."""
    name = getattr(constraint, "name", None)
    if name not in ("cumulative", "cumulative_optional"):
        return [constraint]
    # The capacity is the last argument, the demands are the one before it.
    if name == "cumulative" and all(is_num(demand) for demand in constraint.args[-2]):
        return [constraint]
    holds, defining = constraint.decompose()
    return [*holds, *defining]


@contextmanager
def _panics() -> Iterator[None]:
    """Turn a panic of Pumpkin, which is no `Exception`, into one."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(f"Pumpkin panicked: {error}") from None
