"""Work in a thread that asks, and is answered."""

from collections.abc import Callable
from typing import Any

import pytest

from hpcsched_learned.gym import Conversation, Question, Result


def doubled(ask: Callable[[Any], Any]) -> int:
    """Ask for two numbers and return twice their sum."""
    return 2 * (ask("first") + ask("second"))


def test_questions_and_the_result() -> None:
    """In turn."""
    talk = Conversation(doubled)
    assert talk.hear() == Question("first")
    talk.answer(1)
    assert talk.hear() == Question("second")
    talk.answer(2)
    assert talk.hear() == Result(6)


def test_a_failure_is_raised_where_it_is_waited_for() -> None:
    """With its type and text."""

    def failing(ask: Callable[[Any], Any]) -> int:
        raise ValueError(ask("why"))

    talk = Conversation(failing)
    talk.hear()
    talk.answer("because")
    with pytest.raises(ValueError, match="because"):
        talk.hear()


def test_abandoned_work_ends() -> None:
    """It is not taken for a failure by what it calls, and cleans up behind it."""
    cleaned = []

    def stubborn(ask: Callable[[Any], Any]) -> int:
        try:
            ask("first")
        except Exception:
            cleaned.append("taken for a failure")
        finally:
            cleaned.append("cleaned")
        return 0

    talk = Conversation(stubborn)
    talk.hear()
    talk.abandon()
    assert cleaned == ["cleaned"]
