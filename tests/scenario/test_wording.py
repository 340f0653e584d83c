"""Words for expected and found values."""

from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel, ValidationError

from hpcsched.scenario.faults import boolean_hint, expected, found, sentence


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


def test_expected() -> None:
    """What pydantic says of a bound is a sentence; what it has no words for stays its own."""
    assert expected("greater_than_equal", {"ge": 1}) == "a value of at least 1"
    assert expected("too_short", {"min_length": 1}) == "a list that is not empty"
    assert expected("string_too_short", {"min_length": 1}) == "a text that is not empty"
    assert expected("too_short", {"min_length": 2}) == "a list of at least 2 items"
    assert expected("something else", {}) is None


def test_words_for_true_and_false() -> None:
    """In YAML 1.1; not a text that merely begins with one."""
    assert boolean_hint("Yes") == "; write true"
    assert boolean_hint("off") == "; write false"
    assert [boolean_hint(value) for value in ("offline", True, 1)] == ["", "", ""]


def refuse(value: int) -> int:
    """Refuse a number above 5."""
    if value > 5:
        raise ValueError(f"expected 5 at most, found {value}")
    return value


class Numbers(BaseModel):
    """Numbers with bounds."""

    few: Annotated[int, AfterValidator(refuse)]
    share: float = 0.5


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"few": 7}, "expected 5 at most, found 7"),
        ({"few": "many"}, "expected a whole number, found 'many'"),
        ({"few": 1.5}, "expected a whole number, found 1.5"),
        ({"few": 1, "share": "x"}, "expected a number, found 'x'"),
        ({}, "the key 'few' is missing"),
    ],
)
def test_sentence(given: dict[str, object], text: str) -> None:
    """What a validator says stands alone, without words of pydantic."""
    with pytest.raises(ValidationError) as caught:
        Numbers.model_validate(given)
    assert sentence(caught.value.errors()[0]) == text
