"""Later jobs, moved from the past, by hand."""

from itertools import islice

import numpy as np
import pytest

from hpcsched.studies.forecast.forecasting import (
    ALIKE,
    COMMON,
    DAY,
    HORIZON,
    MOST_LAGS,
    NOVELTY,
    WEEK,
    ArrivalHistory,
    RunTimeHistory,
    users_of,
)
from tests.studies.forecast.columns import jobs_of

DAILY = jobs_of([(k * DAY, k + 1, 100, 10, 1) for k in range(20)])


def test_lags_are_weeks_then_days_or_the_whole_past() -> None:
    """After 19 days: two weeks and six of the other days; after 3, these; after less, that much."""
    history = ArrivalHistory(DAILY)
    days = [7, 14, 1, 2, 3, 4, 5, 6]
    assert (history.lags(20, 19 * DAY) // DAY).tolist() == days
    assert len(days) == MOST_LAGS
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


def drawn(history: RunTimeHistory, user: int, requested: int, elapsed: int) -> dict[int, float]:
    """Return the run times of a job among many samples, and the share of each."""
    draw = np.random.default_rng(1)
    found = history.run_times([(user, requested)], [elapsed], 20_000, draw)[:, 0]
    values, counts = np.unique(found, return_counts=True)
    return dict(zip(values.tolist(), (counts / len(found)).tolist(), strict=True))


def past(count: int = int(NOVELTY)) -> RunTimeHistory:
    """Return a past: jobs of user 1 took a tenth or half of 100 s, those of user 2 all of 50 s."""
    rows = [(k, 1, 100, 10 if k % 2 else 50, 1) for k in range(count)]
    rows += [(count + k, 1, 50, 50, 2) for k in range(count)]
    history = RunTimeHistory(jobs_of(rows))
    history.ended(range(len(rows)))
    return history


def test_a_user_with_a_past() -> None:
    """Jobs take the shares that the user's jobs took, of other requested times too.

    User 1 has `NOVELTY` jobs with 100 s, half of the weight; as the user's jobs, half of the other
    half; of the last quarter, which is everybody's, half is user 2's, who took all: 1 / 8.
    """
    assert drawn(past(), 1, 100, 0) == pytest.approx({10: 7 / 16, 50: 7 / 16, 100: 1 / 8}, abs=0.01)
    # No job of user 1 asked for 200 s, so that a half is the user's, a half everybody's.
    assert drawn(past(), 1, 200, 0) == pytest.approx({20: 3 / 8, 100: 3 / 8, 200: 1 / 4}, abs=0.01)


def test_what_a_job_runs_already_is_out_of_the_question() -> None:
    """After 30 s only run times beyond it remain, with their weights: 7 / 16 and 1 / 8."""
    assert drawn(past(), 1, 100, 30) == pytest.approx({50: 7 / 9, 100: 2 / 9}, abs=0.01)
    # Nobody ran for more than the requested time: anything up to it, and at least a second more.
    assert set(drawn(past(), 2, 100, 100)) == {101}


def test_without_a_past() -> None:
    """Any time up to the requested one is as likely."""
    history = RunTimeHistory(jobs_of([(0, 1, 100, 10, 1)]))
    found = drawn(history, 1, 100, 0)
    assert len(found) > 90
    assert (min(found), max(found)) == (1, 100)


def test_what_has_not_ended_is_not_known() -> None:
    """The run time of a job is known once it has ended."""
    history = RunTimeHistory(jobs_of([(0, 1, 100, 10, 1), (99, 1, 100, 77, 1)]))
    history.ended([0])
    assert set(drawn(history, 1, 100, 0)) == {10}


def test_jobs_of_a_user_are_alike() -> None:
    """In many samples they have equal ranks; those of two users do so in some.

    Ranks up to 7 / 16 take 10 s of 100 s.
    """
    history = past()
    draw = np.random.default_rng(1)
    users = [(1, 100), (1, 100), (3, 100)]
    found = history.run_times(users, [0] * 3, 20_000, draw)
    # The first two share a rank with 0.8², else they are equal by chance.
    by_chance = 2 * (7 / 16) ** 2 + 1 / 64
    both = ALIKE**2
    assert np.mean(found[:, 0] == found[:, 1]) == pytest.approx(
        both + (1 - both) * by_chance, abs=0.01
    )
    # User 3 is unknown, and takes what everybody took: a quarter each 10 s and 50 s, else 100 s.
    two = both * COMMON**2
    together = 1 / 4 * two + (1 - two) * 7 / 64
    assert np.mean((found[:, 0] == 10) & (found[:, 2] == 10)) == pytest.approx(together, abs=0.01)


def test_jobs_without_a_user() -> None:
    """They have one number together."""
    assert users_of(jobs_of([(0, 1, 1, 1, 7), (1, 1, 1, 1, None)])).tolist() == [7, -1]
