"""The protocols of backends."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from hpcsched.dispatching.cp.formulation import BuiltModel, Formulation, Variable
from hpcsched.dispatching.planning.model_data import ModelData, Plan


class Budget(NamedTuple):
    """Work that is counted and not timed, so that equal problems get equal answers."""

    work: float


class StoppingRule(NamedTuple):
    """The papers' protocol, in real seconds (Galleguillos et al., CP 2021, sections 3 and 4).

    The search is interrupted after `first` seconds. It goes on while there is no plan yet, and
    once there is one as long as it got better within the last `extensions` limits: to 2 δ, 4 δ
    and so on.

    Attributes
    ----------
    first
        First time limit in seconds (δ).
    most
        Largest time limit in seconds (δmax).
    extensions
        Number of limits in a row without a better plan that end the search (k); 0: it ends at the
        first limit with a plan.
    """

    first: float = 1.0
    most: float = 16.0
    extensions: int = 2


Limits = Budget | StoppingRule


def share(limits: Limits, part: float) -> Limits:
    """Return a share of limits for one of several calls.

    Parameters
    ----------
    part
        The share, above 0 and up to 1.
    """
    if isinstance(limits, Budget):
        return Budget(limits.work * part)
    # `extensions` counts limits, not seconds, and is not shared.
    return limits._replace(first=limits.first * part, most=limits.most * part)


class Watch:
    """Decides, at the end of each time limit, whether a search goes on."""

    def __init__(self, rule: StoppingRule) -> None:
        self._rule = rule
        self._best: int | None = None
        self._idle = 0
        self.limit = rule.first

    def goes_on(self, best: int | None) -> bool:
        """Extend the limit and return True, or return False if the search ends.

        Parameters
        ----------
        best
            Objective of the best plan so far; None while there is none.
        """
        rule = self._rule
        if best is not None:
            better = self._best is None or best < self._best
            self._idle = 0 if better else self._idle + 1
            self._best = best
            if self._idle >= rule.extensions:
                return False
        if self.limit >= rule.most:
            return False
        self.limit = min(2 * self.limit, rule.most)
        return True


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
