"""Refusals within a validation of pydantic."""

import pytest
from pydantic import BaseModel, ValidationError, model_validator

from hpcsched.scenario.faults import REFUSED, refusal, refuse
from tests.scenario.samples import faults


class Pair(BaseModel):
    """Two numbers, of which the first is the smaller."""

    low: int
    high: int

    @model_validator(mode="after")
    def _check(self) -> "Pair":
        if self.low > self.high:
            raise refuse(
                refusal("bad-order", "braces {like} these stay", self.low, at=("low",)),
                refusal("bad-order", f"expected {self.low} or more", self.high, at=("high",)),
            )
        return self


def test_each_refusal_has_its_rule_and_its_key() -> None:
    """Both at once, and the message as it is, whatever characters it has."""
    assert faults(Pair, {"low": 3, "high": 2}) == [
        ("bad-order", "low", "braces {like} these stay"),
        ("bad-order", "high", "expected 3 or more"),
    ]


def test_refusals_are_of_a_type_of_their_own() -> None:
    """So that they are told from those of pydantic."""
    with pytest.raises(ValidationError) as caught:
        Pair(low=3, high=2)
    details = caught.value.errors()
    assert {one["type"] for one in details} == {REFUSED}
    assert [one["input"] for one in details] == [3, 2]
