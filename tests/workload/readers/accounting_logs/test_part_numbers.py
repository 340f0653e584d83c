"""Numbers of array tasks, components and repeated records, by hand."""

import pytest

from hpcsched.workload.readers.accounting_logs.part_numbers import (
    COMPONENTS,
    JOBS,
    TASKS,
    component_number,
    repeat_number,
    task_number,
)


def test_numbers_can_be_read() -> None:
    """The last nine digits are the job's number, those before count the part."""
    assert task_number(123, 0) == 1_000000123
    assert task_number(123, 4) == 5_000000123
    assert component_number(123, 1) == 5000001_000000123
    assert repeat_number(1) == 8000000_000000001


def test_parts_of_different_kinds_have_different_numbers() -> None:
    """The largest of a kind is below the smallest of the next: tasks, components, repeats."""
    assert task_number(0, 0) >= JOBS
    assert task_number(JOBS - 1, TASKS - 1) < component_number(0, 0)
    assert component_number(JOBS - 1, COMPONENTS - 1) < repeat_number(1)


@pytest.mark.parametrize(
    ("number", "part"),
    [(task_number, TASKS), (task_number, -1), (component_number, COMPONENTS)],
)
def test_a_part_out_of_range(number, part) -> None:
    """A larger one would get the number of another kind."""
    with pytest.raises(ValueError, match="expected a job below 1000000000 and a "):
        number(123, part)


def test_repeats_are_counted_from_one() -> None:
    """The zeroth is the record itself."""
    with pytest.raises(ValueError, match="expected a count from 1 on"):
        repeat_number(0)
