"""Words for expected and found values."""

import pytest

from hpcsched.scenario.wording import boolean_hint, expected, found


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
