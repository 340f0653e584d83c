"""Errors of pydantic in plain language, on small models."""

from typing import Annotated, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from hpcsched.parameters import PositiveDuration
from hpcsched.scenario.faults import faults_of
from tests.scenario.samples import faults


def _even(number: int) -> int:
    if number % 2:
        raise ValueError(f"expected an even number, found {number}")
    return number


class Inner(BaseModel):
    """A mapping within."""

    model_config = ConfigDict(extra="forbid", strict=True)
    count: Annotated[int, Field(ge=1), AfterValidator(_even)]


class Outer(BaseModel):
    """A mapping with a list, a choice of types and a flag."""

    model_config = ConfigDict(extra="forbid", strict=True)
    items: list[Inner] = Field(default=[], min_length=1)
    depth: int | Literal["all"] = 1
    flag: bool = False


def test_each_fault_has_the_path_of_its_key() -> None:
    """A value out of range, one of another type, one that a validator refuses, a missing key."""
    value = {"items": [{"count": 0}, {"count": "4"}, {"count": 3}, {}]}
    assert faults(Outer, value) == [
        ("bad-value", "items[0].count", "expected a value of at least 1, found 0"),
        ("bad-value", "items[1].count", "expected a whole number, found '4'"),
        ("bad-value", "items[2].count", "expected an even number, found 3"),
        ("missing-key", "items[3].count", "the key 'count' is missing"),
    ]


def test_a_list_is_not_too_short_because_of_its_items() -> None:
    """Empty it is, and that is said."""
    assert [key for _, key, _ in faults(Outer, {"items": [{}]})] == ["items[0].count"]
    assert faults(Outer, {"items": []}) == [
        ("bad-value", "items", "expected a list that is not empty, found an empty list")
    ]


def test_a_choice_of_types_is_one_fault() -> None:
    """Not one for each type."""
    assert faults(Outer, {"depth": 1.5}) == [
        ("bad-value", "depth", "expected a whole number or 'all', found 1.5")
    ]


def test_a_choice_with_a_duration_is_one_fault_with_its_hint() -> None:
    """The validator of durations complains in words of its own."""

    class Choice(BaseModel):
        depth: Literal["run_time"] | PositiveDuration

    assert faults(Choice, {"depth": "1:30:00"}) == [
        (
            "bad-value",
            "depth",
            "expected 'run_time' or a duration such as 90s, 30min, 1h30min or 2d, found '1:30:00'",
        )
    ]


def test_words_that_older_yaml_took_for_a_flag() -> None:
    """The message says what to write."""
    assert faults(Outer, {"flag": "yes"}) == [
        ("bad-value", "flag", "expected true or false, found 'yes'; write true")
    ]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("deep", "there is no key 'deep' here; did you mean 'depth'?"),
        ("colour", "there is no key 'colour' here; there are: items, depth, flag"),
    ],
)
def test_unknown_keys(key: str, message: str) -> None:
    """The closest key is named, or all that there are; the fault is at the key, not its value."""
    root = {key: 1}
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(root)
    (fault,) = faults_of(caught.value, root, {id(root): tuple(Outer.model_fields)})
    assert (fault.rule, fault.message, fault.on_key) == ("unknown-key", message, True)
