"""Statistics of recorded waits by hand."""

from hpcsched.dispatching.wait_statistics import (
    WaitClassStatistics,
    collect_wait_statistics,
    expected_waits,
)
from hpcsched.workload.job import WaitClass
from tests.builders import traced


def test_means_are_rounded_half_up_and_at_least_one() -> None:
    """7 / 2 = 3.5 becomes 4, 10 / 3 becomes 3, and 0 becomes 1."""
    means = [WaitClassStatistics(jobs, total).mean for jobs, total in ((2, 7), (3, 10), (4, 0))]
    assert means == [4, 3, 1]


def test_waits_by_queue() -> None:
    """Queue 1: (10 + 20) / 2 = 15; queue 2: 60; all four with a wait: (30 + 60 + 5) / 4 = 23.75.

    Job 4 has no queue, and job 5 no recorded wait.
    """
    jobs = [traced(k, 0, 1, 9, queue=queue) for k, queue in ((1, 1), (2, 1), (3, 2), (4, None))]
    waits = {1: 10, 2: 20, 3: 60, 4: 5}
    found = collect_wait_statistics([*jobs, traced(5, 0, 1, 9, queue=2)], waits, WaitClass.QUEUE)
    assert (found.jobs, found.without_wait) == (5, 1)
    assert expected_waits(found) == {"other": 24, "by_queue": {1: 15, 2: 60}}


def test_classes_by_size_span_a_factor_of_two() -> None:
    """Jobs of 4 and 7 units are in class 4, one of 8 units in class 8."""
    jobs = [traced(units, 0, units, 9) for units in (4, 7, 8)]
    found = collect_wait_statistics(jobs, {4: 10, 7: 30, 8: 100}, WaitClass.UNITS)
    assert expected_waits(found)["by_units"] == {4: 20, 8: 100}
