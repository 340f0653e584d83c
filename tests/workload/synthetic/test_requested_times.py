"""Requested times drawn from those of a log."""

from collections import Counter

import pytest

from hpcsched.workload.synthetic.draws import MOST, Ascending, Counts, Draws
from hpcsched.workload.synthetic.fitted_jobs import RequestedTimeCounter, RequestedTimes


def times(*jobs):
    """Return what draws from jobs given as run time, requested time and how many."""
    tally = RequestedTimeCounter()
    for run_time, requested_time, count in jobs:
        for _ in range(count):
            tally.add(run_time, requested_time)
    return RequestedTimes(tally)


def test_as_in_the_log():
    """As often as there; 600 is near 590, and the run time gives way to it."""
    known = times((100, 100, 10), (100, 105, 20), (100, 600, 30), (100, 60, 40), (590, 600, 5))
    draws = Draws(0)
    found = Counter(known.draw(draws, 100) for _ in range(10_000))
    shares = Counter()
    for (run_time, requested_time), count in found.items():
        shares[requested_time] += count
        near = requested_time in (100, 105)
        assert requested_time * 0.89 < run_time <= requested_time if near else run_time == 100
    expected = {100: 0.1, 105: 0.2, 600: 0.3, 60: 0.4}
    assert {time: count / 10_000 for time, count in shares.items()} == pytest.approx(
        expected, abs=0.02
    )
    assert {known.draw(draws, 592)[1] for _ in range(50)} == {600}


def test_a_run_time_that_is_not_there():
    """The next longer ones stand in for it, or else the longest; far requests stay far."""
    known = times((100, 200, 1), (1000, 4000, 1))
    draws = Draws(0)
    assert known.draw(draws, 300) == (300, 4000)
    assert known.draw(draws, 103) == (103, 200)
    assert known.draw(draws, 9000) == (9000, 10001)  # none of the log is long enough


def test_requests_below_the_run_time():
    """They stay below it."""
    known = times((100, 90, 1))
    assert known.draw(Draws(0), 100) == (100, 90)
    assert known.draw(Draws(0), 90) == (90, 90)


def test_common_times():
    """The nearest that is long enough, where most of the log's are common."""
    known = times((10, 60, 500), (10, 300, 500))
    assert [known.common(time, 10) for time in (20, 179, 181, 900)] == [60, 60, 300, 300]
    assert known.common(100, 80) == 300
    assert known.common(400, 350) == 400
    scattered = times(*[(10, time, 1) for time in range(2000, 4000)])
    assert scattered.common(100, 10) == 100


def test_tables_are_bounded():
    """What there is no room for is not counted; what is there already is."""
    counts = Counts()
    assert all(counts.add(k) for k in range(MOST))
    assert not counts.add(-1)
    assert counts.add(0)
    assert len(counts.counts) == MOST
    assert counts.counts[0] == 2


def test_ascending():
    """A place among those within bounds."""
    numbers = Ascending({30: 1, 10: 2, 20: 1})
    assert [numbers.at(place) for place in (0, 0.49, 0.5, 0.74, 0.75, 0.999)] == [
        10, 10, 20, 20, 30, 30,
    ]  # fmt: skip
    assert [numbers.at(0.6, least=11), numbers.at(0.9, most=29), numbers.at(0, least=31)] == [
        30, 20, None,
    ]  # fmt: skip
