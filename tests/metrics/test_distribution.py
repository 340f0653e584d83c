"""Percentiles and classes by run time."""

import math

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.metrics.job_metrics import class_values, nearest_rank, percentiles
from tests.metrics.tables import RAN, Ran, jobs_table
from tests.strategies import tries


@tries(40)
@given(RAN, st.integers(0, 100))
def test_percentiles_are_values_that_occur(jobs: list[Ran], percent: int) -> None:
    """The p-th percentile is the ⌈p·n/100⌉-th smallest value, the smallest for 0."""
    found = percentiles(jobs_table(jobs), [percent], 10)
    for quantity, values in (
        ("wait_time", sorted(j.wait for j in jobs)),
        ("response_time", sorted(j.response for j in jobs)),
        ("bounded_slowdown", sorted(max(1, j.response / max(j.run_time, 10)) for j in jobs)),
    ):
        rank = max(math.ceil(percent * len(jobs) / 100), 1)
        assert found[quantity] == {f"p{percent}": values[rank - 1] if values else None}


def test_nearest_rank_is_exact_for_whole_shares() -> None:
    """No float error moves a rank: 29 % of 100 values is the 29th."""
    assert [nearest_rank(percent, 100) for percent in range(1, 101)] == list(range(100))


def test_nearest_rank_by_hand() -> None:
    """⌈50·5/100⌉ is the third of five, ⌈100·1000/100⌉ the last of a thousand; 0 is the first."""
    ranks = [nearest_rank(percent, count) for percent, count in ((50, 5), (100, 1000), (0, 7))]
    assert ranks == [2, 999, 0]


def test_classes_are_named_by_how_many_there_are() -> None:
    """One has all jobs, two are short and long, and more than three have numbers."""
    table = jobs_table([Ran(0, 10, 5, 1)])
    names = [
        [c["class"] for c in class_values(table, bounds, 10)] for bounds in ((), (9,), (1, 2, 3))
    ]
    assert names == [["all"], ["short", "long"], ["class 1", "class 2", "class 3", "class 4"]]


def test_classes_include_the_documented_bounds() -> None:
    """Short is below 1 h, long above 5 h, medium all between with both bounds."""
    hour = 3600
    run_times = [0, hour - 1, hour, 5 * hour, 5 * hour + 1]
    table = jobs_table([Ran(0, 10, run_time, 1) for run_time in run_times])
    short, medium, long = class_values(table, (hour, 5 * hour), 10)
    assert [c["jobs"] for c in (short, medium, long)] == [2, 2, 1]
    assert [c["class"] for c in (short, medium, long)] == ["short", "medium", "long"]
    assert (medium["run_time_from"], medium["run_time_to"]) == (hour, 5 * hour)
    assert short["mean_slowdown"] == (10 + hour - 1) / (hour - 1)
    assert short["mean_bounded_slowdown"] == (1 + (10 + hour - 1) / (hour - 1)) / 2


@tries(40)
@given(RAN, st.sets(st.integers(1, 10**7), max_size=5))
def test_classes_part_the_jobs(jobs: list[Ran], bounds: set[int]) -> None:
    """Whatever the bounds, each job is in one class."""
    classes = class_values(jobs_table(jobs), sorted(bounds), 10)
    assert len(classes) == len(bounds) + 1
    assert sum(c["jobs"] for c in classes) == len(jobs)


def test_nothing_ran() -> None:
    """Of no jobs there are no percentiles and no means, and no error."""
    table = jobs_table([])
    assert percentiles(table, [50], 10)["wait_time"] == {"p50": None}
    assert class_values(table, (), 10)[0]["mean_wait_time"] is None
