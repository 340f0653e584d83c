"""The protocols of backends."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from hpcsched.dispatching.cp.formulation import BuiltModel, Formulation, Variable
from hpcsched.dispatching.cp.solver_limits import Limits
from hpcsched.dispatching.planning.model_data import ModelData, Plan

Outcomes = Literal["optimal", "feasible", "unknown", "infeasible"]


class Outcome(NamedTuple):
    """The outcome of a solver's search.

    Attributes
    ----------
    status
        Whether a solution was found or proved optimal.
    objective
        Objective of the best solution; None without any.
    bound
        Lower bound of the objective; None if unknown.
    branches, fails
        Number of decisions and of dead ends of the search, see `SolverCall`; None if not counted.
    """

    status: Outcomes
    objective: int | None = None
    bound: float | None = None
    branches: int | None = None
    fails: int | None = None


def total(counts: Sequence[Any]) -> Any:
    """Return the sum of all counts that are known; None, not 0, if none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


class Session(Protocol):
    """A model in the terms of one solver; solutions are left in the model's variables."""

    def solve(self, limits: Limits, hint: dict[Variable, int] | None) -> Outcome:
        """Solve within limits.

        Parameters
        ----------
        hint
            Values of all decision variables to start from; None: no warm start.

        Returns
        -------
        Outcome
            Status, objective and bound, in whole numbers; the solution is in the variables.
        """

    def add(self, constraint: Any) -> None:
        """Add a constraint before solving again."""


class AnyBackend(Protocol):
    """The properties of a solver that every backend declares. Can be pickled."""

    @property
    def deterministic(self) -> bool:
        """True if equal problems get equal answers under a budget."""

    @property
    def largest(self) -> int:
        """The largest number that may occur in a model's constraints."""

    @property
    def largest_objective(self) -> int:
        """The largest value that an objective may have."""

    def check_installed(self) -> None:
        """Check that the solver is installed.

        Raises
        ------
        PluginError
            If it is not; the message names the package to install.
        """


class Backend(AnyBackend, Protocol):
    """Puts models into a solver's terms; imports its solver when first used."""

    def load(self, built: BuiltModel) -> Session:
        """Put a model into the solver's terms.

        Parameters
        ----------
        built
            A model of CPMpy, with its decision variables in whole seconds and units.

        Returns
        -------
        Session
            The model, to be solved and changed. An exception counts as a failure of the solver in
            this round: a list plan is carried out.
        """


@runtime_checkable
class DataBackend(AnyBackend, Protocol):
    """Works on the data, by the constraints of a formulation that it knows; no model is built."""

    def check_formulation(self, formulation: Formulation) -> None:
        """Check that every constraint of a formulation is known.

        Raises
        ------
        InputError
            If one is not; the message names it.
        """

    def solve(
        self,
        formulation: Formulation,
        data: ModelData,
        limits: Limits,
        hint: Plan | None,
    ) -> Any:
        """Return the `Answer` to a formulation; a hint is a plan to start from."""
