"""Model of the submit times of a log: hours, weekdays and months.

Source: Galleguillos, *Job Dispatching in HPC Systems*, PhD thesis, 2020, section 3.5.3. Points, the
random value v there, are drawn from the log's own interarrival times and paid by the slot weight
method; the bound of v follows the progress of the generation, see `Pace`. Three variants:

- `slots`: weights of the 48 slots of a day, and a fixed bound;
- `progress`: the same weights, and a bound that follows the progress;
- `calendar`: the weights also include weekday and month, interarrival times are taken in points in
the first place, and the bound follows the progress.

`slots` and `progress` are the thesis's, as far as it says. It leaves open, and is decided here:
that v is drawn by resampling; that a smaller bound makes all of v smaller in proportion, as it does
for evenly distributed ones; the requirement so far, see `Pace`. `calendar` is an addition: a bound
that follows the errors so far corrects about half of them, and the log's own interarrival times
include its nights and weekends once more.

Slot weight method: a day has 48 slots of half an hour. Each has a weight, and time passes by
paying: the interval from one submission to the next is a number of points, which is spent slot
after slot, and a slot's weight is the price of the whole slot. With weights of mean 1, a point is
half an hour on average.

Source: Lublin and Feitelson, *The Workload on Parallel Supercomputers*, 2003, on arrivals. They
draw points independently of each other; jobs then come in proportion to the weights.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from hpcsched.portable_math import plain_sum
from hpcsched.workload.synthetic.draws import Draws, LogHistogram
from hpcsched.workload.trace_calendar import Calendar, CalendarPlace

SLOT = 1800
"""Seconds in a slot."""
SLOTS = 48
"""Slots in a day."""


class SlotWalk:
    """Walk from submission to submission through weighted slots.

    Parameters
    ----------
    weight
        Weight of a slot by its number, called once for each slot in order; slots are numbered on
        from day to day. Some weight must not be zero, or a walk never ends.
    share
        Part of the first slot that has passed, from 0 to 1.
    """

    def __init__(self, weight: Callable[[int], float], slot: int = 0, share: float = 0.0) -> None:
        self._weight = weight
        self.slot = slot
        """The slot of the last submission."""
        self._price = weight(slot)
        self._paid = share * self._price

    @property
    def share(self) -> float:
        """Part of the slot that has passed, from 0 to 1."""
        return self._paid / self._price if self._price else 0.0

    def pay(self, points: float) -> float:
        """Advance to the next submission."""
        left = self._paid + points
        # A slot of price 0 is passed for nothing.
        while left >= self._price:
            left -= self._price
            self.slot += 1
            self._price = self._weight(self.slot)
        self._paid = left
        return self.slot + self.share


Way = Literal["calendar", "progress", "slots"]

HEAD_START = 10
"""Jobs that count as made and as required before the first one, to damp the first ratios."""
SLOWEST, FASTEST = 4.0, 0.25
"""Between which bounds the bound of v follows, as shares of the largest interarrival time."""
_HOURS, _WEEKDAYS, _MONTHS = 24, 7, 12


class SlotPlace(NamedTuple):
    """Position of a slot: number in the day (0 to 47), hour, weekday and month, all from 0."""

    slot: int
    hour: int
    weekday: int
    month: int


class SlotCalendar:
    """Slots of a log by the calendar, numbered from the one before or at second 0."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._offset = calendar.start % SLOT
        self._last: tuple[int, SlotPlace] | None = None

    def slots(self, submit_time: int) -> float:
        """Return a submit time in slots: the number of the slot, plus the part that has passed."""
        return (submit_time + self._offset) / SLOT

    def submit_time(self, slots: float) -> int:
        """Return the submit time, in seconds, of a time in slots."""
        return int(slots * SLOT) - self._offset

    def place(self, number: int) -> SlotPlace:
        """Return the position of a slot in day, week and year."""
        if self._last is None or self._last[0] != number:
            begin = number * SLOT - self._offset
            hour, weekday, month = self._calendar.place(begin)
            # clocks are put forward and back between two slots
            second = self._place_after(begin).hour != hour
            self._last = number, SlotPlace(2 * hour + second, hour, weekday, month)
        return self._last[1]

    def _place_after(self, begin: int) -> CalendarPlace:
        return self._calendar.place(begin + SLOT)


class CycleCounter:
    """Frequencies of submissions by slot of the day, weekday and month, and of intervals."""

    def __init__(self, calendar: SlotCalendar) -> None:
        self.calendar = calendar
        self.jobs = 0
        self.first = self.last = 0
        self.longest = 0
        self.gaps = LogHistogram()
        self.slots, self.weekdays, self.months = [0] * SLOTS, [0] * _WEEKDAYS, [0] * _MONTHS

    def add(self, submit_time: int) -> None:
        """Count a submission, in seconds; times must ascend."""
        if self.jobs:
            gap = submit_time - self.last
            self.gaps.add(gap)
            self.longest = max(self.longest, gap)
        else:
            self.first = submit_time
        self.last = submit_time
        self.jobs += 1
        place = self.calendar.place(int(self.calendar.slots(submit_time)))
        self.slots[place.slot] += 1
        self.weekdays[place.weekday] += 1
        self.months[place.month] += 1


class Cycle:
    """Submission rates over time, fitted to a tally of at least two jobs.

    Parameters
    ----------
    submit_times
        The counted submit times once more, read by the variant `calendar` only.
    """

    def __init__(self, tally: CycleCounter, way: Way, submit_times: Iterable[int]) -> None:
        """`submit_times` are those that were counted, once more; they are only read if needed."""
        self.calendar, self.first, self.way = tally.calendar, tally.first, way
        begin, end = (self.calendar.slots(time) for time in (tally.first, tally.last))
        numbers = range(int(begin), int(end) + 1)
        self.jobs_per_slot = tally.jobs / len(numbers)
        self._slots = [SLOTS * jobs / tally.jobs for jobs in tally.slots]
        weekdays, months = [0.0] * _WEEKDAYS, [0.0] * _MONTHS
        for number in numbers:
            place = self.calendar.place(number)
            weekdays[place.weekday] += self._slots[place.slot]
            months[place.month] += self._slots[place.slot]
        self.months_known = [bool(points) for points in months]
        self._weekdays = _busyness(tally.weekdays, weekdays)
        self._months = _busyness(tally.months, months)
        # `busyness` uses the scale, which is computed from unscaled values first.
        self._scale = 1.0
        self._scale = len(numbers) / plain_sum(self.busyness(number) for number in numbers)
        gaps, longest = tally.gaps, float(tally.longest)
        if way == "calendar":
            gaps, longest = self._in_points(submit_times)
        self.gaps = gaps.resampled()
        self.longest = max(longest, float(SLOT))

    def busyness(self, number: int) -> float:
        """Return the relative number of submissions in a slot: 1 on average over the log's span."""
        place = self.calendar.place(number)
        weekday, month = self._weekdays[place.weekday], self._months[place.month]
        return self._slots[place.slot] * weekday * month * self._scale

    def weight(self, number: int) -> float:
        """Return the weight of a slot, 1 on average."""
        if self.way == "calendar":
            return self.busyness(number)
        return self._slots[self.calendar.place(number).slot]

    def _in_points(self, submit_times: Iterable[int]) -> tuple[LogHistogram, float]:
        """Return interarrival times in points, as seconds of an average hour, and the longest."""
        gaps, longest = LogHistogram(), 0.0
        number = int(self.calendar.slots(self.first))
        weight, passed = self.busyness(number), 0.0
        before: float | None = None
        for submit_time in submit_times:
            slots = self.calendar.slots(submit_time)
            while number < int(slots):
                passed += weight
                number += 1
                weight = self.busyness(number)
            paid = passed + weight * (slots - number)
            if before is not None:
                gap = max(paid - before, 0.0) * SLOT
                gaps.add(gap)
                longest = max(longest, gap)
            before = paid
        return gaps, longest


def _busyness(jobs: Sequence[int], points: Sequence[float]) -> list[float]:
    """Return jobs a point, 1 on average; classes that never occurred count as average.

    Counted by points, days of which the log has only the busy or only the quiet hours are no
    outliers.
    """
    average = sum(jobs) / plain_sum(points)
    return [
        count / paid / average if paid else 1.0 for count, paid in zip(jobs, points, strict=True)
    ]


class Pace:
    """Numbers of generated and required jobs, by hour, weekday and month.

    The requirement so far is the log's mean number of jobs in the slots that have passed, by its
    shares of slots, weekdays and months. The progress of an hour, such as 9 to 10 o'clock, is the
    number of jobs generated in it / required in it; likewise for weekdays and months.
    """

    def __init__(self, cycle: Cycle) -> None:
        self._cycle = cycle
        self._made = [[float(HEAD_START)] * n for n in (_HOURS, _WEEKDAYS, _MONTHS)]
        self._required = [list(counts) for counts in self._made]

    def made(self, number: int) -> None:
        """Count a generated job in a slot."""
        for counts, k in zip(self._made, self._kinds(number), strict=True):
            counts[k] += 1

    def passed(self, number: int) -> None:
        """Add the requirement of a slot that has passed."""
        required = self._requires(number)
        for counts, k in zip(self._required, self._kinds(number), strict=True):
            counts[k] += required

    def progress(self, number: int, share: float) -> float:
        """Return the product of the progress ratios at a slot.

        Parameters
        ----------
        share
            Part of it that has passed, from 0 to 1.
        """
        now = self._requires(number) * share
        kinds = self._kinds(number)
        product = 1.0
        for made, required, k in zip(self._made, self._required, kinds, strict=True):
            if required is not self._required[-1] or self._cycle.months_known[k]:
                product *= made[k] / (required[k] + now)
        return product

    def _kinds(self, number: int) -> tuple[int, int, int]:
        place = self._cycle.calendar.place(number)
        return place.hour, place.weekday, place.month

    def _requires(self, number: int) -> float:
        return self._cycle.busyness(number) * self._cycle.jobs_per_slot


def submissions(cycle: Cycle, draws: Draws) -> Iterator[int]:
    """Yield submit times in seconds without end, beginning with the log's first."""
    pace = Pace(cycle)
    begin = cycle.calendar.slots(cycle.first)

    def weight(number: int) -> float:
        if number > int(begin):
            pace.passed(number - 1)
        return cycle.weight(number)

    walk = SlotWalk(weight, int(begin), begin - int(begin))
    submit_time = cycle.first
    while True:
        yield submit_time
        bound = cycle.longest
        if cycle.way != "slots":
            pace.made(walk.slot)
            progress = pace.progress(walk.slot, walk.share)
            progress = min(max(progress, FASTEST), SLOWEST)
            bound -= (bound - SLOT) * (1 - progress)
        gap = min(cycle.gaps.draw(draws), cycle.longest) * (bound / cycle.longest)
        # the first is on a whole second, and so may be before what it has been rounded down from
        submit_time = max(submit_time, cycle.calendar.submit_time(walk.pay(gap / SLOT)))
