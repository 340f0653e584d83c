"""CP Optimizer up to where a licence is needed: models, starting points, limits, its absence."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import pytest
from cpmpy.solvers.cpo import CPM_cpo

from hpcsched.dispatching.cp.backends.cpo import CpOptimizer
from hpcsched.dispatching.cp.solver_limits import Budget, StoppingRule
from hpcsched.errors import PluginError
from tests.dispatching.cp.backends.test_backends import crowd, list_plan
from tests.dispatching.cp.making import FORMULATIONS

pytestmark = pytest.mark.skipif(
    find_spec("docplex") is None, reason="docplex, by which CP Optimizer is asked, is not installed"
)


class SolveResult(NamedTuple):
    """What the program would have been asked to do."""

    limit: float
    parameters: dict[str, Any]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[SolveResult]:
    """Put in place of the program one that answers with its starting point."""
    calls: list[SolveResult] = []

    class Program:
        def __init__(self, model: Any, **parameters: Any) -> None:
            calls.append(SolveResult(parameters.pop("TimeLimit"), parameters))
            self._point = model.get_starting_point()
            self._solved = self._point is not None

        def solve(self) -> "Program":
            return self

        def get_solve_status(self) -> str:
            return "Feasible" if self._solved else "Unknown"

        def get_solve_time(self) -> float:
            return 0.0

        def get_objective_value(self) -> int:
            return 0

        def get_var_solution(self, variable: Any) -> Any:
            found = self._point.get_var_solution(variable.get_name())
            if found is None:  # a constant
                assert variable.get_domain_min() == variable.get_domain_max()
                self._point.add_integer_var_solution(variable, variable.get_domain_min())
                found = self._point.get_var_solution(variable.get_name())
            return found

    import_module("docplex.cp.model")  # as asking for the licence does
    monkeypatch.setattr(CPM_cpo, "license_ok", staticmethod(lambda: True))
    monkeypatch.setattr(CPM_cpo.get_docp().solver.solver, "CpoSolver", Program)
    return calls


@pytest.mark.parametrize("name", ["hcp19", "joint-now", "node-time", "pcp19"])
def test_models_starting_points_and_limits(name: str, asked: list[SolveResult]) -> None:
    """A hint goes in and comes out as it was; seconds are the program's limit."""
    data = crowd(4)
    built = FORMULATIONS[name].build(data)
    hint = list_plan(data)
    outcome = CpOptimizer().load(built).solve(Budget(20.0), built.hint(hint))
    assert outcome.status == "feasible"
    assert [start.value() for start in built.starts] == hint.starts.tolist()
    assert outcome.objective == data.cost(hint.starts)
    ((limit, parameters),) = asked
    assert limit == 20.0
    assert parameters["Workers"] == 1


def test_it_starts_anew_with_twice_the_time(asked: list[SolveResult]) -> None:
    """Without a plan: 20 s, then 40 s, as in the DEBS 2024 paper."""
    built = FORMULATIONS["hcp19"].build(crowd(3))
    outcome = CpOptimizer().load(built).solve(StoppingRule(20.0, 40.0, 0), None)
    assert outcome.status == "unknown"
    assert [call.limit for call in asked] == [20.0, 40.0]


def test_without_the_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence says what is missing, and docplex's own words about it are not shown."""
    monkeypatch.setenv("PATH", "/nowhere")
    if CPM_cpo.license_ok():
        pytest.skip("CP Optimizer is found without PATH")
    capsys.readouterr()
    with pytest.raises(PluginError, match="the program cpoptimizer is not found"):
        CpOptimizer().check_installed()
    assert capsys.readouterr().out == ""
