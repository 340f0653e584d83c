"""Words for expected and found values."""

from datetime import datetime
from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from hpcsched.scenario.faults import found, sentence


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (True, "true"),
        (1, "1"),
        ("1", "'1'"),
        ("a\nb", r"'a\nb'"),
        ({}, "an empty mapping"),
        ({"a": 1}, "a mapping"),
        ([], "an empty list"),
        ((1,), "a list"),
    ],
)
def test_found(value: object, text: str) -> None:
    """On one line, and as YAML says it."""
    assert found(value) == text


def test_long_values_are_cut() -> None:
    """At 60 characters, the quote in front included."""
    assert found("x" * 99) == "'" + "x" * 58 + "…"
    assert found("x" * 58) == "'" + "x" * 58 + "'"


def refuse(value: int) -> int:
    """Refuse a number above 5."""
    if value > 5:
        raise ValueError(f"expected 5 at most, found {value}")
    return value


class Numbers(BaseModel):
    """Numbers with bounds."""

    few: Annotated[int, AfterValidator(refuse)] = Field(ge=1)
    share: float = 0.5
    name: str = Field("x", min_length=1)
    parts: tuple[int, ...] = Field((1, 2), min_length=2)
    flag: bool = Field(False, strict=True)
    when: datetime | None = None


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"few": 7}, "expected 5 at most, found 7"),
        ({"few": "many"}, "expected a whole number, found 'many'"),
        ({"few": 1.5}, "expected a whole number, found 1.5"),
        ({"few": 1, "share": "x"}, "expected a number, found 'x'"),
        ({}, "the key 'few' is missing"),
        ({"few": 0}, "expected a value of at least 1, found 0"),
        ({"few": 1, "name": ""}, "expected a text that is not empty, found ''"),
        ({"few": 1, "parts": (1,)}, "expected a list of at least 2 items, found a list"),
        ({"few": 1, "flag": "Yes"}, "expected true or false, found 'Yes'; write true"),
        ({"few": 1, "flag": "off"}, "expected true or false, found 'off'; write false"),
        ({"few": 1, "flag": "offline"}, "expected true or false, found 'offline'"),
        ({"few": 1, "when": []}, "Input should be a valid datetime; found an empty list"),
    ],
)
def test_sentence(given: dict[str, object], text: str) -> None:
    """What a validator says stands alone, without words of pydantic."""
    with pytest.raises(ValidationError) as caught:
        Numbers.model_validate(given)
    assert sentence(caught.value.errors()[0]) == text
