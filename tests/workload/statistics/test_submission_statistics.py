"""Statistics of submissions, by hand."""

from datetime import UTC

from hpcsched.workload.statistics.trace_statistics import (
    ArrivalCounter,
    CycleCounter,
    SubmitterCounter,
    Submitters,
)
from hpcsched.workload.trace_calendar import Calendar
from tests.builders import traced

HOUR, DAY = 3600, 86_400


def test_arrivals() -> None:
    """At 50, 150, 150 and 43,250: gaps of 100, 0 and 43,100 s, and half a day in all."""
    counter = ArrivalCounter()
    for k, time in enumerate((50, 150, 150, 43_250)):
        counter.add(traced(k, time, 1, 60))
    arrivals = counter.result()
    assert (arrivals.jobs, arrivals.first_submit_time_seconds) == (4, 50)
    assert (arrivals.span_seconds, arrivals.span_days) == (43_200, 0.5)
    gaps = arrivals.interarrival_time_seconds
    assert (gaps.count, gaps.mean, gaps.p50, gaps.max) == (3, 14_400, 100, 43_100)


def test_one_job_has_no_gap() -> None:
    """Its span is 0, and that of no job is none."""
    counter = ArrivalCounter()
    assert counter.result().span_seconds is None
    counter.add(traced(1, 7, 1, 60))
    assert (counter.result().span_seconds, counter.result().interarrival_time_seconds.count) == (
        0,
        0,
    )


def test_submitters() -> None:
    """Users 1 (two jobs) and 2, and one not given; queues 0 (a queue like any other) and 3."""
    counter = SubmitterCounter()
    for user, queue in ((1, 3), (2, 0), (1, 3), (None, None)):
        counter.add(traced(1, 0, 1, 60, user=user, queue=queue))
    assert counter.result() == Submitters(2, 0.5, 1, 2, {0: 1, 3: 2}, 1)


def test_cycles() -> None:
    """Thursday, January 1, 1970 at 0 and 5 o'clock, and Friday, February 6 at 23:59:59."""
    counter = CycleCounter(Calendar(0, UTC, "by hand"))
    for time in (0, 5 * HOUR, 5 * HOUR + 3599, 37 * DAY - 1):
        counter.add(traced(1, time, 1, 60))
    cycles = counter.result()
    assert cycles.counted_from == "by hand"
    assert {k: share for k, share in enumerate(cycles.hour_shares) if share} == {
        0: 0.25,
        5: 0.5,
        23: 0.25,
    }
    assert cycles.weekday_shares == (0, 0, 0, 0.75, 0.25, 0, 0)
    assert cycles.month_shares == (0.75, 0.25, *(0,) * 10)
