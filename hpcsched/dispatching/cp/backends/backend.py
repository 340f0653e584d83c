"""The protocol of a backend."""

from typing import Any, Literal, NamedTuple, Protocol

from hpcsched.dispatching.cp.formulation import BuiltModel, Variable
from hpcsched.dispatching.cp.limits import Limits

Outcomes = Literal["optimal", "feasible", "unknown", "infeasible"]


class Outcome(NamedTuple):
    """What a solver says: `objective` of its best solution and a `bound` on any, if there are."""

    status: Outcomes
    objective: int | None = None
    bound: float | None = None


class Session(Protocol):
    """A model in the terms of one solver; solutions are left in the model's variables."""

    def solve(self, limits: Limits, hint: dict[Variable, int] | None) -> Outcome:
        """Solve within limits, starting from values for all decision variables, if given."""

    def add(self, constraint: Any) -> None:
        """Add a constraint before solving again."""


class Backend(Protocol):
    """Puts models into a solver's terms. Can be pickled; imports its solver when first used."""

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

    def load(self, built: BuiltModel) -> Session:
        """Put a model into the solver's terms."""
