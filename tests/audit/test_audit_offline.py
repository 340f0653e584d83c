"""The check of what a summary says of a trace that was planned at once."""

from typing import Any

import pytest

from hpcsched.audit.summary import check_offline


def found(
    value: float | None, stated: dict[str, Any] | None, *, expected: bool = True
) -> tuple[list[str], int, list[str]] | None:
    """Return violations, how much was looked at, and notes, if there is a check.

    The objective has a value, and the summary states some figures of the plan.
    """
    summary: dict[str, Any] = {} if value is None else {"objective": {"value": value}}
    if stated is not None:
        summary["offline"] = stated
    checks = list(check_offline(summary, expected=expected))
    return next(((check.violations, check.looked_at, check.notes) for check in checks), None)


def plan(value: float | None, bound: float | None, gap: float | None, proved: Any) -> Any:
    """Return what a summary states of a plan."""
    return {"value": value, "lower_bound": bound, "gap": gap, "proved": proved}


@pytest.mark.parametrize(
    ("value", "bound", "gap", "proved", "messages"),
    [
        (8.0, 6.0, 0.25, False, []),
        (8.0, 8.0, 0.0, True, []),
        (0.0, 0.0, 0.0, True, []),  # nobody waits: there is no share of nothing
        (-8.0, -10.0, 0.25, False, []),
        (1e6, 999_999.0, 1e-6, True, []),  # up to a millionth counts as proved
        (1e6, 999_998.0, 2e-6, False, []),
        (8.0, 6.0, 0.5, False, ["offline.gap: expected 0.25, found 0.5"]),
        (8.0, 6.0, 0.25, True, ["offline.proved: expected False, found True"]),
        (8.0, 8.0, 0.0, False, ["offline.proved: expected True, found False"]),
        (8.0, 10.0, -0.25, True, ["offline.lower_bound: expected at most 8.0, found 10.0"]),
    ],
)
def test_bound_gap_and_proof(
    value: float, bound: float, gap: float, proved: bool, messages: list[str]
) -> None:
    """The gap is what the value is above its bound, as a share of the value."""
    assert found(value, plan(value, bound, gap, proved)) == (messages, 5, [])


def test_the_value_is_that_of_the_objective() -> None:
    """The plan's is the same one."""
    assert found(8.0, plan(6.0, 6.0, 0.25, False)) == (
        ["offline.value: expected 8.0, found 6.0"],
        5,
        [],
    )


def test_without_a_bound_or_a_value() -> None:
    """Then there is no gap, and nothing is proved."""
    note = ["there is no lower bound"]
    assert found(8.0, plan(8.0, None, None, None)) == ([], 4, note)
    assert found(None, plan(None, 6.0, None, None)) == ([], 4, note)
    assert found(8.0, plan(8.0, None, 0.0, True)) == (
        ["offline.gap: expected None, found 0.0", "offline.proved: expected None, found True"],
        4,
        note,
    )


def test_figures_are_there_where_they_are_expected() -> None:
    """A plan that was made step by step has none."""
    assert found(8.0, None, expected=False) is None
    there = "offline: figures are there"
    assert found(8.0, None) == ([f"{there}: expected True, found False"], 1, [])
    assert found(8.0, plan(8.0, 8.0, 0.0, True), expected=False) == (
        [f"{there}: expected False, found True"],
        5,
        [],
    )
