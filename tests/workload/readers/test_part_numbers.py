"""Numbers of array tasks, components and repeated records, by hand."""

import pytest

from hpcsched.workload.readers.accounting_log import (
    COMPONENTS,
    FEDERATED_COMPONENTS,
    FEDERATED_JOBS,
    FEDERATED_TASKS,
    JOBS,
    TASKS,
    component_number,
    job_number,
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
    assert component_number(JOBS - 1, COMPONENTS - 1) < job_number(JOBS)
    last = FEDERATED_JOBS - 1
    assert job_number(last) < task_number(JOBS, 0)
    assert task_number(last, FEDERATED_TASKS - 1) < repeat_number(1)
    assert repeat_number(JOBS - 1) < component_number(JOBS, 0)
    assert component_number(last, FEDERATED_COMPONENTS - 1) < 2**53


@pytest.mark.parametrize(
    ("number", "part"),
    [(task_number, TASKS), (task_number, -1), (component_number, COMPONENTS)],
)
def test_a_part_out_of_range(number, part) -> None:
    """A larger one would get the number of another kind."""
    with pytest.raises(ValueError, match="expected a job below 4294967296 and a part"):
        number(123, part)


@pytest.mark.parametrize(
    ("number", "part"),
    [(task_number, FEDERATED_TASKS), (component_number, FEDERATED_COMPONENTS)],
)
def test_a_part_out_of_range_of_a_job_of_ten_digits(number, part) -> None:
    """The limits are lower there."""
    with pytest.raises(ValueError, match=f"and a part of it below {part}"):
        number(JOBS, part)
