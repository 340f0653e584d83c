"""The census of a trace: cases worked by hand, properties, and a real log."""

import gzip
import math
import tracemalloc
from collections.abc import Sequence
from datetime import UTC, datetime, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.parameters import LARGEST
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import RequestNumbers, columns_of
from hpcsched.workload.synthetic.synthetic_source import SyntheticSource
from hpcsched.workload.trace_calendar import Calendar, calendar_of, time_comments
from hpcsched.workload.trace_statistics import (
    LOGARITHMIC,
    RATIOS,
    Histogram,
    StatisticsCounter,
    TraceStatistics,
    trace_statistics,
)
from tests.builders import alike, traced
from tests.real_traces import KTH_SP2, trace
from tests.strategies import tries
from tests.workload.readers.swf_files import source_of

SYSTEM = alike(2, core=4, mem=100)
BOUNDS = (3600, 18000)
NUMBERS = st.one_of(st.integers(0, 30), st.integers(0, 10**6), st.integers(0, LARGEST))
JOBS = (
    traced(1, 0, 1, 3599, (1, 0), user=1, queue=0),
    traced(2, 100, 2, 3600, (1, 50), requested_time=7200, user=1, queue=3),
    traced(3, 100, 3, 18000, (1, 0), requested_time=9000, user=2, queue=3),
    traced(4, 1000, 4, 18001, (2, 0), requested_time=20000),
)


def census_of(jobs: Sequence[TracedJob], comments: Sequence[str] = ()) -> TraceStatistics:
    """Return the census of jobs on a small system."""
    source = SyntheticSource(lambda: iter(jobs), SYSTEM, comments=comments)
    return trace_statistics(source, SYSTEM, BOUNDS)


def histogram(values: Sequence[float], edges: Sequence[float] = LOGARITHMIC):
    """Return the distribution of values."""
    counted = Histogram(edges)
    counted.add(np.array(values))
    return counted.distribution()


def test_submissions() -> None:
    """First, last and span; gaps of 100, 0 and 900 s; one of two users came back."""
    census = census_of(JOBS)
    arrivals, submitters = census.arrivals, census.submitters
    assert (arrivals.jobs, arrivals.first_submit_time_seconds) == (4, 0)
    assert (arrivals.last_submit_time_seconds, arrivals.span_seconds) == (1000, 1000)
    assert arrivals.span_days == 1000 / 86400
    gaps = arrivals.interarrival_time_seconds
    assert (gaps.count, gaps.mean, gaps.p50, gaps.max) == (3, 1000 / 3, 100, 900)
    assert (submitters.users, submitters.users_with_several_jobs_share) == (2, 0.5)
    assert (submitters.jobs_without_user, submitters.jobs_without_queue) == (1, 1)
    assert (submitters.queues, submitters.jobs_by_queue) == (2, {0: 1, 3: 2})


def test_offered_load() -> None:
    """8 cores and 200 of memory for 1000 s; job 2 asks for a quarter of the memory a unit."""
    load = census_of(JOBS).offered_load
    cores = 3599 + 2 * 3600 + 3 * 18000 + 8 * 18001
    assert load.by_resource_percent == {
        "core": pytest.approx(100 * cores / 8000),
        "mem": pytest.approx(100 * 100 * 3600 / 200_000),
    }
    demand = (cores - 2 * 3600) / 8 + 2 * 3600 / 4
    assert load.by_demand_percent == pytest.approx(100 * demand / 1000)


def test_classes() -> None:
    """A run time of a bound is medium at both ends."""
    run_times = census_of(JOBS).run_times
    total = 3599 + 3600 + 18000 + 18001
    short, medium, long = run_times.classes
    assert (short.run_time_from_seconds, short.run_time_to_seconds, short.jobs) == (0, 3599, 1)
    assert (medium.run_time_from_seconds, medium.run_time_to_seconds) == (3600, 18000)
    assert (long.run_time_from_seconds, long.run_time_to_seconds) == (18001, None)
    assert [c.jobs_share for c in run_times.classes] == [0.25, 0.5, 0.25]
    assert [c.run_time_share for c in run_times.classes] == [
        3599 / total, 21600 / total, 18001 / total,
    ]  # fmt: skip
    assert run_times.run_time_seconds.mean == total / 4
    assert run_times.run_time_seconds.max == 18001


def test_sizes() -> None:
    """Units 1, 2, 3 and 4; one job asks for memory too."""
    sizes = census_of(JOBS).sizes
    assert (sizes.serial_share, sizes.power_of_two_share) == (0.25, 0.75)
    assert (sizes.units.mean, sizes.units.p50, sizes.units.p90, sizes.units.max) == (2.5, 2, 4, 4)
    assert [(k.resources, k.jobs, k.jobs_share) for k in sizes.kinds] == [
        ("core", 3, 0.75), ("core+mem", 1, 0.25),
    ]  # fmt: skip
    assert [k.mean_run_time_seconds for k in sizes.kinds] == [39600 / 3, 3600]


def test_accuracy() -> None:
    """Ratios 1, 0.5, 2 and 0.90005; off by 0, 3600, 9000 and 1999 s."""
    accuracy = census_of(JOBS).accuracy
    assert accuracy.mean_absolute_error_minutes == 14599 / 4 / 60
    assert (accuracy.under_share, accuracy.exact_share, accuracy.over_share) == (0.25, 0.25, 0.5)
    assert accuracy.near_share == 0.5
    assert (accuracy.ratio.p25, accuracy.ratio.p75, accuracy.ratio.max) == (0.5, 1, 2)
    assert [edge for edge, _ in accuracy.ratio.bins[:3]] == [0.5, 0.9, 1]


@pytest.mark.parametrize(("run_time", "requested"), [(3, 4), (5, 4), (0, 0)])
def test_accuracy_at_the_edges(run_time: int, requested: int) -> None:
    """Ratios of 0.75 and 1.25 are near, and so is nothing of nothing."""
    accuracy = census_of([traced(1, 0, 1, run_time, (1, 0), requested_time=requested)]).accuracy
    assert accuracy.near_share == 1
    assert accuracy.exact_share == (run_time == requested)


def test_cycles_from_a_header() -> None:
    """The start is a Thursday, 23:00 in Prague; the second job comes on the first of March."""
    start = int(datetime(2024, 2, 29, 22, tzinfo=UTC).timestamp())
    jobs = [traced(1, 0, 1, 9, (1, 0)), traced(2, 3600, 1, 9, (1, 0))]
    cycles = census_of(jobs, [f"UnixStartTime: {start}", "TimeZoneString: Europe/Prague"]).cycles
    assert [hour for hour, share in enumerate(cycles.hour_shares) if share] == [0, 23]
    assert [day for day, share in enumerate(cycles.weekday_shares) if share] == [3, 4]
    assert [month for month, share in enumerate(cycles.month_shares) if share] == [1, 2]
    assert cycles.hour_shares[0] == 0.5
    assert cycles.counted_from == f"the trace's UnixStartTime: {start}, Europe/Prague"


@pytest.mark.parametrize(
    ("comments", "first", "start", "zone"),
    [
        (["UnixStartTime: 9 s", "TimeZoneString: Asia/Tokyo"], 0, 9, ZoneInfo("Asia/Tokyo")),
        (["UnixStartTime: 9", "TimeZone: 3600", "TimeZoneString: No/Where"], 0, 9, "UTC+01:00"),
        (["UnixStartTime: 9", "TimeZoneString: ../etc/passwd"], 0, 9, UTC),
        (["UnixStartTime: 9", "TimeZone: 999999"], 0, 9, UTC),
        (["UnixStartTime: 9", "TimeZone: -18000"], 0, 9, "UTC-05:00"),
        (["UnixStartTime: 9"], 10**9, 9, UTC),
        (["UnixStartTime: soon"], 10**9, 0, UTC),
        (["UnixStartTime:"], 10**8 + 1, 0, UTC),
        ([], 10**9, 0, UTC),
        (["UnixStartTime: 0"], 10**8, 978307200, UTC),
        (["Note: UnixStartTime: 9"], 5, 978307200, UTC),
    ],
)
def test_what_second_0_is(comments: list[str], first: int, start: int, zone: object) -> None:
    """Header, or Unix times, or a Monday; the zone's name, or its offset, or UTC."""
    calendar = calendar_of(comments, first)
    assert calendar.start == start
    named = isinstance(zone, str)
    assert (str(calendar.zone) if named else calendar.zone) == zone
    assert not named or isinstance(calendar.zone, timezone)
    assert ("Unix times" in calendar.basis) == (start == 0)
    assert ("does not say" in calendar.basis) == (start == 978307200)


def test_without_a_header_second_0_is_a_monday_midnight_in_january() -> None:
    """A job after a week, a day and an hour comes on a Tuesday at 1."""
    place = calendar_of([], 0).place(8 * 86400 + 3600)
    assert place == (1, 1, 0)


@given(submit_time=st.integers(0, LARGEST))
def test_every_submit_time_is_somewhere(submit_time: int) -> None:
    """Dates that the standard library does not have are those of 400 years before, in effect."""
    calendar = Calendar(0, UTC, "")
    hour, weekday, month = calendar.place(submit_time)
    assert hour == submit_time // 3600 % 24
    assert weekday == (submit_time // 86400 + 3) % 7  # 1970 began on a Thursday
    assert 0 <= month < 12


def test_time_comments() -> None:
    """Only what says when the trace was."""
    comments = ["TimeZoneString: UTC", "StartTime: Mon", "UnixStartTime: 1", "TimeZone: 0"]
    assert time_comments(comments) == [comments[0], *comments[2:]]


def test_no_jobs() -> None:
    """A trace without jobs has no figures."""
    census = census_of([])
    assert census.arrivals.jobs == 0
    assert census.arrivals.span_seconds is None
    assert census.offered_load.by_demand_percent is None
    assert census.run_times.run_time_seconds.p50 is None
    assert census.sizes.kinds == ()
    assert census.cycles.hour_shares == (0,) * 24


def test_one_job_has_no_span() -> None:
    """There is no load without a span, and no gap."""
    census = census_of(JOBS[:1])
    assert census.arrivals.span_seconds == 0
    assert census.offered_load.by_resource_percent == {"core": None, "mem": None}
    assert census.arrivals.interarrival_time_seconds.count == 0


@tries(300)
@given(values=st.lists(NUMBERS, min_size=1))
def test_quantiles_are_near(values: list[int]) -> None:
    """Within 11 % of the value by nearest rank, and it itself below 10; mean and max are exact."""
    found, ordered = histogram(values), sorted(values)
    assert found.count == len(values) == sum(count for _, count in found.bins)
    assert (found.mean, found.max) == (sum(values) / len(values), max(values))
    for percent in (25, 50, 75, 90, 99):
        exact = ordered[math.ceil(percent * len(values) / 100) - 1]
        quantile = getattr(found, f"p{percent}")
        assert quantile == pytest.approx(exact, rel=0 if exact < 10 else 0.11)


def test_edges_of_ratios() -> None:
    """A hundred bins below 1, which is a bin of its own; hundredths fall where they begin."""
    assert len(RATIOS) == 102
    found = histogram([0, 0.29, 29 / 100, 58 / 200, 0.999, 1, 1.01, 7], RATIOS)
    assert [(edge, n) for edge, n in found.bins if edge <= 1] == [
        (0, 1), (0.29, 3), (0.99, 1), (1, 1),
    ]  # fmt: skip
    assert found.bins[-1] == (math.nextafter(1, 2), 2)


def peak_of_census(count: int) -> int:
    """Return the most memory in use while so many jobs are counted, in bytes."""
    jobs = (
        traced(n, 7 * n, 1 + n % 8, 1 + n * n % 90000, (1, n % 50), user=n % 20, queue=n % 3)
        for n in range(count)
    )
    tracemalloc.start()
    try:
        census = StatisticsCounter(SYSTEM, BOUNDS, calendar_of([], 0))
        for batch in columns_of(jobs, RequestNumbers(), batch=1000):
            census.add(batch)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_trace() -> None:
    """Ten times as many jobs take no more memory."""
    peak_of_census(2_000)  # what is imported and cached on first use
    small, large = peak_of_census(3_000), peak_of_census(30_000)
    assert large < 1.1 * small + 20_000


def test_kth_sp2() -> None:
    """Counted again with nothing but the file: jobs, sizes, accuracy, start on Monday at 14 h."""
    path = trace(KTH_SP2)
    system = alike(100, core=1)
    source = source_of(path, system)
    census = trace_statistics(source, system, BOUNDS)
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    rows = [[int(x) for x in line.split()] for line in lines if line and not line.startswith(";")]
    # Run times over the request are cut, as the policies have it unless told otherwise.
    rows = [(r[1], min(r[3], r[8]), r[7], r[8], r[11]) for r in rows if r[3] > 0]
    submit, run, units, requested, users = map(list, zip(*rows, strict=True))
    assert census.arrivals.jobs == len(rows) == source.account.submitted == 28481
    assert source.account.skipped == {"zero_run_time": 8}
    assert census.arrivals.span_seconds == max(submit) - min(submit)
    assert census.submitters.users == len(set(users))
    assert census.sizes.serial_share == units.count(1) / 28481
    powers = sum(u in {2**k for k in range(8)} for u in units)
    assert census.sizes.power_of_two_share == powers / 28481
    assert census.run_times.run_time_seconds.mean == sum(run) / 28481
    assert census.run_times.classes[0].jobs == sum(r < 3600 for r in run)
    assert census.run_times.classes[2].jobs == sum(r > 18000 for r in run)
    assert census.accuracy.mean_absolute_error_minutes == pytest.approx(
        sum(abs(q - r) for q, r in zip(requested, run, strict=True)) / 28481 / 60
    )
    near = sum(0.75 <= r / q <= 1.25 for q, r in zip(requested, run, strict=True))
    assert census.accuracy.near_share == near / 28481
    load = 100 * sum(u * r for u, r in zip(units, run, strict=True)) / (100 * max(submit))
    assert census.offered_load.by_resource_percent["core"] == pytest.approx(load)
    stockholm = ZoneInfo("Europe/Stockholm")
    hours = [datetime.fromtimestamp(843480031 + t, stockholm).hour for t in submit]
    assert census.cycles.hour_shares == tuple(hours.count(h) / 28481 for h in range(24))
    assert calendar_of(source.comments, 0).place(0) == (14, 0, 8)
