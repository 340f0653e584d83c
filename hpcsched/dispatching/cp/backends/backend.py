"""The protocols of backends."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from hpcsched.dispatching.cp.formulation import BuiltModel, Formulation, Variable
from hpcsched.dispatching.cp.solver_limits import Limits
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan import Plan

Outcomes = Literal["optimal", "feasible", "unknown", "infeasible"]


class Outcome(NamedTuple):
    """What a solver says: `objective` of its best solution and a `bound` on any, if there are.

    `branches` and `fails` are what its search had come to when it ended; see `SolverCall`.
    """

    status: Outcomes
    objective: int | None = None
    bound: float | None = None
    branches: int | None = None
    fails: int | None = None


def total(counts: Sequence[int | None]) -> int | None:
    """Return the sum of what was counted; None if nothing was."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


class Session(Protocol):
    """A model in the terms of one solver; solutions are left in the model's variables."""

    def solve(self, limits: Limits, hint: dict[Variable, int] | None) -> Outcome:
        """Solve within limits, starting from values for all decision variables, if given."""

    def add(self, constraint: Any) -> None:
        """Add a constraint before solving again."""


class AnyBackend(Protocol):
    """What every backend says of its solver. Can be pickled."""

    @property
    def deterministic(self) -> bool:
        """Whether equal problems get equal answers under a budget."""

    @property
    def largest(self) -> int:
        """The largest number that may occur in a model's constraints."""

    @property
    def largest_objective(self) -> int:
        """The largest value that an objective may have."""

    def check_installed(self) -> None:
        """Raise PluginError, saying what to install, where the solver is not there."""


class Backend(AnyBackend, Protocol):
    """Puts models into a solver's terms; imports its solver when first used."""

    def load(self, built: BuiltModel) -> Session:
        """Put a model into the solver's terms."""


@runtime_checkable
class DataBackend(AnyBackend, Protocol):
    """Works on the data of a formulation, by its terms; no model is built."""

    def prepare(self, data: ModelData) -> None:
        """Do what has to be done once and takes its time, before such data are solved."""

    def solve(
        self, formulation: Formulation, data: ModelData, limits: Limits, hint: Plan | None
    ) -> Any:
        """Return the `Answer` to a formulation, within limits and starting from a hint, if any."""
