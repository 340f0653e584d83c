"""When made-up jobs are submitted, in cases worked by hand."""

from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from hpcsched.workload.synthetic.draws import Draws
from hpcsched.workload.synthetic.submission_cycle import (
    HEAD_START,
    SLOT,
    Cycle,
    CycleCounter,
    Pace,
    SlotCalendar,
    submissions,
)
from hpcsched.workload.trace_calendar import Calendar

HOUR, DAY = 3600, 86_400
MONDAY = int(datetime(2024, 1, 1, tzinfo=UTC).timestamp())


def fitted(times, way="calendar", start=MONDAY, zone=UTC):
    """Return the cycle of submit times."""
    tally = CycleCounter(SlotCalendar(Calendar(start, zone, "")))
    for time in times:
        tally.add(time)
    return Cycle(tally, way, times)


def test_slots_by_the_calendar():
    """They begin at the half hours of local clocks, whatever the second 0 is."""
    calendar = SlotCalendar(Calendar(MONDAY + 600, ZoneInfo("Europe/Stockholm"), ""))
    assert calendar.slots(0) == pytest.approx(1 / 3)
    assert calendar.submit_time(1.0) == 1200
    assert calendar.place(0) == (2, 1, 0, 0)  # 1:00 there, of Monday in January
    assert calendar.place(1) == (3, 1, 0, 0)
    assert calendar.place(46) == (0, 0, 1, 0)
    summer = calendar.place(48 * 182)
    assert summer == (4, 2, 0, 6)  # clocks have been put forward


def test_plain_weights():
    """Three jobs from 0:00, one from 1:30, of one day: weights of one on average."""
    cycle = fitted([0, 10, 20, HOUR + 1800], "slots")
    assert [cycle.weight(n) for n in range(5)] == [36, 0, 0, 12, 0]
    assert cycle.longest == HOUR + 1780
    assert fitted([0, 10, 20], "slots").longest == SLOT  # at least a slot


def test_busyness():
    """Jobs at noon of a Monday and, twice as many, of the Tuesday: as many as there are slots."""
    times = [DAY // 2, 3 * DAY // 2, 3 * DAY // 2 + 1]
    cycle = fitted(times)
    numbers = range(24, 73)
    assert sum(cycle.busyness(n) for n in numbers) == pytest.approx(len(numbers))
    assert cycle.busyness(72) / cycle.busyness(24) == pytest.approx(2)
    assert cycle.busyness(48) == 0
    assert cycle.months_known == [True] + [False] * 11


def test_interarrival_times_in_points():
    """What is paid on the way, where nights cost nothing; all of them are counted."""
    times = [day * DAY + 9 * HOUR + second for day in range(10) for second in (0, 900)]
    plain, calendar = fitted(times, "progress"), fitted(times)
    assert plain.longest == DAY - 900
    # Nine days and a slot cost 433 points, a tenth of them for each of the ten slots with jobs; it
    # is half a slot to the second job of a day, and as much from there to the next day's first.
    assert calendar.longest == pytest.approx(433 / 10 / 2 * SLOT)
    assert calendar.gaps.draw(Draws(0)) == pytest.approx(433 / 10 / 2 * SLOT, rel=0.1)


def test_progress():
    """Jobs made / jobs required, by hour, by weekday and by month, with a head start on both."""
    times = [day * DAY + 9 * HOUR + second for day in range(28) for second in (0, 900)]
    cycle = fitted(times)
    pace = Pace(cycle)
    assert pace.progress(18, 0.0) == 1
    expected = cycle.busyness(18) * cycle.jobs_per_slot
    assert expected == pytest.approx(2)
    pace.made(18)
    half = HEAD_START + expected / 2
    assert pace.progress(18, 0.5) == pytest.approx(((HEAD_START + 1) / half) ** 3)
    pace.passed(18)
    whole = HEAD_START + expected
    assert pace.progress(18, 0.0) == pytest.approx(((HEAD_START + 1) / whole) ** 3)
    # another hour of the same weekday and month
    assert pace.progress(19 + 1, 0.0) == pytest.approx(((HEAD_START + 1) / whole) ** 2)
    # the same hour in a month that the log has not: only the hour counts, and it is a Monday
    june = 48 * (31 + 29 + 31 + 30 + 31 + 2) + 18
    assert cycle.calendar.place(june) == (18, 9, 0, 5)
    assert pace.progress(june, 0.0) == pytest.approx(((HEAD_START + 1) / whole) ** 2)


@pytest.mark.parametrize("way", ["calendar", "progress", "slots"])
def test_submissions(way):
    """They ascend, begin as the log does, and stay within its slots of the day."""
    times = [day * DAY + 9 * HOUR + second for day in range(10) for second in (0, 100, 900)]
    found = list(islice(submissions(fitted(times, way), Draws(0)), 300))
    assert found[0] == times[0]
    assert found == sorted(found)
    assert {(time % DAY) // 1800 for time in found} == {18}
    assert found != list(islice(submissions(fitted(times, way), Draws(1)), 300))


def test_jobs_at_one_instant():
    """Nothing else comes of them."""
    assert list(islice(submissions(fitted([7, 7, 7]), Draws(0)), 5)) == [7] * 5
