"""`check_solver` accepts a solver that is right, and finds each mistake of others."""

from typing import Any, NamedTuple

import pytest

from hpcsched.dispatching.cp.backends.backend import Outcome
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.errors import PluginError
from hpcsched.testing import check_solver


class Wrong(NamedTuple):
    """Backend around OR-Tools that makes one mistake."""

    mistake: str = "none"
    largest: Any = 1 << 30
    largest_objective: Any = 1 << 30
    deterministic: Any = True

    def check_installed(self) -> None:
        """Fail if that is the mistake."""
        if self.mistake == "absent":
            raise PluginError("solver wrong: it is not installed")

    def load(self, built):
        """Return a session."""
        return Session(self.mistake, OrTools().load(built))


class Session:
    """Session of OR-Tools, with a mistake."""

    def __init__(self, mistake: str, session) -> None:
        self._mistake, self._session = mistake, session

    def add(self, constraint) -> None:
        """Add it, unless that is the mistake."""
        if self._mistake != "added":
            self._session.add(constraint)

    def solve(self, limits, hint):
        """Solve, with the mistake."""
        outcome = self._session.solve(limits, hint)
        match self._mistake:
            case "type":
                return outcome.objective
            case "status" if outcome.status == "optimal":
                return outcome._replace(status="feasible")
            case "bound":
                return outcome._replace(bound=100.0)
            case "objective" if outcome.objective is not None:
                return outcome._replace(objective=outcome.objective + 1)
            case "infeasible" if outcome.status == "infeasible":
                return Outcome("unknown")
            case "warm start" if hint:
                raise RuntimeError("cannot be told where to begin")
        return outcome


class NotPickled:
    """Backend that holds what cannot be pickled."""

    largest = largest_objective = 1 << 30
    deterministic = True

    def __init__(self) -> None:
        self.hook = lambda: None

    def check_installed(self) -> None:
        """Do nothing."""

    def load(self, built):
        """Return nothing."""


def test_right() -> None:
    """OR-Tools passes, also behind a class of its own."""
    check_solver(OrTools)
    check_solver(Wrong)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Wrong("type"), r"expected an Outcome, found 7"),
        (lambda: Wrong("status"), "expected 'optimal' with the objective 7, found 'feasible'"),
        (lambda: Wrong("objective"), "expected 'optimal' with the objective 7, found .* with 8"),
        (lambda: Wrong("bound"), "expected a bound of at most 7, found 100.0"),
        (lambda: Wrong("added"), "with y != 4 added: expected .* objective 8, found .* with 7"),
        (lambda: Wrong("infeasible"), "expected 'infeasible' of x >= 3 and x <= 2, found"),
        (NotPickled, "expected a backend that can be pickled, found"),
    ],
)
def test_wrong(make, message: str) -> None:
    """Each mistake is named."""
    with pytest.raises(AssertionError, match=message):
        check_solver(make)


def test_errors_of_the_solver() -> None:
    """What the solver raises is passed on: it is not installed, or refuses a warm start."""
    with pytest.raises(PluginError, match="it is not installed"):
        check_solver(lambda: Wrong("absent"))
    with pytest.raises(RuntimeError, match="cannot be told where to begin"):
        check_solver(lambda: Wrong("warm start"))
