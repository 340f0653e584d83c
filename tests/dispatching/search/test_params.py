"""Parameters of the search for an order."""

from typing import Any

import pytest
from pydantic import ValidationError

from hpcsched.dispatching.search.params import OrderSearchParams, SurrogateParams


@pytest.mark.parametrize(
    "wrong", [{"budget": -1}, {"queue_length": 0}, {"spare_nodes": 0.5}, {"unknown": 1}]
)
def test_values_that_no_search_can_use(wrong: dict[str, Any]) -> None:
    """No plan is as short as that; the message names the parameter."""
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        OrderSearchParams(**wrong)


def test_without_a_surrogate_the_objective_decides() -> None:
    """Null and an empty mapping differ: {} changes nothing of the objective."""
    assert OrderSearchParams().surrogate_objective is None
    plain = OrderSearchParams(surrogate_objective={}).surrogate_objective
    assert plain == SurrogateParams()
    assert plain.discount_time_constant is None
    assert (plain.area_exponent, plain.dinkelbach_parameter) == (0, 1)
