"""Submissions by the hour, without deviation from the cycle."""

from hpcsched.workload.synthetic.campaigns import DAY, HOUR, Hour, Month, hours
from tests.workload.synthetic.scripted import Scripted


def test_two_jobs_of_a_day() -> None:
    """Weights of a day add up to 171. They pass half of it, 85.5, in the hour from 14 on.

    Up to 13 o'clock they are 72, up to 14 o'clock 82, up to 15 o'clock 95.
    """
    assert list(hours(Scripted(), [Month(1, 2)], 0)) == [Hour(14 * HOUR, 1), Hour(23 * HOUR, 1)]


def test_saturdays_have_half_of_what_fridays_have() -> None:
    """Weights of 0.9 and 0.45: of 1000 jobs, 666.7 are Friday's."""
    found = list(hours(Scripted(), [Month(2, 1000)], weekday=4))
    assert sum(hour.jobs for hour in found if hour.start < DAY) == 666
    assert sum(hour.jobs for hour in found) == 1000


def test_months_follow_each_other() -> None:
    """A month without jobs takes its days."""
    found = list(hours(Scripted(), [Month(1, 1), Month(30, 0), Month(1, 1)], 0))
    assert found == [Hour(23 * HOUR, 1), Hour(31 * DAY + 23 * HOUR, 1)]
