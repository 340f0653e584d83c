"""Parameters of solvers."""

import pytest
from pydantic import ValidationError

from hpcsched.dispatching.cp.backends.solver_params import AnySolverParams, OrToolsParams


def test_values_that_no_solver_can_use() -> None:
    """One thread searches at least."""
    with pytest.raises(ValidationError, match="workers"):
        OrToolsParams(workers=0)
    with pytest.raises(ValidationError, match="search"):
        OrToolsParams.model_validate({"search": "theirs"})


def test_solvers_that_the_clock_stops_are_not_reproducible() -> None:
    """Runs with them are marked, and the mark names the solver."""
    assert "cpmpy" in repr(AnySolverParams.not_reproducible)
    assert getattr(OrToolsParams, "not_reproducible", None) is None
