"""Parameters of solvers."""

import pytest
from pydantic import ValidationError

from hpcsched.dispatching.cp.backends.solver_params import (
    CpOptimizerParams,
    OrToolsParams,
    PumpkinParams,
    ScheduleOrPostponeParams,
)


def test_values_that_no_solver_can_use() -> None:
    """The first order is left after one fail at least, and one thread searches at least."""
    with pytest.raises(ValidationError, match="restart_after"):
        ScheduleOrPostponeParams(restart_after=0)
    with pytest.raises(ValidationError, match="workers"):
        CpOptimizerParams(workers=0)
    with pytest.raises(ValidationError, match="workers"):
        OrToolsParams(workers=0)
    with pytest.raises(ValidationError, match="search"):
        OrToolsParams.model_validate({"search": "theirs"})


def test_solvers_that_the_clock_stops_are_not_reproducible() -> None:
    """Runs with them are marked, and the mark names the solver."""
    marks = [repr(params.not_reproducible) for params in (PumpkinParams, CpOptimizerParams)]
    assert "pumpkin" in marks[0]
    assert "cpo" in marks[1]
    assert getattr(OrToolsParams, "not_reproducible", None) is None
