"""Statistics of requests and run times, by hand."""

import pytest

from hpcsched.workload.statistics.trace_statistics import (
    AccuracyCounter,
    LoadCounter,
    OfferedLoad,
    RequestKind,
    RunTimeClass,
    RunTimeCounter,
    SizeCounter,
)
from tests.builders import alike, traced

SYSTEM = alike(2, core=4, mem=100)
"""8 cores and 200 units of memory."""


def test_offered_load() -> None:
    """In a span of 100 s the system has 800 core-seconds and 20,000 of memory.

    2 units of 1 core and 50 of memory for 100 s are 25 % of the cores and 50 % of the memory, a job
    of 2 cores alone another 25 % of the cores. By the larger share of each: 50 % + 25 %.
    """
    counter = LoadCounter(SYSTEM)
    counter.add(traced(1, 0, 2, 100, (1, 50)))
    counter.add(traced(2, 100, 1, 100, (2, 0)))
    assert counter.result(100) == OfferedLoad({"core": 50.0, "mem": 50.0}, 75.0)
    assert counter.result(0) == OfferedLoad({"core": None, "mem": None}, None)


def test_run_time_classes() -> None:
    """An hour is in the second class, five hours as well: 3599, (3600, 18000) and 18001 s."""
    counter = RunTimeCounter((3600, 18000))
    for run_time in (3599, 3600, 18000, 18001):
        counter.add(traced(1, 0, 1, run_time))
    assert counter.result().classes == (
        RunTimeClass(0, 3599, 1, 0.25, 3599 / 43200),
        RunTimeClass(3600, 18000, 2, 0.5, 21600 / 43200),
        RunTimeClass(18001, None, 1, 0.25, 18001 / 43200),
    )


def test_sizes() -> None:
    """Of 1, 2, 3 and 4 units one is serial and three are powers of two."""
    counter = SizeCounter(SYSTEM)
    counter.add(traced(1, 0, 1, 10, (1, 0)))
    counter.add(traced(2, 0, 2, 20, (1, 9)))
    counter.add(traced(3, 0, 3, 40, (2, 1)))
    counter.add(traced(4, 0, 4, 50, (0, 1)))
    sizes = counter.result()
    assert (sizes.serial_share, sizes.power_of_two_share, sizes.units.mean) == (0.25, 0.75, 2.5)
    assert sizes.kinds == (
        RequestKind("core+mem", 2, 0.5, 30.0),
        RequestKind("core", 1, 0.25, 10.0),
        RequestKind("mem", 1, 0.25, 50.0),
    )


def test_accuracy_of_requested_times() -> None:
    """60 of 60 s, 30 of 120 s and 150 of 120 s: errors of 0, 90 and 30 s are 2/3 min on average.

    Ratios are 1, 0.25 and 1.25; the last is the upper bound of what counts as near.
    """
    counter = AccuracyCounter()
    for run_time, requested in ((60, 60), (30, 120), (150, 120)):
        counter.add(traced(1, 0, 1, run_time, requested_time=requested))
    accuracy = counter.result()
    assert accuracy.mean_absolute_error_minutes == pytest.approx(2 / 3)
    assert [accuracy.under_share, accuracy.exact_share, accuracy.over_share] == [1 / 3] * 3
    assert accuracy.near_share == 2 / 3
    assert accuracy.ratio.mean == pytest.approx(2.5 / 3)


def test_no_jobs() -> None:
    """There is no share of nothing."""
    assert AccuracyCounter().result().mean_absolute_error_minutes is None
    assert SizeCounter(SYSTEM).result().serial_share is None
