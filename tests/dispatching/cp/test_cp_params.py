"""Parameters of CP dispatchers that depend on each other."""

import pytest
from pydantic import ValidationError

from hpcsched.dispatching.cp.cp_params import CpParams, TimeLimits


def test_a_round_has_a_budget_or_time_limits() -> None:
    """Either alone is right, and both contradict each other."""
    assert CpParams(budget=0.5).time_limits is None
    assert CpParams(time_limits=TimeLimits()).budget is None
    with pytest.raises(ValidationError, match="exclude each other"):
        CpParams(budget=0.5, time_limits=TimeLimits())


def test_the_largest_time_limit_is_not_below_the_first() -> None:
    """2 s at first and 1 s at most make no sense; equal limits do."""
    assert TimeLimits(first=2, most=2).most == 2
    with pytest.raises(ValidationError, match="found 1 and 2"):
        TimeLimits(first=2, most=1)
