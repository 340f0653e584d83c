"""The transforms `window` and `first`, by hand."""

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.trace_calendar import calendar_of
from tests.workload.transforms.chains import Given, chain, numbers, read, submitted, times

START = "UnixStartTime: 1000000000"
"""2001-09-09T01:46:40Z."""


def test_window() -> None:
    """From second 10 up to and without 20; what was second 10 is second 0. Job 6 is never read."""
    source = chain(
        Given(submitted([0, 9, 10, 19, 20, 21])), ("window", {"start": 10, "end": "20s"})
    )
    jobs = read(source)
    assert (numbers(jobs), times(jobs)) == ([3, 4], [0, 9])
    assert source.account.read == 5
    assert source.account.skipped == {"outside_window": 3}
    assert not source.account.changed


def test_window_without_shift() -> None:
    """Submit times stay, and so does the header."""
    given = Given(submitted([0, 10, 15]), [START])
    source = chain(given, ("window", {"start": 10, "shift": False}))
    assert times(read(source)) == [10, 15]
    assert source.comments == [START, "Note: transformed by hpcsched: window"]


def test_dates_stay_what_they_were() -> None:
    """A shift of 10 s moves the instant that second 0 stands for, whichever way it is known."""
    for comments, first in (([START, "Computer: A"], 0), ([], 10**9)):
        source = chain(Given(submitted([first, first + 12]), comments), ("window", {"start": 10}))
        assert times(read(source)) == [2]
        assert "UnixStartTime: 1000000010" in source.comments
        assert START not in source.comments
        assert calendar_of(source.comments, 2).start == 10**9 + 10


def test_unix_times() -> None:
    """Where second 0 is of no use, durations count from the first submission."""
    jobs = submitted([10**9, 10**9 + 50, 10**9 + 90])
    source = chain(Given(jobs), ("window", {"start": 40, "end": 90, "shift": False}))
    assert times(read(source)) == [10**9 + 50]


def test_a_trace_that_does_not_say_when_it_was() -> None:
    """Its header says no more when it is shifted."""
    source = chain(Given(submitted([0, 12]), ["Computer: A"]), ("window", {"start": 10}))
    read(source)
    assert source.comments == ["Computer: A", "Note: transformed by hpcsched: window"]


@pytest.mark.parametrize(
    ("zone", "start"),
    [([], "2001-09-09T01:48:20"), (["TimeZoneString: Europe/Berlin"], "2001-09-09 03:48:20")],
)
def test_a_window_by_dates(zone: list[str], start: str) -> None:
    """Dates are by the trace's clocks, which show two hours more in Berlin's summer."""
    window = {"start": start, "end": "2001-09-10", "shift": False}
    source = chain(Given(submitted([99, 100, 101, 86400]), [START, *zone]), ("window", window))
    assert times(read(source)) == [100, 101]


def test_a_date_in_a_trace_without_dates() -> None:
    """It is refused as soon as the first job is asked for."""
    source = chain(Given(submitted([0])), ("window", {"start": "2001-09-09"}))
    with pytest.raises(InputError, match="which does not say when it was"):
        read(source)


def test_a_duration_after_a_date() -> None:
    """Only the trace knows which of a date and a duration is earlier."""
    window = ("window", {"start": "2001-09-10", "end": "1h"})
    with pytest.raises(InputError, match="2001-09-10 is second 80000 of the trace"):
        read(chain(Given(submitted([0]), [START]), window))


def test_a_window_of_a_window() -> None:
    """Windows add up, since each counts from second 0 as the one before has left it."""
    jobs = submitted(range(0, 100, 3))
    twice = chain(
        Given(jobs, [START]), ("window", {"start": 30, "end": 90}), ("window", {"start": 10})
    )
    once = chain(Given(jobs, [START]), ("window", {"start": 40, "end": 90}))
    assert read(twice) == read(once)
    assert "UnixStartTime: 1000000040" in twice.comments


def test_first() -> None:
    """Two jobs, and no more than two are read."""
    source = chain(Given(submitted([0, 5, 5, 9])), ("first", {"jobs": 2}))
    assert numbers(read(source)) == [1, 2]
    assert source.account.read == 2
    assert not source.account.skipped


def test_first_of_fewer() -> None:
    """There is no more than there is."""
    assert numbers(read(chain(Given(submitted([0, 5])), ("first", {"jobs": 3})))) == [1, 2]


def test_first_after_others() -> None:
    """The third job and the fourth; submit times stay. Job 5 is never read."""
    source = chain(Given(submitted([0, 5, 5, 9, 9])), ("first", {"skip": 2, "jobs": 2}))
    jobs = read(source)
    assert (numbers(jobs), times(jobs)) == ([3, 4], [5, 9])
    assert source.account.read == 4
    assert source.account.skipped == {"before_first_jobs": 2}


def test_first_after_more_than_there_are() -> None:
    """Nothing is left, however many more are skipped or asked for."""
    source = chain(Given(submitted([0, 5])), ("first", {"skip": 2**64, "jobs": 2**64}))
    assert read(source) == []
    assert source.account.skipped == {"before_first_jobs": 2}


def test_first_of_what_was_read_ahead() -> None:
    """A transform before it holds jobs back: those that it has read by then are accounted for.

    A delay of at most 10 s is over when the job comes that is submitted 99 s after the first.
    """
    source = chain(Given(submitted([0, 99])), ("jitter", {"by": 10}), ("first", {"jobs": 1}))
    assert numbers(read(source)) == [1]
    assert source.account.read == 2
    assert source.account.skipped == {"after_first_jobs": 1}


def test_no_jobs() -> None:
    """An empty trace stays empty."""
    for name, given in (("window", {"start": 5}), ("first", {"jobs": 1})):
        assert read(chain(Given([]), (name, given))) == []
