"""Later jobs, moved from the past, by hand."""

from itertools import islice

from hpcsched.studies.forecast.arrival_samples import DAY, HORIZON, WEEK, ArrivalHistory
from tests.studies.forecast.columns import jobs_of

DAILY = jobs_of([(k * DAY, k + 1, 100, 10, 1) for k in range(20)])


def test_lags_are_weeks_days_or_the_whole_past() -> None:
    """After 19 days two weeks are known; after 3 days, days; after less, that much."""
    history = ArrivalHistory(DAILY)
    assert history.lags(20, 19 * DAY).tolist() == [WEEK, 2 * WEEK]
    assert history.lags(4, 3 * DAY).tolist() == [DAY, 2 * DAY, 3 * DAY]
    assert history.lags(1, 500).tolist() == [500]
    assert history.lags(0, 0).tolist() == []


def test_jobs_of_a_week_ago() -> None:
    """After day 19 come the jobs of days 13 to 19 as days 20 to 26, and then again."""
    history = ArrivalHistory(DAILY)
    first, second = islice(history.later(20, 19 * DAY, WEEK), 2)
    assert [time // DAY for time in first.submit_time.tolist()] == [*range(20, 27)]
    assert first.units.tolist() == [*range(14, 21)]
    assert [time // DAY for time in second.submit_time.tolist()] == [*range(27, 34)]
    assert second.units.tolist() == first.units.tolist()
    # New numbers, none twice.
    numbers = [*first.job_id.tolist(), *second.job_id.tolist()]
    assert len(set(numbers)) == len(numbers)
    assert min(numbers) > 20


def test_nothing_is_taken_from_the_future() -> None:
    """Of the jobs up to day 7 only these are moved."""
    history = ArrivalHistory(DAILY)
    units = {u for batch in history.later(8, 7 * DAY, WEEK) for u in batch.units.tolist()}
    assert units == {*range(2, 9)}


def test_they_end() -> None:
    """Up to the horizon, and at once where nothing was submitted."""
    history = ArrivalHistory(DAILY)
    last = max(int(batch.submit_time.max()) for batch in history.later(20, 19 * DAY, WEEK))
    assert last == 19 * DAY + HORIZON
    assert list(history.later(20, 30 * DAY, WEEK)) == []
