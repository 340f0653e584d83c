"""Classes of jobs, by hand."""

import pytest

from hpcsched.report.job_classes import UNKNOWN, job_classes
from tests.whatif.samples import outcome


def test_attributes_are_sorted_and_may_be_missing() -> None:
    """Numbers ascend, and jobs of nobody come last."""
    names, of_jobs = job_classes("user", outcome([0] * 4, user=[12, 3, None, 12]).job_attributes)
    assert names == ["3", "12", UNKNOWN]
    assert of_jobs.tolist() == [1, 0, 2, 1]


def test_a_log_without_the_attribute() -> None:
    """All jobs are of one class."""
    names, of_jobs = job_classes("partition", outcome([0, 0]).job_attributes)
    assert names == [UNKNOWN]
    assert of_jobs.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("units", "name"),
    [(1, "1"), (2, "2"), (3, "3 to 4"), (4, "3 to 4"), (5, "5 to 8"), (64, "33 to 64")],
)
def test_sizes_are_binary_orders_of_magnitude(units: int, name: str) -> None:
    """Each class ends at a power of two."""
    assert job_classes("size", outcome([0], units=[units]).job_attributes).names == [name]


def test_hours_are_those_of_the_logs_clock() -> None:
    """2000-01-01 00:30 UTC is half past one in Paris; two hours later it is half past three."""
    comments = ("UnixStartTime: 946686600", "TimeZoneString: Europe/Paris")
    found = job_classes(
        "hour", outcome([0, 0], submits=[0, 7200], comments=comments).job_attributes
    )
    assert found.names == ["01 h", "03 h"]
