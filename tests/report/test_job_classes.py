"""Classes of jobs, by hand."""

import numpy as np
import pytest

from hpcsched.cli.options import JobClass
from hpcsched.report.job_breakdown import (
    KINDS,
    OTHER_NAMES,
    UNKNOWN,
    JobAttributes,
    job_classes,
    site_partitions,
)
from hpcsched.workload.site_partitions import Partition, Partitions
from tests.studies.whatif_samples import outcome


def test_attributes_are_sorted_and_may_be_missing() -> None:
    """Numbers ascend, and jobs of nobody come last."""
    names, of_jobs = job_classes("user", outcome([0] * 4, user=[12, 3, None, 12]).attributes)
    assert names == ["3", "12", UNKNOWN]
    assert of_jobs.tolist() == [1, 0, 2, 1]


def test_a_log_without_the_attribute() -> None:
    """All jobs are of one class."""
    names, of_jobs = job_classes("partition", outcome([0, 0]).attributes)
    assert names == [UNKNOWN]
    assert of_jobs.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("units", "name"),
    [(1, "1"), (2, "2"), (3, "3 to 4"), (4, "3 to 4"), (5, "5 to 8"), (64, "33 to 64")],
)
def test_sizes_are_binary_orders_of_magnitude(units: int, name: str) -> None:
    """Each class ends at a power of two."""
    assert job_classes("size", outcome([0], units=[units]).attributes).names == [name]


def test_hours_are_those_of_the_logs_clock() -> None:
    """2000-01-01 00:30 UTC is half past one in Paris; two hours later it is half past three."""
    comments = ("UnixStartTime: 946686600", "TimeZoneString: Europe/Paris")
    found = job_classes("hour", outcome([0, 0], submits=[0, 7200], comments=comments).attributes)
    assert found.names == ["01 h", "03 h"]


def attributes(comments: tuple[str, ...] = (), **columns: list[object]) -> JobAttributes:
    """Return jobs that are all submitted at 0."""
    count = len(next(iter(columns.values())))
    return JobAttributes(columns, np.zeros(count, dtype=np.int64), comments)


def test_names_of_the_log() -> None:
    """Classes are in the order of numbers; two numbers of one name stay two classes."""
    comments = ("Queue: 1 day", "Queue: 2 night", "Queue: 3 day")
    names, of_jobs = job_classes("queue", attributes(comments, queue=[2, 3, 1, 7]))
    assert names == ["day (1)", "night", "day (3)", "7"]
    assert of_jobs.tolist() == [1, 2, 0, 3]


def test_jobs_that_ask_for_gpus() -> None:
    """A type of GPU counts by its name; an amount of 0 does not."""
    requests = [{"core": 1, "gpu": 0}, {"core": 1, "gpu_a100": 2}]
    names, of_jobs = job_classes("gpu", attributes(unit_request=requests))
    assert (names, of_jobs.tolist()) == (["GPU", "no GPU"], [1, 0])
    assert job_classes("gpu", attributes(user=[1])).names == [UNKNOWN]


def test_partitions_of_the_scenario() -> None:
    """They claim jobs by number or by the log's name; a job that none claims is unknown."""
    partitions = Partitions(
        (
            Partition("short", {"queue": frozenset({"day"})}),
            Partition("wide", {"application": frozenset({5})}),
        )
    )
    columns = {"queue": [1, 2, 2, None], "application": [5, 5, 4, None]}
    found = site_partitions(partitions, columns, ("Queue: 1 day",))
    assert found == ["short", "wide", None, None]
    jobs = attributes(site_partition=found, partition=[1, 1, 1, 1])
    assert job_classes("partition", jobs).names == ["short", "wide", UNKNOWN]


def test_the_options_have_all_names() -> None:
    """Every kind can be asked for, by each of its names."""
    assert {str(name) for name in JobClass} == {*KINDS, *OTHER_NAMES}
    assert set(OTHER_NAMES.values()) <= set(KINDS)
